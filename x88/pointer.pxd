# Memory that a Python object lends. A memory view in a header would add its code, 55 kB, to every module that
# imports the header.

cdef extern from *:
    """
    static CYTHON_INLINE void* moff_memory(PyObject* lender, int writable) {
        Py_buffer view;
        void* found;
        if (PyObject_GetBuffer(lender, &view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE)) return NULL;
        found = view.buf;
        PyBuffer_Release(&view);
        return found;
    }
    """
    void* memory_of "moff_memory"(object lender, bint writable) except NULL
