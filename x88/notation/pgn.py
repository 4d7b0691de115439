"""PGN, portable game notation: reads and writes games with tags, comments, NAGs and variations.

The reader streams: one game at a time, whatever the size of the file. Every move carries its SAN and the FEN
after it, as the `Move` object of "Modelarea tablei și jocului de șah" (XII) does. Damage in a game is
recorded with its line; the moves before it are kept, and the next game is never lost. The writer produces the
export format.

The result after the moves takes precedence over the tag; neither is compared with the final position.

Beyond the standard, the reader accepts glyphs for NAGs ("±"), other forms of results ("1–0", "½-½", "1:0",
"0-0" for a double forfeit), figurines, the numbers of ICCF ("5254"), tokens without spaces between them
("d5!!2.c4"), and null moves. It skips text in angle brackets, which the standard reserves.
"""

import codecs
import io
import re
from collections.abc import Callable
from typing import Any, BinaryIO, NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88.notation import fen
from x88.notation.san import complaint
from x88.notation.san import write as write_san

if not cython.compiled:
    from x88.attack import in_check
    from x88.board import Board
    from x88.move import NO_MOVE
    from x88.notation.fen import LONGEST, put
    from x88.notation.fen import write as write_fen
    from x88.notation.san import find, match, plain, play, read
    from x88.piece import WHITE


ROSTER = {
    "Event": "?",
    "Site": "?",
    "Date": "????.??.??",
    "Round": "?",
    "White": "?",
    "Black": "?",
    "Result": "*",
}
"""The seven tags that every game has, in their order, with their values for "unknown"."""

DOUBLE_FORFEIT = "0-0"
RESULTS = ("1-0", "0-1", "1/2-1/2", "*", DOUBLE_FORFEIT)
UNFINISHED = "*"

_WIDTH = 79
_WORDS = re.compile(r"\[%\w+\s[^\]]{,60}\]\S*|\S+")
"""The words of a comment. A command, such as `[%eval 0.31]`, is one: some programs fail to rejoin it."""
_LONGEST_GAME = 1 << 24
_ENOUGH = 1 << 16
_LONGEST_COMMENT = 1 << 16
_DEEPEST = 64
_MARKS = {"!": 1, "?": 2, "!!": 3, "??": 4, "!?": 5, "?!": 6, "‼": 3, "⁇": 4, "⁉": 5, "⁈": 6}
_GLYPHS = {
    **dict.fromkeys("□", (7, 7)),
    "=": (10, 10),
    "∞": (13, 13),
    **dict.fromkeys(("⩲", "+=", "+/="), (14, 14)),
    **dict.fromkeys(("⩱", "=+", "=/+"), (15, 15)),
    **dict.fromkeys(("±", "+/-"), (16, 16)),
    **dict.fromkeys(("∓", "-/+"), (17, 17)),
    "+-": (18, 18),
    "-+": (19, 19),
    **dict.fromkeys("⨀⊙", (23, 22)),
    "○": (26, 27),
    **dict.fromkeys(("⟳", "↑↑"), (32, 33)),
    "↑": (36, 37),
    "→": (40, 41),
    **dict.fromkeys(("⯹", "=/∞", "=∞"), (44, 45)),
    **dict.fromkeys("⇆⇄", (132, 133)),
    **dict.fromkeys("⨁⊕", (138, 139)),
    **dict.fromkeys("∆Δ△", (140, 140)),
    "∇": (141, 141),
    "⌓": (142, 142),
    "N": (146, 146),
    "D": (220, 220),
}
"""The NAG of a glyph after a move of White, and after one of Black. Initiative, attack and the like belong to
the side that has moved, zugzwang to the other side.
"""
_ANNOTATIONS = ("e.p.", "ep", "ep.", "e.p", "+", "++", "#", "mate", "ch", "ch.")
_NULL_MOVES = ("--", "Z0", "0000", "@@@@", "<>")
_VARIANTS = (
    *("", "standard", "standardchess", "normal", "chess", "fromposition", "classical", "classicalchess"),
    *("regular", "orthodox"),
)
CHESS960 = "Chess960"
"""The value of the Variant tag for Chess960 and double Fischer random chess."""
_CHESS960_NAMES = (
    *("chess960", "960", "chess9lx", "frc", "dfrc", "freestyle", "freestylechess", "wildfr"),
    *("fischerandom", "fischerrandom", "fischerandomchess", "fischerrandomchess", "doublefischerrandom"),
)
_TAG_NAMES = {
    spelling(name): name
    for name in (*ROSTER, "FEN", "SetUp", "Variant")
    for spelling in (str.lower, str.upper, str.capitalize)
}
_SPACE = rb"\s|\xc2?\xa0|\xe2\x80[\x80-\x8f\xa8-\xaf]|\xef\xbb\xbf"
_BLANK = rb"(?:" + _SPACE + rb")*"
_REMARKS = re.compile(rb"(?:" + _SPACE + rb"|\{[^}]*\}|;[^\n]*)*")
_TAG_NAME = rb"\[" + _BLANK + rb"(\w[\w+#-]*)" + _BLANK + rb"[:=]?" + _BLANK
_TAG_END = _BLANK + rb"\]"
_TAG = re.compile(_TAG_NAME + rb'"((?:[^"\\\n]|\\.)*)"' + _TAG_END)
_QUOTE = rb'(?:"|\xe2\x80[\x9c-\x9f]|[\x84\x93\x94])'
_LENIENT_TAG = re.compile(_TAG_NAME + _QUOTE + rb"(.*)" + _QUOTE + _TAG_END + rb"[ \t\r]*$", re.MULTILINE)
_ESCAPED = re.compile(r'\\(["\\])')
_HALF = rb"(?:1/2|0[.,]5|\xc2?\xbd)"
_POINTS = rb"(?:" + _HALF + rb"|[01])"
_DASH = rb"\s*(?:[-:\x96\x97]|\xe2\x80[\x90-\x95]|\xe2\x88\x92)\s*"
_SCORE = re.compile(rb"(?:" + _POINTS + _DASH + _POINTS + rb"|1/2|\xc2?\xbd)[.,!]*(?![\w/:+#=-])")
"""A possible result other than the asterisk."""
_ENDS = tuple(
    text.encode() for text in ("1-0", "0-1", "1/2-1/2", "*", "1–0", "0–1", "1/2–1/2", "½-½", "½–½", "½")
)
_FIRST_MOVE = re.compile(rb"\s*1\.(?!\.)")
_EVENT = (b"[Event ", b'[Event"')
_WINDOWS = {code: bytes([code]).decode("cp1252", "ignore") or chr(code) for code in range(0x80, 0xA0)}

