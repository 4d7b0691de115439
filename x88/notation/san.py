"""SAN, standard algebraic notation: reads and writes "e4", "Nbd7", "exd6", "e8=Q+", "O-O-O#".

`write` follows the PGN standard: the least disambiguation among the legal moves (a pinned knight does not
count), "+" and "#". `parse` also reads what people write: zeros for castling, "e8Q" and "e8(Q)", needless
disambiguation ("Ng1e2"), long algebraic ("e2-e4", "Ng1xf3"), the numbers of ICCF ("5254"), figurines, any
kind of dash, a missing or wrong "x", "+" or "#", and "e.p.", "(ep)", "!" or "?" at the end.

Moves are resolved against the legal moves of the position, after "Modelarea tablei și jocului de șah" (XII).
"""

import re

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece, square
from x88.movegen import legal_moves
from x88.piece import NAMES, make_piece, side_of

if not cython.compiled:
    # isort: off
    # fmt: off
    from x88.attack import find_checks_and_pins, last_move_checks
    from x88.board import Board, checked_board
    from x88.move import (
        CAPTURED, CAPTURED_SHIFT, CASTLING, EN_PASSANT, MOVED_SHIFT, PROMOTED, PROMOTED_SHIFT, SQUARE,
        TARGET_SHIFT, moved_of, origin_of, promoted_of, target_of,
    )
    from x88.movegen import generate, is_castling_legal, own_stack
    from x88.notation.fen import ascii_of
    from x88.piece import BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, WHITE, WHITE_PIECE
    from x88.sets import bit, diagonal, lowest, straight
    from x88.square import DIFFERENCE, FILE, RANK, index64

    MASK_SHIFT = 32
    AMBIGUOUS = -1

_PLAIN = str.maketrans(
    "♔♕♖♗♘♙♚♛♜♝♞♟\u2010\u2011\u2012\u2013\u2014\u2015\u2212×†‡≠хОо", "KQRBNPKQRBNP-------x+##xOo"
) | dict.fromkeys(
    (0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFE0E, 0xFE0F, 0xFEFF)
)
_ICCF = re.compile("([1-8]{2}-?[1-8]{2})([1-4]?)([+#!?.]*)")


def _letters() -> list[int]:
    """LETTER[kind]: the letter of a kind of piece, as a character code."""
    table = [0] * 16
    for kind, text in piece.LETTERS.items():
        table[kind] = ord(text.upper())
    return table


def _kinds() -> list[int]:
    """KIND_OF[character]: the kind that a letter stands for, 0 for none. Small b is a file, not a bishop."""
    table = [0] * 256
    for kind, text in piece.LETTERS.items():
        table[ord(text.upper())] = kind
        if text not in "abcdefgh":
            table[ord(text)] = kind
    return table


LETTER = _letters()
KIND_OF = _kinds()
ATTACKS = square.ATTACKS
DIRECTION = square.DIRECTION
FILE_A = square.FILE_A


def write(board: Board, move: int) -> str:
    """The SAN of a legal move, packed. Raises ValueError for other moves."""
    if not cython.compiled:
        checked_board(board)
    board.check_legal(move)
    find_checks_and_pins(board)
    text = play(board, move)
    board.unmake_unchecked()
    return text


def plain(text: str) -> str:
    """The text with letters for figurines, ASCII for dashes, crosses and daggers, and no invisible marks."""
    return str.translate(text, _PLAIN)


def parse(board: Board, text: str) -> int:
    """The legal move that the text means on this board, packed.

    Raises ValueError with the text, the reason, and the candidates if there is more than one.
    """
    move = match(board, text)
    if move > 0:
        return move
    raise ValueError(complaint(board, text))


def match(board: Board, text: str) -> int:
    """The legal move that the text means on this board, packed; 0 for none, AMBIGUOUS for several."""
    if not cython.compiled:
        checked_board(board)
    return find(board, _text_pattern(text))


def is_readable(text: str) -> bool:
    """Whether the text looks like a move."""
    return _text_pattern(text) != 0


