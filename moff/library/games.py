"""Games as trees of moves, read from PGN and written: `moff.pgn`, in the words of python-chess.

Sources: of the names and their meanings, the documentation of python-chess by Niklas Fiekas; of the commands
in comments, Alan Cowderoy's supplement to the PGN standard (2001, %clk and %emt), ChessBase (%csl and %cal)
and lichess (%eval).
"""

import io
import os
import re
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakKeyDictionary, proxy

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from moff.library.boards import Board
from moff.library.scores import Cp, Mate, PovScore
from moff.library.squares import SQUARE_NAMES, STARTING_FEN
from x88.notation import pgn
from x88.notation.pgn import Reader, is_chess960

if not cython.compiled:
    from moff.library.moves import Move, from_packed
    from x88.board import Board as Position
    from x88.notation.pgn import Move as ReadMove
    from x88.notation.pgn import _new_move, _play_again

if TYPE_CHECKING:
    from moff.openings import Opening

__all__ = ["Arrow", "ChildNode", "FileExporter", "Game", "GameNode", "Mainline", "StringExporter"]
__all__ += ["NAG_BLUNDER", "NAG_BRILLIANT_MOVE", "NAG_DUBIOUS_MOVE", "NAG_GOOD_MOVE", "NAG_MISTAKE"]
__all__ += ["NAG_NULL", "NAG_SPECULATIVE_MOVE", "read_game", "read_games", "read_headers", "skip_game"]

NAG_NULL, NAG_GOOD_MOVE, NAG_MISTAKE, NAG_BRILLIANT_MOVE = range(4)
NAG_BLUNDER, NAG_SPECULATIVE_MOVE, NAG_DUBIOUS_MOVE = range(4, 7)

_EVAL = re.compile(r"\[%eval\s+(#?)([+-]?\d{1,9}(?:\.\d+)?)(?:,\d+)?\s*\]")
_TIMES = {name: re.compile(rf"\[%{name}\s+(\d+):(\d+):(\d+(?:\.\d+)?)\s*\]") for name in ("clk", "emt")}
_SHAPE = re.compile(r"([GRYB])([a-h][1-8])([a-h][1-8])?")
_COLOURS = {"G": "green", "R": "red", "Y": "yellow", "B": "blue"}

_T = TypeVar("_T")
_Child: TypeAlias = "int | Move | GameNode"
_Source: TypeAlias = "str | os.PathLike[str] | bytes | IO[str] | IO[bytes]"


class Arrow(NamedTuple):
    """An arrow between two squares, or a circle if they are the same; green, red, yellow or blue."""

    tail: int
    head: int
    color: str


