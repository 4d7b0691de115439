"""FEN: a position as a line of text, in and out.

After "Modelarea tablei și jocului de șah" (XII), with the full-move number as the standard has it.
"""

from x88 import square
from x88.attack import is_attacked
from x88.board import BLACK_LONG, BLACK_SHORT, MAX_PIECES, WHITE_LONG, WHITE_SHORT, Board
from x88.piece import BLACK, CODE_OF_LETTER, EMPTY, KIND, KING, PAWN, WHITE, letter
from x88.square import NO_SQUARE

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

_RIGHTS = {"K": WHITE_SHORT, "Q": WHITE_LONG, "k": BLACK_SHORT, "q": BLACK_LONG}
_SIDES = {WHITE: "White", BLACK: "Black"}
_MOST = 99999


def parse(text: str) -> Board:
    """The position of a FEN of six fields, or of four as EPD has them (the counters are 0 and 1 then).

    Castling rights that no king and rook at home back, and an en-passant square that no pawn can use, are
    dropped. Raises ValueError with the text, the field and what is wrong with it.
    """
    try:
        return _parse(text.split())
    except ValueError as error:
        raise ValueError(f"bad FEN {text!r}: {error}") from None


def write(board: Board) -> str:
    """The position as a FEN of six fields; the en-passant square only where a capture there is legal."""
    ranks = []
    for rank in range(7, -1, -1):
        row = ""
        for file in range(8):
            code = board.piece_at(rank << 4 | file)
            row += letter(code) if code != EMPTY else "1"
        for run in range(8, 1, -1):
            row = row.replace("1" * run, str(run))
        ranks.append(row)
    rights = "".join(text for text, bit in _RIGHTS.items() if board.castling & bit)
    passed = square.name(board.en_passant) if board.en_passant_legal else "-"
    side = "b" if board.side else "w"
    return f"{'/'.join(ranks)} {side} {rights or '-'} {passed} {board.halfmove} {board.fullmove}"


def _parse(fields: list[str]) -> Board:
    if not 4 <= len(fields) <= 6:
        raise ValueError(f"it has {len(fields)} fields instead of 6 (or the first 4)")
    placement = _placement(fields[0])
    if fields[1] not in ("w", "b"):
        raise ValueError(f"side to move: {fields[1]!r} is neither w nor b")
    side = WHITE if fields[1] == "w" else BLACK
    castling = _castling(fields[2])
    try:
        en_passant = NO_SQUARE if fields[3] == "-" else square.parse(fields[3])
    except ValueError as error:
        raise ValueError(f"en passant: {error}, nor -") from None
    halfmove = _counter("half-move clock", fields[4]) if len(fields) > 4 else 0
    fullmove = _counter("full-move number", fields[5]) if len(fields) > 5 else 1
    board = Board()
    board.setup(placement, side, castling, en_passant, halfmove, max(fullmove, 1))
    if is_attacked(board, board.king(side ^ 1), side):
        raise ValueError(f"placement: {_SIDES[side ^ 1]} is in check, but {_SIDES[side]} is to move")
    return board


def _placement(text: str) -> dict[int, int]:
    """Piece codes by square."""
    ranks = text.split("/")
    if len(ranks) != 8:
        raise ValueError(f"placement: {len(ranks)} ranks instead of 8")
    placement = {}
    for number, row in zip(range(8, 0, -1), ranks, strict=True):
        file = 0
        previous = ""
        for character in row:
            if character in "12345678":
                if previous.isdigit():
                    raise ValueError(
                        f"placement: {previous + character!r} on rank {number} is not one number"
                    )
                file += int(character)
            elif character in CODE_OF_LETTER:
                if file < 8:
                    placement[(number - 1) << 4 | file] = CODE_OF_LETTER[character]
                file += 1
            else:
                raise ValueError(f"placement: {character!r} on rank {number} is no piece")
            previous = character
        if file != 8:
            raise ValueError(f"placement: rank {number} ({row!r}) has {file} squares instead of 8")
    for side, name in _SIDES.items():
        own = [code for code in placement.values() if code >> 5 == side]
        kings = sum(code & KIND == KING for code in own)
        if kings != 1:
            raise ValueError(f"placement: {name} has {kings} kings instead of 1")
        if len(own) > MAX_PIECES:
            raise ValueError(f"placement: {name} has {len(own)} pieces, more than {MAX_PIECES}")
    for sq, code in placement.items():
        if code & KIND == PAWN and sq >> 4 in (0, 7):
            raise ValueError(f"placement: a pawn on {square.name(sq)}")
    return placement


def _castling(text: str) -> int:
    """The rights as bits."""
    if text == "-":
        return 0
    if any(character not in _RIGHTS for character in text) or len(set(text)) != len(text):
        raise ValueError(f"castling: {text!r} is neither - nor made of K, Q, k and q, each at most once")
    return sum(_RIGHTS[character] for character in text)


def _counter(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > _MOST:
        raise ValueError(f"{name}: {text!r} is not a whole number from 0 to {_MOST}")
    return int(text)
