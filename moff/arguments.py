"""Types and checks that the arguments of several commands share."""

import argparse
import os
import sys

from moff.messages import LARGEST_NUMBER, shorten
from moff.messages import whole_number as read_number
from x88.board import Board
from x88.notation import fen

WRONG_USAGE = 2
"""The exit code after wrong usage."""

STANDARD = "-"
"""Standard input or output."""


def whole_number(text: str, least: int, most: int = LARGEST_NUMBER) -> int:
    """A number as a parser's type. Raises ArgumentTypeError."""
    try:
        return read_number("it", text, least, most)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def read_position(text: str) -> Board | None:
    """The position of a FEN or `startpos`, with a note on what was assumed; None, with an error message, if
    it is bad.
    """
    warnings: list[str] = []
    board = None
    try:
        board = fen.parse(fen.START if text == "startpos" else text, warnings)
    except ValueError as error:
        warnings = [str(error)]
    for sentence in warnings:
        print(shorten(sentence), file=sys.stderr)
    return board


def is_same_file(path: str, other: str) -> bool:
    """Whether two paths name the same file, which need not exist yet."""
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)
