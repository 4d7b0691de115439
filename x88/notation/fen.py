"""FEN: reads and writes a position as a line of text.

After "Modelarea tablei și jocului de șah" (XII), but with the full-move number of the standard.

Castling rights in Chess960 are written in two ways. In X-FEN (Reinhard Scharnagl) K, Q, k and q stand for the
outermost rook on that side of the king, and an inner rook is given by its file. In Shredder-FEN (Stefan
Meyer-Kahlen) each rook is given by its file: HAha.
"""

import re

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import square
from x88.board import LARGEST_COUNTER, ROOK_HOMES
from x88.piece import CODE_OF_LETTER, SIDES

if not cython.compiled:
    from x88.board import Board, checked_board
    from x88.move import rook_origin
    from x88.piece import BLACK, EMPTY, KING, ROOK, WHITE, WHITE_PIECE
    from x88.square import FILE, NO_SQUARE, OFF_BOARD

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

_RIGHTS = "KQkq"
"""The castling rights, in the order of their numbers."""
_FILES = "ABCDEFGHabcdefgh"
_ASSUMED = (
    ("side to move", "w"),
    ("castling rights", "-"),
    ("en-passant square", "-"),
    ("half-move clock", "0"),
    ("full-move number", "1"),
)
_WORD = re.compile(r"[^\s;]+|;")


def _letters() -> list[int]:
    """LETTER[code]: the FEN letter of a piece code, as a character code."""
    table = [0] * 48
    for text, code in CODE_OF_LETTER.items():
        table[code] = ord(text)
    return table


LETTER = _letters()

CODE = [CODE_OF_LETTER.get(chr(letter), 0) for letter in range(128)]
"""CODE[character code]: the piece code of a FEN letter, 0 for others."""


def parse(text: str, warnings: list[str] | None = None, chess960: bool = False) -> Board:
    """The position of a FEN. Missing fields at its end default to those of "w - - 0 1", and so do counters
    written as "-".

    Castling rights without king and rook in place, and an en-passant square that no pawn can use, are
    dropped. K, Q, k and q require king and rook at home; with `chess960`, or together with a rook given by
    its file, they are read as X-FEN. With `chess960`, everything that `write` returns can be read back.

    If a list is given, a sentence is appended to it for every field assumed and every castling right dropped,
    and text after the position, such as the operations of EPD, is ignored, also with a sentence.

    Raises ValueError with the text, the field and the reason; the list is unchanged then.
    """
    remarks: list[str] = []
    try:
        if not isinstance(text, str):
            raise TypeError(f"{text!r:.80} is not text")
        fields = text.split() if warnings is None else _position_fields(text, remarks)
        board = _parse(fields, remarks, chess960)
    except ValueError as error:
        raise ValueError(f"bad FEN {text!r}: {error}") from None
    if warnings is not None:
        warnings += remarks
    return board


def write(board: Board, shredder: bool = False) -> str:
    """The position as a FEN of six fields, with the en-passant square only where a capture there is legal.

    Castling rights are written as in X-FEN, which in standard chess is ordinary FEN, or as in Shredder-FEN.
    """
    if not cython.compiled:
        checked_board(board)
        text = bytearray(112)  # compiled, an array of C characters
    n = 0
    run = 0
    sq = 0x70
    while sq >= 0:
        code = board.squares[sq]
        if code == EMPTY:
            run += 1
        else:
            if run:
                text[n] = ord("0") + run
                n += 1
                run = 0
            text[n] = LETTER[code]
            n += 1
        sq += 1
        if sq & FILE == 8:
            if run:
                text[n] = ord("0") + run
                n += 1
                run = 0
            text[n] = ord("/")
            n += 1
            sq -= 24
    text[n - 1] = ord(" ")
    text[n] = ord("b") if board.side else ord("w")
    text[n + 1] = ord(" ")
    n += 2
    for number in range(4):
        if board.castling >> number & 1:
            text[n] = _right(board, number, shredder)
            n += 1
    if not board.castling:
        text[n] = ord("-")
        n += 1
    text[n] = ord(" ")
    if board.en_passant_legal:
        text[n + 1] = ord("a") + (board.en_passant & FILE)
        text[n + 2] = ord("1") + (board.en_passant >> 4)
        n += 3
    else:
        text[n + 1] = ord("-")
        n += 2
    n = _write_number(text, n, board.halfmove)
    n = _write_number(text, n, board.fullmove)
    return text[:n].decode("ascii")


