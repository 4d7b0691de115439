"""FEN: reads and writes a position as a line of text.

After "Modelarea tablei și jocului de șah" (XII), but with the full-move number of the standard.

Castling rights in Chess960 are written in two ways. In X-FEN (Reinhard Scharnagl) K, Q, k and q stand for the
outermost rook on that side of the king, and an inner rook is given by its file. In Shredder-FEN (Stefan
Meyer-Kahlen) each rook is given by its file: HAha.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import square
from x88.piece import CODE_OF_LETTER, SIDES

if not cython.compiled:
    from x88.board import LARGEST_COUNTER, Board, checked_board, fresh
    from x88.move import rook_origin
    from x88.piece import BLACK, KIND, KING, ROOK, WHITE, WHITE_PIECE
    from x88.sets import lowest
    from x88.square import FILE, NO_SQUARE, OFF_BOARD

    LONGEST = 112

    def ascii_of(text: str) -> bytes | None:
        """The characters of an ASCII text, else None."""
        return text.encode("ascii") if text.isascii() else None


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"

_OTHER_RANK = str.maketrans("36", "63")
_ASSUMED = (
    "side to move: w",
    "castling rights: -",
    "en-passant square: -",
    "half-move clock: 0",
    "full-move number: 1",
)


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
    remarks: list[str] | None = None if warnings is None else []
    if not cython.compiled:
        passed = [NO_SQUARE]
    board = _read(text, remarks, chess960, False, passed)
    if warnings is not None and remarks is not None:
        warnings += remarks
    return board


def _read(text: str, remarks: list[str] | None, chess960: bool, any_pieces: bool, passed: list[int]) -> Board:
    """The position, see `_parse`. Raises as `parse` does."""
    if not isinstance(text, str):
        raise TypeError(f"{text!r:.80} is not text")
    letters = ascii_of(text)
    size = len(text)
    if not letters:
        # A character that is not ASCII is a blank, or as wrong as a question mark.
        plain = "".join(" " if letter.isspace() else letter for letter in text).encode("ascii", "replace")
        letters = plain
    try:
        return _parse(text, letters, size, remarks, chess960, any_pieces, passed)
    except ValueError as error:
        raise ValueError(f"bad FEN {text!r}: {error}") from None


def read_any(text: str, chess960: bool, passed: list[int]) -> Board:
    """The position of a FEN as `parse` reads it, but with any pieces on the board: see `Board.fault`.
    `passed[0]` becomes the en-passant square of the text, even if no pawn can use it.
    """
    return _read(text, None, chess960, True, passed)


def write(board: Board, shredder: bool = False) -> str:
    """The position as a FEN of six fields, with the en-passant square only where a capture there is legal.

    Castling rights are written as in X-FEN, which in standard chess is ordinary FEN, or as in Shredder-FEN.
    """
    if not cython.compiled:
        checked_board(board)
        text = bytearray(LONGEST)  # compiled, an array of C characters
    return text[: put(board, text, 0, shredder)].decode("ascii")


def put(board: Board, text: bytearray, n: int, shredder: bool) -> int:
    """Put the FEN into a buffer from index `n` on; returns the index after, at most LONGEST further."""
    occupied = board.sides[WHITE] | board.sides[BLACK]
    for rank in range(7, -1, -1):
        row = occupied >> (rank << 3) & 0xFF
        file = 0
        while row:
            here = lowest(row)
            row &= row - 1
            # A run of empty squares; the letter overwrites a zero.
            text[n] = ord("0") + here - file
            n += here != file
            text[n] = LETTER[board.squares[rank << 4 | here]]
            n += 1
            file = here + 1
        text[n] = ord("8") - file
        n += file != 8
        text[n] = ord("/")
        n += 1
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
    return _write_number(text, n, board.fullmove)


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


def _parse(
    text: str,
    letters: bytes,
    size: int,
    remarks: list[str] | None,
    chess960: bool,
    any_pieces: bool,
    passed: list[int],
) -> Board:
    """The position. With a list for remarks, it ends at a `;` or at a word in place of a counter, and the
    rest is ignored. The en-passant square as given becomes `passed[0]`.
    """
    # Compiled, these are arrays of C, which nobody clears.
    if not cython.compiled:
        starts, ends, kings, rights, rooks = [0] * 6, [0] * 6, [0] * 2, [0] * 4, [0] * 4
    fields = 0
    i = 0
    while True:
        while i < size and _is_blank(letters[i]):
            i += 1
        if i == size:
            break
        if remarks is not None and (
            letters[i] == ord(";") or fields == 6 or (fields >= 4 and text[i].isalpha())
        ):
            rest = text[i:].strip()
            remarks.append(f"{rest if len(rest) <= 60 else f'{rest[:60]}...'!r} after the FEN is ignored")
            break
        start = i
        while i < size and not _is_blank(letters[i]) and not (remarks is not None and letters[i] == ord(";")):
            i += 1
        if fields < 6:
            starts[fields] = start
            ends[fields] = i
        fields += 1
    if not 1 <= fields <= 6:
        raise ValueError(f"it has {fields} fields instead of 1 to 6")
    for n in range(1, 6):
        if n >= fields or (n >= 4 and _is_dash(letters, starts[n], ends[n])):
            if remarks is not None:
                remarks.append(f"the FEN has no {_ASSUMED[n - 1]} is assumed")
            starts[n] = ends[n] = 0
    board = fresh()
    _placement(board, text, letters, starts[0], ends[0], kings)
    side = WHITE
    if starts[1] < ends[1]:
        if ends[1] - starts[1] != 1 or letters[starts[1]] not in (ord("w"), ord("b")):
            raise ValueError(f"side to move: {text[starts[1] : ends[1]]!r} is neither w nor b")
        side = BLACK if letters[starts[1]] == ord("b") else WHITE
    for number in range(4):
        rights[number] = 0
    if not _is_dash(letters, starts[2], ends[2]):
        chess960 = _castling(text, letters, starts[2], ends[2], chess960, board, kings, rights, rooks)
    en_passant = _square(text, letters, starts[3], ends[3])
    halfmove = _counter("half-move clock", text, letters, starts[4], ends[4])
    fullmove = _counter("full-move number", text, letters, starts[5], ends[5])
    board.side = side
    passed[0] = en_passant
    is_playable = True
    if any_pieces:
        is_playable = not board.fault()
    else:
        board.check_placement()
    for number in range(4):
        if rights[number] and is_playable:
            board.allow(number, rooks[number], chess960)
    # Some programs count the first move as 0.
    board.finish(en_passant, halfmove, max(fullmove, 1))
    for number in range(4):
        if remarks is not None and rights[number] and not board.castling >> number & 1:
            remarks.append(_dropped(board, number, rooks[number], chr(rights[number]), chess960))
    return board


def _is_blank(letter: int) -> bool:
    """Whether `str.split` splits at a character of ASCII."""
    return letter <= 32 and (letter == 32 or 9 <= letter <= 13 or letter >= 28)


def _is_dash(letters: bytes, start: int, end: int) -> bool:
    return end - start == 1 and letters[start] == ord("-")


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


def _placement(board: Board, text: str, letters: bytes, start: int, end: int, kings: list[int]) -> None:
    """Put the pieces on the board, and note the kings' squares, off the board unless a side has one king."""
    ranks = 1
    for i in range(start, end):
        ranks += letters[i] == ord("/")
    if ranks != 8:
        raise ValueError(f"placement: {ranks} rank{'s' * (ranks != 1)} instead of 8")
    kings[WHITE] = kings[BLACK] = -1
    rank = 7
    file = 0
    number = 0
    for i in range(start, end + 1):
        letter = letters[i] if i < end else ord("/")
        if letter == ord("/"):
            if file != 8:
                row = text[start:i]
                raise ValueError(f"placement: rank {rank + 1} ({row!r}) has {file} squares instead of 8")
            start = i + 1
            rank -= 1
            file = 0
            number = 0
        elif ord("1") <= letter <= ord("8"):
            if number:
                raise ValueError(f"placement: '{number}{text[i]}' on rank {rank + 1} is not one number")
            number = letter - ord("0")
            file += number
        elif letter < 128 and CODE[letter]:
            if file < 8:
                code = CODE[letter]
                board.add(code, rank << 4 | file)
                if code & KIND == KING:
                    kings[code >> 5] = rank << 4 | file if kings[code >> 5] < 0 else NO_SQUARE
            file += 1
            number = 0
        else:
            raise ValueError(f"placement: {text[i]!r} on rank {rank + 1} is not a piece")


