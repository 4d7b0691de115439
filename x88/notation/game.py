"""A game in progress: its moves, its result, and its PGN record."""

from x88.board import Board
from x88.notation import fen, pgn
from x88.notation.outcome import Outcome, can_mate, outcome
from x88.piece import BLACK, SIDES, WHITE, checked_side

RESULT_OF_WINNER = {WHITE: "1-0", BLACK: "0-1"}
DRAWN = "1/2-1/2"


class OngoingGame:
    """A board, the moves played on it, and the result. All moves can be taken back.

    `moves` holds packed moves, `start` is the FEN before the first one. `result` is as in PGN, "*" while the
    game is in progress; `reason` says why it is over.
    """

    def __init__(self, start: str = fen.START, chess960: bool = False) -> None:
        """`chess960` reads the castling rights of `start` as X-FEN. Raises ValueError if it is not a FEN."""
        self.board: Board = fen.parse(start, chess960=chess960)
        self.start = fen.write(self.board)
        self.moves: list[int] = []
        self.result = pgn.UNFINISHED
        self.reason = ""
        self._judge()

    def is_over(self) -> bool:
        """Whether the game has ended by the rules or by `end`."""
        return self.result != pgn.UNFINISHED

    def play(self, move: int) -> None:
        """Play a legal move. Raises ValueError for other moves."""
        self.board.make(move)
        self.moves.append(move)
        self._judge()

    def take_back(self, plies: int = 1) -> int:
        """Take back up to `plies` moves; returns their number. Raises ValueError for a negative one."""
        if plies < 0:
            raise ValueError(f"{plies} plies cannot be taken back")
        taken = min(plies, len(self.moves))
        for _ in range(taken):
            self.board.unmake()
        self.moves = self.moves[: len(self.moves) - taken]
        self.result, self.reason = pgn.UNFINISHED, ""
        self._judge()
        return taken

    def end(self, result: str, reason: str) -> None:
        """End the game for another reason than the rules. Raises ValueError for a result that PGN lacks."""
        if result not in pgn.RESULTS:
            raise ValueError(f"{result!r} is not a result")
        self.result, self.reason = result, reason

    def resign(self, side: int) -> None:
        """End the game by the resignation of a side."""
        self.end(RESULT_OF_WINNER[checked_side(side) ^ 1], f"{SIDES[side]} resigns")

    def agree_draw(self) -> None:
        """End the game as a draw by agreement."""
        self.end(DRAWN, "draw agreed")

    def run_out_of_time(self, side: int) -> None:
        """End the game because the flag of a side has fallen: it loses, unless the opponent cannot mate."""
        if can_mate(self.board, checked_side(side) ^ 1):
            self.end(RESULT_OF_WINNER[side ^ 1], f"{SIDES[side]} runs out of time")
        else:
            self.end(DRAWN, f"{SIDES[side]} runs out of time, {SIDES[side ^ 1]} cannot mate")

    def is_over_by_rule(self) -> bool:
        """Whether the position ends the game."""
        return outcome(self.board) is not None

    def record(self, tags: dict[str, str]) -> pgn.Game:
        """The game for a PGN file."""
        return pgn.record(tags, self.start, self.moves, self.result)

    def _judge(self) -> None:
        """Set the result if the game is over by the rules."""
        over = outcome(self.board)
        if over == Outcome.CHECKMATE:
            self.end(RESULT_OF_WINNER[self.board.side ^ 1], over.value)
        elif over is not None:
            self.end(DRAWN, over.value)
