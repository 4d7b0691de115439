"""Attack maps: for every square and side, the number of attackers, the least valuable of them, and the number
of X-ray attackers: sliders behind exactly one other piece (vector attacks).

The Swedish generator builds such maps as a by-product of its loop; here the loop runs only for them, over all
pieces of both sides. Pins and checks are ignored, and a side also attacks the squares of its own pieces,
which it defends.

Source: "Draggenerator", the Swedish series on programming a chess board.
"""

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from x88 import piece, square

if not cython.compiled:
    from x88.board import Board
    from x88.piece import EMPTY, KIND, WHITE
    from x88.square import OFF_BOARD

MOFF = piece.MOFF
VALUE = piece.VALUE


class AttackMap:
    """The maps of one position, by `side << 7 | square`. They raise ValueError for other indices."""

    def __init__(self) -> None:
        self.counts = [0] * 256
        self.least = [0] * 256
        self.behind = [0] * 256

    def compute(self, board: Board) -> None:
        """Compute the maps of a position."""
        for i in range(256):
            self.counts[i] = 0
            self.least[i] = 0
            self.behind[i] = 0
        for side in range(2):
            row = side << 7
            forward = 16 if side == WHITE else -16
            for i in range(side << 4, (side << 4) + board.count[side]):
                origin = board.pieces[i]
                kind = board.squares[origin] & KIND
                if kind & 0x0E == 0:
                    self._add(row, origin + forward - 1, kind)
                    self._add(row, origin + forward + 1, kind)
                    continue
                jx = MOFF[kind]
                while MOFF[jx]:
                    step = MOFF[jx]
                    jx += 1
                    target = origin + step & 0xFF
                    self._add(row, target, kind)
                    if kind & 0x02:
                        continue
                    while board.squares[target] == EMPTY:
                        target = target + step & 0xFF
                        self._add(row, target, kind)
                    # Behind the first piece, the line is a vector attack up to the next piece.
                    while not target & OFF_BOARD:
                        target = target + step & 0xFF
                        if target & OFF_BOARD:
                            break
                        self.behind[row | target] += 1
                        if board.squares[target] != EMPTY:
                            break

    def _add(self, row: int, target: int, kind: int) -> None:
        """Count an attack on a square, unless it is off the board."""
        if target & OFF_BOARD:
            return
        self.counts[row | target] += 1
        least = self.least[row | target]
        if least == 0 or VALUE[kind] < VALUE[least]:
            self.least[row | target] = kind

    def count(self, sq: int, side: int) -> int:
        """The number of the side's pieces that attack a square."""
        return self.counts[_cell(sq, side)]

    def least_kind(self, sq: int, side: int) -> int:
        """The kind of the side's least valuable attacker of a square, 0 if there is none."""
        return self.least[_cell(sq, side)]

    def count_behind(self, sq: int, side: int) -> int:
        """The number of the side's X-ray attackers of a square, through exactly one piece."""
        return self.behind[_cell(sq, side)]


def _cell(sq: int, side: int) -> int:
    """The index of a square in the maps of a side. Raises ValueError or TypeError if there is none."""
    return piece.checked_side(side) << 7 | square.checked(sq)
