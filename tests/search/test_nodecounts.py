"""The nodes of root moves and replies."""

import pytest

from search.limits import Limits
from search.nodecounts import SLOTS, NodeCounts
from search.search import Search
from tests.oracle import only_c, scaled
from tests.searches import KIWIPETE, packed, think
from x88 import square
from x88.movegen import legal_moves
from x88.notation import fen


def pairs(text: str) -> list[tuple[int, list[int]]]:
    """The legal moves of a position, each with the replies to it."""
    board = fen.parse(text)
    found = []
    for move in legal_moves(board):
        board.make(move)
        found.append((move, list(legal_moves(board))))
        board.unmake()
    return found


@pytest.mark.parametrize("text", [fen.START, KIWIPETE, "8/P6k/8/8/8/8/7K/8 w - - 0 1"])
@pytest.mark.parametrize("lines", [1, 3])
def test_the_counts_add_up_and_change_no_search(text: str, lines: int) -> None:
    search, depth = Search(1), scaled(8, 3)
    counts = search.count_nodes()
    result = think(text, Limits(depth=depth, lines=lines), search)[0]
    assert result == think(text, Limits(depth=depth, lines=lines))[0]
    whole = 0
    for move, replies in pairs(text):
        under = sum(counts.nodes(move, reply) for reply in replies)
        # The move's own node, and at times a null move or a singular search, belong to no reply.
        assert 0 <= under < counts.nodes(move) or under == counts.nodes(move) == 0
        whole += counts.nodes(move)
    # The root itself is entered a few times in each iteration.
    assert result.nodes - 40 * lines * depth <= whole < result.nodes


def test_the_only_move_allowed_has_all_nodes_and_so_has_its_only_reply() -> None:
    text = "k7/7R/8/8/8/8/8/K5R1 w - - 0 1"
    (move,) = packed(text, "g1f1")
    replies = dict(pairs(text))
    (reply,) = replies.pop(move)
    search = Search(1)
    counts = search.count_nodes()
    nodes = think(text, Limits(depth=2, searchmoves=(move,)), search)[0].nodes
    assert 1 <= counts.nodes(move, reply) < counts.nodes(move) < nodes
    assert all(counts.nodes(other) == 0 for other in replies)


def test_each_search_counts_anew_and_knows_its_position() -> None:
    search = Search(1)
    start, other = fen.parse(fen.START), fen.parse(KIWIPETE)
    search.think(start, Limits(depth=3))
    counts = search.count_nodes()
    assert not counts.is_of(start.key), "nothing was counted before it was asked for"
    assert counts.nodes(12345) == 0
    first = search.think(start, Limits(depth=3))
    assert counts is search.count_nodes()
    assert counts.is_of(start.key)
    assert counts.nodes(first.move) > 0
    search.think(other, Limits(depth=2))
    assert counts.is_of(other.key)
    assert not counts.is_of(start.key)
    others = {move for move, _ in pairs(fen.START)} - {move for move, _ in pairs(KIWIPETE)}
    assert len(others) > 5
    assert sum(counts.nodes(move) for move in others) == 0


@only_c
def test_a_full_store_leaves_out_counts_and_mixes_up_none() -> None:
    counts = NodeCounts()
    moves = [origin << 7 | target for origin in square.SQUARES for target in square.SQUARES][1:]
    for number, move in enumerate(moves, 1):
        for reply in moves[:5]:
            counts.add(move, reply, number)
    found = [(counts.nodes(move, reply), n) for n, move in enumerate(moves, 1) for reply in moves[:5]]
    assert all(kept in (0, nodes) for kept, nodes in found)
    assert 0.95 * SLOTS < sum(kept > 0 for kept, _ in found) <= SLOTS
