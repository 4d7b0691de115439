from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define popcount(bits) __builtin_popcountll(bits)
    #define lowest(bits) __builtin_ctzll(bits)
    #else
    static inline int popcount(uint64_t bits) {
        int count = 0;
        for (; bits; bits &= bits - 1) count++;
        return count;
    }
    static inline int lowest(uint64_t bits) {
        return popcount((bits & (0 - bits)) - 1);
    }
    #endif
    """
    int popcount(uint64_t bits) noexcept nogil
    int lowest(uint64_t bits) noexcept nogil
