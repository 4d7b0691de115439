from libc.stdint cimport uint64_t

cimport cython

from search.syzygy.pairs cimport DAMAGED, MOST_LENGTHS, MOST_PIECES, ONE_VALUE, Part
from x88.atomic cimport atomic_flag_word
from x88.board cimport Board
from x88.piece cimport BISHOP, BLACK, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK
from x88.sets cimport count
from x88.square cimport index64

cdef extern from *:
    """
    #if defined(_WIN32)
    /* Windows does not let a file be cut that is mapped. */
    static inline long long file_size(int descriptor) { (void)descriptor; return 0x7FFFFFFFFFFFFFFFLL; }
    #else
    #include <sys/stat.h>
    static inline long long file_size(int descriptor) {
        struct stat state;
        return fstat(descriptor, &state) == 0 ? (long long)state.st_size : -1;
    }
    #endif
    """
    long long file_size(int descriptor) noexcept nogil

cpdef enum:
    LOSS = -2               # results for the side to move
    BLESSED_LOSS = -1       # a draw by the fifty-move rule
    DRAW = 0
    CURSED_WIN = 1          # a draw by the fifty-move rule
    WIN = 2
    UNKNOWN = 1000000       # no table has it
    OTHER_SIDE = 1000001    # DTZ: the table stores only positions with the other side to move
    UNREAD = 0              # states of a table
    READY = 1
    UNUSABLE = 2
    BLACK_IS_STORED = 1     # bits of the first byte of a part's description; for DTZ: positions with Black to move
    MAPPED = 2              # values go through a map
    WINS_IN_PLIES = 4
    LOSSES_IN_PLIES = 8
    WIDE_MAP = 16

cdef int[16] NUMBER_OF_KIND
cdef int[10] SIGNED
cdef int[64] PAWN_ORDER


@cython.final
cdef class Table:
    cdef readonly str path
    cdef readonly str suffix
    cdef readonly bint is_symmetric
    cdef readonly uint64_t white         # the signature of the file's name
    cdef readonly uint64_t key
    cdef readonly int count              # of pieces
    cdef public Table lower
    cdef public Table higher
    cdef readonly tuple sides                     # letters
    cdef bint has_pawns
    cdef bint has_unique                 # there are three different pieces to lead
    cdef int leading_pawns
    cdef bint both_pawns
    cdef bint is_wdl
    cdef bint has_two_sides              # there are parts for both sides to move
    cdef int lead                        # the piece that leads, as the file numbers it
    cdef Part first
    cdef list parts                      # [side][file]
    cdef atomic_flag_word state
    cdef int descriptor                  # of the open file
    cdef long long size                  # of the file in bytes
    cdef object _on_problem
    cdef tuple _held                     # the file and its mapping

    @cython.locals(part=Part)
    cpdef read(self)
    @cython.locals(part=Part)
    cdef _describe(self, content, long long size)
    cdef _group(self, Part part, list pieces, list order, int file)
    @cython.locals(part=Part)
    cdef _read_maps(self, content, at)
    @cython.locals(part=Part)
    cdef _place_data(self, at, size)
    @cython.locals(part=Part)
    cpdef check(self, progress)
    @cython.locals(begin=cython.longlong, entry=cython.longlong, block=cython.longlong, count=cython.longlong,
                   place=cython.longlong, at=cython.longlong)
    cdef _check_part(self, Part part, progress)
    cdef int value_of(self, uint64_t key, Board board, int result) noexcept nogil
    @cython.locals(swaps=bint, mover=int, pieces="int[7]", squares="int[7]", n=int, side=int, i=int, square=int, part=int,
                   leader=int, value=int)
    cdef int value(self, Board board, int result) noexcept nogil
    @cython.locals(value=int, width=int, which=int)
    cdef int _ask(self, Part part, int number, int* pieces, int* squares, int mover, int result) noexcept nogil
    cdef void _open(self) noexcept with gil
    cdef void _give_up(self, bint is_cut) noexcept with gil


cdef _link(Part part, Part following)
cdef _read_sizes(Part part, content, at)
@cython.locals(found=uint64_t, i=int)
cdef uint64_t signature_of(Board board) noexcept nogil
