"""A reviewed game: judgements, better lines and totals, as PGN and as JSON data."""

import re
from typing import Any

from moff.accuracy import (
    BLUNDER,
    INACCURACY,
    MISTAKE,
    NAGS,
    START_SCORE,
    Judgement,
    Tally,
    expected_score,
    judge,
    tally,
)
from moff.openings import Opening, of_game
from moff.reviews.analysis import Assessment
from search.score import mate_distance
from x88.move import NO_MOVE
from x88.notation import coordinate, fen, pgn
from x88.piece import BLACK, WHITE

_EVALUATION = re.compile(r"\[%eval\s[^[\]]*\]\s*")
_MARKS = range(1, 7)
"""The NAGs !, ?, !!, ??, !? and ?!."""


class ReviewedGame:
    """A game, the assessments of its positions, and the results.

    `judgements` has one entry for each move; `tallies` those of White and of Black; `better`, by the index
    of a marked move, the moves that should have been played instead.
    """

    def __init__(
        self, game: pgn.Game, assessments: list[Assessment], source: str = "", number: int = 1
    ) -> None:
        """`source` and `number` give the file and the number of the game in it. `assessments` are those of
        the positions before the first move and after each move; a game that could not be read has none.
        """
        self.game = game
        self.assessments = assessments
        self.source = source
        self.number = number
        self.first = BLACK if game.start.split()[1] == "b" else WHITE
        """The side that moves first."""
        self.opening = _opening(game)
        self.scores = [
            assessment.score * (1 if self.side(i) == WHITE else -1)
            for i, assessment in enumerate(assessments)
        ]
        """From White's view: before the first move, and after each."""
        judged = [START_SCORE, *self.scores[1:]] if game.start == fen.START else self.scores
        self.judgements: list[Judgement] = []
        self.better: dict[int, list[pgn.Move]] = {}
        for i, move in enumerate(game.moves):
            sign = 1 if self.side(i) == WHITE else -1
            before, after, best = sign * judged[i], sign * judged[i + 1], assessments[i].line
            # A null move stands for a move that nobody knows.
            judgement = judge(before, before if move.move == NO_MOVE else after, move.move in best[:1])
            self.judgements.append(judgement)
            if judgement.mark:
                self.better[i] = pgn.record({}, self.fen_before(i), best, pgn.UNFINISHED).moves
        self.tallies: tuple[Tally, Tally] = (
            tally(self.judgements, judged, self.first, WHITE),
            tally(self.judgements, judged, self.first, BLACK),
        )

    def side(self, i: int) -> int:
        """The side that plays the move with this index."""
        return self.first ^ (i & 1)

    def fen_before(self, i: int) -> str:
        """The FEN before the move with this index."""
        return self.game.moves[i - 1].fen if i else self.game.start

    def evaluation(self, i: int) -> str:
        """The evaluation of a position as text: pawns from White's view, or # with the moves to mate."""
        return evaluation_text(self.scores[i])

    def write(self, annotator: str) -> str:
        """The game in PGN.

        - Each move has its evaluation in a comment, `[%eval 0.31,14]`, with the depth in plies; an existing
          one is replaced. After a checkmate it is `#0`.
        - A marked move has the mark's NAG and the better moves as a variation, with its evaluation. If it
          already has one of the NAGs $1 to $6, none is added; and no variation is added if one already begins
          with the better move.
        - Damage is noted in a comment at the end, since the moves after it may be lost.
        - Everything else in the game is kept: comments, NAGs, variations, tags. Tags are added: accuracy in
          per cent and mean loss in centipawns of both sides, and each of annotator, ECO code and opening that
          the game lacks.

        Call it only once, since it changes the moves of the game.
        """
        for i, move in enumerate(self.game.moves):
            move.comment = self._comment(move.comment, i + 1)
            mark = self.judgements[i].mark
            if mark:
                if not any(nag in _MARKS for nag in move.nags):
                    move.nags = [NAGS[mark], *move.nags]
                self._add_better(move, i)
        last = self.game.moves[-1] if self.game.moves else self.game
        notes = [f"Damaged, line {fault.line}: {fault.text}" for fault in self.game.faults]
        last.comment = " ".join([last.comment, *notes]).strip()
        self.game.tags |= self._tags(annotator)
        return pgn.write(self.game)

    def _comment(self, comment: str, i: int) -> str:
        """The comment after a move, with the evaluation of the position with this index in front."""
        ours = _command(self.scores[i], self.assessments[i].depth)
        return f"{ours} {_EVALUATION.sub('', comment)}".rstrip()

    def _add_better(self, move: pgn.Move, i: int) -> None:
        """Add the better moves as the first variation."""
        moves = self.better[i]
        if moves and not any(other.moves and other.moves[0].san == moves[0].san for other in move.variations):
            variation = pgn.Variation()
            variation.moves = moves
            moves[0].comment = _command(_a_ply_later(self.scores[i]), self.assessments[i].depth)
            move.variations.insert(0, variation)

    def _tags(self, annotator: str) -> dict[str, str]:
        """The tags to add."""
        known = self.game.tags.get("Annotator", "")
        tags = {"Annotator": annotator if known.startswith("Moff ") else known or annotator}
        for name, total in zip(("White", "Black"), self.tallies, strict=True):
            if total.accuracy is not None and total.centipawns is not None:
                tags[f"{name}Accuracy"] = f"{total.accuracy:.1f}"
                tags[f"{name}ACPL"] = f"{total.centipawns:.0f}"
        if self.opening is not None:
            named = {"ECO": self.opening.eco, "Opening": self.opening.name}
            tags |= {name: value for name, value in named.items() if value}
        return tags

    def as_dict(self) -> dict[str, Any]:
        """The game for JSON; to be called before `write`. docs/review.md describes the keys."""
        return {
            "file": self.source,
            "game": self.number,
            "line": self.game.line,
            "tags": dict(self.game.tags),
            "start": self.game.start,
            "result": self.game.result,
            "opening": self.opening._asdict() if self.opening else None,
            "white": _tally_as_dict(self.tallies[WHITE]),
            "black": _tally_as_dict(self.tallies[BLACK]),
            "before": self._position_as_dict(0) if self.scores else None,
            "moves": [self._move_as_dict(i) for i in range(len(self.judgements))],
            "faults": [fault._asdict() for fault in self.game.faults],
        }

    def _position_as_dict(self, i: int) -> dict[str, Any]:
        score = self.scores[i]
        mate = mate_distance(score)
        return {
            "cp": score if mate is None else None,
            "mate": mate,
            "win": round(expected_score(score), 4),
            "depth": self.assessments[i].depth,
            "best": self._best(i),
        }

    def _best(self, i: int) -> list[str]:
        """The best line in a position, in coordinates."""
        return [coordinate.write(move) for move in self.assessments[i].line]

    def _move_as_dict(self, i: int) -> dict[str, Any]:
        move, judgement = self.game.moves[i], self.judgements[i]
        return {
            "san": move.san,
            "uci": coordinate.write(move.move),
            "fen": move.fen,
            **self._position_as_dict(i + 1),
            "mark": judgement.mark or None,
            "loss": round(judgement.loss, 4),
            "loss_cp": judgement.centipawns,
            "accuracy": round(judgement.accuracy, 1),
            "nags": move.nags,
            "comment": move.comment,
            "better": [better.san for better in self.better.get(i, [])],
        }


