"""A brute-force search of the captures on one square, the oracle of static exchange evaluation.

Pieces stand in a plain dictionary from (file, rank) to FEN letter, and every capture is really made on a copy
of it: the taker leaves its square, so pieces behind it take part without being thought of.
"""

import chess

from x88.piece import CODE_OF_LETTER, VALUE

Square = tuple[int, int]
Pieces = dict[Square, str]

STRAIGHT = ((0, 1), (1, 0), (0, -1), (-1, 0))
DIAGONAL = ((1, 1), (1, -1), (-1, -1), (-1, 1))
KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


def value(letter: str) -> int:
    """The exchange value of a FEN letter."""
    return VALUE[CODE_OF_LETTER[letter]]


def least_first(position: chess.Board, move: chess.Move) -> set[int]:
    """What a move wins if both sides go on taking with their least valuable piece and may stop at any time.

    Where two pieces of that value could take, either may, and what stands behind them can differ: all results
    that some choice between equal pieces gives.
    """
    pieces, target, gain = _after(position, move)
    return {gain - reply for reply in _least_first(pieces, target, not position.turn)}


def best_play(position: chess.Board, move: chess.Move) -> int:
    """What a move wins if both sides go on taking with whichever piece is best and may stop at any time."""
    pieces, target, gain = _after(position, move)
    return gain - _best_play(pieces, target, not position.turn)


def _least_first(pieces: Pieces, target: Square, white: bool) -> set[int]:
    takers = _takers(pieces, target, white)
    if not takers:
        return {0}
    least = min(value(pieces[origin]) for origin in takers)
    results = set()
    for origin in takers:
        if value(pieces[origin]) == least:
            after, gain = _take(pieces, origin, target)
            results |= {max(0, gain - reply) for reply in _least_first(after, target, not white)}
    return results


def _best_play(pieces: Pieces, target: Square, white: bool) -> int:
    best = 0
    for origin in _takers(pieces, target, white):
        after, gain = _take(pieces, origin, target)
        best = max(best, gain - _best_play(after, target, not white))
    return best


def _after(position: chess.Board, move: chess.Move) -> tuple[Pieces, Square, int]:
    """The pieces after a move that is no castling, its target, and what it wins at once."""
    pieces = {_square(sq): piece.symbol() for sq, piece in position.piece_map().items()}
    origin, target = _square(move.from_square), _square(move.to_square)
    victim = (target[0], origin[1]) if position.is_en_passant(move) else target
    gain = value(pieces.pop(victim)) if victim in pieces else 0
    pieces[target] = pieces.pop(origin)
    if move.promotion:
        gain -= value(pieces[target])
        pieces[target] = chess.Piece(move.promotion, position.turn).symbol()
        gain += value(pieces[target])
    return pieces, target, gain


def _take(pieces: Pieces, origin: Square, target: Square) -> tuple[Pieces, int]:
    """The pieces after a capture, and what it wins at once. A pawn becomes a queen on the last rank."""
    after = dict(pieces)
    taker = after.pop(origin)
    gain = value(after[target])
    if taker in "Pp" and target[1] in (0, 7):
        queen = "Q" if taker == "P" else "q"
        gain += value(queen) - value(taker)
        taker = queen
    after[target] = taker
    return after, gain


def _takers(pieces: Pieces, target: Square, white: bool) -> list[Square]:
    """The squares from which a side can take; its king only what no piece protects then."""
    takers = _attackers(pieces, target, white)
    for origin in takers:
        if pieces[origin] in "Kk" and _attackers(_take(pieces, origin, target)[0], target, not white):
            return [other for other in takers if other != origin]
    return takers


def _attackers(pieces: Pieces, target: Square, white: bool) -> list[Square]:
    file, rank = target
    found: list[Square] = []

    def look(letters: str, squares: list[Square]) -> None:
        letters = letters.upper() if white else letters
        found.extend(square for square in squares if pieces.get(square, ".") in letters)

    behind = rank - 1 if white else rank + 1
    look("p", [(file - 1, behind), (file + 1, behind)])
    look("n", [(file + x, rank + y) for x, y in KNIGHT])
    look("k", [(file + x, rank + y) for x, y in STRAIGHT + DIAGONAL])
    for letters, steps in (("rq", STRAIGHT), ("bq", DIAGONAL)):
        look(letters, [square for x, y in steps for square in _first_piece(pieces, target, x, y)])
    return found


def _first_piece(pieces: Pieces, origin: Square, across: int, up: int) -> list[Square]:
    """The square of the first piece in a direction, in a list that is empty if there is none."""
    for n in range(1, 8):
        square = (origin[0] + across * n, origin[1] + up * n)
        if square in pieces:
            return [square]
    return []


def _square(square: chess.Square) -> Square:
    return chess.square_file(square), chess.square_rank(square)