def _text_pattern(text: str) -> int:
    """The pattern for packed moves that the text describes, with figurines and the numbers of ICCF, too."""
    letters = ascii_of(text)
    if letters and not _is_rank(letters[0]):
        return read(letters, 0, len(text))
    found = _ICCF.fullmatch(text := plain(text))
    if found:
        squares, promoted, marks = found.groups()
        squares = squares.replace("-", "")
        files = (" abcdefgh"[int(digit)] if i % 2 == 0 else digit for i, digit in enumerate(squares))
        text = "".join(files) + (" QRBN"[int(promoted)] if promoted else "") + marks
    characters = text.encode("utf-8", "surrogatepass")
    return read(characters, 0, len(characters))


def complaint(board: Board, text: str) -> str:
    """Why `parse` refuses the text, in one line."""
    if not cython.compiled:
        checked_board(board)
    pattern = _text_pattern(text)
    quoted = repr(text if len(text) <= 40 else text[:40] + "...")
    if not pattern:
        return f"{quoted} is not a move: it should read like e4, Nf3, exd5, e8=Q or O-O"
    candidates = [move for move in legal_moves(board) if _matches(move, pattern)]
    if len(candidates) > 1:
        candidates = [move for move in candidates if not move & CASTLING]
        return f"{quoted} is ambiguous: {' or '.join(write(board, move) for move in candidates)}"
    return f"{quoted} is not a legal move: {_reason(board, pattern)}"


def _matches(move: int, pattern: int) -> bool:
    """Whether a packed move fits a pattern made by `read`."""
    return move & (pattern >> MASK_SHIFT) == pattern & 0x7FFFFFFF


def _reason(board: Board, pattern: int) -> str:
    """Why a pattern that is not ambiguous fits no legal move."""
    side = "Black" if board.side else "White"
    if pattern & CASTLING:
        return f"{side} cannot castle on that side now"
    target = pattern >> TARGET_SHIFT & SQUARE
    wanted = pattern & (pattern >> MASK_SHIFT) & SQUARE
    known = pattern >> MASK_SHIFT & SQUARE
    kind = pattern >> MOVED_SHIFT & KIND
    if not kind:
        if board.piece_at(wanted) == EMPTY:
            return f"there is no piece on {square.name(wanted)}"
        kind = board.piece_at(wanted) & KIND
    what = f"{side.lower()} {NAMES[kind]}"
    if known == SQUARE:
        what += f" on {square.name(wanted)}"
    elif known & FILE:
        what += f" on the {square.name(wanted)[0]}-file"
    elif known:
        what += f" on rank {(wanted >> 4) + 1}"
    code = make_piece(board.side, kind)
    own = [sq for sq in square.SQUARES if board.piece_at(sq) == code and sq & known == wanted]
    if not own:
        return f"there is no {what}"
    if pattern & PROMOTED and (kind != PAWN or target >> 4 not in (0, 7)):
        return "it is not a promotion"
    occupant = board.piece_at(target)
    if occupant != EMPTY and side_of(occupant) == board.side:
        return f"{square.name(target)} is occupied by a {side.lower()} piece"
    able = reaching(board, kind, target)
    if any(able & bit(sq) for sq in own):
        promoted = pattern >> PROMOTED_SHIFT & KIND
        if kind == PAWN and target >> 4 in (0, 7) and promoted not in (KNIGHT, BISHOP, ROOK, QUEEN):
            return "it must name the new piece: Q, R, B or N"
        return f"it would leave {side}'s king in check"
    return f"no {what} can move to {square.name(target)}"