class GameNode:
    """A position of a game: the start, which is the `Game`, or a `ChildNode`.

    `move` leads here from `parent`; `variations` are the nodes that follow, the main line first. `comment`
    stands after the move, `starting_comment` before the first move of a variation.
    """

    def __init__(self) -> None:
        self.parent: Any = None
        self.move: Any = None
        self.comment = ""
        self.starting_comment = ""
        self.variations: list[ChildNode] = []
        self._nags: set[int] | None = None

    @property
    def nags(self) -> set[int]:
        """The numeric annotation glyphs of the move."""
        if self._nags is None:
            self._nags = set()
        return self._nags

    @nags.setter
    def nags(self, nags: Iterable[int]) -> None:
        self._nags = set(nags)

    def game(self) -> "Game":
        """The game, which is the root."""
        node: Any = self
        while node.parent is not None:
            node = node.parent
        return node  # type: ignore[no-any-return]

    root = game

    def board(self) -> Board:
        """A new board with the position and the moves that led to it. Raises IllegalMoveError."""
        moves: list[Any] = []
        node = self
        while node.parent is not None:
            moves.append(node.move)
            node = node.parent
        return _board(self.game().headers, moves[::-1])

    def ply(self) -> int:
        """The number of half-moves since move 1 of White, by the counters of the start position."""
        plies = 0
        node = self
        while node.parent is not None:
            plies += 1
            node = node.parent
        return plies + _board(self.game().headers, []).ply()

    def turn(self) -> bool:
        """The side to move."""
        return self.ply() % 2 == 0

    def next(self) -> "ChildNode | None":
        """The next node of the main line, None at its end."""
        return self.variations[0] if self.variations else None

    def end(self) -> "GameNode":
        """The last node of the main line from here on."""
        node = self
        while node.variations:
            node = node.variations[0]
        return node

    def is_end(self) -> bool:
        """Whether no node follows."""
        return not self.variations

    def is_mainline(self) -> bool:
        """Whether the main line of the game leads here."""
        return self.parent is None or any(self is node for node in self.game().mainline())

    def is_main_variation(self) -> bool:
        """Whether the node is its parent's first, or the root."""
        return self.parent is None or self is self.parent.next()

    def starts_variation(self) -> bool:
        """Whether a variation starts with the node, which can have a starting comment then."""
        return not self.is_main_variation()

    def mainline(self) -> "Mainline[ChildNode]":
        """The nodes of the main line after this one."""
        nodes = []
        node = self.next()
        while node is not None:
            nodes.append(node)
            node = node.next()
        return Mainline(self, nodes)

    def mainline_moves(self) -> "Mainline[Move]":
        """The moves of the main line from here on."""
        return Mainline(self, [node.move for node in self.mainline()])

    def variation(self, move: _Child) -> "ChildNode":
        """The node that follows with this index or move. Raises IndexError or KeyError."""
        if isinstance(move, int):
            return self.variations[move]
        for child in self.variations:
            if child is move or child.move == move:
                return child
        raise KeyError(move)

    def __getitem__(self, move: _Child) -> "ChildNode":
        return self.variation(move)

    def has_variation(self, move: _Child) -> bool:
        """Whether a node follows with this move."""
        return any(child is move or child.move == move for child in self.variations)

    def __contains__(self, move: _Child) -> bool:
        return self.has_variation(move)

    def promote_to_main(self, move: _Child) -> None:
        """Make a variation the main line."""
        self._shift(move, -len(self.variations))

    def promote(self, move: _Child) -> None:
        """Move a variation up by one place."""
        self._shift(move, -1)

    def demote(self, move: _Child) -> None:
        """Move a variation down by one place."""
        self._shift(move, 1)

    def _shift(self, move: _Child, places: int) -> None:
        child = self.variation(move)
        place = self.variations.index(child) + places
        self.variations.remove(child)
        self.variations.insert(max(place, 0), child)

    def remove_variation(self, move: _Child) -> None:
        """Remove a variation."""
        self.variations.remove(self.variation(move))

    def add_variation(self, move: Move, **notes: Any) -> "ChildNode":
        """Add a node with a `comment`, `starting_comment` and `nags` at the end of the variations, and return
        it. Whether the move is legal is seen by `board` and by what writes moves.
        """
        return ChildNode(self, move, **notes)

    def add_main_variation(self, move: Move, **notes: Any) -> "ChildNode":
        """Add a node as the main line, and return it."""
        node = self.add_variation(move, **notes)
        self.promote_to_main(node)
        return node

    def add_line(
        self, moves: Iterable[Move], *, comment: str = "", starting_comment: str = "", nags: Any = ()
    ) -> "GameNode":
        """Add a line, and return its last node, which gets comment and NAGs."""
        node = self
        for move in moves:
            node = node.add_variation(move, starting_comment=starting_comment)
            starting_comment = ""
        node.comment = comment or node.comment
        node.nags.update(nags)
        return node

    def eval(self) -> PovScore | None:
        """The evaluation in the comment: [%eval 0.31], [%eval #-3]. [%eval #0] has mated the side to move."""
        found = _EVAL.search(self.comment)
        if found is None:
            return None
        number = float(found[2])
        score = Mate(int(number)) if found[1] else Cp(round(100 * number))
        return PovScore(score if self.turn() or score == Mate(0) else -score, self.turn())

    def set_eval(self, score: PovScore | None, depth: int | None = None) -> None:
        """Put an evaluation, with its depth in plies, into the comment in place of the one there."""
        text = ""
        if score is not None:
            mate, cp = score.white().mate(), score.white().score() or 0
            text = (f"{cp / 100:.2f}" if mate is None else f"#{mate}") + (f",{depth}" if depth else "")
        self._set("eval", text)

    def clock(self) -> float | None:
        """The time in seconds left to the side that has moved, from the comment: [%clk 0:59:30]."""
        return self._seconds("clk")

    def set_clock(self, seconds: float | None) -> None:
        """Put the time left into the comment in place of the one there."""
        text = ""
        if seconds is not None:
            minutes, rest = divmod(round(max(seconds, 0) * 1000), 60_000)
            text = f"{minutes // 60}:{minutes % 60:02}:{rest / 1000:06.3f}".rstrip("0").rstrip(".")
        self._set("clk", text)

    def emt(self) -> float | None:
        """The time in seconds spent on the move, from the comment: [%emt 0:00:30]."""
        return self._seconds("emt")

    def _seconds(self, name: str) -> float | None:
        found = _TIMES[name].search(self.comment)
        return int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3]) if found else None

    def _set(self, name: str, value: str) -> None:
        """Write a command into the comment; without a value, remove it."""
        new = f"[%{name} {value}]" if value else ""
        text, count = re.subn(rf"\[%{name}\s[^[\]]*\]", new, self.comment, count=1)
        self.comment = " ".join((text if count else f"{text} {new}").split())

    def arrows(self) -> list[Arrow]:
        """The arrows and circles in the comment."""
        values = re.findall(r"\[%c[as]l\s([^[\]]*)\]", self.comment)
        shapes = [shape for value in values for shape in _SHAPE.findall(value)]
        number = SQUARE_NAMES.index
        return [Arrow(number(tail), number(head or tail), _COLOURS[colour]) for colour, tail, head in shapes]

    def accept(self, exporter: "StringExporter") -> Any:
        """Write the game, or the line from this node on; returns what the exporter does."""
        return exporter.export(self)

    def __str__(self) -> str:
        """The game in export format, or the line from this node on in one line of text."""
        return str(StringExporter(columns=80 if self.parent is None else None).export(self))


