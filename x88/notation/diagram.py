"""Positions as lines of text: the board, the attack map, both sides' legal moves, and piece values.

The test board after "Testbräde för draggeneratorn" of the Swedish series "Draggenerator".
"""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from x88.attack import in_check
from x88.attack_map import AttackMap
from x88.board import Board
from x88.movegen import scored_moves
from x88.notation import coordinate, san
from x88.piece import BLACK, EMPTY, KIND, LETTERS, SIDES, WHITE, letter, make_piece, side_of

_FIGURINES = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))
_FILLED = dict(zip("kqrbnp", "♚♛♜♝♞♟", strict=True))
_RESET = "\033[0m"
# White's and Black's pieces, light and dark squares, from the 256 colours of a terminal.
_INK = {WHITE: 231, BLACK: 16}
_PAPER = {True: 180, False: 137}
_MARKED_PAPER = {True: 186, False: 143}

ATTACK_LEGEND = (
    "Each square: White's attackers, then Black's: how many, and the least valuable of them.",
    "' means that another slider stands behind one of them on the same line.",
)
SCORE_LEGEND = (
    "The generator's scores: 6000 for a recapture; 2000 plus the victim's value less the attacker's",
    "for another capture; 2000 and more for a promotion; 500 for castling; 0 for a quiet move.",
)

_EMPHASIS = {WHITE: "\033[1m", BLACK: "\033[36m"}


class Style(NamedTuple):
    """A style of drawing: pieces as letters, in colours, from Black's side."""

    ascii: bool = False
    coloured: bool = False
    flipped: bool = False


def draw(board: Board, style: Style, marked: Collection[int] = ()) -> list[str]:
    """The board, in ten lines. Marked squares are drawn in another colour, or in brackets without colours."""
    return _frame(style, 3, lambda sq: _piece(board.piece_at(sq), sq, style, sq in marked))


def draw_grid(board: Board) -> list[str]:
    """The board with a frame around every square, as Stockfish shows it and programs read it."""
    rule = " +" + "---+" * 8
    lines = [rule]
    for rank in range(7, -1, -1):
        codes = [board.piece_at(rank << 4 | file) for file in range(8)]
        row = " | ".join(" " if code == EMPTY else letter(code) for code in codes)
        lines += [f" | {row} | {rank + 1}", rule]
    return [*lines, "   a   b   c   d   e   f   g   h"]


def draw_attacks(board: Board, style: Style) -> list[str]:
    """The attack map: on every square White's attackers and Black's, each as their number and the letter of
    the least valuable, with an apostrophe if a slider stands behind another piece on a line to the square.
    """
    attacks = AttackMap()
    attacks.compute(board)

    def cell(sq: int) -> str:
        both = [_attackers(attacks, sq, side) for side in (WHITE, BLACK)]
        if style.coloured:
            both = [f"{_EMPHASIS[side]}{both[side]}{_RESET}" for side in (WHITE, BLACK)]
        return f" {both[WHITE]} {both[BLACK]}"

    return _frame(style, 8, cell)


def draw_piece_values(board: Board, style: Style, piece_values: Mapping[int, int]) -> list[str]:
    """The board with piece values: given in centipawns by square, shown in pawns."""
    piece_values = dict(piece_values)

    def cell(sq: int) -> str:
        text = f"{piece_values[sq] / 100:+.2f}"[:6] if sq in piece_values else ""  # tenths from 100 pawns on
        return _piece(board.piece_at(sq), sq, style, False) + f"{text:6}"

    return _frame(style, 9, cell)


def list_moves(board: Board, style: Style) -> list[str]:
    """Both sides' legal moves side by side, best first: the generator's score, SAN and coordinates."""
    columns = [_column_of(board, WHITE), _column_of(board, BLACK)]
    columns = [[f"{line:34}" for line in column] for column in columns]
    if style.coloured:
        columns = [[f"{_EMPHASIS[side]}{line}{_RESET}" for line in columns[side]] for side in (WHITE, BLACK)]
    blank = " " * 34
    height = max(len(column) for column in columns)
    white, black = (column + [blank] * (height - len(column)) for column in columns)
    return [f"{left}{right}".rstrip() for left, right in zip(white, black, strict=True)]


class ListedMove(NamedTuple):
    """A legal move as the test board lists it, with the generator's score."""

    score: int
    san: str
    coordinates: str


def moves_of(board: Board, side: int) -> list[ListedMove] | None:
    """A side's legal moves as if it were to move, best first; None if the other side is in check."""
    position = board.copy()
    if board.side != side:
        if in_check(board):
            return None
        position.make_null()
    return [
        ListedMove(score, san.write(position, move), coordinate.write(move))
        for move, score in scored_moves(position)
    ]


def _column_of(board: Board, side: int) -> list[str]:
    """A column of `list_moves`."""
    moves = moves_of(board, side)
    if moves is None:
        return [f"{SIDES[side]}: none, as {SIDES[board.side]} is in check"]
    count = f"{len(moves)} move{'' if len(moves) == 1 else 's'}"
    lines = [f"{SIDES[side]}: {count}{'' if board.side == side else ', if to move'}"]
    return [*lines, *(f"{move.score:6}  {move.san:8} {move.coordinates}" for move in moves)]


def _frame(style: Style, width: int, cell: Callable[[int], str]) -> list[str]:
    """Eight rows of cells between the names of files and ranks."""
    files = range(7, -1, -1) if style.flipped else range(8)
    ranks = range(8) if style.flipped else range(7, -1, -1)
    names = "  " + "".join(f"{'abcdefgh'[file]:^{width}}" for file in files).rstrip()
    rows = [f"{rank + 1} {''.join(cell(rank << 4 | file) for file in files)} {rank + 1}" for rank in ranks]
    return [names, *rows, names]


def _piece(code: int, sq: int, style: Style, is_marked: bool) -> str:
    """A square of the board, three characters wide."""
    light = (sq ^ sq >> 4) & 1 == 1
    if style.coloured:
        text = " "
        ink = _INK[BLACK]
        if code != EMPTY:
            ink = _INK[side_of(code)]
            text = letter(code) if style.ascii else _FILLED[LETTERS[code & KIND]]
        paper = (_MARKED_PAPER if is_marked else _PAPER)[light]
        return f"\033[48;5;{paper};38;5;{ink}m {text} {_RESET}"
    if code == EMPTY:
        text = "." if style.ascii else "·"
    else:
        text = letter(code) if style.ascii else _FIGURINES[letter(code)]
    return f"[{text}]" if is_marked else f" {text} "


def _attackers(attacks: AttackMap, sq: int, side: int) -> str:
    """One side's half of a square of the attack map, three characters wide."""
    count = attacks.count(sq, side)
    behind = "'" if attacks.count_behind(sq, side) else " "
    if not count:
        return f" -{behind}"
    return f"{count}{letter(make_piece(side, attacks.least_kind(sq, side)))}{behind}"