def _right(board: Board, number: int, shredder: bool) -> int:
    """The letter of a castling right, by its number, as a character code."""
    rook = rook_origin(board.castles[number])
    letter = ord("A") + (rook & FILE)
    if not shredder:
        outwards = -1 if number & 1 else 1
        sq = rook + outwards
        while not sq & OFF_BOARD and board.squares[sq] != WHITE_PIECE << (number >> 1) | ROOK:
            sq += outwards
        if sq & OFF_BOARD:
            letter = ord("Q") if number & 1 else ord("K")
    return letter + 32 * (number >> 1)


def _write_number(text: bytearray, n: int, number: int) -> int:
    """Write a space and the number at index `n`; returns the index after."""
    digits = 1
    power = 10
    while number >= power and digits < 9:
        power *= 10
        digits += 1
    text[n] = ord(" ")
    for i in range(digits, 0, -1):
        text[n + i] = ord("0") + number % 10
        number //= 10
    return n + digits + 1


def _position_fields(text: str, remarks: list[str]) -> list[str]:
    """The fields of a FEN that text may follow: they end at a `;` or at a word in place of a counter."""
    fields: list[str] = []
    for word in _WORD.finditer(text):
        if word[0] == ";" or len(fields) == 6 or (len(fields) >= 4 and word[0][0].isalpha()):
            ignored = text[word.start() :].strip()
            shortened = ignored if len(ignored) <= 60 else f"{ignored[:60]}..."
            remarks.append(f"{shortened!r} after the FEN is ignored")
            break
        fields.append(word[0])
    return fields


def _parse(fields: list[str], remarks: list[str], chess960: bool) -> Board:
    if not 1 <= len(fields) <= 6:
        raise ValueError(f"it has {len(fields)} fields instead of 1 to 6")
    if len(fields) < 6 or "-" in (fields[4], fields[5]):
        fields = fields + [""] * (6 - len(fields))
        for n, (name, value) in enumerate(_ASSUMED, 1):
            if not fields[n] or (fields[n] == "-" and n >= 4):
                remarks.append(f"the FEN has no {name}: {value} is assumed")
                fields[n] = value
    codes = _placement(fields[0])
    if fields[1] not in ("w", "b"):
        raise ValueError(f"side to move: {fields[1]!r} is neither w nor b")
    side = WHITE if fields[1] == "w" else BLACK
    letters = [""] * 4
    rooks = list(ROOK_HOMES)
    if fields[2] != "-":
        chess960 = _castling(fields[2], codes, chess960, letters, rooks)
    try:
        en_passant = NO_SQUARE if fields[3] == "-" else square.parse(fields[3])
    except ValueError as error:
        raise ValueError(f"en passant: {error}, nor -") from None
    halfmove = _counter("half-move clock", fields[4])
    fullmove = _counter("full-move number", fields[5])
    rights = 0
    for number in range(4):
        if letters[number]:
            rights |= 1 << number
    board = Board()
    board.setup(
        codes, side, rights, en_passant, halfmove, max(fullmove, 1), tuple(rooks) if chess960 else None
    )
    for number in range(4):
        if (rights & ~board.castling) >> number & 1:
            remarks.append(_dropped(board, number, rooks[number], letters[number], chess960))
    return board


def _dropped(board: Board, number: int, rook: int, letter: str, chess960: bool) -> str:
    """Why a castling right is dropped."""
    side = number >> 1
    home = 0x70 * side + 4
    if chess960 and board.king(side) >> 4 != home >> 4:
        reason = f"{SIDES[side]}'s king is not on rank {(home >> 4) + 1}"
    elif not chess960 and board.king(side) != home:
        reason = f"{SIDES[side]}'s king is not on {square.name(home)}"
    elif rook == NO_SQUARE:
        where = "left" if number & 1 else "right"
        reason = f"{SIDES[side]} has no rook to the {where} of its king, as White sees it"
    else:
        reason = f"{SIDES[side]} has no rook on {square.name(rook)}"
    return f"the castling right {letter} is dropped: {reason}"