class ChildNode(GameNode):
    """A node after a move."""

    parent: GameNode
    move: Move

    def __init__(
        self, parent: GameNode, move: Move, *, comment: str = "", starting_comment: str = "", nags: Any = ()
    ) -> None:
        """Adds the node to its parent."""
        super().__init__()
        if not isinstance(move, Move):
            raise TypeError(f"{move!r:.60} is not a move")
        self.parent = parent
        self.move = move
        self.comment = comment
        self.starting_comment = starting_comment
        self.nags = nags
        parent.variations.append(self)

    def san(self) -> str:
        """The move in standard algebraic notation. Raises IllegalMoveError."""
        return self.parent.board().san(self.move)

    def uci(self, *, chess960: bool | None = None) -> str:
        """The move in coordinates, with castling as in Chess960 or not; as on the board, if not told."""
        return self.parent.board().uci(self.move, chess960=chess960)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x} ({self.move})>"


class Game(GameNode):
    """A game: the root of its tree.

    `headers` are its tags by name. `faults`, or `errors`, are what the reader found: each has a line, counted
    from 1, and a text.
    """

    def __init__(self, headers: dict[str, str] | None = None) -> None:
        """A game without moves, with the headers that every game has unless others are given."""
        super().__init__()
        self.headers = dict(pgn.ROSTER if headers is None else headers)
        self.faults: list[pgn.Fault] = []
        self.errors = self.faults

    @staticmethod
    def without_tag_roster() -> "Game":
        """A game without headers."""
        return Game({})

    @staticmethod
    def from_board(board: Board) -> "Game":
        """The game that was played on a board, with its result."""
        game = Game()
        game.setup(board.root())
        game.headers["Result"] = board.result()
        game.add_line(board.move_stack)
        return game

    def setup(self, board: Board | str) -> None:
        """Set the headers FEN, SetUp and Variant for a start position. Raises ValueError."""
        if isinstance(board, str):
            board = _board({"FEN": board}, [])
        for name in ("FEN", "SetUp", "Variant"):
            self.headers.pop(name, None)
        if board.fen() != STARTING_FEN:
            self.headers |= {"FEN": board.fen(), "SetUp": "1"}
        if board.chess960:
            self.headers["Variant"] = pgn.CHESS960

    def opening(self) -> "Opening | None":
        """The opening: that of the last position of the main line that has a name."""
        from moff.openings import find

        board = self.board()
        found = find(board.x88)
        for move in self.mainline_moves():
            board.push(move)
            found = find(board.x88) or found
        return found

    def __repr__(self) -> str:
        players = " vs. ".join(repr(self.headers.get(name, "?")) for name in ("White", "Black"))
        faults = f", {len(self.faults)} faults" if self.faults else ""
        return f"<{type(self).__name__} at {id(self):#x} ({players}{faults})>"

    def __reduce__(self) -> tuple[object, ...]:
        nodes: list[GameNode] = [self]
        rows = []
        for number, node in enumerate(nodes):  # which grows
            for child in node.variations:
                nodes.append(child)
                notes = {"comment": child.comment, "starting_comment": child.starting_comment}
                rows.append((number, child.move, notes | {"nags": [*child.nags]}))
        return type(self), (self.headers,), (self.comment, self.faults, rows)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.comment, faults, rows = state
        self.faults.extend(faults)
        nodes: list[GameNode] = [self]
        for parent, move, notes in rows:
            nodes.append(nodes[parent].add_variation(move, **notes))


