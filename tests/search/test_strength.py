"""Limited strength: fewer nodes and a blurred evaluation, the same all through a game."""

import itertools
import os
import random
import subprocess
import sys

import chess
import pytest

from search.limits import Limits
from search.score import normalised
from search.search import Search
from search.strength import CALIBRATION, STRONGEST, WEAKEST, strength
from tests import ROOT, oneply
from tests.client import Conversation, nodes_of
from tests.networks import evaluation_of
from tests.oracle import STARTS, scaled
from tests.searches import ONE_MOVE, think
from x88.notation import coordinate, fen
from x88.notation.game import OngoingGame
from x88.piece import BLACK, WHITE

pytestmark = pytest.mark.slow

QUIET = "r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10"


def limited(elo: int | None, seed: int | None = 1) -> Search:
    search = Search(1)
    search.limit_strength(elo, seed)
    return search


def line(search: Search, plies: int, limits: Limits) -> list[str]:
    """The engine against itself."""
    board = fen.parse(fen.START)
    moves = []
    for _ in range(plies):
        move = search.think(board, limits).move
        moves.append(coordinate.write(move))
        board.make(move)
    return moves


def reported(search: Search, text: str, limits: Limits) -> list[tuple[int, int, int, list[int]]]:
    """The depth, score, nodes and line of each report."""
    _, reports = think(text, limits, search)
    return [(report.depth, report.score, report.nodes, report.pv) for report in reports]


# The scale.


def test_a_higher_rating_has_more_nodes_and_less_blur() -> None:
    found = [strength(elo) for elo in range(WEAKEST, STRONGEST + 1)]
    for weaker, stronger in itertools.pairwise(found):
        assert 0 < weaker.nodes <= stronger.nodes
        assert weaker.blur >= stronger.blur >= 0
        assert weaker.oversight >= stronger.oversight >= 0
    assert len({level.nodes for level in found}) > 300
    assert found[0].blur > 0
    assert found[-1].blur == 0, "the strongest judges as well as it can"
    assert found[0].oversight > 0 == strength(1200).oversight
    assert [strength(elo) for elo, _ in CALIBRATION] == [level for _, level in CALIBRATION]


@pytest.mark.parametrize("elo", [WEAKEST - 1, STRONGEST + 1, 0, -1])
def test_a_rating_beyond_the_scale_changes_nothing(elo: int) -> None:
    search = limited(WEAKEST)
    for call in (strength, search.limit_strength):
        with pytest.raises(ValueError, match=f"from {WEAKEST} to {STRONGEST}, not {elo}"):
            call(elo)
    assert search.think(fen.parse(QUIET), Limits(depth=30)).nodes == strength(WEAKEST).nodes


# The search.


@pytest.mark.parametrize(
    ("text", "limits", "lines"),
    [
        (QUIET, Limits(depth=60), 1),
        (QUIET, Limits(nodes=10**9), 1),
        (QUIET, Limits(movetime=10**6), 1),
        (QUIET, Limits(lines=3), 3),
        (ONE_MOVE, Limits(lines=4), 1),
    ],
)
def test_a_limited_search_has_its_nodes_for_each_line(text: str, limits: Limits, lines: int) -> None:
    search = limited(1000)
    assert search.think(fen.parse(text), limits).nodes == strength(1000).nodes * lines
    assert search.think(fen.parse(text), limits._replace(nodes=20)).nodes == 20, "a lower limit holds"


def test_a_game_follows_from_its_seed() -> None:
    limits = Limits(depth=60)
    games = {seed: line(limited(1200, seed), 12, limits) for seed in range(3)}
    assert len({tuple(game) for game in games.values()}) == 3
    again = limited(1200, 1)
    line(again, 5, limits)
    again.new_game()
    assert line(again, 12, limits) == games[1]


