"""The operations of EPD: an opcode, what it is given, and a semicolon.

Source: "Portable Game Notation Specification and Implementation Guide", 1994, section 16.2.
"""

import re
from typing import Any

_FIELDS = re.compile(r"\s*(\S+(?:\s+\S+){0,3})\s*(.*)", re.DOTALL)
_OPERATION = re.compile(r'([A-Za-z][\w-]*)((?:"(?:[^"\\]|\\.)*(?:"|$)|[^";])*)(?:;|$)')
_OPERAND = re.compile(r'"((?:[^"\\]|\\.)*)(?:"|$)|(\S+)')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_WRITTEN = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"})
_READ = {"n": "\n", "r": "\r", "t": "\t"}


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
    pairs = _OPERAND.findall(operands)
    words = [word or _ESCAPED.sub(lambda found: _READ.get(found[1], found[1]), text) for text, word in pairs]
    if not words:
        return [] if opcode in ("am", "bm", "pv") else None
    if opcode == "pv":
        line = board.copy(stack=False)
        return [line.push_san(word) for word in words]
    if opcode in ("am", "bm"):
        return [board.parse_san(word) for word in words]
    if operands.startswith('"'):
        return words[0]
    for read in (int, float) if operands[0] in "+-.0123456789" else (board.parse_san,):
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
            words = ['"' + value.translate(_WRITTEN) + '"']
        else:
            words = [str(value) if isinstance(value, int | float) else board.san(value)]
        found.append(" ".join([opcode, *words]) + ";")
    return found
