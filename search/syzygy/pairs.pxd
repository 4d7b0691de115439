from libc.stdint cimport uint64_t

cimport cython

from x88.pointer cimport memory_of

cpdef enum:
    DAMAGED = -1000000  # no value: below every result
    MOST_PIECES = 7     # larger tables are not used
    MOST_LENGTHS = 32   # of codes, in bits
    ONE_VALUE = 128     # a flag: all values are equal

cdef int[64] BELOW
cdef int[64] TRIANGLE
cdef int[640] KINGS
cdef int[64] PAWN_ORDER
cdef int[520] CHOOSE
cdef int[384] LEADING_PAWNS
cdef uint64_t WORD


@cython.final
cdef class Part:
    cdef Part following
    cdef int count                    # of pieces
    cdef int groups
    cdef int[7] pieces
    cdef int[7] lengths
    cdef long long[7] factors
    cdef long long size
    cdef bint has_pawns
    cdef bint has_unique              # there are three different pieces to lead
    cdef bint both_pawns
    cdef int flags
    cdef int only_value
    cdef long long block_size         # bytes
    cdef long long span
    cdef long long blocks
    cdef long long block_count        # of the list of their lengths
    cdef long long sparse_count
    cdef int shortest                 # code, in bits
    cdef int[32] lowest
    cdef uint64_t[32] bases
    cdef int symbols
    cdef const unsigned short* lefts
    cdef const unsigned short* rights
    cdef const unsigned short* spans
    cdef long long sparse             # offsets in the file
    cdef long long lengths_at
    cdef long long data
    cdef long long[4] maps
    cdef const unsigned char* content
    cdef long long file_size
    cdef tuple _held                  # keeps alive what the pointers to symbols point into

    cdef set_content(self, object content, long long size)
    @cython.locals(ordered="int[7]", taken=int, n=int, i=int, first=int, swapped=int, index=cython.longlong, found=cython.longlong,
                   at=int, group=int, end=int, square=int)
    cdef long long number(self, int* pieces, int* squares) noexcept nogil
    @cython.locals(entry=cython.longlong, block=cython.longlong, place=cython.longlong, length=cython.longlong)
    cdef int value(self, long long index) noexcept nogil
    @cython.locals(end=cython.longlong, bits=uint64_t, i=int, known=int, size=int, symbol=cython.longlong, fresh=uint64_t, found=int)
    cdef int _unpack(self, long long at, long long place) noexcept nogil
    @cython.locals(length=cython.longlong)
    cdef long long read_block(self, long long block) noexcept nogil
    cdef long long block_length(self, long long block) noexcept nogil
    @cython.locals(found=cython.longlong, i=int)
    cdef long long word(self, long long at, int width) noexcept nogil


@cython.locals(n=int, i=int, swapped=int)
cdef void sort(int* squares, int start, int end, bint is_pawns) noexcept nogil
@cython.locals(after=int, later=int, rank=int, number=int)
cdef int three(int first, int second, int third) noexcept nogil
cdef inline int above_diagonal(int square) noexcept nogil:
    return (square >> 3) - (square & 7)
