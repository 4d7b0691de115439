"""Endgame tablebases ("Syzygy"): the result of a position with few pieces (WDL), and the distance to the next
capture or pawn move that keeps it (DTZ).

The tables (`search.syzygy.file`) are right only where no capture is better, so captures, en passant and, for
the distance, pawn moves are searched here. Threads share the tables and probe them without the GIL.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

import contextlib
import os
from collections.abc import Callable
from functools import partial

from search.syzygy.file import LETTERS, MAGIC, Table, signature

if not cython.compiled:
    # isort: off
    # fmt: off
    from search.syzygy.file import (
        BLESSED_LOSS, CURSED_WIN, DRAW, LOSS, OTHER_SIDE, UNKNOWN, WIN, signature_of,
    )
    from search.syzygy.pairs import MOST_PIECES
    from x88.attack import in_check
    from x88.board import Board
    from x88.move import CAPTURED, moved_of
    from x88.movegen import MoveStack, generate, generate_captures, own_stack
    from x88.piece import PAWN

    ZEROES = 16


class Tablebase:
    """The tables in a list of folders."""

    def __init__(self, folders: list[str], on_problem: Callable[[str], object] = lambda _: None) -> None:
        """`on_problem` is called with each problem of a file or folder, as added to `problems`: at once, or
        in the probing thread when a file is first probed or found to be damaged.
        """
        self.problems: list[str] = []
        """The problems of files that were to be used, each reported once."""
        self.most = 0
        """The largest number of pieces, kings included, that a WDL table has."""
        # The tables refer to this and not to the tablebase, which would never be freed.
        self._complain = partial(_complain, self.problems, on_problem)
        self._results: Table | None = None
        self._distances: Table | None = None
        self._tables: dict[tuple[str, int], Table] = {}
        for folder in folders:
            try:
                names = sorted(os.listdir(folder))
            except (OSError, ValueError) as error:
                self._complain(f"{folder}: {getattr(error, 'strerror', None) or error}")
                continue
            for name in names:
                self._add(folder, name)
        self._results = _tree([table for (suffix, _), table in self._tables.items() if suffix == ".rtbw"])
        self._distances = _tree([table for (suffix, _), table in self._tables.items() if suffix == ".rtbz"])
        if self._tables:
            _allow_open_files(2 * len(self._tables))

    def _add(self, folder: str, name: str) -> None:
        parts = parse_name(name)
        if parts is None:
            return
        table = Table(os.path.join(folder, name), *parts, self._complain)
        if self._tables.setdefault((table.suffix, table.key), table) is table and table.suffix == ".rtbw":
            self.most = max(self.most, table.count)

    def count(self, suffix: str) -> int:
        """The number of tables with the suffix .rtbw (WDL) or .rtbz (DTZ)."""
        return sum(1 for kind, _ in self._tables if kind == suffix)

    def missing(self) -> list[str]:
        """The missing WDL tables that a capture or promotion in one of the others leads to."""
        found = set()
        for suffix, key in self._tables:
            if suffix == ".rtbw":
                for sides in _followers(*self._tables[suffix, key].sides):
                    key = min(signature(*sides), signature(*reversed(sides)))
                    if key and (suffix, key) not in self._tables:
                        found.add("v".join(in_order(*sides)) + suffix)
        return sorted(found, key=lambda name: (len(name), name))

    def wdl(self, board: Board) -> int | None:
        """The result of a position for the side to move, from LOSS to WIN; None if no table has it."""
        if not self._can_probe(board):
            return None
        found = self.result(board, own_stack(), 0)
        return None if found == UNKNOWN else found

    def dtz(self, board: Board) -> int | None:
        """The distance to the next capture or pawn move that keeps the result, in plies: positive for a win,
        negative for a loss, 0 for a draw, more than 100 where the fifty-move rule saves the loser; None if no
        table has it. It may be off by one where a table stores moves rather than plies.
        """
        if not self._can_probe(board):
            return None
        found = self.distance(board, own_stack(), 0, True)
        return None if found == UNKNOWN else found

    def _can_probe(self, board: Board) -> bool:
        return not board.castling and pieces_on(board) <= self.most

    # Without the GIL. The board is left as it was; the stack is used from index `sp` on.

    def result(self, board: Board, stack: MoveStack, sp: int) -> int:
        """The result of a position without castling rights and with at most `most` pieces, for the side to
        move; UNKNOWN if no table has it.
        """
        found = self._probe_captures(board, stack, sp, False)
        return found if found <= WIN or found == UNKNOWN else found - ZEROES

    def distance(self, board: Board, stack: MoveStack, sp: int, is_first: bool) -> int:
        """The DTZ of such a position; UNKNOWN if no table has it. See `dtz`. `is_first` is unset one move
        after a position that the table has only with the other side to move.
        """
        found = self._probe_captures(board, stack, sp, True)
        if found in (UNKNOWN, DRAW):
            return found
        if found > WIN:
            return before_zeroing(found - ZEROES)
        if self._distances is None:
            return UNKNOWN
        value = self._distances.value_of(_key(board), board, found)
        if value == OTHER_SIDE and is_first:
            return self._distance_by_moves(board, stack, sp, 1 if found > 0 else -1)
        if value in (UNKNOWN, OTHER_SIDE):
            return UNKNOWN
        if found in (CURSED_WIN, BLESSED_LOSS):
            value += 100
        return value if found > 0 else -value

    def _distance_by_moves(self, board: Board, stack: MoveStack, sp: int, sign: int) -> int:
        """DTZ where the table stores only positions with the other side to move: the best over all moves."""
        best = UNKNOWN
        end = generate(board, stack, sp)
        for i in range(sp, end):
            move = stack.moves[i]
            zeroing = is_zeroing(move)
            board.make_unchecked(move)
            if zeroing:
                value = self.result(board, stack, end)
                if value != UNKNOWN:
                    value = -before_zeroing(value)
            else:
                value = self.distance(board, stack, end, False)
                if value != UNKNOWN:
                    value = -value
            mates = value == 1 and in_check(board) and generate(board, stack, end) == end
            board.unmake_unchecked()
            if value == UNKNOWN:
                return UNKNOWN
            if mates:
                best = 1
            if not zeroing and value:
                value += 1 if value > 0 else -1
            if value * sign > 0 and value < best:
                best = value
        return -1 if best == UNKNOWN else best

    def _probe_captures(self, board: Board, stack: MoveStack, sp: int, with_pawns: bool) -> int:
        """The result, with ZEROES added if a zeroing move achieves it; UNKNOWN if no table has it.

        Tables ignore en passant, and where a capture is best the stored value is arbitrary, so captures are
        searched first; with `with_pawns`, all pawn moves too.
        """
        best = LOSS
        tried = 0
        # Unless the en-passant capture is the only move, the table has the result without it.
        is_complete = with_pawns or board.en_passant_legal
        if is_complete:
            end = generate(board, stack, sp)
        else:
            end = generate_captures(board, stack, sp)
        for i in range(sp, end):
            move = stack.moves[i]
            if not move & CAPTURED and not (with_pawns and moved_of(move) == PAWN):
                continue
            tried += 1
            board.make_unchecked(move)
            found = self.result(board, stack, end)
            board.unmake_unchecked()
            if found == UNKNOWN:
                return UNKNOWN
            best = max(best, -found)
            if best == WIN:
                return WIN + ZEROES
        if is_complete and tried and tried == end - sp:
            return best + ZEROES
        key = _key(board)
        if key == 0:
            value = DRAW  # two kings
        elif self._results is None:
            return UNKNOWN
        else:
            value = self._results.value_of(key, board, DRAW)
            if value == UNKNOWN:
                return UNKNOWN
        if tried and best >= value:
            return best + ZEROES if best > DRAW else best
        return value


def _complain(problems: list[str], on_problem: Callable[[str], object], problem: str) -> None:
    problems.append(problem)
    on_problem(problem)


def _key(board: Board) -> int:
    """The key of the table of the pieces on the board."""
    found = signature_of(board)
    return min(found, found >> 20 | (found & 0xFFFFF) << 20)


def is_zeroing(move: int) -> bool:
    """Whether a move captures or moves a pawn."""
    return move & CAPTURED != 0 or moved_of(move) == PAWN


def before_zeroing(result: int) -> int:
    """The DTZ before a capture or pawn move that achieves a result."""
    if result == WIN:
        return 1
    if result == CURSED_WIN:
        return 101
    if result == DRAW:
        return 0
    return -101 if result == BLESSED_LOSS else -1


def pieces_on(board: Board) -> int:
    """The number of pieces on a board, kings included."""
    return board.count[0] + board.count[1]


def _tree(tables: list[Table]) -> Table | None:
    """Build a balanced tree of tables; returns its root, None if there are none."""
    if not tables:
        return None
    tables = sorted(tables, key=lambda table: table.key)
    middle = len(tables) // 2
    root = tables[middle]
    root.lower = _tree(tables[:middle])
    root.higher = _tree(tables[middle + 1 :])
    return root


def _allow_open_files(count: int) -> None:
    """Allow this many more open files if possible: the limit is often 1024, fewer than the tables."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # Unix only

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = count + 512
        if resource.RLIM_INFINITY not in (soft, hard) and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(wanted, hard)), hard))