def _castling(
    text: str,
    letters: bytes,
    start: int,
    end: int,
    chess960: bool,
    board: Board,
    kings: list[int],
    given: list[int],
    rooks: list[int],
) -> bool:
    """Note the letter and the rook of each right, by its number; NO_SQUARE is the rook if there is none.
    Returns whether the rights are read as those of Chess960.
    """
    for i in range(start, end):
        letter = letters[i] | 32
        is_file = ord("a") <= letter <= ord("h")
        chess960 = chess960 or is_file
        is_wrong = not is_file and letters[i] not in (ord("K"), ord("Q"), ord("k"), ord("q"))
        for j in range(start, i):
            is_wrong = is_wrong or letters[j] == letters[i]
        if is_wrong:
            raise ValueError(
                f"castling: {text[start:end]!r} is neither - nor made of K, Q, k and q, or files of rooks, "
                "each at most once"
            )
    for i in range(start, end):
        side = letters[i] >= ord("a")
        letter = letters[i] | 32
        king = kings[side]
        if king & OFF_BOARD:
            return chess960  # `Board.place` refuses it
        if letter > ord("h"):
            number = 2 * side + (letter == ord("q"))
            rook = 0x70 * side + (0 if number & 1 else 7)
            if chess960:
                rook = _outermost_rook(board, king, number)
        else:
            rook = 0x70 * side + letter - ord("a")
            number = 2 * side + (rook & FILE < king & FILE)
        if given[number]:
            raise ValueError(
                f"castling: {text[start:end]!r} names two rooks on one side of {SIDES[side]}'s king"
            )
        given[number] = letters[i]
        rooks[number] = rook
    return chess960