_DIGITS = "0123456789"
_LONGEST_MOVE = 16
_AFTER_A_MOVE = (*"!?‼⁇⁉⁈.…*½", "1-0", "0-1", "1/2")
"""Text that can follow a move without a space, besides glyphs and the next move's number."""


class Fault(NamedTuple):
    """Damage found in a game: the line of the file, counted from 1, and what is wrong there."""

    line: int
    text: str


class Move:
    """A move of a game: its SAN, the packed move (0 for a null move, "--"), the FEN after it, its NAGs, the
    comment after it, and the variations that could have been played instead.
    """

    san: str
    move: int
    fen: str
    comment: str
    _nags: list[int] | None
    _variations: list["Variation"] | None

    # Few moves have any: making the lists for all would take a tenth of the time of reading.
    @property
    def nags(self) -> list[int]:
        if self._nags is None:
            self._nags = []
        return self._nags

    @nags.setter
    def nags(self, nags: list[int]) -> None:
        self._nags = nags

    @property
    def variations(self) -> list["Variation"]:
        if self._variations is None:
            self._variations = []
        return self._variations

    def __repr__(self) -> str:
        # Uncompiled, a move that no reader has made has neither.
        return f"<{getattr(self, 'san', None)} {getattr(self, 'fen', None)}>"


def is_chess960(tags: dict[str, str]) -> bool:
    """Whether the tags of a game say that it is a Chess960 game."""
    return _variant(tags) in _CHESS960_NAMES


def _variant(tags: dict[str, str]) -> str:
    """The value of the Variant tag in small letters, without anything between words."""
    return "".join(filter(str.isalnum, dict(tags).get("Variant", "").lower()))


def _new_move(san: str, move: int, fen: str) -> Move:
    """A move without NAGs, comment and variations."""
    # Takes a third of the time of calling the class.
    created = Move.__new__(Move)
    created.san = san
    created.move = move
    created.fen = fen
    created.comment = ""
    created._nags = None
    created._variations = None
    return created


class Variation:
    """A line of moves, and the comment before the first of them."""

    def __init__(self) -> None:
        self.comment = ""
        self.moves: list[Move] = []


class Game(Variation):
    """A game: tags in the order of the file, the FEN it starts from, its moves, its result, and the faults
    found in it; its number in the file and its first line, counted from 1.
    """

    def __init__(self, tags: dict[str, str] | None = None) -> None:
        super().__init__()
        self.tags = tags or {}
        self.start = fen.START
        self.result = UNFINISHED
        self.faults: list[Fault] = []
        self.number = 1
        self.line = 1

    def as_dict(self) -> dict[str, Any]:
        """The game for JSON: tags, start, result, comment, moves and faults."""
        return {
            "tags": self.tags,
            "start": self.start,
            "result": self.result,
            "comment": self.comment,
            "moves": [_move_as_dict(move) for move in self.moves],
            "faults": [fault._asdict() for fault in self.faults],
        }


def _move_as_dict(move: Move) -> dict[str, Any]:
    found: dict[str, Any] = {"san": move.san, "fen": move.fen}
    if move.nags:
        found["nags"] = move.nags
    if move.comment:
        found["comment"] = move.comment
    if move.variations:
        found["variations"] = [
            {"comment": line.comment, "moves": [_move_as_dict(move) for move in line.moves]}
            for line in move.variations
        ]
    return found


def record(tags: dict[str, str], start: str, moves: list[int], result: str) -> Game:
    """The game of some packed moves from a FEN, ready to write. Raises ValueError for a bad FEN or move."""
    game = Game(dict(tags))
    game.result = result
    board = fen.parse(start, chess960=True)
    game.start = write_fen(board)
    for move in moves:
        text = write_san(board, move)
        board.make(move)
        game.moves.append(_new_move(text, move, write_fen(board)))
    return game


# Reading.


