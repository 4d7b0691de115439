"""A board in the words of python-chess, on the 0x88 board of `x88`.

Source of the names and their meanings: the documentation of python-chess by Niklas Fiekas. Where a method
takes a square, its name will do ("e4"). Moves come best first: captures by victim and attacker, then the
rest. A move that is not legal is refused by everything that plays or writes moves.
"""

import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any, NamedTuple

try:
    import cython
except ImportError:
    from x88 import uncompiled as cython

from moff.library import epd, squares
from moff.library.squares import BB_ALL, SQUARE_NAMES, STARTING_FEN, SquareSet
from x88 import square, zobrist
from x88.notation import chess960 as start_positions
from x88.notation import coordinate
from x88.notation import fen as fens
from x88.notation import san as sans
from x88.notation.outcome import can_mate
from x88.piece import KINDS, LETTER_OF

if not cython.compiled:
    # isort: off
    # fmt: off
    from moff.library.moves import TYPE, Move, Piece, from_packed, piece_of, square_of
    from x88.attack import find_checks_and_pins, in_check
    from x88.board import Board as Position
    from x88.move import (
        CASTLING, NO_MOVE, PROMOTED, PROMOTED_SHIFT, SQUARE, TARGET_SHIFT, captured_of,
        is_home_castling, moved_of, origin_of, rook_origin, target_of,
    )
    from x88.movegen import generate, has_legal_move, is_castling_legal, own_stack
    from x88.notation.san import AMBIGUOUS, find, match, pattern_of
    from x88.notation.san import play as write
    from x88.notation.fen import read_any
    from x88.piece import (
        ANY_PIECE, BISHOP, BLACK, EMPTY, KIND, KING, KNIGHT, PAWN, QUEEN, ROOK, SLIDER, WHITE,
        WHITE_PIECE,
    )
    from x88.sets import bit, diagonal, lowest, straight
    from x88.square import NO_SQUARE, index64

    def is_shared(board: "Board") -> bool:
        """Whether others, too, refer to the board underneath."""
        return sys.getrefcount(board.x88) > 2


__all__ = ["Board", "LegalMoveGenerator", "Outcome", "Termination"]

ATTACKS = square.ATTACKS
EN_PASSANT_KEYS = zobrist.EN_PASSANT_KEYS
KIND_OF = [0, *KINDS, 0]
"""KIND_OF[piece type]: the kind of piece in `x88.piece`."""

_START = fens.parse(STARTING_FEN)
_SHARES = not hasattr(sys, "_is_gil_enabled") or sys._is_gil_enabled()
"""Whether copies of a board share the one underneath until one of them makes a move, if only to see what it
does. Threads without a lock must not: even questions write on it.
"""
_BACK_RANKS = (*range(8), *range(56, 64))
_TARGETS = [SQUARE_NAMES[sq & 7 | sq >> 4 << 3] for sq in range(128)]
_NULL_MOVES = ("--", "Z0", "0000", "@@@@", "<>")


class Termination(Enum):
    """Why a game is over. The last two have to be claimed."""

    CHECKMATE = 1
    STALEMATE = 2
    INSUFFICIENT_MATERIAL = 3
    SEVENTYFIVE_MOVES = 4
    FIVEFOLD_REPETITION = 5
    FIFTY_MOVES = 6
    THREEFOLD_REPETITION = 7


class Outcome(NamedTuple):
    """How a game has ended: why, and the colour of the winner, None for a draw."""

    termination: Termination
    winner: bool | None

    def result(self) -> str:
        """The result as in PGN."""
        return "1/2-1/2" if self.winner is None else "1-0" if self.winner else "0-1"


class LegalMoveGenerator:
    """The legal moves of a board, generated whenever they are asked for, best first."""

    def __cinit__(self) -> None:
        self.board = _NOTHING

    def __init__(self, board: "Board") -> None:
        if board is None:
            raise TypeError("None is not a board")
        self.board = board

    def __iter__(self) -> Iterator[Move]:
        return iter(self.board.moves())

    def __contains__(self, move: Move) -> bool:
        return self.board.is_legal(move)

    def __bool__(self) -> bool:
        return self.board.has_moves()

    def count(self) -> int:
        """The number of moves."""
        return self.board.generated()

    def __repr__(self) -> str:
        moves = ", ".join(self.board.san(move) for move in self)
        return f"<LegalMoveGenerator ({moves})>"


def _empty(cls: type["Board"], *, chess960: bool = False) -> "Board":
    """An empty board."""
    return cls(None, chess960=chess960)


def _from_epd(cls: type["Board"], text: str, *, chess960: bool = False) -> tuple["Board", dict[str, Any]]:
    """The board and the operations of a line of EPD; see `set_epd`."""
    board = cls(None, chess960=chess960)
    return board, board.set_epd(text)


def _from_chess960_pos(cls: type["Board"], number: int) -> "Board":
    """The start position of Chess960 with this number, 0 to 959. Raises ValueError."""
    return cls(start_positions.start(number), chess960=True)