def read(text: bytes, start: int, end: int) -> int:
    """The pattern for packed moves that the characters from `start` to `end` describe, 0 if unreadable.

    Its lower half holds the fields of the move that the text gives, its upper half the mask of their bits.
    """
    n = end
    while n > start and (
        text[n - 1] == ord("+")
        or text[n - 1] == ord("#")
        or text[n - 1] == ord("!")
        or text[n - 1] == ord("?")
        or text[n - 1] == ord(".")
        or text[n - 1] == ord(" ")
    ):
        n -= 1
    if n > start and text[n - 1] == ord(")"):
        n -= 1
        if n > start and text[n - 1] == ord("."):
            n -= 1
    if n > start and text[n - 1] == ord("p"):  # "e.p." or "ep": no move ends in p
        n -= 1
        if n > start and text[n - 1] == ord("."):
            n -= 1
        if n > start and text[n - 1] == ord("e"):
            n -= 1
        while n > start and (text[n - 1] == ord(" ") or text[n - 1] == ord("(")):
            n -= 1
    if n < start + 2:
        return 0
    if text[start] == ord("O") or text[start] == ord("0") or text[start] == ord("o"):
        return _read_castling(text, start, n)

    wanted = 0
    mask = PROMOTED | SQUARE << TARGET_SHIFT
    if KIND_OF[text[n - 1]] or text[n - 1] == ord("b"):
        kind = KIND_OF[text[n - 1]]
        wanted |= (kind if kind else BISHOP) << PROMOTED_SHIFT
        n -= 1
        if n > start and (text[n - 1] == ord("=") or text[n - 1] == ord("(") or text[n - 1] == ord("/")):
            n -= 1
    if n < start + 2 or not _is_rank(text[n - 1]) or not _is_file(text[n - 2]):
        return 0
    wanted |= ((text[n - 1] - ord("1")) << 4 | text[n - 2] - ord("a")) << TARGET_SHIFT
    n -= 2
    if n > start and (text[n - 1] == ord("x") or text[n - 1] == ord("-") or text[n - 1] == ord(":")):
        n -= 1
    if n > start and _is_rank(text[n - 1]):
        wanted |= (text[n - 1] - ord("1")) << 4
        mask |= RANK & SQUARE
        n -= 1
    if n > start and _is_file(text[n - 1]):
        wanted |= text[n - 1] - ord("a")
        mask |= FILE
        n -= 1
    kind = PAWN
    if n > start:
        kind = KIND_OF[text[start]]
        if n > start + 1 or not kind:
            return 0
    if n > start or mask & SQUARE != SQUARE:
        # Two squares alone name the piece by its square.
        wanted |= kind << MOVED_SHIFT
        mask |= KIND << MOVED_SHIFT
    return pattern_of(mask, wanted)


def _read_castling(text: bytes, start: int, end: int) -> int:
    """The pattern of castling, by its number of letters or zeros."""
    letters = 0
    for i in range(start, end):
        if text[i] == ord("O") or text[i] == ord("0") or text[i] == ord("o"):
            letters += 1
        elif text[i] != ord("-"):
            return 0
    if letters == 2:
        return pattern_of(CASTLING | FILE << TARGET_SHIFT, CASTLING | 6 << TARGET_SHIFT)
    if letters == 3:
        return pattern_of(CASTLING | FILE << TARGET_SHIFT, CASTLING | 2 << TARGET_SHIFT)
    return 0


def _is_rank(character: int) -> bool:
    return ord("1") <= character <= ord("8")


def _is_file(character: int) -> bool:
    return ord("a") <= character <= ord("h")


def pattern_of(mask: int, wanted: int) -> int:
    both = mask
    return both << MASK_SHIFT | wanted


def find(board: Board, pattern: int) -> int:
    """The legal move that fits the pattern, packed; 0 for none, AMBIGUOUS for several.

    "Kg1" means castling only if the king cannot move there otherwise. Finds checks and pins.
    """
    mask = pattern >> MASK_SHIFT
    wanted = pattern & 0x7FFFFFFF
    target = wanted >> TARGET_SHIFT & SQUARE
    promoted = wanted >> PROMOTED_SHIFT & KIND
    found = 0
    if not mask:
        return 0
    find_checks_and_pins(board)
    if not mask & CASTLING:
        kind = wanted >> MOVED_SHIFT & KIND
        if not kind:
            kind = board.squares[wanted & SQUARE] & KIND
        is_promotion = kind == PAWN and (target & RANK == 0x70 or target & RANK == 0)
        if is_promotion != (promoted != 0) or promoted in (PAWN, KING):
            return 0
        able = origins(board, kind, target)
        while able:
            origin = lowest(able)
            able &= able - 1
            if origin & mask & SQUARE == wanted & SQUARE:
                if found:
                    return AMBIGUOUS
                found = origin | wanted & (SQUARE << TARGET_SHIFT | PROMOTED) | kind << MOVED_SHIFT
        if found:
            if kind == PAWN and target == board.en_passant:
                return found | PAWN << CAPTURED_SHIFT | EN_PASSANT
            return found | (board.squares[target] & KIND) << CAPTURED_SHIFT
    if not board.checkers:
        for number in range(2 * board.side, 2 * board.side + 2):
            if board.castles[number] & mask == wanted and is_castling_legal(board, number):
                return board.castles[number]
    return 0


