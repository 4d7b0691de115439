"""A second oracle: moves on a 10x12 mailbox, after LaMoSca 0.02; it imports nothing of Moff.

Squares are 0 for a8 to 63 for h1. `MAILBOX` surrounds them with a border of -1 cells, two rows above and
below and one column left and right (a knight that leaves on one side meets the column of the other), and
`INNER` leads from a square to its cell, so a step from any square meets either a square or the border. The
article's program generates pseudo-legal moves only; castling, promotion, en passant and legality, which it
left to do, are added here: a move is legal if no reply could take the king.

Source: "LaMoSca v0.02, Generazione di mosse pseudo-legali", the Italian series on writing a chess program.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

BORDER = -1
MAILBOX = [
    row * 8 + column if 0 <= row < 8 and 0 <= column < 8 else BORDER
    for row in range(-2, 10)
    for column in range(-1, 9)
]
INNER = [MAILBOX.index(square) for square in range(64)]

VECTORS = {
    "n": (-21, -19, -12, -8, 8, 12, 19, 21),
    "b": (-11, -9, 9, 11),
    "r": (-10, -1, 1, 10),
    "q": (-11, -10, -9, -1, 1, 9, 10, 11),
    "k": (-11, -10, -9, -1, 1, 9, 10, 11),
}
RUNNERS = "brq"
FREE = "."
NOWHERE = -1


class Move(NamedTuple):
    """From, to, and the letter of the new piece if a pawn promotes."""

    origin: int
    target: int
    promoted: str = ""

    def __str__(self) -> str:
        return name(self.origin) + name(self.target) + self.promoted


def name(square: int) -> str:
    """The square's name: a8 for 0, h1 for 63."""
    return "abcdefgh"[square % 8] + "87654321"[square // 8]


def step(square: int, vector: int) -> int:
    """The square that the vector leads to, BORDER if it leaves the board."""
    return MAILBOX[INNER[square] + vector]


@dataclass(frozen=True)
class Position:
    """FEN letters on 64 squares, whether White is to move, castling rights as FEN letters, the square that a
    pawn has just passed over or NOWHERE."""

    squares: tuple[str, ...]
    white: bool
    rights: str
    passed: int

    @classmethod
    def from_fen(cls, text: str) -> "Position":
        """The position of a FEN, which is trusted to be well formed."""
        placement, turn, rights, passed = text.split()[:4]
        for digit in "12345678":
            placement = placement.replace(digit, FREE * int(digit))
        squares = tuple(placement.replace("/", ""))
        names = [name(square) for square in range(64)]
        return cls(squares, turn == "w", rights.strip("-"), NOWHERE if passed == "-" else names.index(passed))

    def play(self, move: Move) -> "Position":
        """The position after a move of this one."""
        squares = list(self.squares)
        piece = squares[move.origin]
        squares[move.origin] = FREE
        squares[move.target] = piece
        passed = NOWHERE
        if piece in "Pp":
            if move.promoted:
                squares[move.target] = move.promoted.upper() if self.white else move.promoted
            if move.target == self.passed:
                squares[self.passed + (8 if self.white else -8)] = FREE
            if abs(move.target - move.origin) == 16:
                passed = (move.origin + move.target) // 2
        elif piece in "Kk" and abs(move.target - move.origin) == 2:
            short = move.target > move.origin
            corner = move.target + 1 if short else move.target - 2
            squares[move.target + (-1 if short else 1)] = squares[corner]
            squares[corner] = FREE
        lost = {"e1": "KQ", "h1": "K", "a1": "Q", "e8": "kq", "h8": "k", "a8": "q"}
        gone = lost.get(name(move.origin), "") + lost.get(name(move.target), "")
        rights = "".join(right for right in self.rights if right not in gone)
        return Position(tuple(squares), not self.white, rights, passed)

    def legal(self) -> list[Move]:
        """The pseudo-legal moves after which the king cannot be taken."""
        return [move for move in self.pseudo_legal() if not self.play(move).can_take_king()]

    def can_take_king(self) -> bool:
        """Whether the side to move attacks the other side's king."""
        return self.is_attacked(self.squares.index("k" if self.white else "K"), self.white)

    def is_attacked(self, square: int, white: bool) -> bool:
        """Whether a side attacks the square: from it, every kind of piece looks back for itself."""
        for kind, vectors in VECTORS.items():
            wanted = kind.upper() if white else kind
            for vector in vectors:
                target = step(square, vector)
                while kind in RUNNERS and target != BORDER and self.squares[target] == FREE:
                    target = step(target, vector)
                if target != BORDER and self.squares[target] == wanted:
                    return True
        for vector in (9, 11) if white else (-9, -11):
            target = step(square, vector)
            if target != BORDER and self.squares[target] == ("P" if white else "p"):
                return True
        return False

    def pseudo_legal(self) -> Iterator[Move]:
        """Moves by the way the pieces go, whatever becomes of the king."""
        for square, piece in enumerate(self.squares):
            if piece == FREE or piece.isupper() != self.white:
                continue
            if piece in "Pp":
                yield from self._pawn_moves(square)
            else:
                yield from self._piece_moves(square, piece.lower())
        yield from self._castling()

    def _piece_moves(self, origin: int, kind: str) -> Iterator[Move]:
        for vector in VECTORS[kind]:
            target = step(origin, vector)
            while target != BORDER:
                taken = self.squares[target]
                if taken == FREE or taken.isupper() != self.white:
                    yield Move(origin, target)
                if taken != FREE or kind not in RUNNERS:
                    break
                target = step(target, vector)

    def _pawn_moves(self, origin: int) -> Iterator[Move]:
        forward = -10 if self.white else 10
        row = origin // 8
        targets = []
        ahead = step(origin, forward)
        if self.squares[ahead] == FREE:
            targets.append(ahead)
            if row == (6 if self.white else 1) and self.squares[step(ahead, forward)] == FREE:
                targets.append(step(ahead, forward))
        for vector in (forward - 1, forward + 1):
            target = step(origin, vector)
            if target == BORDER:
                continue
            taken = self.squares[target]
            if target == self.passed or (taken != FREE and taken.isupper() != self.white):
                targets.append(target)
        for target in targets:
            for promoted in "qrbn" if target // 8 in (0, 7) else [""]:
                yield Move(origin, target, promoted)

    def _castling(self) -> Iterator[Move]:
        home = 60 if self.white else 4
        for right, way, between in (("K", 1, 2), ("Q", -1, 3)):
            if (right if self.white else right.lower()) not in self.rights:
                continue
            if any(self.squares[home + way * n] != FREE for n in range(1, between + 1)):
                continue
            if not any(self.is_attacked(home + way * n, not self.white) for n in range(3)):
                yield Move(home, home + 2 * way)
