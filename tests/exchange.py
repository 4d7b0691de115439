"""A brute-force search of the captures on one square with python-chess, the oracle of static exchange
evaluation.

Every capture is really made on a copy of the board, so pieces behind the taker take part. Pins do not count.
"""

import chess

from tests.oracle import KINDS
from x88.piece import VALUE


def least_first(position: chess.Board, move: chess.Move) -> set[int]:
    """The gain of a move if both sides go on taking with their least valuable piece and may stop at any time.

    Where two pieces of that value could take, either may, and what stands behind them can differ: all results
    that some choice between equal pieces gives.
    """
    board, gain = _after(position, move)
    return {gain - reply for reply in _least_first(board, move.to_square)}


def _value(piece: chess.PieceType | None) -> int:
    return VALUE[KINDS[piece]] if piece else 0


def _least_first(board: chess.Board, target: chess.Square) -> set[int]:
    takers = _takers(board, target)
    least = min((_value(board.piece_type_at(origin)) for origin in takers), default=0)
    results = set() if takers else {0}
    for origin in takers:
        if _value(board.piece_type_at(origin)) == least:
            after, gain = _take(board, origin, target)
            results |= {max(0, gain - reply) for reply in _least_first(after, target)}
    return results


def _after(position: chess.Board, move: chess.Move) -> tuple[chess.Board, int]:
    """The position after a move that is no castling, and what it wins at once."""
    victim = chess.PAWN if position.is_en_passant(move) else position.piece_type_at(move.to_square)
    gain = _value(victim)
    if move.promotion:
        gain += _value(move.promotion) - _value(chess.PAWN)
    board = position.copy(stack=False)
    board.push(move)
    return board, gain


def _take(board: chess.Board, origin: chess.Square, target: chess.Square) -> tuple[chess.Board, int]:
    """The position after a capture, and what it wins at once. A pawn becomes a queen on the last rank."""
    promotes = board.piece_type_at(origin) == chess.PAWN and chess.square_rank(target) in (0, 7)
    return _after(board, chess.Move(origin, target, chess.QUEEN if promotes else None))


def _takers(board: chess.Board, target: chess.Square) -> list[chess.Square]:
    """The squares from which the side to move can take; its king only what no piece protects then."""
    takers = list(board.attackers(board.turn, target))
    king = board.king(board.turn)
    if king in takers and _take(board, king, target)[0].is_attacked_by(not board.turn, target):
        takers.remove(king)
    return takers
