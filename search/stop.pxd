cimport cython

cdef extern from *:
    """
    /* Words that one thread writes and others read. A plain read or write of one is atomic. */
    #if defined(_MSC_VER)
    #include <intrin.h>
    typedef volatile long atomic_flag_word;
    typedef volatile long long atomic_count;
    static __inline long long take_from(atomic_count* left, long long wanted) {
        return _InterlockedExchangeAdd64(left, -wanted);
    }
    #else
    typedef _Atomic int atomic_flag_word;
    typedef _Atomic long long atomic_count;
    static inline long long take_from(atomic_count* left, long long wanted) {
        return __atomic_fetch_sub(left, wanted, __ATOMIC_RELAXED);
    }
    #endif
    """
    ctypedef int atomic_flag_word
    ctypedef long long atomic_count
    long long take_from(atomic_count* left, long long wanted) noexcept nogil


@cython.final
cdef class Stop:
    cdef atomic_flag_word stopped
    cdef atomic_count left         # nodes

    cpdef void set(self) noexcept nogil
    cpdef void clear(self) noexcept nogil
    cpdef bint is_set(self) noexcept nogil
    @cython.locals(before=cython.longlong)
    cdef long long take(self, long long wanted) noexcept nogil