class Board:
    """A position and the moves that led to it.

    Any pieces may stand on the board. Moves need one king and at most 16 pieces of each side, and no pawns on
    the first and last rank; without, methods that deal with moves raise ValueError, which says what is wrong.

    `x88` is the board underneath, `x88.board.Board`, as it stands now, for reading; who wants to change it
    takes `x88.copy()`, since others share it.
    """

    aside: "tuple[Board, Any] | None"

    def __cinit__(self) -> None:
        self.x88 = _START
        self.fault = "the board has not been set up"

    def __init__(self, fen: str | None = STARTING_FEN, *, chess960: bool = False) -> None:
        """The position of a FEN, or an empty board if it is None. With `chess960`, castling rights are read
        as X-FEN, and castling is written as the king taking its rook. Raises ValueError with text and reason.
        """
        self.chess960 = chess960
        if fen is None:
            self.clear()
        elif fen is STARTING_FEN:
            self.reset()
        else:
            self._read(fen)

    # Setting up.

    empty = classmethod(_empty)
    from_epd = classmethod(_from_epd)
    from_chess960_pos = classmethod(_from_chess960_pos)

    def reset(self) -> None:
        """Set up the start position."""
        self._set(_START if _SHARES else _START.copy(), "", NO_SQUARE)

    def clear(self) -> None:
        """Take all pieces off the board."""
        self._read("8/8/8/8/8/8/8/8")

    def clear_stack(self) -> None:
        """Forget the moves, but keep the position."""
        self._set(self.x88.copy(), self.fault, self._passed_square())
        self.x88.ply = 0
        self.x88.reversible = 0

    def set_fen(self, fen: str) -> None:
        """Set up the position of a FEN. Raises ValueError with text and reason, and keeps the position."""
        self._read(fen)

    def _read(self, fen: str) -> None:
        if not cython.compiled:
            passed = [NO_SQUARE]
        position = read_any(fen, self.chess960, passed)
        self._set(position, position.fault(), passed[0])
        self.chess960 = self.chess960 or position.is_chess960()

    def set_board_fen(self, fen: str) -> None:
        """Place the pieces of the first field of a FEN, as `set_piece_at` does."""
        self._edit({0: fen})

    def set_castling_fen(self, castling_fen: str) -> None:
        """Set the castling rights, as in a FEN. Forgets the moves."""
        self._edit({2: castling_fen or "-"})

    def set_epd(self, text: str) -> dict[str, Any]:
        """Set up the position of a line of EPD; returns its operations by opcode. Raises ValueError.

        A move's value is a move, of `bm` and `am` a list of moves, of `pv` the moves of a line; others are
        None, text or numbers. `hmvc` and `fmvn` set the counters.
        """
        fields, operations = epd.split(text)
        self.set_fen(fields)
        return epd.parse(self, operations)

    def set_piece_at(self, square: int | str, piece: Piece | None, promoted: bool = False) -> None:
        """Put a piece on a square, or None to empty it. Forgets the moves; castling rights without their
        pieces are lost, in Chess960 all if two rooks would have the same. Whether a piece has promoted
        matters only in other games.
        """
        pieces = self.piece_map()
        pieces.pop(square_of(square), None)
        if piece is not None:
            pieces[square_of(square)] = piece
        self.set_piece_map(pieces)

    def remove_piece_at(self, square: int | str) -> Piece | None:
        """Empty a square as `set_piece_at` does; returns the piece that stood there."""
        piece = self.piece_at(square)
        self.set_piece_at(square, None)
        return piece

    def set_piece_map(self, pieces: dict[int, Piece]) -> None:
        """Set up pieces by square, as `set_piece_at` does."""
        symbols = {square_of(square): str(piece) for square, piece in dict(pieces).items()}
        ranks = range(56, -1, -8)
        placement = "/".join("".join(symbols.get(a + file, "1") for file in range(8)) for a in ranks)
        for length in range(8, 1, -1):
            placement = placement.replace("1" * length, str(length))
        self._edit({0: placement})

    def _edit(self, changes: dict[int, str], keeps_moves: bool = False) -> None:
        """Set up the position anew with some fields of its FEN replaced."""
        fields = self.fen(shredder=self.chess960, en_passant="fen").split()
        for number, text in changes.items():
            fields[number] = text
        aside = self.aside if keeps_moves else None
        if keeps_moves and self.x88.ply:
            board = self._copied(Board)
            board.aside = None
            aside = board, aside
        try:
            self._read(" ".join(fields))
        except ValueError:
            if 0 not in changes or not self.chess960:
                raise
            fields[2] = "-"
            self._read(" ".join(fields))
        self.aside = aside

    def _own(self) -> None:
        """Before the board underneath changes: leave it to those with whom it is shared."""
        if is_shared(self):
            self.x88 = self.x88.copy()

    def _set(self, position: Position, fault: str, passed: int) -> None:
        self.x88 = position
        self.fault = fault
        self.passed = passed
        self.aside = None
        self.is_turned = False

    def _become(self, other: "Board") -> None:
        self._set(other.x88 if _SHARES else other.x88.copy(), other.fault, other.passed)
        self.aside = other.aside
        self.is_turned = other.is_turned

    def _go_back(self) -> bool:
        """Become the board put aside last. Returns whether there is one."""
        if self.aside is None:
            return False
        board, aside = self.aside
        self._become(board)
        self.aside = aside
        return True

    def _copied(self, of: "type[Board]") -> "Board":
        """A copy, as a board of this class."""
        board = Board.__new__(Board) if of is Board else of(None)
        board._become(self)
        board.chess960 = self.chess960
        return board

    # The state.

    @property
    def turn(self) -> bool:
        """The side to move. When it is set, as when `castling_rights`, `ep_square` or a counter is, the moves
        remain and can be taken back, but the positions before do not count as repeated.
        """
        return self.x88.side == WHITE

    @turn.setter
    def turn(self, color: bool) -> None:
        if bool(color) == self.turn:
            return
        if self.is_turned and self.x88.ply == 0 and self._go_back():
            return
        is_turned = self.x88.ply > 0
        self._edit({1: "w" if color else "b"}, True)
        self.is_turned = is_turned

    @property
    def castling_rights(self) -> int:
        """The rooks that may still castle, as bits."""
        rooks = 0
        for number in range(4):
            if self.x88.castling >> number & 1:
                rooks |= bit(rook_origin(self.x88.castles[number]))
        return rooks

    @castling_rights.setter
    def castling_rights(self, rooks: int) -> None:
        mask = SquareSet(rooks)
        letters = zip("ABCDEFGHabcdefgh" if self.chess960 else "Q......Kq......k", _BACK_RANKS, strict=True)
        named = "".join(letter for letter, square in letters if letter != "." and square in mask)
        self._edit({2: named or "-"}, True)

    @property
    def ep_square(self) -> int | None:
        """The square that a pawn has just passed by a double step, even if it cannot be captured there."""
        square = self._passed_square()
        return None if square == NO_SQUARE else index64(square)

    @ep_square.setter
    def ep_square(self, square: int | None) -> None:
        self._edit({3: "-" if square is None else SQUARE_NAMES[square_of(square)]}, True)

    @property
    def halfmove_clock(self) -> int:
        """The number of half-moves since the last capture or move of a pawn."""
        return self.x88.halfmove

    @halfmove_clock.setter
    def halfmove_clock(self, number: int) -> None:
        self._edit({4: str(number)}, True)

    @property
    def fullmove_number(self) -> int:
        """The number of the move: 1 at the start, one more after each move of Black."""
        return self.x88.fullmove

    @fullmove_number.setter
    def fullmove_number(self, number: int) -> None:
        self._edit({5: str(number)}, True)

    @property
    def move_stack(self) -> list[Move]:
        """The moves that led here, a new list."""
        moves = [from_packed(self.x88.undo[i].move, self.chess960) for i in range(self.x88.ply)]
        if self.aside is None:
            return moves
        parts, aside = [moves], self.aside
        while aside:
            board, aside = aside
            parts.append(board.move_stack)
        return [move for part in reversed(parts) for move in part]

    def ply(self) -> int:
        """The number of half-moves since move 1 of White, by the counters."""
        return 2 * (self.x88.fullmove - 1) + self.x88.side

    def _passed_square(self) -> int:
        """The square of `ep_square` on the 0x88 board."""
        if self.x88.ply == 0:
            return self.passed
        move = self.x88.last_move()
        if moved_of(move) == PAWN and origin_of(move) ^ target_of(move) == 0x20:
            return (origin_of(move) + target_of(move)) >> 1
        return NO_SQUARE

    # Pieces.

    def piece_at(self, square: int | str) -> Piece | None:
        """The piece on a square."""
        sq = square_of(square)
        return piece_of(self.x88.squares[sq + (sq & 56)])

    def piece_type_at(self, square: int | str) -> int | None:
        """The kind of the piece on a square."""
        sq = square_of(square)
        return TYPE[self.x88.squares[sq + (sq & 56)] & KIND] or None

    def color_at(self, square: int | str) -> bool | None:
        """The colour of the piece on a square."""
        sq = square_of(square)
        code = self.x88.squares[sq + (sq & 56)]
        return None if code == EMPTY else code & WHITE_PIECE != 0

    def piece_map(self, *, mask: int = BB_ALL) -> dict[int, Piece]:
        """The pieces by square, those on the squares of `mask`."""
        found: dict[int, Piece] = {}
        left = (self.x88.sides[WHITE] | self.x88.sides[BLACK]) & mask
        while left:
            sq = lowest(left)
            left &= left - 1
            found[index64(sq)] = piece_of(self.x88.squares[sq])  # type: ignore[assignment]
        return found

    def pieces(self, piece_type: int, color: bool) -> SquareSet:
        """The squares of a side's pieces of one kind."""
        return SquareSet(self.pieces_mask(piece_type, color))

    def pieces_mask(self, piece_type: int, color: bool) -> int:
        """`pieces` as bits."""
        if not 1 <= piece_type <= 6:
            raise ValueError(f"{piece_type!r:.40} is not a kind of piece from PAWN to KING")
        return self._of(KIND_OF[piece_type], WHITE if color else BLACK)

    def king(self, color: bool) -> int | None:
        """The square of a side's king, None if there is none; of several, the last from a1 to h8."""
        sq = self._king(WHITE if color else BLACK)
        return None if sq == NO_SQUARE else index64(sq)

    def _king(self, side: int) -> int:
        """`king` on the 0x88 board, or NO_SQUARE."""
        kings = self._of(KING, side)
        while kings & kings - 1:
            kings &= kings - 1
        return lowest(kings) if kings else NO_SQUARE

    @property
    def occupied(self) -> int:
        """The squares with pieces, as bits."""
        return self.x88.sides[WHITE] | self.x88.sides[BLACK]

    @property
    def occupied_co(self) -> tuple[int, int]:
        """The squares of each side, as bits, by colour."""
        return self.x88.sides[BLACK], self.x88.sides[WHITE]

    @property
    def pawns(self) -> int:
        """The squares of all pawns, as bits; so for the other kinds."""
        return self._of_kind(PAWN)

    @property
    def knights(self) -> int:
        return self._of_kind(KNIGHT)

    @property
    def bishops(self) -> int:
        return self._of_kind(BISHOP)

    @property
    def rooks(self) -> int:
        return self._of_kind(ROOK)

    @property
    def queens(self) -> int:
        return self._of_kind(QUEEN)

    @property
    def kings(self) -> int:
        return self._of_kind(KING)

    def _of(self, kind: int, side: int) -> int:
        return self.x88.sets[WHITE_PIECE << side | kind]

    def _of_kind(self, kind: int) -> int:
        return self.x88.sets[WHITE_PIECE | kind] | self.x88.sets[WHITE_PIECE << 1 | kind]

    # Attacks.

    def attackers(self, color: bool, square: int | str, occupied: int | None = None) -> SquareSet:
        """The squares of a side's pieces that attack a square, pinned or not. With `occupied`, sliders are
        blocked by these squares instead of the pieces.
        """
        return SquareSet(self.attackers_mask(color, square, occupied))

    def attackers_mask(self, color: bool, square: int | str, occupied: int | None = None) -> int:
        """`attackers` as bits."""
        blockers = self.occupied if occupied is None else int(SquareSet(occupied))
        number = square_of(square)
        found = self.x88.attackers_among(number + (number & 56), blockers)
        return found & self.x88.sides[WHITE if color else BLACK]

    def is_attacked_by(self, color: bool, square: int | str, occupied: int | None = None) -> bool:
        """Whether a side attacks a square."""
        return self.attackers_mask(color, square, occupied) != 0

    def attacks(self, square: int | str) -> SquareSet:
        """The squares that the piece on a square attacks or defends."""
        return SquareSet(self.attacks_mask(square))

    def attacks_mask(self, square: int | str) -> int:
        """`attacks` as bits."""
        number = square_of(square)
        sq = number + (number & 56)
        code = self.x88.squares[sq]
        occupied = self.x88.sides[WHITE] | self.x88.sides[BLACK]
        if code & SLIDER:
            found = straight(sq, occupied) if code & ROOK else 0
            return found | diagonal(sq, occupied) if code & BISHOP else found
        if code & KIND == PAWN:
            return ATTACKS[(code >> 5) << 6 | number]
        return ATTACKS[(code & KIND) << 6 | number] if code else 0

    def checkers(self) -> SquareSet:
        """The squares of the pieces that give check."""
        king = self.king(self.turn)
        return SquareSet() if king is None else self.attackers(not self.turn, king)

    def is_pinned(self, color: bool, square: int | str) -> bool:
        """Whether a piece of this side on the square would be, or is, pinned to its king."""
        number = square_of(square)
        here = bit(number + (number & 56))
        side = WHITE if color else BLACK
        king = self._king(side)
        if king == NO_SQUARE:
            return False
        occupied = self.x88.sides[WHITE] | self.x88.sides[BLACK]
        seen = self.x88.attackers_among(king, occupied & ~here) & self.x88.sides[side ^ 1]
        return seen & ~self.x88.attackers_among(king, occupied | here) != 0

    # Moves.

    @property
    def legal_moves(self) -> LegalMoveGenerator:
        """The legal moves: to iterate over, to count, to look for a move."""
        return LegalMoveGenerator(self)

    def moves(self) -> list[Move]:
        """The legal moves, best first by the generator's scores."""
        stack = own_stack()
        end = self.generated()
        for i in range(1, end):
            # Few moves have a score.
            if stack.scores[i] > stack.scores[i - 1]:
                move = stack.moves[i]
                score = stack.scores[i]
                j = i
                while j and stack.scores[j - 1] < score:
                    stack.moves[j] = stack.moves[j - 1]
                    stack.scores[j] = stack.scores[j - 1]
                    j -= 1
                stack.moves[j] = move
                stack.scores[j] = score
        return [from_packed(stack.moves[i], self.chess960) for i in range(end)]

    def generated(self) -> int:
        """Generate the legal moves on this thread's stack; returns their number."""
        if self.fault:
            raise ValueError(f"there are no moves: {self.fault}")
        return generate(self.x88, own_stack(), 0)

    def has_moves(self) -> bool:
        """Whether there is a legal move."""
        if self.fault:
            raise ValueError(f"there are no moves: {self.fault}")
        return has_legal_move(self.x88)

    def generate_legal_moves(self, from_mask: int = BB_ALL, to_mask: int = BB_ALL) -> Iterator[Move]:
        """The legal moves from and to some squares, given as bits."""
        for move in self.moves():
            if from_mask >> move.from_square & 1 and to_mask >> move.to_square & 1:
                yield move

    def generate_legal_captures(self, from_mask: int = BB_ALL, to_mask: int = BB_ALL) -> Iterator[Move]:
        """The legal captures among `generate_legal_moves`."""
        return filter(self.is_capture, self.generate_legal_moves(from_mask, to_mask))

    def packed(self, move: Move) -> int:
        """The legal move as `x88.move` packs it; 0 if it is not legal."""
        if move is None:
            raise TypeError("None is not a move")
        if self.fault:
            raise ValueError(f"there are no moves: {self.fault}")
        number = move.number
        origin = (number & 63) + (number & 56)
        target = (number >> 6 & 63) + (number >> 6 & 56)
        code = self.x88.squares[origin]
        if code & KIND == KING and self.x88.squares[target] & (code & ANY_PIECE) and 0 < number < 0x1000:
            # The king takes its rook.
            if code >> 5 != self.x88.side or in_check(self.x88):
                return 0
            find_checks_and_pins(self.x88)
            for right in range(2 * self.x88.side, 2 * self.x88.side + 2):
                if rook_origin(self.x88.castles[right]) == target and is_castling_legal(self.x88, right):
                    return self.x88.castles[right]
            return 0
        wanted = origin | target << TARGET_SHIFT | KIND_OF[number >> 12] << PROMOTED_SHIFT
        found = find(self.x88, pattern_of(PROMOTED | SQUARE << TARGET_SHIFT | SQUARE, wanted))
        if found <= 0 or (found & CASTLING and not is_home_castling(found)):
            return 0
        return found

    def checked(self, move: Move) -> int:
        """`packed` for a legal move. Raises IllegalMoveError for others."""
        found = self.packed(move)
        if found == 0:
            reason = coordinate.reason(self.x88, move.uci())
            raise squares.IllegalMoveError(f"illegal move {move} in {self.fen()}: {reason}")
        return found

    def is_legal(self, move: Move) -> bool:
        """Whether the move is legal here. A null move is not."""
        return self.packed(move) != 0

    def push(self, move: Move) -> None:
        """Make a legal move, or a null move if the side is not in check. Raises IllegalMoveError."""
        if move.number == 0:
            if self.fault or in_check(self.x88):
                reason = self.fault or "the side is in check"
                raise squares.IllegalMoveError(f"illegal null move in {self.fen()}: {reason}")
            self.play(NO_MOVE)
        else:
            self.play(self.checked(move))

    def play(self, packed: int) -> None:
        """Make a legal move, as `x88.move` packs it, or a null move."""
        self._own()
        self.x88.make_room(1)
        if packed == NO_MOVE:
            self.x88.make_null_unchecked()
        else:
            self.x88.make_unchecked(packed)
            if captured_of(packed) == KING:
                self.fault = self.x88.fault()

    def pop(self) -> Move:
        """Take back the last move and return it. Raises IndexError if there is none."""
        if self.x88.ply == 0 and not self._go_back():
            raise IndexError("there is no move to take back")
        return from_packed(self._take_back(), self.chess960)

    def _take_back(self) -> int:
        """Unmake the last move; returns it as `x88.move` packs it."""
        self._own()
        move = self.x88.last_move()
        if move == NO_MOVE:
            self.x88.unmake_null()
        else:
            self.x88.unmake_unchecked()
        if self.fault:
            self.fault = self.x88.fault()  # a king may have been captured
        return move

    def peek(self) -> Move:
        """The last move. Raises IndexError if there is none."""
        if self.x88.ply:
            return from_packed(self.x88.last_move(), self.chess960)
        if self.aside is None:
            raise IndexError("there is no last move")
        return self.aside[0].peek()

    def find_move(self, from_square: int | str, to_square: int | str, promotion: int | None = None) -> Move:
        """The legal move between two squares; a pawn on the last rank becomes a queen unless told otherwise.
        Raises IllegalMoveError.
        """
        origin, target = square_of(from_square), square_of(to_square)
        if promotion is None and (target < 8 or target >= 56) and self.piece_type_at(origin) == 1:
            promotion = 5
        return from_packed(self.checked(Move(origin, target, promotion)), self.chess960)

    # Text of moves.

    def san(self, move: Move) -> str:
        """The move in standard algebraic notation. Raises IllegalMoveError."""
        if move.number == 0:
            return "--"
        packed = self.checked(move)
        self._own()
        is_exposed = self.x88.ply == 0 and self.x88.is_exposed()
        text = write(self.x88, packed)
        if is_exposed:
            # The enemy's king was in check before, or has been captured.
            text = text.rstrip("+#")
            if captured_of(packed) != KING and in_check(self.x88):
                text += "+" if has_legal_move(self.x88) else "#"
        self.x88.unmake_unchecked()
        return text

    def lan(self, move: Move) -> str:
        """The move in long algebraic notation: "Ng1-f3". Raises IllegalMoveError."""
        text = self.san(move)
        if move.number == 0 or text[0] == "O":
            return text
        letter = text[0] if text[0].isupper() else ""
        sign = "x" if self.is_capture(move) else "-"
        promotion = text[text.index("=") :] if "=" in text else text[-1] if text[-1] in "+#" else ""
        return f"{letter}{SQUARE_NAMES[move.from_square]}{sign}{SQUARE_NAMES[move.to_square]}{promotion}"

    def uci(self, move: Move, *, chess960: bool | None = None) -> str:
        """The move in coordinates, with castling as in Chess960 or not; as on this board, if not told."""
        packed = self.packed(move)
        if chess960 is None:
            chess960 = self.chess960
        return coordinate.write(packed, chess960) if packed else move.uci()

    def parse_san(self, san: str) -> Move:
        """The legal move that a text means, or a null move ("--"). It may also have long algebraic notation,
        zeros for castling, figurines and the like (`x88.notation.san`).

        Raises InvalidMoveError, IllegalMoveError or AmbiguousMoveError with text and reason.
        """
        found = self._parsed(san)
        return from_packed(found, self.chess960) if found else Move.null()

    def _parsed(self, san: str) -> int:
        """`parse_san` as `x88.move` packs it."""
        if self.fault:
            raise ValueError(f"there are no moves: {self.fault}")
        found = match(self.x88, san)
        if found > 0 and (
            (found & CASTLING and san[0] == "K")
            or (moved_of(found) == PAWN and san.startswith(_TARGETS[target_of(found)]) and captured_of(found))
        ):
            right = self.san(from_packed(found, self.chess960))
            raise squares.IllegalMoveError(f"{san!r:.40} is written {right!r}")
        if found > 0:
            return found
        if san in _NULL_MOVES:
            return NO_MOVE
        self._own()
        reason = sans.complaint(self.x88, san)
        if not sans.is_readable(san):
            raise squares.InvalidMoveError(reason)
        error = squares.AmbiguousMoveError if found == AMBIGUOUS else squares.IllegalMoveError
        raise error(f"{reason} (in {self.fen()})")

    def parse_uci(self, uci: str) -> Move:
        """The legal move, or null move, of a text in coordinates. Raises InvalidMoveError or
        IllegalMoveError.
        """
        move = Move.from_uci(uci)
        return from_packed(self.checked(move), self.chess960) if move else move

    def push_san(self, san: str) -> Move:
        """Make the move of `parse_san`, and return it."""
        found = self._parsed(san)
        move = from_packed(found, self.chess960)
        if found and type(self) is Board:
            self.play(found)
        else:
            self.push(move)  # which a subclass may have changed
        return move

    def push_uci(self, uci: str) -> Move:
        """Make the move of `parse_uci`, and return it."""
        move = self.parse_uci(uci)
        self.push(move)
        return move

    def variation_san(self, variation: Iterable[Move]) -> str:
        """Moves from here on, with their numbers: "1. e4 e5 2. Nf3". Raises IllegalMoveError."""
        board = self.copy(stack=False)
        words: list[str] = []
        for move in variation:
            san = board.san(move)
            if board.turn:
                words.append(f"{board.fullmove_number}.")
            words.append(san if board.turn or words else f"{board.fullmove_number}...{san}")
            board.push(move)
        return " ".join(words)

    # What a move does. These do not ask whether it is legal.

    def is_capture(self, move: Move) -> bool:
        """Whether the move takes an enemy's piece."""
        return touched(move) & self.x88.sides[self.x88.side ^ 1] != 0 or self.is_en_passant(move)

    def is_en_passant(self, move: Move) -> bool:
        """Whether the move takes a pawn en passant."""
        passed = self._passed_square()
        origin = move.from_square + (move.from_square & 56)
        if passed == NO_SQUARE or index64(passed) != move.to_square or self.x88.squares[passed]:
            return False
        return self.x88.squares[origin] & KIND == PAWN and abs(origin - passed) in (15, 17)

    def is_castling(self, move: Move) -> bool:
        """Whether the move castles, in either form."""
        return self._castles(move) != 0

    def is_kingside_castling(self, move: Move) -> bool:
        """Whether the move castles towards the h-file."""
        return self._castles(move) > 0

    def is_queenside_castling(self, move: Move) -> bool:
        """Whether the move castles towards the a-file."""
        return self._castles(move) < 0

    def _castles(self, move: Move) -> int:
        """1 if the move castles towards the h-file, -1 if towards the a-file, else 0."""
        steps = (move.to_square & 7) - (move.from_square & 7)
        kings, rooks = self._of_kind(KING), self._of(ROOK, self.x88.side)
        if not kings >> move.from_square & 1 or (abs(steps) < 2 and not rooks >> move.to_square & 1):
            return 0
        return 1 if steps > 0 else -1

    def is_zeroing(self, move: Move) -> bool:
        """Whether the move sets the half-move clock to zero."""
        return touched(move) & self._of_kind(PAWN) != 0 or self.is_capture(move)

    def is_irreversible(self, move: Move) -> bool:
        """Whether the position cannot be reached again after the move: it is zeroing, ends a right to castle,
        or gives up a capture en passant.
        """
        origin = move.from_square + (move.from_square & 56)
        target = move.to_square + (move.to_square & 56)
        kept = self.x88.kept_rights[origin] & self.x88.kept_rights[target]
        loses = move.number != 0 and self.x88.castling & ~kept != 0
        return self.is_zeroing(move) or loses or self.x88.en_passant_legal

    def gives_check(self, move: Move) -> bool:
        """Whether a legal move, or null move, gives check. Raises IllegalMoveError."""
        if move.number == 0:
            return not self.fault and self.x88.is_exposed()
        packed = self.checked(move)
        self._own()
        self.x88.make_unchecked(packed)
        found = captured_of(packed) != KING and in_check(self.x88)
        self.x88.unmake_unchecked()
        return found

    # Rights and draws.

    def has_castling_rights(self, color: bool) -> bool:
        """Whether a side may still castle, now or later."""
        return self._rights(color, 3)

    def has_kingside_castling_rights(self, color: bool) -> bool:
        """Whether a side may still castle towards the h-file."""
        return self._rights(color, 1)

    def has_queenside_castling_rights(self, color: bool) -> bool:
        """Whether a side may still castle towards the a-file."""
        return self._rights(color, 2)

    def _rights(self, color: bool, rights: int) -> bool:
        return self.x88.castling & (rights if color else rights << 2) != 0

    def clean_castling_rights(self) -> int:
        """`castling_rights`: others are never kept."""
        return self.castling_rights

    def has_pseudo_legal_en_passant(self) -> bool:
        """Whether a pawn stands ready to capture en passant, even if that would expose its king."""
        return self.x88.en_passant != NO_SQUARE

    def has_legal_en_passant(self) -> bool:
        """Whether a capture en passant is legal."""
        return self.x88.en_passant_legal

    def is_valid(self) -> bool:
        """Whether the side to move can make moves, and the other one's king is not in check."""
        return not self.fault and not self.x88.is_exposed()

    def is_check(self) -> bool:
        """Whether the side to move is in check."""
        return bool(self.checkers()) if self.fault else in_check(self.x88)

    def is_checkmate(self) -> bool:
        """Whether the side to move is mated."""
        return self.is_check() and not self.has_moves()

    def is_stalemate(self) -> bool:
        """Whether the side to move has no legal move and is not in check."""
        return not self.is_check() and not self.has_moves()

    def is_insufficient_material(self) -> bool:
        """Whether neither side can mate: bare kings, a lone knight, or bishops on one colour of squares."""
        if self.fault:
            return self.has_insufficient_material(True) and self.has_insufficient_material(False)
        return self.x88.is_insufficient_material()

    def has_insufficient_material(self, color: bool) -> bool:
        """Whether a side lacks the material for a mate, even with the help of the other."""
        return not can_mate(self.x88, WHITE if color else BLACK)

    def is_repetition(self, count: int = 3) -> bool:
        """Whether the position has occurred `count` times, this one included. Positions before a null move do
        not count.
        """
        return count <= 1 or self.x88.is_repetition(count - 1, 0)

    def is_fivefold_repetition(self) -> bool:
        """Whether the position has occurred five times, which ends the game."""
        return self.is_repetition(5)

    def is_fifty_moves(self) -> bool:
        """Whether 50 moves of each side have passed without capture or pawn move, and the game goes on."""
        return self.x88.halfmove >= 100 and self.has_moves()

    def is_seventyfive_moves(self) -> bool:
        """`is_fifty_moves` for 75 moves, which end the game."""
        return self.x88.halfmove >= 150 and self.has_moves()

    def can_claim_draw(self) -> bool:
        """Whether the side to move can claim a draw by the fifty-move rule or by threefold repetition."""
        return self.can_claim_fifty_moves() or self.can_claim_threefold_repetition()

    def can_claim_fifty_moves(self) -> bool:
        """Whether the fifty-move rule gives a draw, now or after a legal move."""
        return self.is_fifty_moves() or (self.x88.halfmove == 99 and self._leads_to_draw(False))

    def can_claim_threefold_repetition(self) -> bool:
        """Whether the position has occurred three times, or does after a legal move."""
        return self.is_repetition(3) or (self.x88.reversible >= 3 and self._leads_to_draw(True))

    def _leads_to_draw(self, by_repetition: bool) -> bool:
        """Whether a legal move leads to a draw that can be claimed."""
        stack = own_stack()
        moves = [stack.moves[i] for i in range(self.generated())]
        found = False
        self._own()
        for move in moves:
            self.x88.make_unchecked(move)
            is_fifty = self.x88.halfmove >= 100 and has_legal_move(self.x88)
            found = found or (self.x88.is_repetition(2, 0) if by_repetition else is_fifty)
            self.x88.unmake_unchecked()
        return found

    def outcome(self, *, claim_draw: bool = False) -> Outcome | None:
        """How the game has ended, None if it goes on. Draws that have to be claimed count if asked for."""
        checkmate, draw = Termination.CHECKMATE, None
        if not self.has_moves():
            if in_check(self.x88):
                return Outcome(checkmate, self.x88.side != WHITE)
            draw = Termination.STALEMATE
        if self.is_insufficient_material():
            draw = Termination.INSUFFICIENT_MATERIAL
        elif draw is None and self.x88.halfmove >= 150:
            draw = Termination.SEVENTYFIVE_MOVES
        elif draw is None and self.is_fivefold_repetition():
            draw = Termination.FIVEFOLD_REPETITION
        elif draw is None and claim_draw and self.can_claim_fifty_moves():
            draw = Termination.FIFTY_MOVES
        elif draw is None and claim_draw and self.can_claim_threefold_repetition():
            draw = Termination.THREEFOLD_REPETITION
        return None if draw is None else Outcome(draw, None)

    def is_game_over(self, *, claim_draw: bool = False) -> bool:
        """Whether there is an `outcome`."""
        return self.outcome(claim_draw=claim_draw) is not None

    def result(self, *, claim_draw: bool = False) -> str:
        """The result of the `outcome` as in PGN, "*" if there is none."""
        outcome = self.outcome(claim_draw=claim_draw)
        return outcome.result() if outcome else "*"

    # Text and pictures.

    def fen(self, *, shredder: bool = False, en_passant: str = "legal") -> str:
        """The position as a FEN. Its en-passant square is given where a capture is "legal", where a pawn
        stands ready for one ("xfen"), or after every double step ("fen").
        """
        text = fens.write(self.x88, shredder)
        if en_passant == "legal":
            return text
        if en_passant not in ("xfen", "fen"):
            raise ValueError(f"{en_passant!r:.40} is none of legal, xfen and fen")
        fields = text.split()
        square = self.ep_square
        if square is not None and (en_passant == "fen" or self.x88.en_passant != NO_SQUARE):
            fields[3] = SQUARE_NAMES[square]
        return " ".join(fields)

    def shredder_fen(self) -> str:
        """The FEN with the files of the rooks that may castle."""
        return self.fen(shredder=True)

    def board_fen(self) -> str:
        """The first field of the FEN."""
        return self.fen().split()[0]

    def epd(self, *, shredder: bool = False, en_passant: str = "legal", **operations: Any) -> str:
        """The first four fields of the FEN, and operations: moves, lists of moves, text, numbers or None."""
        fields = self.fen(shredder=shredder, en_passant=en_passant).split()[:4]
        return " ".join([*fields, *epd.write(self, operations)])

    def unicode(
        self,
        *,
        invert_color: bool = False,
        borders: bool = False,
        empty_square: str = "⭘",
        orientation: bool = True,
    ) -> str:
        """The board with figurines, seen by the side of `orientation`."""
        pieces = [self.piece_at(sq) for sq in range(64)]
        symbols = [
            piece.unicode_symbol(invert_color=invert_color) if piece else empty_square for piece in pieces
        ]
        step = -1 if orientation else 1
        ranks, files = range(8)[::step], range(8)[::-step]
        rows = [[symbols[rank << 3 | file] for file in files] for rank in ranks]
        if not borders:
            return "\n".join(map(" ".join, rows))
        rule = "  " + 17 * "-" + "\n"
        lines = (f"{rank + 1} |{'|'.join(row)}|\n{rule}" for rank, row in zip(ranks, rows, strict=True))
        return f"{rule}{''.join(lines)}   {' '.join('abcdefgh'[::-step])}"

    def __str__(self) -> str:
        return squares._draw(LETTER_OF.get(self.x88.squares[sq + (sq & 56)], ".") for sq in range(64))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fen()!r}{', chess960=True' if self.chess960 else ''})"

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        from moff.picture.picture import Picture

        if not self.is_valid():
            return None
        return Picture(self.x88, last_move=self.x88.last_move() or None).svg()

    # As a whole.

    def copy(self, *, stack: bool | int = True) -> "Board":
        """An independent board with the same position, and all moves, none, or as many of the last."""
        board = self._copied(type(self))
        if stack is not True:
            board._keep(len(self.move_stack[-stack:]) if stack else 0)
        return board

    def _keep(self, number: int) -> None:
        """Forget all moves but so many of the last."""
        left, aside = number - self.x88.ply, self.aside
        if left <= 0:
            moves = [self._take_back() for _ in range(number)]
            self.clear_stack()
            for move in reversed(moves):
                self.play(move)
            return
        boards = []
        while left > 0 and aside is not None:
            board, aside = aside
            boards.append(board.copy(stack=left))
            left -= board.x88.ply
        self.aside = None
        for board in reversed(boards):
            self.aside = board, self.aside

    def __copy__(self) -> "Board":
        return self.copy()

    def __deepcopy__(self, memo: object) -> "Board":
        return self.copy()

    def root(self) -> "Board":
        """The board before all moves."""
        board = self.copy()
        for _ in self.move_stack:
            board.pop()
        return board

    def mirror(self) -> "Board":
        """The position with the colours exchanged, seen from the other side; without moves."""
        board = self.copy(stack=False)
        board.set_fen(fens.mirrored_text(self.fen(en_passant="fen")))
        return board

    def __eq__(self, other: object) -> bool:
        return self.fen() == other.fen() if isinstance(other, Board) else NotImplemented

    def __hash__(self) -> int:
        """Boards that are equal have the same. It changes with every move."""
        key = self.x88.key
        if self.x88.en_passant != NO_SQUARE and not self.x88.en_passant_legal:
            key ^= EN_PASSANT_KEYS[self.x88.en_passant & 7]
        return hash(key)

    def __reduce__(self) -> tuple[object, ...]:
        board = self._copied(Board)
        moves = [from_packed(board._take_back(), self.chess960).uci() for _ in range(self.x88.ply)]
        fen = board.fen(shredder=board.x88.is_chess960(), en_passant="fen")
        return _restored, (type(self), fen, self.chess960, moves[::-1]), self.aside

    def __setstate__(self, aside: tuple["Board", Any]) -> None:
        self.aside = aside


_NOTHING = Board.__new__(Board)


def touched(move: Move) -> int:
    """The squares of a move, as bits; none of a null move."""
    origin, target = move.from_square, move.to_square
    return bit(origin + (origin & 56)) ^ bit(target + (target & 56))


def _restored(of: type[Board], fen: str, chess960: bool, moves: list[str]) -> Board:
    board = of(None)
    board.chess960 = chess960
    Board.set_fen(board, fen)
    for move in moves:
        Board.push(board, Move.from_uci(move))
    board.chess960 = chess960
    return board
