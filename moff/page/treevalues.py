"""A game with variations as values for JSON, for the page and the report. There may be many moves."""

from collections.abc import Sequence
from typing import Any

from moff.accuracy import (
    BLUNDER,
    INACCURACY,
    LOSSES,
    MISTAKE,
    START_SCORE,
    Judgement,
    Tally,
    expected_score,
    judge,
    tally,
)
from moff.page.gametree import GameTree, Node
from moff.page.verdict import Verdict
from moff.reviews.reviewed import evaluation_text
from search.score import MATE
from x88.attack import in_check
from x88.move import NO_MOVE
from x88.movegen import legal_moves
from x88.notation import coordinate, fen
from x88.piece import BLACK, WHITE

MOST_MOMENTS = 5
"""The number of moves in a summary's list of those that mattered."""

REFUTATION = 3
"""Plies of a refutation that are looked at for its arrows: its first move, and the same side's next one."""


def tree_values(tree: GameTree) -> dict[str, Any]:
    """A tree with its summary."""
    return {
        "id": tree.number,
        "start": tree.start,
        "tags": tree.tags,
        "result": tree.result,
        "root": _remarks(tree.root),
        "moves": [_move(tree, node) for node in tree],
        "summary": summary(tree),
    }


def _move(tree: GameTree, node: Node) -> dict[str, Any]:
    assert node.parent is not None
    found = {
        "node": node.number,
        "parent": node.parent.number,
        "turn": node.turn,
        "san": node.san,
        "uci": "" if node.move == NO_MOVE else coordinate.write(node.move),
        **_remarks(node),
    }
    optional = {
        "glyph": node.glyph,
        "before": node.opening,
        "verdict": tree.verdict_text(node),
        "opening": node.named,
    }
    found |= {name: value for name, value in optional.items() if value}
    if node.refutation:
        found["refutation"] = [coordinate.write(move) for move in node.refutation[:REFUTATION:2]]
    return found


def _remarks(node: Node) -> dict[str, Any]:
    noted = node.remarks
    found: dict[str, Any] = {}
    if noted.score is not None:
        found["eval"] = evaluation(noted.score)
    if noted.text:
        found["comment"] = noted.text
    if noted.clock:
        found["clock"] = noted.clock.removeprefix("0:")
    if noted.shapes:
        found["shapes"] = [list(shape) for shape in noted.shapes]
    return found


def evaluation(score: int) -> dict[str, Any]:
    """A score from White's view: its text, and White's expected score in permille."""
    text = evaluation_text(score)
    return {"text": text if text[0] in "-#" else f"+{text}", "share": round(1000 * expected_score(score))}


def judgements(
    tree: GameTree, best: Sequence[int] = (), line: list[Node] | None = None
) -> list[Judgement] | None:
    """The judgements of the moves of the main line; None if not all positions after them are assessed. `best`
    has the best move of each position, as far as known; `line` is another line of the tree from its root.
    """
    line = line or main_line(tree)
    scores = _scores(tree, line)
    if scores is None:
        return None
    found = []
    for i, node in enumerate(line[1:]):
        sign = -1 if node.turn.endswith("...") else 1
        # A null move stands for a move that nobody knows.
        after = scores[i] if node.move == NO_MOVE else scores[i + 1]
        found.append(judge(sign * scores[i], sign * after, node.move in best[i : i + 1]))
    return found


def judge_evaluations(tree: GameTree) -> None:
    """Mark the moves of a game that has evaluations but no marks, by its evaluations."""
    line = main_line(tree)[1:]
    if not any(node.glyph for node in line):
        for node, judged in zip(line, judgements(tree) or (), strict=False):
            node.verdict = Verdict(judged.mark, judged.loss, NO_MOVE)


def mark_of(node: Node) -> str:
    """The mark of a bad move, empty for any other."""
    return node.glyph if node.glyph in LOSSES else ""


def main_line(tree: GameTree) -> list[Node]:
    """The root and the moves of the main line."""
    return [tree.root, *tree.path(tree.last())]


def _scores(tree: GameTree, line: list[Node]) -> list[int] | None:
    """The scores of the positions, from White's view. Those of the start and of a mate may be missing."""
    scores = [node.remarks.score for node in line]
    if scores[-1] is None:
        board = fen.parse(line[-1].fen, chess960=True)
        if not legal_moves(board) and in_check(board):
            scores[-1] = MATE if board.side == BLACK else -MATE
    if tree.start == fen.START:
        scores[0] = START_SCORE
    elif scores[0] is None:
        scores[:1] = scores[1:2]  # nobody knows what the first move cost
    known = [score for score in scores if score is not None]
    return known if len(known) == len(line) > 1 else None


def summary(tree: GameTree) -> dict[str, Any] | None:
    """The accuracy, mean loss and marks of both sides, and the moves that cost most, in the order of play;
    None unless all positions of the main line are assessed.
    """
    line = main_line(tree)
    found, scores = judgements(tree), _scores(tree, line)
    if found is None or scores is None:
        return None
    first = BLACK if tree.start.split()[1] == "b" else WHITE
    # The marks are the game's own: a review knows more than two evaluations do.
    found = [judged._replace(mark=mark_of(node)) for judged, node in zip(found, line[1:], strict=True)]
    marked = [(judgement.loss, i) for i, judgement in enumerate(found) if judgement.mark]
    moments = sorted(i for _, i in sorted(marked, reverse=True)[:MOST_MOMENTS])
    return {
        "sides": [_side(tally(found, scores, first, side)) for side in (WHITE, BLACK)],
        "moments": [{"node": line[i + 1].number, "loss": round(100 * found[i].loss)} for i in moments],
    }


def _side(total: Tally) -> dict[str, Any]:
    return {
        "accuracy": None if total.accuracy is None else f"{total.accuracy:.1f}",
        "loss": None if total.centipawns is None else round(total.centipawns),
        "marks": [total.marks[mark] for mark in (INACCURACY, MISTAKE, BLUNDER)],
    }
