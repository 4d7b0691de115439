cimport cython

from x88.attack cimport in_check
from x88.board cimport Board
from x88.move cimport NO_MOVE
from x88.notation.fen cimport LONGEST, put
from x88.notation.fen cimport write as write_fen
from x88.piece cimport WHITE
from x88.notation.san cimport find, match, plain, play, read


cdef dict _TAG_NAMES
cdef int _LONGEST_GAME
cdef int _ENOUGH


cdef class Move:
    cdef readonly str san
    cdef readonly int move
    cdef readonly str fen
    cdef public str comment
    cdef list _nags         # None if there are none
    cdef list _variations   # None if there are none


@cython.locals(created=Move)
cdef Move _new_move(str san, int move, str fen)


cdef class Reader:
    cdef object _stream
    cdef Py_ssize_t _line         # lines taken in so far
    cdef bytes _waiting           # a line read but not taken in
    cdef bytes _text              # what has been taken in
    cdef Py_ssize_t _position     # how far it has been read
    cdef Py_ssize_t _here         # the index whose line was asked for last,
    cdef Py_ssize_t _line_here    # and on which line of the file
    cdef Py_ssize_t _number
    cdef bint _lost               # whether the moves after the word read last cannot be followed
    cdef bint _over               # whether it is the game's result
    cdef int _shift               # how far the numbers of moves without a dot are ahead of the board's
    cdef Board _board             # for the games from the start position

    @cython.locals(i=Py_ssize_t)
    cdef bint _is_torn(self, const unsigned char* text, Py_ssize_t size) except -1
    @cython.locals(lines=list, size=Py_ssize_t, last=bytes, line=bytes, is_open=bint, movetext=bint, tags=bint, blank=bint,
                   remarked=bint, is_tag=bint, ended=bint, start=Py_ssize_t, end=Py_ssize_t, text="const unsigned char*")
    cdef bint _fill(self, bytes rest) except -1
    @cython.locals(i=Py_ssize_t, board=Board, lost=bint, in_braces=bint)
    cdef bint _read_game(self, game, const unsigned char* text, Py_ssize_t size) except -1
    cdef Py_ssize_t _skip_space(self, const unsigned char* text, Py_ssize_t i, Py_ssize_t size) noexcept
    @cython.locals(start=Py_ssize_t, name_end=Py_ssize_t, value=Py_ssize_t, end=Py_ssize_t, name=str)
    cdef Py_ssize_t _read_tag(self, game, const unsigned char* text, Py_ssize_t i, Py_ssize_t size) except -1
    cdef Py_ssize_t _read_odd_tag(self, game, Py_ssize_t i) except -1
    @cython.locals(tags=dict, known=str)
    cdef _add_tag(self, game, Py_ssize_t i, str name, str value)
    @cython.locals(variant=str, board=Board)
    cdef Board _set_up(self, game)
    @cython.locals(moves=list, branches=list, in_variation=bint, c=int, start=Py_ssize_t, move=int, was_lost=bint, ply=int)
    cdef Py_ssize_t _read_moves(self, game, Board board, const unsigned char* text, Py_ssize_t i, Py_ssize_t size,
                                bint lost) except -1
    cdef Py_ssize_t _read_end(self, game, const unsigned char* text, Py_ssize_t i, Py_ssize_t size, bint lost) except -1
    @cython.locals(san=str)
    cdef bint _take(self, Board board, list moves, int move, bint in_variation) except -1
    @cython.locals(last=Move)
    cdef _keep_last(self, Board board, list moves, int move)
    @cython.locals(in_braces=bint, stop=Py_ssize_t)
    cdef Py_ssize_t _read_comment(self, game, line, const unsigned char* text, Py_ssize_t i, Py_ssize_t size) except -1
    @cython.locals(result=str, number=int, follows=int, is_mark=bint, digits=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t _read_number(self, game, Board board, line, const unsigned char* text, Py_ssize_t start, Py_ssize_t i,
                                 Py_ssize_t size, bint in_variation, bint lost) except -1
    @cython.locals(rest=Py_ssize_t)
    cdef bint _is_forfeit(self, game, Board board, Py_ssize_t i, bint lost) except -1
    cdef bint _begins_game(self, Py_ssize_t i) except -1
    @cython.locals(end=Py_ssize_t, is_closed=bint)
    cdef bint _read_in_parentheses(self, Board board, line, const unsigned char* text, Py_ssize_t i,
                                   Py_ssize_t size) except -1
    @cython.locals(length=Py_ssize_t, raw=bytes, word=str)
    cdef Py_ssize_t _read_word(self, game, Board board, line, Py_ssize_t start, Py_ssize_t end) except -1
    @cython.locals(move=int)
    cdef bint _read_part(self, game, Board board, line, str word) except -1
    @cython.locals(text=str)
    cdef bint _read_remark(self, Board board, line, str word) except -1
    cdef _note(self, game, Py_ssize_t i, str text)
    cdef Py_ssize_t _line_of(self, Py_ssize_t i) except -1


cdef class FenReader(Reader):
    cdef object _write
    cdef unsigned char[32768] _fens
    cdef Py_ssize_t _length

    cpdef flush(self)


cdef bint _is_name_character(int character) noexcept nogil
cdef bint _is_digit(int character) noexcept nogil
@cython.locals(c=int, second=int, third=int)
cdef int _blank(const unsigned char* text, Py_ssize_t i, Py_ssize_t size) noexcept nogil
@cython.locals(end=Py_ssize_t)
cdef Py_ssize_t _margin(const unsigned char* text, Py_ssize_t size, bint is_open) noexcept nogil
cdef Py_ssize_t _index_of(const unsigned char* text, Py_ssize_t i, Py_ssize_t size, int character) noexcept nogil
cdef Py_ssize_t _end_of_reserved(const unsigned char* text, Py_ssize_t i, Py_ssize_t size) noexcept nogil
@cython.locals(c=int, longest=Py_ssize_t)
cdef Py_ssize_t _end_of_word(const unsigned char* text, Py_ssize_t i, Py_ssize_t size) noexcept nogil
cdef Py_ssize_t _trimmed(const unsigned char* text, Py_ssize_t size) noexcept nogil
@cython.locals(i=Py_ssize_t)
cdef bint _leaves_open(const unsigned char* text, Py_ssize_t size, bint is_open) noexcept nogil
@cython.locals(end=Py_ssize_t)
cdef Py_ssize_t _end_of_head(const unsigned char* text, Py_ssize_t i, Py_ssize_t size) noexcept nogil
@cython.locals(start=Py_ssize_t)
cdef Py_ssize_t _end_of_tag(const unsigned char* text, Py_ssize_t i, Py_ssize_t size) noexcept nogil
cdef Py_ssize_t _end_of_space(const unsigned char* text, Py_ssize_t i, Py_ssize_t size) noexcept nogil
cdef bint _is_end_of_token(str word, Py_ssize_t length) except -1
cdef str _result(str text)
cdef str _decode(const unsigned char* text, Py_ssize_t start, Py_ssize_t end)
@cython.locals(board=Board, other=Board)
cdef Board _parse_start(str text, str variant)
cdef _take_back(Board board)
cdef _play_again(Board board, int move)