class Reader:
    """An iterator over the games of a binary stream.

    UTF-8, with or without byte order marks; what is not UTF-8 is read as Windows-1252. UTF-16 is recognized
    by its byte order mark, and read as a whole. Only the stream itself raises.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._line = 0
        self._waiting = b""
        self._text = b""
        self._position = 0
        self._number = 0
        self._here = 0
        self._line_here = 1
        self._lost = False
        self._over = False
        self._shift = 0
        self._board = fen.parse(fen.START)

    def __iter__(self) -> "Reader":
        return self

    def __next__(self) -> Game:
        while True:
            game = Game()
            torn = self._is_torn(self._text, len(self._text))
            if not torn and self._read_game(game, self._text, len(self._text)):
                self._number += 1
                game.number = self._number
                return game
            if not self._fill(self._text[self._position :] if torn else b""):
                raise StopIteration

    def _is_torn(self, text: bytes, size: int) -> bool:
        """Whether only the first tags are left of a game that begins on the line where another one ends."""
        i = self._skip_space(text, self._position, size)
        return self._position > 0 and i < size and text[i] == ord("[") and _end_of_head(text, i, size) == size

    def _fill(self, rest: bytes) -> bool:
        """Read lines at least up to the end of the next game; False at the end of the stream. `rest` has the
        first tags of that game.

        A game ends before the next one's tags, at an empty line after its result, or at one before a first
        move. After a comment that was left open, the tags must follow an empty line. A game with tags only
        ends before an Event tag.
        """
        lines = [rest] if rest else []
        tags = len(rest) > 0
        self._line_here = self._line_of(self._position) if tags else self._line + 1
        size = len(rest)
        last = b""
        is_open = movetext = blank = False
        remarked = b"[Event" in rest
        self._position = self._here = 0
        while size < _LONGEST_GAME:
            line = self._waiting or self._stream.readline(_LONGEST_GAME)
            self._waiting = b""
            if not line:
                break
            if not self._line and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                self._stream = io.BytesIO(recoded(line + self._stream.read()))
                continue
            start = _margin(line, len(line), is_open)
            if start == len(line):
                blank = True
            else:
                if start:
                    line = line[start:]
                text = line
                end = _trimmed(text, len(line))
                is_tag = text[0] == ord("[")
                if is_tag:
                    if is_open:
                        ended = blank and _TAG.match(line) is not None
                    else:
                        ended = movetext or (tags and (blank or remarked) and line.startswith(_EVENT))
                    if ended:
                        self._waiting = line
                        break
                    tags = True
                elif blank and movetext and not is_open and _FIRST_MOVE.match(line):
                    self._waiting = line
                    break
                last = line
                blank = False
                if movetext:
                    is_open = _leaves_open(text, end, is_open)
                elif is_tag and not is_open and text[end - 1] == ord("]"):
                    remarked = False
                elif is_open or (text[0] != ord("%") and text[0] != ord(";")):
                    # Moves can follow tags and comments on the same line.
                    start = line.find(b"}") + 1 if is_open else 0
                    if start or not is_open:
                        remarked = is_open or b"{" in line
                        start = _end_of_head(text, start, end)
                        is_open = start < end and text[start] == ord("{")
                        if start < end and not is_open and (not is_tag or b"]" in line):
                            movetext = True
                            is_open = _leaves_open(text, end, False)
            self._line += line.endswith(b"\n")
            size += len(line)
            lines.append(line)
            if (blank or size > _ENOUGH) and movetext and not is_open and last.rstrip().endswith(_ENDS):
                break
        self._text = b"".join(lines)
        return bool(lines)

    def _read_game(self, game: Game, text: bytes, size: int) -> bool:
        """Read the next game of the buffered text; False if there is none left."""
        i = self._skip_space(text, self._position, size)
        if i == size:
            return False
        game.line = self._line_of(i)
        in_braces = False
        while i < size and (text[i] == ord("[") or text[i] == ord(";") or text[i] == ord("{")):
            if text[i] == ord("["):
                i = self._read_tag(game, text, i, size)
            else:
                in_braces = in_braces or text[i] == ord("{")
                i = self._read_comment(game, game, text, i, size)
            i = self._skip_space(text, i, size)
        if i == size and not game.tags and not game.faults and not in_braces:
            self._position = i
            return False
        board = self._set_up(game)
        lost = board is None
        self._position = self._read_moves(game, board or self._board, text, i, size, lost)
        if game.result == UNFINISHED:
            claimed = game.tags.get("Result", "")
            game.result = _result(claimed) or UNFINISHED
            if game.result == UNFINISHED and claimed.strip(" *?"):
                game.faults.append(Fault(game.line, f"{_quote(claimed)} is not a result"))
        return True

    def _skip_space(self, text: bytes, i: int, size: int) -> int:
        """The index of the next character that is no white space; lines beginning with % count as such."""
        while i < size:
            if text[i] == ord("%") and (i == 0 or text[i - 1] == ord("\n")):
                while i < size and text[i] != ord("\n"):
                    i += 1
            elif text[i] <= ord(" "):
                i += 1
            elif text[i] >= 0x80 and _blank(text, i, size):
                i += abs(_blank(text, i, size))
            else:
                break
        return i

    def _read_tag(self, game: Game, text: bytes, i: int, size: int) -> int:
        """Read the tag pair at an index; returns the index after."""
        # The common form, character by character: in short games, tags take much of the time.
        start = i + 1
        name_end = start
        while name_end < size and _is_name_character(text[name_end]):
            name_end += 1
        if name_end > start and name_end + 1 < size and text[name_end] == ord(" "):
            if text[name_end + 1] == ord('"'):
                value = name_end + 2
                end = value
                while (
                    end < size and text[end] != ord('"') and text[end] != ord("\\") and text[end] >= ord(" ")
                ):
                    end += 1
                if end + 1 < size and text[end] == ord('"') and text[end + 1] == ord("]"):
                    name = text[start:name_end].decode("ascii")
                    self._add_tag(game, i, name, _decode(text, value, end))
                    return end + 2
        return self._read_odd_tag(game, i)

    def _read_odd_tag(self, game: Game, i: int) -> int:
        """Read a tag pair in any form."""
        found = _TAG.match(self._text, i) or _LENIENT_TAG.match(self._text, i)
        if found:
            value = _decode(found[2], 0, len(found[2]))
            self._add_tag(game, i, found[1].decode("ascii"), _ESCAPED.sub(r"\1", value))
            return found.end()
        end = self._text.find(b"\n", i)
        end = len(self._text) if end < 0 else end
        self._note(game, i, f'{_quote(_decode(self._text, i, end))} is not a tag pair, as in [Round "3"]')
        return end

    def _add_tag(self, game: Game, i: int, name: str, value: str) -> None:
        """Add the tag pair at an index to the game."""
        name = _TAG_NAMES.get(name, name)
        tags = game.tags
        known = tags.setdefault(name, value)
        if known != value:
            self._note(game, i, f"the tag {name} is given twice: {_quote(known)} is replaced")
            tags[name] = value

    def _set_up(self, game: Game) -> Board | None:
        """The board that the game starts from; None if its tags name a bad position or another variant."""
        variant = _variant(game.tags) if "Variant" in game.tags else ""
        if variant not in _VARIANTS + _CHESS960_NAMES:
            game.faults.append(Fault(game.line, f"Moff does not play the variant {game.tags['Variant']!r}"))
            return None
        if "FEN" in game.tags:
            try:
                board = _parse_start(game.tags["FEN"], variant)
            except ValueError as error:
                game.faults.append(Fault(game.line, str(error)))
                return None
            game.start = write_fen(board)
            return board
        # Clearing a new board takes longer than unmaking the last game.
        while self._board.ply:
            _take_back(self._board)
        return self._board

    def _read_moves(self, game: Game, board: Board, text: bytes, i: int, size: int, lost: bool) -> int:
        """Read the moves up to the game's end; returns the index after.

        A variation starts before the last move, which is unmade first and made again afterwards. `lost` means
        that the rest of the line is skipped: the position is unknown, or no more moves are wanted.
        """
        self._shift = 0
        line: Variation = game
        moves = game.moves
        branches: list[tuple[Variation, bool, int]] = []
        in_variation = False
        while i < size:
            c = text[i]
            if c <= ord(" "):
                i += 1
            elif c == ord("%") and (i == 0 or text[i - 1] == ord("\n")):
                i = _index_of(text, i, size, ord("\n"))
            elif _is_digit(c) or c == 0xBD or (c == 0xC2 and i + 1 < size and text[i + 1] == 0xBD):
                start = i
                while i < size and _is_digit(text[i]):
                    i += 1
                if c == ord("0") or i == size or text[i] != ord("."):
                    i = self._read_number(game, board, line, text, start, i, size, in_variation, lost)
                    lost = self._lost
                    if self._over:
                        return self._read_end(game, text, i, size, lost)
            elif c == ord("."):
                i += 1
            elif c == ord("{") or c == ord(";"):
                i = self._read_comment(game, None if lost else line, text, i, size)
            elif c == ord("$"):
                start = i + 1
                i = start
                while i < size and _is_digit(text[i]):
                    i += 1
                if i == start or i - start > 3:
                    self._note(game, start, "$ without a number of one to three digits")
                elif moves and not lost:
                    moves[-1].nags.append(int(self._text[start:i]))
            elif c == ord("(") and not lost and self._read_in_parentheses(board, line, text, i, size):
                i = _index_of(text, i, size, ord(")")) + 1
            elif c == ord("("):
                i += 1
                branches.append((line, lost, board.ply - 1))
                in_variation = True
                if lost or not moves or len(branches) > _DEEPEST:
                    if not lost:
                        self._note(game, i - 1, "a variation before any move, or nested too deeply")
                    lost = True
                else:
                    _take_back(board)
                    line = Variation()
                    moves[-1].variations.append(line)
                    moves = line.moves
            elif c == ord(")"):
                i += 1
                if not branches and i > 1 and text[i - 2] == ord("."):
                    pass  # "1.)" is a move's number.
                elif not branches:
                    self._note(game, i - 1, "a closing parenthesis without an opening one")
                else:
                    branch, was_lost, ply = branches.pop()
                    if branch is not line:
                        while board.ply > ply:
                            _take_back(board)
                        line = branch
                        moves = line.moves
                        _play_again(board, moves[-1].move)
                    lost = was_lost
                    in_variation = len(branches) > 0
            elif c == ord("*"):
                i += 1
                if not in_variation:
                    return self._read_end(game, text, i, size, lost)
            elif c == ord("<") and _end_of_reserved(text, i, size):
                start = i
                i = _end_of_reserved(text, i, size)
                if i == start + 2 and not lost:
                    self._read_word(game, board, line, start, i)
                    lost = self._lost
            elif c == ord("[") and _end_of_tag(text, i, size) > i:
                if self._begins_game(i):
                    break
                start = i
                i = _end_of_tag(text, i, size)
                self._note(game, start, f"{_quote(_decode(text, start, i))} stands among the moves")
            elif c >= 0x80 and _blank(text, i, size):
                i += abs(_blank(text, i, size))
            else:
                start = i
                i = _end_of_word(text, i, size)
                if lost:
                    continue
                board.make_room(1)
                move = find(board, read(text, start, i))
                if move > 0:
                    lost = self._take(board, moves, move, in_variation)
                    if text[i - 1] == ord("!") or text[i - 1] == ord("?"):
                        moves[-1].nags = _marks(self._text[start:i])
                    continue
                i = self._read_word(game, board, line, start, i)
                lost = self._lost
        if branches:
            self._note(game, i - 1, "a variation is not closed")
        return i

    def _read_end(self, game: Game, text: bytes, i: int, size: int, lost: bool) -> int:
        """Read the comments after the result on its line; returns the index after."""
        while i < size and text[i] != ord("\n"):
            if text[i] == ord("{") or text[i] == ord(";"):
                i = self._read_comment(game, None if lost else game, text, i, size)
            elif text[i] <= ord(" "):
                i += 1
            elif text[i] >= 0x80 and _blank(text, i, size):
                i += abs(_blank(text, i, size))
            else:
                break
        return i

    def _take(self, board: Board, moves: list[Move], move: int, in_variation: bool) -> bool:
        """Make a move or null move, and keep what is wanted of it. Returns whether to skip what follows."""
        san = "--"
        if move == NO_MOVE:
            board.make_null_unchecked()
        else:
            san = play(board, move)
        moves.append(_new_move(san, move, write_fen(board)))
        return False

    def _keep_last(self, board: Board, moves: list[Move], move: int) -> None:
        """Make a move or null move, and keep only it of its line, for the comments and variations on it."""
        _play_again(board, move)
        last = moves[0] if moves else None
        if last is None or last.comment or last._nags or last._variations:
            last = _new_move("", move, "")
            moves[:] = [last]
        last.move = move

    def _read_comment(self, game: Game, line: Variation | None, text: bytes, i: int, size: int) -> int:
        """Read the comment of either kind at an index into a line; returns the index after."""
        in_braces = text[i] == ord("{")
        stop = _index_of(text, i, size, ord("}") if in_braces else ord("\n"))
        if in_braces and stop == size:
            self._note(game, i, "the comment is not closed")
            return size
        if line is not None:
            owner: Variation | Move = line.moves[-1] if line.moves else line
            words = " ".join(_decode(text, i + 1, stop).split())
            if len(owner.comment) <= _LONGEST_COMMENT:
                owner.comment = (
                    f"{owner.comment} {words}" if owner.comment and words else owner.comment or words
                )
                if len(owner.comment) > _LONGEST_COMMENT:
                    self._note(game, i, "the comment on this move is too long: the rest of it is dropped")
        return stop + in_braces

    def _read_number(
        self,
        game: Game,
        board: Board,
        line: Variation,
        text: bytes,
        start: int,
        i: int,
        size: int,
        in_variation: bool,
        lost: bool,
    ) -> int:
        """Read what begins with a number that ends at `i`, unless it is as simple as "1."; returns the index
        after: the result, the number of a move as in "1 e4", "1)e4" and "1…e5", or a move that begins with a
        number, as in "0-0" and "5254".

        Sets `_lost` if the moves after it cannot be followed, and `_over` if it is the game's result.
        """
        self._lost = lost
        self._over = False
        found = _SCORE.match(self._text, start)
        result = _result(_decode(found[0], 0, len(found[0]))) if found else ""
        if result == DOUBLE_FORFEIT and found and not self._is_forfeit(game, board, found.end(), lost):
            result = ""
        if found and result:
            if not in_variation:
                game.result = result
                self._over = True
            elif not line.moves and not lost:
                self._note(game, start, f"the result {result} stands in a variation")
            return found.end()
        if lost:
            return max(i, start + 1)
        if self._text.startswith((b".", b"\x85", b"\xe2\x80\xa6"), i):
            return i
        number = int(self._text[start:i]) if 0 < i - start < 9 else 0
        follows = text[i] if i < size else ord(" ")
        if not game.moves and 0 < number < 1000:
            self._shift = number - board.fullmove
        if number == board.fullmove + self._shift and follows != ord("/"):
            is_mark = follows in b"-:," or (follows == ord(")") and not in_variation)
            if not (is_mark and i + 1 < size and _is_digit(text[i + 1])):
                return i + is_mark
        digits = i - start
        if digits in (0, 4, 5) or text[start] == ord("0") or (digits == 2 and follows == ord("-")):
            return self._read_word(game, board, line, start, _end_of_word(text, max(start, i - 1), size))
        end = _end_of_word(text, i - 1, size) if follows in b"-/:," else i
        word = _quote(_decode(text, start, end))
        self._note(game, start, f"{word} is neither a move nor a result nor the number of the next move")
        return end

    def _is_forfeit(self, game: Game, board: Board, i: int, lost: bool) -> bool:
        """Whether the "0-0" before an index is a double forfeit: the game ends there; no tag denies it."""
        remarks = _REMARKS.match(self._text, i)
        rest = remarks.end() if remarks else i
        if rest < len(self._text) and _end_of_tag(self._text, rest, len(self._text)) == rest:
            return False
        claimed = _result(game.tags.get("Result", ""))
        if claimed not in ("", UNFINISHED, DOUBLE_FORFEIT):
            return False
        return lost or claimed == DOUBLE_FORFEIT or match(board, "O-O") <= 0

    def _begins_game(self, i: int) -> bool:
        """Whether the tag pair at an index is one that games begin with."""
        found = _TAG.match(self._text, i)
        return found is not None and _TAG_NAMES.get(found[1].decode(), "") in ROSTER

    def _read_in_parentheses(self, board: Board, line: Variation, text: bytes, i: int, size: int) -> bool:
        """Read a remark on the last move in parentheses, as in "exd6(ep)"; False if it is a variation."""
        end = _index_of(text, i, min(i + 8, size), ord(")"))
        is_closed = end < size and text[end] == ord(")")
        return self._read_remark(board, line, _decode(text, i + 1, end) if is_closed else "")

    def _read_word(self, game: Game, board: Board, line: Variation, start: int, end: int) -> int:
        """Read a word that is not simply a legal move, or its first token; returns the index after.

        Sets `_lost` if the moves after it cannot be followed.
        """
        raw = self._text[start:end]
        word = _decode(raw, 0, len(raw))
        self._lost = False
        if word[0] == "…":
            return start + (3 if len(word) < len(raw) else 1)
        board.make_room(1)
        if plain(word) in _NULL_MOVES:
            if in_check(board):
                self._note(game, start, f"{_quote(word)} is a null move in check")
                self._lost = True
            else:
                self._lost = self._take(board, line.moves, NO_MOVE, line is not game)
            return end
        if self._read_part(game, board, line, word):
            return end
        for length in range(1, min(len(word), _LONGEST_MOVE)):
            if _is_end_of_token(word, length) and self._read_part(game, board, line, word[:length]):
                is_utf8 = len(word) < len(raw)
                return start + (len(word[:length].encode()) if is_utf8 else length)
        self._note(game, start, complaint(board, word))
        self._lost = True
        return end

    def _read_part(self, game: Game, board: Board, line: Variation, word: str) -> bool:
        """Read a move, or a NAG or remark on the last move; False if the text is neither."""
        move = match(board, word)
        if move <= 0:
            return self._read_remark(board, line, word)
        self._lost = self._take(board, line.moves, move, line is not game)
        line.moves[-1].nags = _marks(plain(word).encode("utf-8", "surrogatepass"))
        return True

    def _read_remark(self, board: Board, line: Variation, word: str) -> bool:
        """Read a NAG or remark on the last move; False if the text is neither."""
        if not line.moves:
            return False
        text = plain(word)
        glyph = _GLYPHS.get(text)
        nag = glyph[board.side == WHITE] if glyph else _MARKS.get(text)
        if nag:
            line.moves[-1].nags.append(nag)
            return True
        return text.lower() in _ANNOTATIONS

    def _note(self, game: Game, i: int, text: str) -> None:
        """Note damage at an index."""
        game.faults.append(Fault(self._line_of(i), text))

    def _line_of(self, i: int) -> int:
        """The line of the file that holds the character at an index."""
        # Count on from the last index asked for, as there may be many.
        if i >= self._here:
            self._line_here += self._text.count(b"\n", self._here, i)
        else:
            self._line_here -= self._text.count(b"\n", i, self._here)
        self._here = i
        return self._line_here


class FenReader(Reader):
    """A reader of FENs alone, several times as fast. It passes those after the moves of the main lines to
    `write`, one a line, many at once, the rest at `flush`. Of its moves, a game keeps the last, without text.
    """

    def __init__(self, stream: BinaryIO, write: Callable[[str], object]) -> None:
        super().__init__(stream)
        self._write = write
        self._length = 0
        if not cython.compiled:
            self._fens = bytearray(32768)

    def flush(self) -> None:
        """Pass on the FENs of the moves read so far."""
        fens = self._fens[: self._length].decode("ascii")
        self._length = 0  # before a writer that fails: the next FEN needs the room
        self._write(fens)

    def _take(self, board: Board, moves: list[Move], move: int, in_variation: bool) -> bool:
        self._keep_last(board, moves, move)
        if not in_variation:
            self._length = put(board, self._fens, self._length, False)
            self._fens[self._length] = ord("\n")
            self._length += 1
            if self._length > 32768 - LONGEST:
                self.flush()
        return False


def _is_name_character(character: int) -> bool:
    return (
        ord("a") <= character <= ord("z")
        or ord("A") <= character <= ord("Z")
        or ord("0") <= character <= ord("9")
        or character == ord("_")
        or character == ord("-")
    )


def _is_digit(character: int) -> bool:
    return ord("0") <= character <= ord("9")


def _blank(text: bytes, i: int, size: int) -> int:
    """The length of the white space outside ASCII that begins at an index, negative if it is an invisible
    mark, which may also stand within a word; 0 if it is neither.
    """
    c = text[i]
    if c == 0xA0:  # in Windows-1252
        return 1 if i == 0 or text[i - 1] < 0x80 else 0
    if c == 0xC2 and i + 1 < size:
        return 2 if text[i + 1] == 0xA0 else -2 if text[i + 1] == 0xAD else 0
    if i + 2 >= size:
        return 0
    second, third = text[i + 1], text[i + 2]
    if c == 0xE2 and second == 0x80:  # U+2000 to U+203F
        if 0x80 <= third <= 0x8A or third == 0xA8 or third == 0xA9 or third == 0xAF:
            return 3
        return -3 if 0x8B <= third <= 0x8F or 0xAA <= third <= 0xAE else 0
    if c == 0xE2 and second == 0x81:  # U+2040 to U+207F
        return 3 if third == 0x9F else -3 if 0xA0 <= third <= 0xAF else 0
    if c == 0xE3 and second == 0x80 and third == 0x80:
        return 3
    return -3 if c == 0xEF and second == 0xBB and third == 0xBF else 0


def _margin(text: bytes, size: int, is_open: bool) -> int:
    """The number of bytes to drop at the start of a line: outside comments, white space before a tag, and
    byte order marks and the like; all of a blank line.
    """
    end = _end_of_space(text, 0, size)
    return end if end == size or (not is_open and (text[end] == ord("[") or text[0] >= 0x80)) else 0


def _index_of(text: bytes, i: int, size: int, character: int) -> int:
    """The index of the next such character, `size` if there is none."""
    while i < size and text[i] != character:
        i += 1
    return i


def _end_of_reserved(text: bytes, i: int, size: int) -> int:
    """The index after the "<...>" that begins at an index; 0 if no bracket on the line closes it."""
    i += 1
    while i < size and text[i] != ord("\n") and text[i] != ord("<") and text[i] != ord("{"):
        if text[i] == ord(">"):
            return i + 1
        i += 1
    return 0


def _end_of_word(text: bytes, i: int, size: int) -> int:
    """The index after the word that begins at an index. The brackets of e8(Q) belong to the word."""
    # The rest of a word may be read again as further words: without a limit, that takes quadratic time.
    longest = i + 255
    i += 1
    while i < size and text[i] > ord(" ") and (i < longest or text[i] & 0xC0 == 0x80):
        c = text[i]
        if c == ord("(") and i + 2 < size and text[i + 2] == ord(")") and _is_digit(text[i - 1]):
            i += 3
            continue
        if (
            c == ord("{")
            or c == ord("}")
            or c == ord("(")
            or c == ord(")")
            or c == ord("[")
            or c == ord("]")
            or c == ord("<")
            or c == ord(">")
            or c == ord(";")
            or c == ord("$")
            or (c >= 0x80 and _blank(text, i, size) > 0)
        ):
            break
        i += 1
    return i


def _trimmed(text: bytes, size: int) -> int:
    """The length of the text without the white space at its end."""
    while size and (text[size - 1] == ord(" ") or ord("\t") <= text[size - 1] <= ord("\r")):
        size -= 1
    return size


def _leaves_open(text: bytes, size: int, is_open: bool) -> bool:
    """Whether a comment is open after a line, given whether one was open before it."""
    for i in range(size - 1, -1, -1):
        if text[i] == ord("{"):
            return True
        if text[i] == ord("}"):
            return False
    return is_open


def _end_of_head(text: bytes, i: int, size: int) -> int:
    """The index after the tags, comments and white space that begin at an index."""
    while i < size:
        end = _end_of_space(text, i, size)
        if end > i:
            pass
        elif text[i] == ord("["):
            end = _end_of_tag(text, i, size)
        elif text[i] == ord("{"):
            end = _index_of(text, i, size, ord("}")) + 1
        elif text[i] == ord(";"):
            end = _index_of(text, i, size, ord("\n"))
        if end == i or end > size:
            return i
        i = end
    return i


def _end_of_tag(text: bytes, i: int, size: int) -> int:
    """The index after the tag pair that begins at an index; the index itself if there is none."""
    start = i
    i = _end_of_space(text, i + 1, size)
    while i < size and _is_name_character(text[i]):
        i += 1
    i = _end_of_space(text, i, size)
    if i == size or text[i] != ord('"'):
        return start
    i += 1
    while i < size and text[i] != ord('"') and text[i] != ord("\n"):
        i += 2 if text[i] == ord("\\") else 1
    i = _end_of_space(text, i + 1, size)
    return i + 1 if i < size and text[i] == ord("]") else start


def _end_of_space(text: bytes, i: int, size: int) -> int:
    """The index of the next character that is neither white space nor an invisible mark."""
    while i < size:
        if text[i] <= ord(" "):
            i += 1
        elif text[i] >= 0x80 and _blank(text, i, size):
            i += abs(_blank(text, i, size))
        else:
            break
    return i


def _is_end_of_token(word: str, length: int) -> bool:
    """Whether a token can end after `length` characters of a word, judging by what follows."""
    last, rest = word[length - 1], plain(word[length : length + 8])
    if last in "!?":
        return rest[:1] not in ("!", "?")
    if not last.isascii() or rest.startswith(_AFTER_A_MOVE):
        return True
    after_number = rest.lstrip(_DIGITS)
    if after_number != rest and after_number.startswith((".", "…")):
        return True
    for glyph in _GLYPHS:
        after = rest.removeprefix(glyph)
        if after != rest and not glyph.isalpha() and not (after[:1].isalpha() and glyph.isascii()):
            return True
    return False


def _result(text: str) -> str:
    """The result that the text means, as the standard writes it, or "" if it is none."""
    if text in RESULTS:
        return text
    found = plain("".join(text.split())).rstrip(".,!").replace(":", "-")
    for half in ("½", "0.5", "0,5"):
        found = found.replace(half, "1/2")
    return "1/2-1/2" if found == "1/2" else found if found in RESULTS else ""


def recoded(text: bytes) -> bytes:
    """UTF-16 with a byte order mark as UTF-8; any other text as it is."""
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return text.decode("utf-16", "replace").encode("utf-8", "replace")
    return text


def _decode(text: bytes, start: int, end: int) -> str:
    """A part of the text: UTF-8, or else Windows-1252."""
    try:
        return text[start:end].decode("utf-8")
    except UnicodeDecodeError:
        return text[start:end].decode("latin-1").translate(_WINDOWS)


def _parse_start(text: str, variant: str) -> Board:
    """The position of a FEN tag. Without a variant, its rights may prove to be X-FEN. Raises ValueError."""
    board = fen.parse(text, chess960=variant in _CHESS960_NAMES)
    if not variant and (given := text.split()[2:3]):
        other = fen.parse(text, chess960=True)
        if sorted(write_fen(board).split()[2]) != sorted(given[0]) == sorted(write_fen(other).split()[2]):
            return other
    return board


def _quote(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "...")


def _marks(word: bytes) -> list[int]:
    """The NAG of the marks that end a move, as in Nf3!?."""
    marks = word[len(word.rstrip(b"!?")) :].decode("ascii")
    return [_MARKS[marks]] if marks in _MARKS else []


def _take_back(board: Board) -> None:
    """Unmake the last move or null move."""
    if board.last_move() == NO_MOVE:
        board.unmake_null()
    else:
        board.unmake_unchecked()


def _play_again(board: Board, move: int) -> None:
    """Make a move or null move."""
    if move == NO_MOVE:
        board.make_null_unchecked()
    else:
        board.make_unchecked(move)


# Writing.


def write(game: Game) -> str:
    """The game in export format: the seven tags of the roster in their order, the others sorted, movetext in
    lines of at most 79 characters. A start position with Chess960 castling rights gets a Variant tag.
    """
    if not isinstance(game, Game):
        raise TypeError(f"{game!r:.80} is not a game")
    tags = {**ROSTER, **game.tags, "Result": game.result}
    if game.start != fen.START:
        tags |= {"SetUp": "1", "FEN": game.start}
        if not is_chess960(tags) and fen.parse(game.start, chess960=True).is_chess960():
            tags["Variant"] = CHESS960
    names = [*ROSTER, *sorted(tags.keys() - ROSTER.keys())]
    head = "".join(f'[{name} "{_escape(tags[name])}"]\n' for name in names)
    words: list[str] = []
    _write_line(words, game, *_first_turn(game.start))
    words.append(game.result)
    return f"{head}\n{_fill_lines(words)}\n"


def _escape(value: str) -> str:
    return " ".join(value.replace("\\", "\\\\").replace('"', '\\"').split("\n"))


def _first_turn(start: str) -> tuple[int, bool]:
    """The number of the first move, and whether it is Black's."""
    fields = start.split()
    return int(fields[5]), fields[1] == "b"