def test_a_limited_game_is_the_same_on_both_builds() -> None:
    code = (
        "from tests.search.test_strength import Limits, limited, line\n"
        "for elo in (250, 700, 1300): print(*line(limited(elo, 77), 10, Limits(depth=60)))"
    )
    command = [sys.executable, "-c", code]
    printed = set()
    for pure in ({}, {"MOFF_PURE": "1"}):
        environment = dict(os.environ) | pure
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
        printed.add(done.stdout)
    (games,) = printed
    assert len(set(games.splitlines())) == 3


def test_without_a_seed_games_differ() -> None:
    search = limited(WEAKEST, None)
    games = set()
    for _ in range(8):
        search.new_game()
        games.add(tuple(line(search, 6, Limits(depth=60))))
    assert len(games) > 1


def test_full_strength_is_the_same_before_and_after_a_limit() -> None:
    limits = Limits(nodes=scaled(3000, 600))
    plain = reported(Search(1), QUIET, limits)
    search = limited(WEAKEST)
    weak = reported(search, QUIET, limits)
    search.limit_strength(None)
    assert reported(search, QUIET, limits) == plain
    assert [score for _, score, *_ in weak] != [score for _, score, *_ in plain][: len(weak)]


def test_setting_the_same_strength_again_forgets_nothing() -> None:
    """A GUI sends its options before every game, some before every move."""
    search = limited(2000)
    limits = Limits(depth=60)
    first = reported(search, QUIET, limits)
    search.limit_strength(2000, 1)
    assert reported(search, QUIET, limits) != first, "the table was kept"
    search.limit_strength(1999, 1)
    search.limit_strength(2000, 1)
    assert reported(search, QUIET, limits) == first


@pytest.mark.parametrize("blur", [50, 800])
def test_the_blur_of_a_value_has_its_limit_and_follows_from_the_seed(
    monkeypatch: pytest.MonkeyPatch, blur: int
) -> None:
    """Seen from the first report of a search of one node, which is the static evaluation."""
    monkeypatch.setattr("search.search.strength", lambda _: CALIBRATION[0][1]._replace(blur=blur))
    errors = []
    for text in [QUIET, *STARTS]:
        board = fen.parse(text)
        value = normalised(evaluation_of(board).value(board))
        scores = []
        for seed in (1, 1, 2):
            report = think(text, Limits(nodes=1), limited(1000, seed))[1][-1]
            scores.append(report.score)
            if report.mate is None:
                errors.append(report.score - value)
        assert scores[0] == scores[1]
    assert max(map(abs, errors)) <= normalised(blur) + 1
    assert min(errors) < 0 < max(errors)


def test_every_level_without_oversights_sees_a_mate_in_one() -> None:
    for elo in range(1200, STRONGEST + 1, 400):
        result = limited(elo).think(fen.parse("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"), Limits(depth=5))
        assert coordinate.write(result.move) == "a1a8"


def test_a_beginner_overlooks_captures_across_the_board() -> None:
    """How often it takes a queen that a pawn attacks, or a bishop from afar, forwards or backwards."""
    taken = {}
    for move, text in {
        "e4d5": "rnb1kbnr/ppp1pppp/8/3q4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1",
        "b2f6": "rnb1kbnr/pppp1ppp/5q2/8/8/1P6/PBPPPPPP/RN1QKBNR w KQkq - 0 1",
        "f6b2": "rnb1kbnr/ppppp1pp/5B2/8/8/1P6/PqPPPPPP/RN1QKBNR w KQkq - 0 1",
    }.items():
        board = fen.parse(text)
        moves = [limited(600, seed).think(board, Limits(depth=60)).move for seed in range(scaled(100, 30))]
        taken[move] = sum(coordinate.write(one) == move for one in moves)
    assert 0 < taken["f6b2"] < taken["b2f6"] < taken["e4d5"]


