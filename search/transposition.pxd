from libc.stdint cimport uint64_t

cimport cython

from x88.atomic cimport load_word, store_word
from x88.pointer cimport memory_of

cdef extern from *:
    """
    #if defined(__GNUC__)
    // The empty statement keeps GCC from dropping calls of functions that do nothing else.
    #define fetch(address) ({ __builtin_prefetch(address); __asm__ volatile(""); })
    #elif defined(_MSC_VER) && defined(_M_X64)
    #include <xmmintrin.h>
    #define fetch(address) _mm_prefetch((const char*)(address), _MM_HINT_T0)
    #elif defined(_MSC_VER) && defined(_M_ARM64)
    #include <intrin.h>
    #define fetch(address) __prefetch((const void*)(address))
    #else
    #define fetch(address) ((void)(address))
    #endif
    """
    void fetch(const void* address) noexcept nogil

cpdef enum:
    UPPER = 1        # upper bound (fail low)
    LOWER = 2        # lower bound (fail high)
    EXACT = 3
    CLUSTER = 8      # words of a cluster of four entries
    MAX_MEGABYTES = 65536  # maximum size in megabytes
    DEEPEST = 255    # maximum depth in plies: eight bits

cpdef inline int short_move(int move) noexcept nogil:
    return move & 0x3FFF | move >> 6 & 0xC000 | move >> 13 & 0x4000
cpdef inline int move_of(uint64_t data) noexcept nogil:
    return data & 0xFFFF
cpdef inline int score_of(uint64_t data) noexcept nogil:
    return <int>(data >> 16 & 0xFFFF) - 32768
cpdef inline int static_of(uint64_t data) noexcept nogil:
    return <int>(data >> 32 & 0xFFFF) - 32768
cpdef inline int depth_of(uint64_t data) noexcept nogil:
    return data >> 48 & 0xFF
cpdef inline int bound_of(uint64_t data) noexcept nogil:
    return data >> 56 & 3
cpdef inline bint was_pv(uint64_t data) noexcept nogil:
    return data >> 58 & 1 != 0


@cython.final
cdef class TranspositionTable:
    cdef object memory              # the bytes that the words are
    cdef uint64_t* words
    cdef readonly uint64_t clusters
    cdef readonly int age           # of the current search, 0..31
    cdef public bint is_owned              # by the pool of a search

    cpdef _wipe_part(self, uint64_t start, uint64_t end)
    @cython.locals(i=uint64_t)
    cdef void _zero(self, uint64_t start, uint64_t end) noexcept nogil
    cpdef void new_search(self) noexcept nogil
    cdef void prefetch(self, uint64_t key) noexcept nogil
    @cython.locals(index=uint64_t, data=uint64_t, i=int)
    cpdef uint64_t probe(self, uint64_t key) noexcept nogil
    @cython.locals(index=uint64_t, i=uint64_t, place=uint64_t, data=uint64_t, lowest=int, priority=int)
    cpdef void store(
        self, uint64_t key, int move, int score, int static, int depth, int bound, bint pv
    ) noexcept nogil
    @cython.locals(sample=uint64_t, i=uint64_t, data=uint64_t, used=uint64_t)
    cpdef int hashfull(self) noexcept nogil


@cython.locals(high=uint64_t, low=uint64_t, middle=uint64_t)
cdef uint64_t _pack(int move, int score, int static, int depth, int kind, int age) noexcept nogil
