# Memory that a Python object lends. A memory view in a header would add its code, 55 kB, to every module that
# imports the header.

cdef extern from *:
    """
    static CYTHON_INLINE void* moff_memory(PyObject* lender, int size, int writable) {
        Py_buffer view;
        void* found;
        if (PyObject_GetBuffer(lender, &view, PyBUF_ND | (writable ? PyBUF_WRITABLE : 0))) return NULL;
        found = view.buf;
        if (view.itemsize != size) {
            found = NULL;
            PyErr_Format(PyExc_ValueError, "the memory holds items of %zd bytes instead of %d", view.itemsize, size);
        }
        PyBuffer_Release(&view);
        return found;
    }
    """
    void* memory_of "moff_memory"(object lender, int size, bint writable) except NULL