def _placement(text: str) -> bytes:
    """The piece codes by square."""
    ranks = text.count("/") + 1
    if ranks != 8:
        raise ValueError(f"placement: {ranks} ranks instead of 8")
    # Compiled, these are an array of C characters.
    if not cython.compiled:
        codes = bytearray(128)
    for sq in range(128):
        codes[sq] = EMPTY
    rank = 7
    file = 0
    number = 0
    for character in text + "/":
        letter = ord(character)
        if letter == ord("/"):
            if file != 8:
                row = text.split("/")[7 - rank]
                raise ValueError(f"placement: rank {rank + 1} ({row!r}) has {file} squares instead of 8")
            rank -= 1
            file = 0
            number = 0
        elif ord("1") <= letter <= ord("8"):
            if number:
                raise ValueError(f"placement: '{number}{character}' on rank {rank + 1} is not one number")
            number = letter - ord("0")
            file += number
        elif letter < 128 and CODE[letter]:
            if file < 8:
                codes[rank << 4 | file] = CODE[letter]
            file += 1
            number = 0
        else:
            raise ValueError(f"placement: {character!r} on rank {rank + 1} is not a piece")
    return bytes(codes[:128])


def _castling(text: str, codes: bytes, chess960: bool, letters: list[str], rooks: list[int]) -> bool:
    """Note the letter and the rook of each right, by its number; NO_SQUARE is the rook if there is none.
    Returns whether the rights are read as those of Chess960.
    """
    if text.strip(_RIGHTS + _FILES) or len(set(text)) != len(text):
        raise ValueError(
            f"castling: {text!r} is neither - nor made of K, Q, k and q, or files of rooks, each at most once"
        )
    chess960 = chess960 or text.strip(_RIGHTS) != ""
    for letter in text:
        side = WHITE if letter.isupper() else BLACK
        king = codes.find(WHITE_PIECE << side | KING)
        if king < 0 or king != codes.rfind(WHITE_PIECE << side | KING):
            return chess960  # `Board.setup` refuses it
        if letter in _RIGHTS:
            number = _RIGHTS.index(letter)
            rook = _outermost_rook(codes, king, number) if chess960 else ROOK_HOMES[number]
        else:
            rook = ROOK_HOMES[2 * side + 1] | _FILES.index(letter) & 7
            number = 2 * side + (rook & FILE < king & FILE)
        if letters[number]:
            raise ValueError(f"castling: {text!r} names two rooks on one side of {SIDES[side]}'s king")
        letters[number] = letter
        rooks[number] = rook
    return chess960


def _outermost_rook(codes: bytes, king: int, number: int) -> int:
    """The rook that X-FEN means by a castling right, or NO_SQUARE."""
    outwards = -1 if number & 1 else 1
    found = NO_SQUARE
    sq = king + outwards
    while not sq & OFF_BOARD:
        if codes[sq] == WHITE_PIECE << (number >> 1) | ROOK:
            found = sq
        sq += outwards
    return found


def _counter(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > LARGEST_COUNTER:
        raise ValueError(f"{name}: {text!r} is not a whole number from 0 to {LARGEST_COUNTER}")
    return int(text)


def mirrored(board: Board) -> Board:
    """The position with the colours exchanged, seen from the other side."""
    placement, side, castling, _, *clocks = write(board).split()
    placement = "/".join(reversed(placement.swapcase().split("/")))
    side = "b" if side == "w" else "w"
    # White's rights come first.
    castling = "".join(sorted(castling.swapcase()))
    en_passant = "-" if board.en_passant == NO_SQUARE else square.name(board.en_passant ^ 0x70)
    return parse(" ".join([placement, side, castling, en_passant, *clocks]), chess960=True)