def _board(headers: dict[str, str], moves: list[Move]) -> Board:
    """The position after moves from the start position. Raises ValueError."""
    board = Board(headers.get("FEN", STARTING_FEN), chess960=True)
    board.chess960 = board.x88.is_chess960() or is_chess960(headers)
    for move in moves:
        board.push(move)
    return board


class Mainline(list[_T]):
    """The nodes of the main line after a node, or their moves. As text, they have comments and NAGs."""

    def __init__(self, start: GameNode, items: Iterable[_T]) -> None:
        super().__init__(items)
        self._next = start.next()

    def __str__(self) -> str:
        if self._next is None:
            return ""
        return str(StringExporter(columns=None, variations=False).export(self._next))


class StringExporter:
    """Writes games as text of PGN, in lines shorter than `columns` or moves in one line for None, and with or
    without headers, comments with NAGs, and variations. `str` gives the last text.
    """

    def __init__(
        self, *, columns: Any = 80, headers: bool = True, comments: bool = True, variations: bool = True
    ) -> None:
        self._width = columns - 1 if columns else 0
        self._headers, self._comments, self._variations = headers, comments, variations
        self._text = ""

    def __str__(self) -> str:
        return self._text

    def export(self, node: GameNode) -> Any:
        """Write a game, or the line from a node on; returns the text. Raises IllegalMoveError."""
        words: list[str] = []
        lines: list[str] = []
        if isinstance(node, Game):
            known = {name: node.headers[name] for name in pgn.ROSTER if name in node.headers}
            tags = (known | node.headers).items() if self._headers else ()
            lines = [f'[{name} "{pgn._escape(str(value))}"]\n' for name, value in tags]
            lines += ["\n"] if lines else []
            self._add_comment(words, node.comment)
            if node.variations:
                self._add_line(words, node.variations[0], node.board(), self._variations)
            words.append(node.headers.get("Result", pgn.UNFINISHED))
        else:
            self._add_line(words, node, node.parent.board(), False)
        text = pgn._fill_lines(words, self._width) if self._width else " ".join(words)
        self._text = "".join(lines) + text.rstrip()
        return self._text

    def _add_line(self, words: list[str], first: GameNode, board: Board, sidelines: bool) -> None:
        """Add the words of a line from a node on, with the variations to its first move if asked for."""
        start = board.x88.ply
        end = -1
        pending: list[Any] = [(first, start, sidelines)]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                words.append(item)
                continue
            node, ply, sidelines = item
            while board.x88.ply > start and board.x88.ply >= ply:
                board.pop()
            if ply > start:
                board.push(node.parent.move)
            self._add_comment(words, node.starting_comment)
            if board.turn or len(words) != end:
                words.append(f"{board.fullmove_number}{'.' if board.turn else '...'}")
            words.append(board.san(node.move))
            words.extend(f"${nag}" for nag in sorted(node.nags) if self._comments)
            end = len(words)
            self._add_comment(words, node.comment)
            if node.variations:
                pending.append((node.variations[0], ply + 1, self._variations))
            for other in reversed(node.parent.variations[1:]) if sidelines else ():
                pending += [")", (other, ply, False), "("]

    def _add_comment(self, words: list[str], comment: str) -> None:
        """Add a comment, which cannot hold a closing brace. Only one that is longer than a line is broken."""
        text = " ".join(comment.replace("}", "").split())
        if text and self._comments:
            text = f"{{ {text} }}"
            words.extend([text] if len(text) <= self._width else pgn._WORDS.findall(text))


