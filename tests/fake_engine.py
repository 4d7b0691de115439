"""A UCI engine for the tests of bench/: random moves, a chosen score, and faults on request."""

import argparse
import os
import random
import signal
import sys
import time

import chess

FAULTS = ("illegal", "none", "crash", "stall", "close", "late", "garbage", "quit", "deaf", "parent", "hasty")


def options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--score", default="cp 12", help="as in an info line; none at all if empty")
    parser.add_argument("--silent-at", type=int, default=0, help="the number of its move without a score")
    parser.add_argument("--pv", default="", help="the variation it reports; none if empty")
    parser.add_argument("--besides", default="", help="a line to print after the info line of a move")
    parser.add_argument("--think", type=float, default=0.0, help="seconds a move")
    parser.add_argument("--expects", type=int, help="the seed of the opponent whose replies it foresees")
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--at", type=int, default=1, help="the number of its move at which the fault comes")
    parser.add_argument("--plain", action="store_true", help="it has no options")
    parser.add_argument("--log", help="a file for its process number and every line it is sent")
    return parser.parse_args()


def misbehave(fault: str, board: chess.Board) -> bool:
    """Commit a fault; True if no move follows."""
    if fault == "illegal":
        print("bestmove a1a1", flush=True)
    elif fault == "none":
        print("bestmove", flush=True)
    elif fault == "crash":
        os._exit(3)
    elif fault == "stall":
        time.sleep(3600)
    elif fault == "close":
        os.close(1)
        time.sleep(3600)
    elif fault == "late":
        time.sleep(0.8)
        return False
    elif fault == "parent":
        os.kill(os.getppid(), signal.SIGKILL)
    elif fault == "garbage":
        print(
            "info\ninfo score\ninfo score cp x depth\n\nbestmov\ninfo depth 1 string bestmove a1a1",
            flush=True,
        )
        sys.stdout.buffer.write(b"\xff\xfe\x00 score cp 1\ninfo string score cp 30000\n")
        print(f"x{next(iter(board.legal_moves)).uci()}" * 10000, flush=True)
        return False
    return fault not in ("quit", "hasty")


def choice(seed: int, board: chess.Board) -> chess.Move:
    """The same move in the same position, whatever was played before."""
    return random.Random(f"{seed} {board.fen()}").choice(list(board.legal_moves))


def main() -> None:
    """Speak UCI on standard input and output."""
    asked = options()
    board = chess.Board()
    number = 0
    for line in map(str.strip, sys.stdin):
        if asked.log:
            with open(asked.log, "a", encoding="utf-8") as log:
                log.write(f"{os.getpid()} {line}\n")
        words = line.split()
        if line == "uci" and asked.fault != "deaf":
            if asked.plain:
                print("id name Fake\nuciok", flush=True)
                continue
            print("id name Fake\noption name Hash type spin default 1 min 1 max 9", flush=True)
            print("option name Threads type spin default 1 min 1 max 4", flush=True)
            print("option name UCI_LimitStrength type check default false", flush=True)
            print("option name UCI_Elo type spin default 1000 min 1000 max 2000\nuciok", flush=True)
        elif line == "isready":
            print("readyok", flush=True)
        elif line == "ucinewgame":
            number = 0
        elif words[:2] == ["position", "fen"]:
            board = chess.Board(" ".join(words[2:8]))
            for word in words[9:]:
                board.push_uci(word)
        elif words[:1] == ["go"]:
            number += 1
            if "ponder" in words and asked.fault != "hasty":
                line = next(sys.stdin)
                if asked.log:
                    with open(asked.log, "a", encoding="utf-8") as log:
                        log.write(f"{os.getpid()} {line}")
                if line.strip() not in ("stop", "ponderhit"):
                    return
            time.sleep(asked.think)
            if asked.score and number != asked.silent_at:
                line = f" pv {asked.pv}" if asked.pv else ""
                print(f"info depth 3 seldepth 4 score {asked.score} nodes 99 time 1{line}", flush=True)
            if asked.besides:
                print(asked.besides, flush=True)
            if asked.fault and number == asked.at and misbehave(asked.fault, board):
                continue
            chosen = choice(asked.seed, board)
            reply = "a1a1"
            if asked.expects is not None:
                board.push(chosen)
                reply = choice(asked.expects, board).uci() if any(board.legal_moves) else ""
                board.pop()
            print(f"bestmove {chosen.uci()} ponder {reply}".removesuffix(" ponder "), flush=True)
        elif line == "quit":
            if asked.fault == "quit":
                os.abort()
            return


if __name__ == "__main__":
    main()
