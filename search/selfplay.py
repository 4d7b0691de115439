"""Games of Moff against itself, for a network to learn from. No Python runs between the moves.

A game is determined by its seed and number, the nodes a move, the search and the network: on every machine,
and in both builds.
"""

from array import array
from operator import index
from struct import Struct
from typing import NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from search.nnue.network import Weights
from x88.notation import chess960, fen

if not cython.compiled:
    from search.aspiration import iterate
    from search.score import DRAW, LONGEST_MATE, MAX_PLY
    from search.searcher import Searcher
    from search.stop import Stop
    from search.transposition import TranspositionTable
    from x88.atomic import plain
    from x88.attack import see_at_least
    from x88.board import Board
    from x88.move import CAPTURED, CASTLING, PROMOTED, promoted_of
    from x88.movegen import MoveStack
    from x88.piece import BLACK

    MOST = 20
    LEAST = 2
    OPENING = 8
    UNDECIDED = 400
    TRIES = 100
    RESIGNED = 1330
    PLAYED_OUT = 2660
    RESIGNED_PLIES = 4
    LEVEL = 7
    LEVEL_PLIES = 12
    LEVEL_FROM = 70
    LONGEST = 400
    LOST = 0
    DRAWN = 1
    WON = 2

    def order(move: int) -> int:
        """Where a move stands among the legal moves: by target, origin, kind promoted to, castling last."""
        return (move & 0x3FFF) << 5 | promoted_of(move) << 1 | (move & CASTLING != 0)


GOLDEN = 0x9E3779B97F4A7C15
FIRST_FACTOR = 0xBF58476D1CE4E5B9
SECOND_FACTOR = 0x94D049BB133111EB
ALL_BITS = 2**64 - 1

STARTS = 20
"""One game in this many starts from a position of Chess960, and another one from two of them."""

HEAD = Struct("<HHHBB")
"""A stored game without its moves: the start positions of White and Black, plies, opening, result."""


class Game(NamedTuple):
    """A game, as bench/gamefile.py stores it."""

    white: int
    """The number of White's start position in Chess960."""
    black: int
    opening: int
    """The random plies before the first search."""
    result: int
    """White's points doubled."""
    moves: bytes
    """For each ply, the rank of the move played among the legal moves (see `rank`)."""
    scores: "array[int]"
    """For each ply after the opening, the score in centipawns of the search, from White's point of view."""
    usable: int
    """The number of these positions that a network can learn from (see `is_usable`)."""