def _write_line(words: list[str], line: Variation, number: int, black: bool) -> None:
    """Write the words of a line of moves, variations after the move that they replace."""
    _write_comment(words, line.comment)
    told = False
    for move in line.moves:
        if not black:
            words.append(f"{number}.")
        elif not told:
            words.append(f"{number}...")
        words.append(move.san)
        words.extend(f"${nag}" for nag in move.nags)
        end = len(words)
        _write_comment(words, move.comment)
        for variation in move.variations:
            inner: list[str] = []
            _write_line(inner, variation, number, black)
            if inner:
                inner[0] = f"({inner[0]}"
                inner[-1] += ")"
                words.extend(inner)
        told = len(words) == end
        number += black
        black = not black


def _write_comment(words: list[str], comment: str) -> None:
    """Write a comment, word by word. It cannot hold a closing brace."""
    inner = [" ".join(word.split()) for word in _WORDS.findall(comment.replace("}", ""))]
    if inner:
        inner[0] = "{" + inner[0]
        inner[-1] += "}"
        words.extend(inner)


def _fill_lines(words: list[str], width: int = _WIDTH) -> str:
    """The words in lines of at most `width` characters. None begins with a per cent sign, the escape
    character.
    """
    lines: list[str] = []
    row = ""
    for word in words:
        if row and len(row) + 1 + len(word) > width and not word.startswith("%"):
            lines.append(row)
            row = word
        else:
            row = f"{row} {word}" if row else word
    return "".join(f"{row}\n" for row in [*lines, row])
