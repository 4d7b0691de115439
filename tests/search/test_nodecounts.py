"""The nodes of root moves and replies."""

import chess
import pytest

from search.limits import Limits
from search.nodecounts import SLOTS, NodeCounts
from search.search import Search
from tests.oracle import only_c, scaled
from tests.searches import KIWIPETE
from x88 import square
from x88.movegen import legal_moves
from x88.notation import coordinate, fen


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
def test_the_counts_add_up(text: str, lines: int) -> None:
    search = Search(1)
    counts = search.count_nodes()
    limits = Limits(depth=scaled(8, 3), lines=lines)
    nodes = search.think(fen.parse(text), limits).nodes
    whole = 0
    for move, replies in pairs(text):
        under = sum(counts.nodes(move, reply) for reply in replies)
        # The move's own node, and at times a null move or a singular search, belong to no reply.
        assert 0 <= under < counts.nodes(move) or under == counts.nodes(move) == 0
        whole += counts.nodes(move)
    # The root itself is entered a few times in each iteration.
    assert nodes - 40 * limits.lines * (limits.depth or 0) <= whole < nodes


def test_a_move_that_is_searched_alone_has_its_nodes_and_its_only_reply_too() -> None:
    text = "k7/7R/8/8/8/8/8/K5R1 w - - 0 1"
    board = fen.parse(text)
    move = coordinate.parse(board, "g1f1")
    search = Search(1)
    counts = search.count_nodes()
    nodes = search.think(board, Limits(depth=2, searchmoves=(move,))).nodes
    oracle = chess.Board(text)
    oracle.push_uci("g1f1")
    assert oracle.legal_moves.count() == 1
    board.make(move)
    reply = next(iter(legal_moves(board)))
    assert 1 <= counts.nodes(move, reply) < counts.nodes(move) < nodes
    others = [other for other, _ in pairs(text) if other != move]
    assert all(counts.nodes(other) == 0 for other in others)


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


def test_counting_changes_no_search() -> None:
    board = fen.parse(KIWIPETE)
    plain, counting = Search(1), Search(1)
    counting.count_nodes()
    limits = Limits(depth=scaled(8, 3))
    assert plain.think(board, limits) == counting.think(board, limits)


@only_c
def test_what_finds_no_room_is_left_out_and_nothing_is_mixed_up() -> None:
    counts = NodeCounts()
    moves = [origin << 7 | target for origin in square.SQUARES for target in square.SQUARES][1:]
    for number, move in enumerate(moves):
        for reply in moves[:5]:
            counts.add(move, reply, number + 1)
    found = [
        (counts.nodes(move, reply), number + 1) for number, move in enumerate(moves) for reply in moves[:5]
    ]
    assert all(told in (0, nodes) for told, nodes in found)
    assert 0.95 * SLOTS < sum(told > 0 for told, _ in found) <= SLOTS