def _outermost_rook(board: Board, king: int, number: int) -> int:
    """The rook that X-FEN means by a castling right, or NO_SQUARE."""
    outwards = -1 if number & 1 else 1
    found = NO_SQUARE
    sq = king + outwards
    while not sq & OFF_BOARD:
        if board.squares[sq] == WHITE_PIECE << (number >> 1) | ROOK:
            found = sq
        sq += outwards
    return found


def _square(text: str, letters: bytes, start: int, end: int) -> int:
    """The en-passant square, or NO_SQUARE."""
    if start == end or _is_dash(letters, start, end):
        return NO_SQUARE
    if end - start == 2:
        file, rank = letters[start] - ord("a"), letters[start + 1] - ord("1")
        if 0 <= file < 8 and 0 <= rank < 8:
            return rank << 4 | file
    raise ValueError(f"en passant: {text[start:end]!r} is not a square, nor -")


def _counter(name: str, text: str, letters: bytes, start: int, end: int) -> int:
    number = 0
    for i in range(start, end):
        if not ord("0") <= letters[i] <= ord("9") or i - start == 9:
            number = LARGEST_COUNTER + 1
            break
        number = 10 * number + letters[i] - ord("0")
    if number > LARGEST_COUNTER:
        raise ValueError(f"{name}: {text[start:end]!r} is not a whole number from 0 to {LARGEST_COUNTER}")
    return number


def mirrored(board: Board) -> Board:
    """The position with the colours exchanged, seen from the other side."""
    fields = write(board).split()
    fields[3] = square.name(board.en_passant)
    return parse(mirrored_text(" ".join(fields)), chess960=True)


def mirrored_text(text: str) -> str:
    """The FEN of the `mirrored` position."""
    placement, side, castling, en_passant, *counters = text.split()
    placement = "/".join(reversed(placement.swapcase().split("/")))
    side = "b" if side == "w" else "w"
    # White's rights come first.
    castling = "".join(sorted(castling.swapcase()))
    en_passant = en_passant.translate(_OTHER_RANK)
    return " ".join([placement, side, castling, en_passant, *counters])
