"""Reviewed games as a self-contained HTML page: the board page without a server, with the games inside."""

from typing import Any

from moff.accuracy import LOSSES, NAMES
from moff.messages import counted
from moff.page.document import document
from moff.page.gametree import GameTree
from moff.page.treevalues import tree_values
from moff.reviews.reviewed import ReviewedGame


class Page:
    """A page that games are added to."""

    def __init__(self, settings: str) -> None:
        """`settings` says how the games were searched."""
        self._settings = settings
        self._games: list[dict[str, Any]] = []

    def add(self, reviewed: ReviewedGame) -> None:
        """Add a game, after `write` has put the review into its moves."""
        tree = GameTree.from_game(reviewed.game)
        for i, node in enumerate(tree.path(tree.last())):
            if i in reviewed.better:
                node.refutation = reviewed.assessments[i + 1].line
        if reviewed.scores:
            tree.root.assess(reviewed.scores[0], reviewed.assessments[0].depth)
        fault = "; ".join(f"line {fault.line}: {fault.text}" for fault in reviewed.game.faults)
        self._games.append({**tree_values(tree), "fault": fault})

    def html(self) -> str:
        """The page."""
        title = f"Review of {counted(len(self._games), 'game')}"
        legend = ", ".join(
            f"{mark} {NAMES[mark]}: {100 * LOSSES[mark]:.0f} % or more" for mark in reversed(LOSSES)
        )
        about = f"{self._settings}. Marks by the win probability that a move lost: {legend}."
        report = {"title": title, "about": about, "games": self._games}
        return document({"report": report}, title, has_policy=True)[0].decode()
