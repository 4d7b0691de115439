"""Adjudication: games end early because both engines agree on the winner or on a draw, or because endgame
tablebases know the result.
"""

import math
from dataclasses import dataclass

from uci import Answer

from moff.tables import opened
from search.tablefile import LOSS, WIN
from x88.game import DRAWN, RESULT_OF_WINNER, OngoingGame


@dataclass(frozen=True)
class Adjudication:
    """When a game ends early, in moves of each side and in centipawns; 0 moves means never.

    Resigned: for `resign_moves` moves, both sides have reported one of them ahead by `resign_score` or more.
    Drawn: after move `draw_from`, both have reported a score within `draw_score` for `draw_moves` moves. Too
    long: a draw after move `longest`. Tablebases: after a capture or pawn move, the tables in the folders
    `tables` have the position; cursed wins and blessed losses are draws.
    """

    resign_moves: int = 0
    resign_score: int = 0
    draw_from: int = 0
    draw_moves: int = 0
    draw_score: int = 0
    longest: int = 0
    tables: str = ""

    def settings(self) -> str:
        """The rules as options of bench/match.py; "none" without any."""
        words = []
        if self.resign_moves:
            words.append(f"--resign {self.resign_moves} {self.resign_score}")
        if self.draw_moves:
            words.append(f"--draw {self.draw_from} {self.draw_moves} {self.draw_score}")
        if self.longest:
            words.append(f"--longest {self.longest}")
        if self.tables:
            words.append(f"--tables {self.tables}")
        return " ".join(words) or "none"


def adjudicate(game: OngoingGame, answers: list[Answer], rule: Adjudication) -> None:
    """End the game if the scores of the engines' answers so far call for it."""
    if game.is_over():
        return
    if rule.longest and game.board.fullmove > rule.longest:
        game.end(DRAWN, "adjudication: too long")
        return
    if rule.tables and game.board.halfmove == 0:
        result = opened(rule.tables).wdl(game.board)
        if result is not None:
            winner = {WIN: game.board.side, LOSS: game.board.side ^ 1}.get(result)
            game.end(DRAWN if winner is None else RESULT_OF_WINNER[winner], "adjudication: tablebases")
            return
    # From the view of the side that moved last, the latest first.
    scores = [_centipawns(answer) * (-1) ** i for i, answer in enumerate(reversed(answers))]
    last = scores[: 2 * rule.resign_moves]
    if rule.resign_moves and len(last) == 2 * rule.resign_moves and not any(map(math.isnan, last)):
        if min(last) >= rule.resign_score:
            game.end(RESULT_OF_WINNER[game.board.side ^ 1], "adjudication: resigned")
        elif max(last) <= -rule.resign_score:
            game.end(RESULT_OF_WINNER[game.board.side], "adjudication: resigned")
    last = scores[: 2 * rule.draw_moves]
    if rule.draw_moves and len(last) == 2 * rule.draw_moves and game.board.fullmove > rule.draw_from:
        if all(abs(score) <= rule.draw_score for score in last):
            game.end(DRAWN, "adjudication: drawn")


def _centipawns(answer: Answer) -> float:
    """The score of an answer, or NaN if it has none: a missing score is no reason to end a game."""
    if answer.mate is not None:
        return math.copysign(30000, answer.mate or -1)
    return math.nan if answer.score is None else answer.score
