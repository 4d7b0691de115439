"""A game with variations that grows as moves are tried."""

import itertools
from collections.abc import Iterator
from typing import Self, cast

from moff import openings
from moff.accuracy import LOSSES, NAMES
from moff.game.notation import move_number
from moff.page import remarks
from moff.page.remarks import Remarks, Shape
from moff.page.verdict import GOOD, NAGS, Verdict
from moff.reviews.reviewed import evaluation_text
from x88.board import Board
from x88.move import NO_MOVE
from x88.notation import fen, pgn, san

MOST_NODES = 20_000
"""The maximum number of moves in a tree."""

LAST_NAMED = 25
"""The last full move at which a position is looked up among the openings."""

GLYPHS = {1: "!", 2: "?", 3: "!!", 4: "??", 5: "!?", 6: "?!"}
"""The marks of moves, by their NAGs."""


class Node:
    """A move of a tree and the position after it; the root has no move."""

    def __init__(
        self, number: int, parent: "Node | None", move: int, text: str, turn: str, after: str
    ) -> None:
        self.number = number
        """The number of the node in the tree."""
        self.parent = parent
        self.move = move
        """Packed; NO_MOVE for a null move and at the root."""
        self.san = text
        self.turn = turn
        """The number before the move, as in PGN: "1." or "1..."."""
        self.fen = after
        self.nags: list[int] = []
        self.remarks = Remarks()
        """The comment after the move, taken apart; at the root, that before the first move."""
        self.refutation: list[int] = []
        """The best line after a bad move, packed, if a review has found it."""
        self.opening = ""
        """The comment before the move, where a variation begins."""
        self.verdict: Verdict | None = None
        """The engine's verdict on the move, if any."""
        self.is_reviewed = False
        """Whether the verdict is a review's, which the live engine does not change."""
        self.children: list[Node] = []
        """The main line first."""
        self.named = _name_of(after)
        """The code and name of the opening, if the position has one."""

    @property
    def glyph(self) -> str:
        """Its mark, such as "?!": the game's, otherwise the engine's; empty if it has none."""
        found = next((GLYPHS[nag] for nag in self.nags if nag in GLYPHS), "")
        return found or (self.verdict.glyph if self.verdict is not None else "")

    def annotate(self, comment: str) -> None:
        """Replace the text of the comment. Braces and commands would not survive in PGN."""
        text = " ".join(comment.split()).translate(_NO_BRACES).replace("[%", "[ %")
        self.remarks = self.remarks._replace(text=text)

    def set_glyph(self, glyph: str) -> None:
        """Replace the mark, empty for none. Raises ValueError."""
        if glyph and glyph not in GLYPHS.values():
            raise ValueError(f"the mark must be one of {', '.join(GLYPHS.values())}")
        self.nags = [nag for nag in self.nags if nag not in GLYPHS]
        self.verdict = None
        self.nags[:0] = [nag for nag, text in GLYPHS.items() if text == glyph]

    def assess(self, score: int, depth: int) -> None:
        """Note the evaluation of the position, from White's view."""
        self.remarks = self.remarks._replace(score=score, depth=depth)

    def draw(self, shapes: tuple[Shape, ...]) -> None:
        """Replace the arrows and circles."""
        self.remarks = self.remarks._replace(shapes=shapes)

    def read_comment(self, comment: str) -> None:
        """Take the comment of a game apart."""
        self.remarks = remarks.read(comment, self.fen.split()[1] == "b")

    def written_comment(self) -> str:
        """The comment, put together again."""
        score = self.remarks.score
        return remarks.write(self.remarks, "" if score is None else evaluation_text(score))


def _name_of(position: str) -> str:
    """The code and name of the opening of a position; empty if it has none."""
    if int(position.rsplit(" ", 1)[1]) > LAST_NAMED:
        return ""
    return " ".join(openings.find(position) or ())


_NO_BRACES = str.maketrans("{}", "()")

_numbers = itertools.count(1)


