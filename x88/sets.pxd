from libc.stdint cimport uint64_t

cimport cython

from x88.piece cimport WHITE
from x88.square cimport index64

cdef uint64_t[192] LINES
cdef uint64_t[512] SEEN
cdef uint64_t[512] SEEN_ON_FILE
cdef uint64_t GATHER
cdef uint64_t GATHER_FILE
cdef uint64_t DARK_SQUARES
cdef uint64_t FILE_A
cdef uint64_t FILE_H

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int moff_lowest(unsigned long long set) { unsigned long n; _BitScanForward64(&n, set); return (int)n; }
    #else
    static inline int moff_lowest(unsigned long long set) { return __builtin_ctzll(set); }
    #endif
    #if defined(_M_X64)
    #define moff_count (int)__popcnt64
    static __inline int lacks_popcnt(void) { int words[4]; __cpuid(words, 1); return !(words[2] >> 23 & 1); }
    #elif defined(__POPCNT__)
    #define moff_count __builtin_popcountll
    static inline int lacks_popcnt(void) { return !__builtin_cpu_supports("popcnt"); }
    #else
    static inline int lacks_popcnt(void) { return 0; }
    static inline int moff_count(unsigned long long set) {
        set -= set >> 1 & 0x5555555555555555;
        set = (set & 0x3333333333333333) + (set >> 2 & 0x3333333333333333);
        return (int)(((set + (set >> 4)) & 0x0F0F0F0F0F0F0F0F) * 0x0101010101010101 >> 56);
    }
    #endif
    """
    int moff_lowest(uint64_t squares) noexcept nogil
    int moff_count(uint64_t squares) noexcept nogil
    bint lacks_popcnt() noexcept nogil

cdef inline uint64_t bit(int sq) noexcept nogil:
    return <uint64_t>1 << index64(sq)
cdef inline int lowest(uint64_t squares) noexcept nogil:
    cdef int number = moff_lowest(squares)
    return number + (number & 56)
cdef inline int count(uint64_t squares) noexcept nogil:
    return moff_count(squares)

@cython.locals(number=size_t, file=size_t, pieces=size_t)
cdef uint64_t straight(int sq, uint64_t occupied) noexcept nogil
@cython.locals(number=size_t, file=size_t)
cdef uint64_t diagonal(int sq, uint64_t occupied) noexcept nogil
@cython.locals(line=uint64_t, pieces=size_t)
cdef uint64_t _seen(size_t number, size_t file, size_t which, uint64_t occupied) noexcept nogil
cdef uint64_t pawn_attacks(uint64_t pawns, int side) noexcept nogil
cdef int square_colours(uint64_t squares) noexcept nogil
