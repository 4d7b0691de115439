from libc.stdint cimport uint64_t

cimport cython
from cpython.object cimport PyObject

from moff.library.moves cimport TYPE, Move, Piece, from_packed, piece_of, square_of
from x88.attack cimport find_checks_and_pins, in_check
from x88.board cimport Board as Position
from x88.move cimport CASTLING, NO_MOVE, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT, captured_of, is_home_castling, moved_of, origin_of, rook_origin, target_of
from x88.movegen cimport MoveStack, generate, has_legal_move, is_castling_legal, own_stack
from x88.notation.fen cimport read_any
from x88.notation.san cimport AMBIGUOUS, find, match, pattern_of
from x88.notation.san cimport play as write
from x88.piece cimport ANY_PIECE, BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE, WHITE_PIECE
from x88.sets cimport bit, diagonal, lowest, straight
from x88.square cimport NO_SQUARE, index64

cdef uint64_t[384] ATTACKS
cdef uint64_t[8] EN_PASSANT_KEYS
cdef int[8] KIND_OF
cdef Position _START
cdef bint _SHARES
cdef Board _NOTHING

cdef extern from *:
    """
    static inline int moff_is_shared(PyObject *object) { return Py_REFCNT(object) > 1; }
    """
    bint moff_is_shared(PyObject* object) noexcept


cdef class LegalMoveGenerator:
    cdef readonly Board board


cdef class Board:
    cdef readonly Position x88
    cdef readonly str fault     # why there are no moves, empty if there are
    cdef int passed             # `ep_square` on the 0x88 board before all moves
    cdef tuple aside            # the board with the moves before this position was edited, and its own `aside`
    cdef bint is_turned         # whether only the side to move differs from that board
    cdef public bint chess960

    cdef _own(self)
    @cython.locals(position=Position, passed="int[1]")
    cdef _read(self, fen)
    @cython.locals(board=Board)
    cdef _edit(self, dict changes, bint keeps_moves=*)
    cdef _set(self, Position position, str fault, int passed)
    cdef _become(self, Board other)
    cdef bint _go_back(self) except -1
    @cython.locals(board=Board)
    cdef Board _copied(self, of)
    @cython.locals(move=int)
    cdef int _passed_square(self) noexcept
    @cython.locals(kings=uint64_t)
    cdef int _king(self, int side) noexcept
    cdef uint64_t _of(self, int kind, int side) noexcept
    cdef uint64_t _of_kind(self, int kind) noexcept
    @cython.locals(stack=MoveStack, end=int, i=int, j=int, move=int, score=int)
    cdef list moves(self)
    cdef int generated(self) except -1
    cdef bint has_moves(self) except -1
    cdef play(self, int packed)
    @cython.locals(found=int)
    cdef int _parsed(self, str san) except -1
    @cython.locals(number=int, origin=int, target=int, code=int, right=int, wanted=int, found=int)
    cdef int packed(self, Move move) except? 0
    @cython.locals(found=int)
    cdef int checked(self, Move move) except 0
    cpdef bint is_legal(self, Move move) except -1
    @cython.locals(found=int)
    cpdef push(self, Move move)
    @cython.locals(move=int)
    cdef int _take_back(self) except -1
    @cython.locals(packed=int, is_exposed=bint)
    cpdef str san(self, Move move)
    cpdef str lan(self, Move move)
    cpdef bint is_capture(self, Move move)
    @cython.locals(passed=int, origin=int)
    cpdef bint is_en_passant(self, Move move)
    cpdef bint is_castling(self, Move move)
    cpdef bint is_kingside_castling(self, Move move)
    cpdef bint is_queenside_castling(self, Move move)
    @cython.locals(steps=int, kings=uint64_t, rooks=uint64_t)
    cdef int _castles(self, Move move) noexcept
    cpdef bint is_zeroing(self, Move move)
    @cython.locals(origin=int, target=int, kept=int, loses=bint)
    cpdef bint is_irreversible(self, Move move)
    @cython.locals(packed=int)
    cpdef bint gives_check(self, Move move) except -1
    @cython.locals(stack=MoveStack, found=bint, move=int, i=int, is_fifty=bint)
    cdef bint _leads_to_draw(self, bint by_repetition) except -1
    cdef _keep(self, int number)
    cdef bint _rights(self, color, int rights) except -1


cdef inline bint is_shared(Board board) noexcept:
    return moff_is_shared(<PyObject*>board.x88)


@cython.locals(origin=int, target=int)
cdef uint64_t touched(Move move) noexcept
