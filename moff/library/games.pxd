cimport cython

from moff.library.boards cimport Board
from moff.library.moves cimport Move, from_packed
from x88.board cimport Board as Position
from x88.notation.pgn cimport Move as ReadMove
from x88.notation.pgn cimport Reader, _new_move, _play_again


cdef class GameNode:
    cdef readonly GameNode parent
    cdef readonly Move move
    cdef public str comment
    cdef public str starting_comment
    cdef public list variations
    cdef set _nags      # None until they are asked for


cdef class ChildNode(GameNode):
    pass


cdef class Game(GameNode):
    cdef public dict headers
    cdef readonly list faults
    cdef readonly list errors   # the same list


@cython.locals(board=Board, move=Move)
cdef Board _board(dict headers, list moves)


cdef class GameReader(Reader):
    cdef bint _take(self, Position board, list moves, int move, bint in_variation) except -1


@cython.locals(game=Game, pending=list, found=list, node=GameNode, child=ChildNode, move=ReadMove, chess960=bint)
cdef Game _tree(read)