@pytest.mark.parametrize("elo", [250, 400, 700, 1200, 2000])
@pytest.mark.parametrize(
    "text",
    [
        "8/8/8/4k3/8/8/8/K6Q w - - 0 1",
        "8/8/2k5/8/8/5q2/8/1K6 w - - 0 1",
        "4k3/8/8/8/8/8/8/R3K3 w - - 0 1",
        "8/8/8/3k4/8/8/PPP5/2K5 w - - 0 1",
    ],
)
def test_every_level_mates_a_bare_king_within_the_fifty_move_rule(elo: int, text: str) -> None:
    weak, strong = limited(elo), Search(1)
    game = OngoingGame(text)
    bare = WHITE if "q" in text else BLACK
    while not game.is_over() and game.board.halfmove < 100:
        search, limits = (strong, Limits(nodes=300)) if game.board.side == bare else (weak, Limits(depth=60))
        game.play(search.think(game.board, limits).move)
    assert game.result == ("0-1", "1-0")[bare]


@pytest.mark.parametrize(("elo", "least", "most"), [(250, 0, 0.4), (400, 0.3, 0.8), (600, 0.7, 1)])
def test_the_lowest_levels_stand_by_a_player_of_one_ply(elo: int, least: float, most: float) -> None:
    won = 0.0
    games = scaled(40, 2)
    for number in range(games):
        search, dice = limited(elo, number), random.Random(number)
        board = chess.Board()
        while not board.is_game_over(claim_draw=True):
            if board.turn == (number % 2 == 0):
                board.push_uci(coordinate.write(search.think(fen.parse(board.fen()), Limits(depth=60)).move))
            else:
                board.push(oneply.choose(board, dice))
        winner = board.outcome(claim_draw=True).winner
        won += 0.5 if winner is None else winner == (number % 2 == 0)
    assert least * games <= won <= most * games or games < 10


def points(white: Search, black: Search, plies: int = 200) -> float:
    """The points of White in a game: by the rules, or by material after so many plies."""
    game = OngoingGame(fen.START)
    for player in (white, black):
        player.new_game()
    while not game.is_over() and len(game.moves) < plies:
        game.play((white, black)[game.board.side].think(game.board, Limits(depth=60)).move)
    if game.is_over():
        return {"1-0": 1.0, "0-1": 0.0}.get(game.result, 0.5)
    value = evaluation_of(game.board).value(game.board) * (-1) ** game.board.side
    return 0.5 if abs(value) < 200 else float(value > 0)


def test_five_hundred_rating_points_more_win() -> None:
    levels = [WEAKEST, WEAKEST + 500, WEAKEST + 1000][: scaled(3, 2)]
    games = scaled(10, 3)
    for low, high in itertools.pairwise(levels):
        won = 0.0
        for seed in range(1, games + 1):
            weak, strong = limited(low, seed), limited(high, seed + games)
            won += points(strong, weak) + 1 - points(weak, strong)
        assert won > scaled(0.8, 0.65) * 2 * games


# The options.


def search_nodes(moff: Conversation, limits: str = "depth 12") -> int:
    moff.send(f"position fen {QUIET}", f"go {limits}")
    return nodes_of(moff.until("bestmove"))


def test_the_options_limit_the_strength_and_lift_the_limit(moff: Conversation) -> None:
    many = f"nodes {scaled(20_000, 1000)}"
    moff.send("uci")
    declared = moff.until("uciok")
    assert "option name UCI_LimitStrength type check default false" in declared
    (rating,) = [line for line in declared if line.startswith("option name UCI_Elo type spin default ")]
    assert rating.endswith(f" min {WEAKEST} max {STRONGEST}")
    moff.send(f"setoption name UCI_Elo value {WEAKEST}")
    full = search_nodes(moff, many)
    assert full > strength(WEAKEST).nodes, "UCI_Elo alone limits nothing"
    moff.send("setoption name UCI_LimitStrength value true")
    assert search_nodes(moff) == strength(WEAKEST).nodes
    moff.send("setoption name UCI_Elo value 1111")
    assert search_nodes(moff) == strength(1111).nodes
    moff.send("setoption name UCI_AnalyseMode value true")
    assert search_nodes(moff, many) == full, "an analysis is never limited"
    moff.send("setoption name UCI_AnalyseMode value false")
    assert search_nodes(moff) == strength(1111).nodes
    moff.send("setoption name UCI_LimitStrength value false", "ucinewgame")
    assert search_nodes(moff, many) == full