class Selfplay:
    """A player of games, with a searcher and a table of its own.

    Each game begins with OPENING random plies or one more, none of which loses material by static exchange.
    If the first search says that the game is decided, others are drawn, up to TRIES times. Each search ends
    with the first iteration, from the one of depth LEAST on, that brings it to the nodes asked for: with a
    depth of 1, it would see neither a stalemate nor a repetition coming. If that takes MOST times as many, it
    is broken off, and the one before counts.

    A game ends by the rules; when the scores have been beyond RESIGNED for RESIGNED_PLIES in a row, in one
    game of ten beyond PLAYED_OUT, so that a network learns to win, too; after move LEVEL_FROM when they have
    been within LEVEL for LEVEL_PLIES; or after LONGEST plies.
    """

    def __init__(self, weights: Weights | None = None, megabytes: int = 1) -> None:
        """`weights` default to Moff's own network. Raises ValueError or MemoryError for such a table."""
        self._stop = Stop()
        self._searcher = Searcher(TranspositionTable(megabytes), self._stop, None, None, weights)
        self._nodes = 0
        self._chance = 0
        self._moves = [0] * 512
        self._scores = [0] * 512
        self._is_over = False
        self._best = 0
        self._checked = False
        self._opening = 0
        self._result = 0
        self._resigned = 0
        self._usable = 0

    def stop(self) -> None:
        """End the game that another thread plays, and all that follow."""
        self._is_over = True
        self._stop.set()

    def play(self, seed: int, number: int, nodes: int) -> Game | None:
        """The game of that number, with about twice so many nodes a move; None after `stop`. Raises
        ValueError unless seed and number have 64 bits, and nodes are from 1 to 2**32.
        """
        if not 0 <= index(seed) <= ALL_BITS or not 0 <= index(number) <= ALL_BITS:
            raise ValueError(f"{seed} and {number} are no seed and number of 64 bits")
        if not 1 <= index(nodes) <= 1 << 32:
            raise ValueError(f"{nodes} are no nodes for a search")
        self._nodes = nodes
        self._chance = random_number(seed) ^ number
        white = black = chess960.STANDARD
        kind = self._below(STARTS)
        if kind <= 1:
            white = black = self._below(chess960.POSITIONS)
        if kind == 1:
            black = self._below(chess960.POSITIONS)
        self._resigned = RESIGNED if self._below(10) else PLAYED_OUT
        searcher = self._searcher
        searcher.board = fen.parse(chess960.start(white, black), chess960=True)
        searcher.board.make_room(LONGEST + MAX_PLY)
        searcher.table.clear()
        searcher.forget()
        searcher.corrections.clear()
        with cython.nogil:
            plies = self._play(self._searcher, self._searcher.board)
        if plies < 0:
            return None
        moves = bytes([self._moves[i] for i in range(plies)])
        scores = array("h", [self._scores[i] for i in range(self._opening, plies)])
        return Game(white, black, self._opening, self._result, moves, scores, self._usable)

    def _play(self, searcher: Searcher, board: Board) -> int:
        """Play from the start position on the board. Returns the number of plies, -1 if stopped."""
        score = 0
        plies = 0
        for _ in range(TRIES):
            plies = self._open(searcher, board, searcher.stack)
            score = self._think(searcher)
            if self._is_over:
                return -1
            if abs(score) <= UNDECIDED:
                break
        self._opening = plies
        self._usable = 0
        lead = level = 0
        while True:
            self._usable += is_usable(board, self._checked, self._best, score)
            if board.side == BLACK:
                score = -score
            self._moves[plies] = rank(searcher, self._best)
            self._scores[plies] = score
            board.make_unchecked(self._best)
            plies += 1
            self._begin()
            if score >= self._resigned:
                lead = lead + 1 if lead > 0 else 1
            elif score <= -self._resigned:
                lead = lead - 1 if lead < 0 else -1
            else:
                lead = 0
            level = level + 1 if abs(score) <= LEVEL else 0
            self._result = DRAWN
            if searcher.root_count == 0:
                if self._checked:
                    self._result = WON if board.side == BLACK else LOST
                return plies
            if is_draw(board) or plies == LONGEST:
                return plies
            if abs(lead) == RESIGNED_PLIES:
                self._result = WON if lead > 0 else LOST
                return plies
            if level >= LEVEL_PLIES and board.fullmove > LEVEL_FROM:
                return plies
            score = self._think(searcher)
            if self._is_over:
                return -1

    def _open(self, searcher: Searcher, board: Board, stack: MoveStack) -> int:
        """Make random plies from the start position, and set up a search; returns how many."""
        while True:
            while board.ply:
                board.unmake_unchecked()
            wanted = OPENING + self._below(2)
            while board.ply < wanted:
                self._begin()
                count = 0
                for i in range(searcher.root_count):
                    if see_at_least(board, searcher.root_moves[i], 0):
                        stack.moves[count] = searcher.root_moves[i]
                        count += 1
                if count == 0:
                    break
                move = stack.moves[self._below(count)]
                self._moves[board.ply] = rank(searcher, move)
                board.make_unchecked(move)
            self._begin()
            if board.ply == wanted and searcher.root_count and not is_draw(board):
                return wanted

    def _begin(self) -> None:
        """Set up a search of the position on the board."""
        self._searcher.table.new_search()
        self._searcher.begin(0)
        self._checked = self._searcher.board.checkers != 0

    def _think(self, searcher: Searcher) -> int:
        """Choose the best move; returns its score."""
        score = DRAW
        for depth in range(1, MAX_PLY):
            found = iterate(searcher, depth, score)
            if self._stop.stopped:
                self._stop.clear()
                break
            score = found
            self._best = searcher.pv[0]
            if depth < LEAST:
                continue
            if searcher.nodes >= self._nodes:
                break
            searcher.node_limit = plain(MOST * self._nodes)
        return score

    def _below(self, limit: int) -> int:
        """A random number from 0 to `limit` - 1."""
        self._chance = random_number(self._chance)
        return (self._chance >> 32) * limit >> 32


def random_number(last: int) -> int:
    """The next random number of 64 bits, by SplitMix64 (Guy Steele, Doug Lea and Christine Flood, 2014)."""
    mixed = last + GOLDEN & ALL_BITS
    mixed = (mixed ^ mixed >> 30) * FIRST_FACTOR & ALL_BITS
    mixed = (mixed ^ mixed >> 27) * SECOND_FACTOR & ALL_BITS
    return mixed ^ mixed >> 31


def is_draw(board: Board) -> bool:
    """Whether a position with legal moves is drawn by the rules."""
    return board.halfmove >= 100 or board.is_repetition(2) or board.is_insufficient_material()


def is_usable(board: Board, checked: bool, move: int, score: int) -> bool:
    """Whether a network can learn from a position: it is not in check, its best move is no capture and no
    promotion, it repeats no position of the game, and its score is no mate.
    """
    if checked or move & (CAPTURED | PROMOTED) or abs(score) >= LONGEST_MATE:
        return False
    return not board.is_repetition(1)


def rank(searcher: Searcher, move: int) -> int:
    """The number of legal moves of the root that stand before this one."""
    found = 0
    place = order(move)
    for i in range(searcher.root_count):
        found += order(searcher.root_moves[i]) < place
    return found
