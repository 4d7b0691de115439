"""A `go` line of UCI: the limits that it sets for a search."""

import re

from moff.messages import LARGEST_NUMBER, echo
from search.limits import Limits
from x88.board import Board
from x88.notation import coordinate

GO_WORDS = (
    *("searchmoves", "ponder", "wtime", "btime", "winc", "binc", "movestogo"),
    *("depth", "nodes", "mate", "movetime", "infinite", "perft"),
)


def parse_limits(
    words: list[str], board: Board, options: Limits, tells_unknown: bool = True
) -> tuple[Limits, list[str]]:
    """The limits of a `go` line, in any order, added to those set by options, and what is wrong with the
    line. The GUI waits for a move in any case: unknown words are ignored, a number out of range becomes the
    nearest valid one, and if no limit can be read, the move comes at once.
    """
    found: dict[str, int] = {}
    flags = set()
    moves: list[int] = []
    faults: list[str] = []
    lost = False
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in ("infinite", "ponder"):
            flags.add(word)
        elif word == "searchmoves":
            if at == len(words) or words[at] in GO_WORDS:
                faults.append("searchmoves takes moves")
            while at < len(words) and words[at] not in GO_WORDS:
                try:
                    moves.append(coordinate.parse(board, words[at]))
                except ValueError as error:
                    faults.append(str(error))
                at += 1
        elif word in GO_WORDS:
            text = words[at] if at < len(words) and words[at] not in GO_WORDS else ""
            at += bool(text)
            # A clock may be negative: GUIs have a time margin.
            least = -LARGEST_NUMBER if word in ("wtime", "btime", "winc", "binc", "movetime") else 0
            value, fault = _nearest_number(word, text, least)
            if value is not None:
                found[word] = value
            if fault:
                faults.append(fault)
                lost = lost or value is None
        else:
            lost = True
            if tells_unknown:
                faults.append(f"unknown word {echo(word)}")
    for word in {"depth", "nodes", "mate", "movetime"} & found.keys():
        # A limit of 0 still asks for a move.
        found[word] = max(1, found[word])
    is_unlimited = not (flags or found.keys() - {"movestogo"})
    if is_unlimited and lost:
        found["depth"] = 1
    limits = options._replace(
        depth=found.get("depth"),
        nodes=found.get("nodes"),
        mate=found.get("mate"),
        movetime=found.get("movetime"),
        time=(found.get("wtime"), found.get("btime")),
        increment=(max(0, found.get("winc", 0)), max(0, found.get("binc", 0))),
        movestogo=found.get("movestogo") or None,
        infinite="infinite" in flags or (is_unlimited and "depth" not in found),
        ponder="ponder" in flags,
        searchmoves=tuple(moves),
    )
    return limits, faults


def _nearest_number(name: str, text: str, least: int) -> tuple[int | None, str]:
    """The value of a limit, or the nearest one allowed, or None if the text is not a number; and what is
    wrong with it, if anything. A number larger than any clock or count becomes the largest one.
    """
    number = re.fullmatch(r"(-?[0-9]+)(\.[0-9]*)?", text)
    whole = number[1] if number else ""
    value = None
    if number:
        # Python limits the number of digits that it converts.
        value = int(whole) if len(whole) <= 40 else LARGEST_NUMBER * (-1) ** (whole[0] == "-")
    if value is not None and value >= least and whole == text:
        return min(value, LARGEST_NUMBER), ""
    fault = f"{name} takes a whole number from {least} to {LARGEST_NUMBER}, not {echo(text)}"
    return value if value is None else max(least, min(value, LARGEST_NUMBER)), fault