class GameTree:
    """The moves of a game and its variations, as nodes with numbers that never change."""

    def __init__(self, start: str = fen.START, tags: dict[str, str] | None = None) -> None:
        """A tree without moves from a FEN. Raises ValueError if it is not a FEN."""
        board = fen.parse(start, chess960=True)
        self.start = fen.write(board)
        self.is_chess960 = board.is_chess960()
        self.tags = dict(tags or {})
        self.result = pgn.UNFINISHED
        self.root = Node(0, None, NO_MOVE, "", "", self.start)
        self._nodes = {0: self.root}
        self._next = 1
        self.number = next(_numbers)
        """The number of the tree; every tree has another one."""
        self.is_changed = False
        """Whether somebody has changed it since it was read."""

    @classmethod
    def from_game(cls, game: pgn.Game) -> Self:
        """The tree of a game that was read. Moves beyond MOST_NODES are left out."""
        tree = cls(game.start, game.tags)
        tree.result = game.result
        tree.root.read_comment(game.comment)
        waiting: list[tuple[Node, pgn.Variation]] = [(tree.root, game)]
        while waiting:
            parent, line = waiting.pop()
            opening = line.comment if line is not game else ""
            for move in line.moves:
                if len(tree) >= MOST_NODES:
                    return tree
                before = parent
                fields = before.fen.split()
                turn = f"{fields[5]}{'.' if fields[1] == 'w' else '...'}"
                parent = tree._grow(before, move.move, move.san, turn, move.fen)
                parent.nags = list(move.nags)
                parent.read_comment(move.comment)
                parent.opening, opening = opening, ""
                waiting += [(before, variation) for variation in reversed(move.variations)]
        return tree

    @classmethod
    def from_moves(cls, start: str, moves: list[int]) -> Self:
        """The tree of some legal moves, packed, from a FEN."""
        return cls.from_game(pgn.record({}, start, moves, pgn.UNFINISHED))

    def __len__(self) -> int:
        """The number of moves."""
        return len(self._nodes) - 1

    def __iter__(self) -> Iterator[Node]:
        """All moves, each after its parent; the main line before its variations."""
        waiting = [*reversed(self.root.children)]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)

    def node(self, number: int) -> Node:
        """The node with this number. Raises ValueError."""
        if number not in self._nodes:
            raise ValueError(f"there is no move with the number {number}")
        return self._nodes[number]

    def path(self, node: Node) -> list[Node]:
        """The nodes from the first move to this one."""
        nodes = []
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def board(self, node: Node) -> Board:
        """The board after a move, with the moves that led there."""
        board = fen.parse(self.start, chess960=True)
        for passed in self.path(node):
            if passed.move == NO_MOVE:
                board.make_null()
            else:
                board.make(passed.move)
        return board

    def verdict_text(self, node: Node) -> str:
        """The verdict on a move in words; empty if there is none."""
        found = node.verdict
        if found is None or node.parent is None:
            return ""
        if found.best == node.move:
            return f"{node.san}: the {'only good' if found.glyph == GOOD else 'best'} move"
        best = san.write(fen.parse(node.parent.fen, chess960=True), found.best) if found.best else ""
        cost = f"{100 * found.loss:.0f} % of a point{f'; {best} is best' if best else ''}"
        if found.glyph not in NAMES:
            return f"{node.san}: costs {cost}" if found.loss >= 0.005 else f"{node.san}: as good as {best}"
        name = NAMES[found.glyph]
        if found.loss < LOSSES[found.glyph]:  # a mate lost or allowed, in a game won or lost anyway
            cost = f"a mate{f'; {best} is best' if best else ''}"
        return f"{node.san}: {'an' if name[0] in 'aeiou' else 'a'} {name} that costs {cost}"

    def add(self, parent: Node, board: Board, move: int) -> Node:
        """The node of a legal move on the parent's board, new if not played before. Raises ValueError if
        full.
        """
        for child in parent.children:
            if child.move == move:
                return child
        after = board.copy()
        text = san.write(after, move)
        after.make(move)
        self.is_changed = True
        return self._grow(parent, move, text, move_number(board), fen.write(after))

    def last(self, node: Node | None = None) -> Node:
        """The end of the main line, or of the line that a node begins."""
        node = node or self.root
        while node.children:
            node = node.children[0]
        return node

    def delete(self, node: Node) -> Node:
        """Delete a move and all that follows; returns the node before it. Raises ValueError for the root."""
        if node.parent is None:
            raise ValueError("the start of the game cannot be deleted")
        node.parent.children.remove(node)
        waiting = [node]
        while waiting:
            gone = waiting.pop()
            del self._nodes[gone.number]
            waiting += gone.children
        return node.parent

    def promote(self, node: Node) -> None:
        """Make the line that leads to a node the main line."""
        while node.parent is not None:
            siblings = node.parent.children
            siblings.remove(node)
            siblings.insert(0, node)
            node = node.parent

    def game(self) -> pgn.Game:
        """The tree as a game, ready to be written."""
        game = pgn.Game(dict(self.tags))
        game.start = self.start
        game.result = self.result
        game.comment = _comment(self.root)
        # Line by line: a game may be longer than Python's stack is deep.
        waiting: list[tuple[pgn.Variation, Node | None]] = [(game, next(iter(self.root.children), None))]
        while waiting:
            line, node = waiting.pop()
            is_first = True
            while node is not None:
                move = _WrittenMove(node)
                line.moves.append(cast(pgn.Move, move))
                assert node.parent is not None
                # A variation begins with a move that is not its parent's first child, and has no alternatives
                # itself.
                if node is node.parent.children[0] or not is_first:
                    for other in node.parent.children[1:]:
                        variation = pgn.Variation()
                        variation.comment = other.opening
                        move.variations.append(variation)
                        waiting.append((variation, other))
                is_first = False
                node = next(iter(node.children), None)
        return game

    def _grow(self, parent: Node, move: int, text: str, turn: str, after: str) -> Node:
        if len(self) >= MOST_NODES:
            raise ValueError(f"a game holds at most {MOST_NODES} moves, variations included")
        node = Node(self._next, parent, move, text, turn, after)
        self._nodes[node.number] = node
        self._next += 1
        parent.children.append(node)
        return node


def _comment(node: Node) -> str:
    """The comment after a move, with the one before the next move from when that began a variation."""
    opening = node.children[0].opening if node.children else ""
    return " ".join(filter(None, (node.written_comment(), opening)))


class _WrittenMove:
    """A node as a move of a game that is written, or becomes a tree again."""

    def __init__(self, node: Node) -> None:
        self.move = node.move
        self.san = node.san
        self.fen = node.fen
        self.nags = node.nags
        if node.glyph in NAGS and NAGS[node.glyph] not in node.nags:
            self.nags = [NAGS[node.glyph], *node.nags]
        self.comment = _comment(node)
        self.variations: list[pgn.Variation] = []