def evaluation_text(score: int) -> str:
    """A score from White's view: "0.31", "-1.20", "#3", "#-2", and "#0" after a checkmate of either side."""
    mate = mate_distance(score)
    return f"{score / 100:.2f}" if mate is None else f"#{mate}"


def _command(score: int, depth: int) -> str:
    """An evaluation from White's view as a comment command."""
    return f"[%eval {evaluation_text(score)}{f',{depth}' if depth else ''}]"


def _a_ply_later(score: int) -> int:
    """The score after the best move has been played: a mate is one ply nearer."""
    if mate_distance(score) is None:
        return score
    return score + 1 if score > 0 else score - 1


def _opening(game: pgn.Game) -> Opening | None:
    """The opening that a game's tags name; what they lack is that of its last position with a name."""
    eco, name = (game.tags.get(tag, "").replace("?", "").strip() for tag in ("ECO", "Opening"))
    found = of_game(game) or Opening("", "")
    opening = Opening(eco or found.eco, name or found.name)
    return opening if any(opening) else None


def _tally_as_dict(total: Tally) -> dict[str, Any]:
    return {
        "moves": total.moves,
        "accuracy": None if total.accuracy is None else round(total.accuracy, 1),
        "acpl": None if total.centipawns is None else round(total.centipawns, 1),
        "inaccuracies": total.marks[INACCURACY],
        "mistakes": total.marks[MISTAKE],
        "blunders": total.marks[BLUNDER],
    }