class FileExporter(StringExporter):
    """Writes games into a text file, each followed by an empty line; the options are `StringExporter`'s."""

    def __init__(self, handle: IO[str], **options: Any) -> None:
        super().__init__(**options)
        self._handle = handle

    def export(self, node: GameNode) -> Any:
        return self._handle.write(f"{super().export(node)}\n\n")


class GameReader(Reader):
    """An iterator over the games of a binary stream, as trees."""

    def __next__(self) -> Game:  # type: ignore[override]
        return _tree(super().__next__())

    def give_back(self) -> bool:
        """Forget the line read beyond the end of the game; whether there was one."""
        waiting, self._waiting = self._waiting, b""
        return len(waiting) > 0

    def _take(self, board: Position, moves: list[ReadMove], move: int, in_variation: bool) -> bool:
        _play_again(board, move)
        moves.append(_new_move("", move, ""))
        return False


def _tree(read: pgn.Game) -> Game:
    """The game as a tree."""
    game = Game(pgn.ROSTER | read.tags | {"Result": read.result})
    game.comment = read.comment
    game.faults = game.errors = read.faults
    chess960 = (
        bool(read.moves) and not read.tags.keys().isdisjoint(("FEN", "Variant")) and game.board().chess960
    )
    pending: list[tuple[GameNode, pgn.Variation]] = [(game, read)]
    while pending:
        node, line = pending.pop()
        starting_comment = "" if line is read else line.comment
        found = []
        for move in line.moves:
            child = ChildNode.__new__(ChildNode)
            child.parent = node
            child.move = from_packed(move.move, chess960)
            child.comment = move.comment
            child.starting_comment = starting_comment
            child.variations = []
            child._nags = set(move._nags) if move._nags else None
            for variation in move._variations or ():
                if variation.moves:
                    found.append((node, variation))
                else:
                    child.comment = f"{child.comment} {variation.comment}".strip()
            node.variations.append(child)
            node = child
            starting_comment = ""
        pending.extend(reversed(found))
    return game


class _Lines:
    """The lines of a file object as bytes, counted. It does not keep the object alive."""

    def __init__(self, handle: Any) -> None:
        self._handle = proxy(handle)
        self.count = 0

    def readline(self, size: int) -> bytes:
        self.count += 1
        line = self._handle.readline(size)
        return line.encode("utf-8", "surrogateescape") if isinstance(line, str) else line

    def read(self) -> bytes:
        return bytes(self._handle.read())


_readers: "WeakKeyDictionary[Any, tuple[GameReader, _Lines, Any]]" = WeakKeyDictionary()
"""The reader of a file object, its lines, and where it has left the object."""


def read_games(source: _Source) -> Iterator[Game]:
    """The games of a path, of a text or binary file object, or of bytes. What is not UTF-8 is read as
    Windows-1252. Damage becomes a fault of its game; only the source itself raises.
    """
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as stream:
            yield from GameReader(stream)
    elif isinstance(source, bytes):
        yield from GameReader(io.BytesIO(source))
    else:
        while (game := read_game(source)) is not None:
            yield game


def read_game(source: _Source) -> Game | None:
    """The first game of what `read_games` takes, of a file object the next one; None if there is none."""
    if isinstance(source, str | os.PathLike | bytes):
        return next(read_games(source), None)
    if not hasattr(source, "readline"):
        raise TypeError(f"{source!r:.60} is not a path, a file object or bytes")
    place = _place(source)
    reader, lines, left_at = _readers.get(source, (None, None, None))
    if reader is None or lines is None or left_at != place:
        lines = _Lines(source)
        reader = GameReader(lines)  # type: ignore[arg-type]
    lines.count = 0
    game = next(reader, None)
    if place is not None and reader.give_back():
        source.seek(place)
        for _ in range(lines.count - 1):
            source.readline()
    _readers[source] = reader, lines, _place(source)
    return game


def _place(handle: Any) -> Any:
    """Where a file object stands; None if it cannot be placed elsewhere, such as a pipe."""
    return handle.tell() if hasattr(handle, "seekable") and handle.seekable() else None


def read_headers(source: _Source) -> dict[str, str] | None:
    """The headers of the game that `read_game` gives."""
    game = read_game(source)
    return None if game is None else game.headers


def skip_game(source: _Source) -> bool:
    """Whether `read_game` gives a game."""
    return read_game(source) is not None