def _followers(white: str, black: str) -> list[tuple[str, str]]:
    """The letters of both sides after each capture and promotion."""
    found = []
    for own, other in ((white, black), (black, white)):
        captures = [other[:n] + other[n + 1 :] for n in range(1, len(other))]
        found += [(own, left) for left in captures]
        if "P" in own:
            for letter in "QRBN":
                promoted = own.replace("P", letter, 1)
                found += [(promoted, left) for left in [other, *captures]]
    return found


def in_order(white: str, black: str) -> list[str]:
    """The letters of two sides in the order of a table's name."""
    sides = ["".join(sorted(side, key="KQRBNP".index)) for side in (white, black)]
    return sorted(sides, key=lambda side: (-len(side), ["KQRBNP".index(letter) for letter in side]))


def folders_of(path: str) -> list[str]:
    """The folders of a path, separated as on this system (os.pathsep)."""
    return [folder for folder in path.split(os.pathsep) if folder]


def parse_name(name: str) -> tuple[str, str, str] | None:
    """The pieces of both sides and the suffix in the name of a table file; None if it is not such a name."""
    stem, suffix = os.path.splitext(name)
    white, _, black = stem.partition("v")
    if suffix not in MAGIC or not _is_side(white) or not _is_side(black):
        return None
    if len(white) + len(black) > MOST_PIECES:
        return None
    return white, black, suffix


def _is_side(letters: str) -> bool:
    """Whether letters name the pieces of a side as the files do: the king first, then the others in order."""
    return (
        letters.count("K") == 1
        and letters == "".join(sorted(letters, key="KQRBNP".find))
        and not set(letters) - set(LETTERS)
    )