def origins(board: Board, kind: int, target: int) -> int:
    """The squares from which pieces of this kind of the side to move can legally move to a square, as bits.
    Castling aside; checks and pins have been found.
    """
    king = board.pieces[board.side << 4]
    found = reaching(board, kind, target)
    if kind == KING and found:
        others = (board.sides[WHITE] | board.sides[BLACK]) ^ bit(king)
        return 0 if board.attackers_among(target, others) & board.sides[board.side ^ 1] else found
    step = DIRECTION[target - king + DIFFERENCE]
    is_en_passant = kind == PAWN and target == board.en_passant
    # A check ends if the checker is captured or a piece comes between: on its line, on the king's side.
    if board.checkers and board.checkers != bit(target) and not is_en_passant:
        is_between = step != 0 and DIRECTION[lowest(board.checkers) - target + DIFFERENCE] == step
        if board.checkers & board.checkers - 1 or not is_between:
            return 0
    doubtful = found if is_en_passant else found & board.pinned
    while doubtful:
        sq = lowest(doubtful)
        doubtful &= doubtful - 1
        # A pinned piece stays on the line to its king.
        is_legal = DIRECTION[sq - king + DIFFERENCE] == step
        if is_en_passant:
            is_legal = board.is_en_passant_legal(sq)
        if not is_legal:
            found ^= bit(sq)
    return found


def reaching(board: Board, kind: int, target: int) -> int:
    """`origins` whether or not the king is left in check."""
    side = board.side
    own = WHITE_PIECE << side
    pieces = board.sets[own | kind]
    number = index64(target)
    occupied = board.sides[WHITE] | board.sides[BLACK]
    found = 0
    if board.sides[side] & bit(target):
        return 0
    if kind in (KNIGHT, KING):
        return ATTACKS[kind << 6 | number] & pieces
    if kind == PAWN:
        if occupied & bit(target) or target == board.en_passant:
            return ATTACKS[(side ^ 1) << 6 | number] & pieces
        back = 32 * side - 16
        sq = target + back & 0xFF
        if board.squares[sq] == EMPTY and target & RANK == (0x40 if side else 0x30):
            sq += back
        return bit(sq) if board.squares[sq] == own | PAWN else 0
    if kind & ROOK:
        found = straight(target, occupied)
    if kind & BISHOP:
        found |= diagonal(target, occupied)
    return found & pieces


def play(board: Board, move: int) -> str:
    """Make a legal move; returns its SAN. Checks and pins have been found."""
    if not cython.compiled:
        text = bytearray(8)
    n = 0
    origin = origin_of(move)
    target = target_of(move)
    kind = moved_of(move)
    if move & CASTLING:
        n = 3 if target & FILE == 6 else 5
        for i in range(n):
            text[i] = ord("-") if i & 1 else ord("O")
    else:
        if kind == PAWN:
            if move & CAPTURED:
                text[0] = ord("a") + (origin & FILE)
                n = 1
        else:
            text[0] = LETTER[kind]
            n = 1
            others = board.sets[board.squares[origin]] ^ bit(origin)
            if others:
                others &= origins(board, kind, target)
            if others:
                same_file = others & FILE_A << (origin & FILE)
                if not same_file or others >> (origin >> 1 & 0x38) & 0xFF:
                    text[n] = ord("a") + (origin & FILE)
                    n += 1
                if same_file:
                    text[n] = ord("1") + (origin >> 4)
                    n += 1
        if move & CAPTURED:
            text[n] = ord("x")
            n += 1
        text[n] = ord("a") + (target & FILE)
        text[n + 1] = ord("1") + (target >> 4)
        n += 2
        if move & PROMOTED:
            text[n] = ord("=")
            text[n + 1] = LETTER[promoted_of(move)]
            n += 2
    board.make_unchecked(move)
    if last_move_checks(board):
        text[n] = ord("+") if generate(board, own_stack(), 0) else ord("#")
        n += 1
    return text[:n].decode("ascii")
