"""The operations of EPD: an opcode, what it is given, and a semicolon.

Source: "Portable Game Notation Specification and Implementation Guide", 1994, section 16.2.
"""

import re
from typing import Any

_FIELDS = re.compile(r"\s*(\S+(?:\s+\S+){0,3})\s*(.*)", re.DOTALL)
_OPERATION = re.compile(r'([A-Za-z][\w-]*)((?:"(?:[^"\\]|\\.)*(?:"|$)|[^";])*)(?:;|$)')
_OPERAND = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|$)|(\S+)')
_ESCAPED = re.compile(r'\\(["\\])')
_LISTS = ("am", "bm")


def split(text: str) -> tuple[str, str]:
    """The fields of the position, at most four, and the rest of the line."""
    found = _FIELDS.match(text)
    return found.groups() if found else ("", "")  # type: ignore[return-value]


def parse(board: Any, text: str) -> dict[str, Any]:
    """The operations of a line, by opcode; see `Board.set_epd`."""
    found: dict[str, Any] = {}
    while text := text.lstrip(" ;-\t\r\n"):
        operation = _OPERATION.match(text)
        if not operation:
            raise ValueError(f"{text!r:.60} is not an operation of EPD, as bm e4;")
        text = text[operation.end() :]
        opcode, operands = operation[1], operation[2].strip()
        found[opcode] = _value(board, opcode, operands)
        if opcode == "hmvc":
            board.halfmove_clock = found[opcode]
        elif opcode == "fmvn":
            board.fullmove_number = found[opcode]
    return found


def _value(board: Any, opcode: str, operands: str) -> Any:
    words = [word or _ESCAPED.sub(r"\1", quoted) for quoted, word in _OPERAND.findall(operands)]
    if not words:
        return None
    if opcode == "pv":
        line = board.copy(stack=False)
        return [line.push_san(word) for word in words]
    if opcode in _LISTS:
        return [board.parse_san(word) for word in words]
    if operands.startswith('"'):
        return words[0]
    for read in (int, float, board.parse_san):
        try:
            return read(operands)
        except ValueError:
            pass
    return operands


def write(board: Any, operations: dict[str, Any]) -> list[str]:
    """The operations as text."""
    found = []
    for opcode, value in operations.items():
        if opcode == "pv":
            line = board.copy(stack=False)
            words = []
            for move in value:
                words.append(line.san(move))
                line.push(move)
        elif value is None:
            words = []
        elif isinstance(value, list | tuple | set):
            words = sorted(board.san(move) for move in value)
        elif isinstance(value, str):
            words = ['"' + re.sub(r'(["\\])', r"\\\1", value) + '"']
        else:
            words = [str(value) if isinstance(value, int | float) else board.san(value)]
        found.append(" ".join([opcode, *words]) + ";")
    return found
