"""A UCI player of one ply, the yardstick of the lowest levels: it mates if it can, else takes the most
valuable piece that it can, whatever comes of it, else plays a quiet move at random.

    python tests/oneply.py [SEED]
"""

import random
import sys

import chess

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}


def gain(board: chess.Board, move: chess.Move) -> int:
    """The value of the piece that a move captures, 0 for a quiet one; of a mate, more than any piece."""
    if board.gives_check(move):
        board.push(move)
        mates = board.is_checkmate()
        board.pop()
        if mates:
            return 10
    if board.is_en_passant(move):
        return VALUES[chess.PAWN]
    victim = board.piece_type_at(move.to_square)
    return VALUES[victim] if victim and board.is_capture(move) else 0


def choose(board: chess.Board, dice: random.Random) -> chess.Move:
    """The move that it plays; the dice decide between equals."""
    moves = list(board.legal_moves)
    gains = [gain(board, move) for move in moves]
    return dice.choice([move for move, won in zip(moves, gains, strict=True) if won == max(gains)])


def main() -> None:
    """Play by UCI, until `quit` or the end of input."""
    dice = random.Random(sys.argv[1] if sys.argv[1:] else None)
    board = chess.Board()
    for line in sys.stdin:
        command, *words = line.split() or [""]
        if command == "uci":
            print("id name One ply\nuciok", flush=True)
        elif command == "isready":
            print("readyok", flush=True)
        elif command == "position":
            start, _, moves = " ".join(words).partition("moves")
            board = chess.Board(
                start.removeprefix("fen").strip() if start.startswith("fen") else chess.STARTING_FEN
            )
            for move in moves.split():
                board.push_uci(move)
        elif command == "go":
            print(f"bestmove {choose(board, dice)}", flush=True)
        elif command == "quit":
            break


if __name__ == "__main__":
    main()
