"""Limited strength: fewer nodes and a blurred judgement, steady within a game, other in the next."""

import itertools
import os
import subprocess
import sys

import pytest

from search.limits import Limits
from search.score import normalised
from search.search import Search
from search.strength import CALIBRATION, STRONGEST, WEAKEST, strength
from tests import ROOT
from tests.client import Conversation
from tests.networks import evaluation_of
from tests.oracle import STARTS, scaled
from tests.searches import think
from x88.notation import coordinate, fen
from x88.notation.game import OngoingGame

pytestmark = pytest.mark.slow

QUIET = "r2q1rk1/2pbbppp/p1np1n2/1p2p3/P3P3/1BPP1N2/1P1N1PPP/R1BQ1RK1 b - - 2 10"


def limited(elo: int | None, seed: int | None = 1) -> Search:
    search = Search(1)
    search.limit_strength(elo, seed)
    return search


def line(search: Search, plies: int, limits: Limits, start: str = fen.START) -> list[str]:
    """The engine against itself."""
    board = fen.parse(start)
    moves = []
    for _ in range(plies):
        move = search.think(board, limits).move
        moves.append(coordinate.write(move))
        board.make(move)
    return moves


def told(search: Search, text: str, limits: Limits) -> list[tuple[int, int, int, list[int]]]:
    """The depth, score, nodes and line of each report."""
    _, reports = think(text, limits, search)
    return [(report.depth, report.score, report.nodes, report.pv) for report in reports]


# The scale.


def test_a_higher_rating_has_more_nodes_and_less_blur() -> None:
    found = [strength(elo) for elo in range(WEAKEST, STRONGEST + 1)]
    for weaker, stronger in itertools.pairwise(found):
        assert 0 < weaker.nodes <= stronger.nodes
        assert weaker.blur >= stronger.blur >= 0
    assert len({level.nodes for level in found}) > 300
    assert found[0].blur > 0
    assert found[-1].blur == 0, "the strongest judges as well as it can"


@pytest.mark.parametrize(("elo", "level"), CALIBRATION)
def test_the_calibrated_levels_are_on_the_scale(elo: int, level: object) -> None:
    assert strength(elo) == level


@pytest.mark.parametrize("elo", [WEAKEST - 1, STRONGEST + 1, 0, -1])
def test_a_rating_beyond_the_scale_is_refused_and_changes_nothing(elo: int) -> None:
    with pytest.raises(ValueError, match=f"from {WEAKEST} to {STRONGEST}, not {elo}"):
        strength(elo)
    search = limited(WEAKEST)
    with pytest.raises(ValueError, match=f"not {elo}"):
        search.limit_strength(elo)
    assert search.think(fen.parse(QUIET), Limits(depth=30)).nodes == strength(WEAKEST).nodes


# The search.


@pytest.mark.parametrize("limits", [Limits(depth=60), Limits(nodes=10**9), Limits(movetime=10**6)])
def test_a_limited_search_ends_by_its_nodes_whatever_else_it_may(limits: Limits) -> None:
    search = limited(1000)
    assert search.think(fen.parse(QUIET), limits).nodes == strength(1000).nodes
    assert search.think(fen.parse(QUIET), Limits(nodes=7)).nodes == 7, "a lower limit holds"


def test_a_game_follows_from_the_seed_and_another_seed_gives_another_game() -> None:
    limits = Limits(depth=60)
    games = {seed: line(limited(1200, seed), 12, limits) for seed in range(3)}
    assert line(limited(1200, 1), 12, limits) == games[1]
    assert len({tuple(game) for game in games.values()}) == 3
    again = limited(1200, 1)
    line(again, 5, limits)
    again.new_game()
    assert line(again, 12, limits) == games[1]


def test_a_limited_game_is_the_same_on_both_builds() -> None:
    code = (
        "from tests.search.test_strength import Limits, limited, line\n"
        "for seed in (1, 77, 54321): print(*line(limited(1300, seed), 10, Limits(depth=60)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=dict(os.environ) | pure,
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout
        for pure in ({}, {"MOFF_PURE": "1"})
    }
    (games,) = printed
    assert len(set(games.splitlines())) == 3


def test_without_a_seed_a_new_game_is_another_one() -> None:
    search = limited(WEAKEST, None)
    games = set()
    for _ in range(8):
        search.new_game()
        games.add(tuple(line(search, 6, Limits(depth=60))))
    assert len(games) > 1


def test_full_strength_is_what_it_was_before_and_after() -> None:
    limits = Limits(nodes=scaled(3000, 600))
    plain = told(Search(1), QUIET, limits)
    search = limited(WEAKEST)
    weak = told(search, QUIET, limits)
    search.limit_strength(None)
    after = told(search, QUIET, limits)
    assert after == plain
    assert [score for _, score, *_ in weak] != [score for _, score, *_ in plain][: len(weak)]


def test_the_same_strength_once_more_forgets_nothing() -> None:
    """A GUI sends its options before every game, some before every move."""
    search = limited(2000)
    limits = Limits(depth=60)
    first = told(search, QUIET, limits)
    search.limit_strength(2000, 1)
    assert told(search, QUIET, limits) != first, "the table was kept"
    search.limit_strength(1999, 1)
    search.limit_strength(2000, 1)
    assert told(search, QUIET, limits) == first


@pytest.mark.parametrize("blur", [50, 800])
def test_a_blurred_value_is_off_by_no_more_than_the_blur_and_always_alike(
    monkeypatch: pytest.MonkeyPatch, blur: int
) -> None:
    """Seen from the first report of a search of one node, which is the static evaluation."""
    import search.search as module

    monkeypatch.setattr(module, "strength", lambda _elo: CALIBRATION[0][1]._replace(blur=blur))
    errors = []
    for text in [QUIET, *STARTS]:
        board = fen.parse(text)
        evaluation = evaluation_of(board)
        found = set()
        for seed in (1, 1, 2):
            search = limited(1000, seed)
            report = think(text, Limits(nodes=1), search)[1][-1]
            if report.mate is not None:
                continue
            errors.append(report.score - normalised(evaluation.value(board)))
            found.add((seed, report.score))
        assert len(found) <= 2, "one seed, one value"
    assert max(map(abs, errors)) <= normalised(blur) + 1
    assert min(errors) < 0 < max(errors)


def test_a_mate_in_one_is_seen_at_every_level() -> None:
    for elo in range(WEAKEST, STRONGEST + 1, 400):
        result = limited(elo).think(fen.parse("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"), Limits(depth=5))
        assert coordinate.write(result.move) == "a1a8"


def points(first: Search, second: Search, start: str, plies: int) -> float:
    """Of the first, which has White: by the rules, or by material after so many plies."""
    game = OngoingGame(start)
    players = (first, second)
    for player in players:
        player.new_game()
    while not game.is_over() and len(game.moves) < plies:
        game.play(players[game.board.side].think(game.board, Limits(depth=60)).move)
    if game.is_over():
        return {"1-0": 1.0, "0-1": 0.0}.get(game.result, 0.5)
    evaluation = evaluation_of(game.board)
    white = evaluation.value(game.board) * (-1) ** game.board.side
    return 0.5 if abs(white) < 200 else float(white > 0)


def test_five_hundred_points_more_win() -> None:
    levels = [WEAKEST, WEAKEST + 500, WEAKEST + 1000][: scaled(3, 2)]
    games = scaled(10, 3)
    for low, high in itertools.pairwise(levels):
        won = 0.0
        for seed in range(1, games + 1):
            weak, strong = limited(low, seed), limited(high, seed + games)
            won += points(strong, weak, fen.START, 200) + 1 - points(weak, strong, fen.START, 200)
        assert won > scaled(0.8, 0.65) * 2 * games


# The options.


def nodes_of(moff: Conversation, limits: str = "depth 12") -> int:
    moff.send(f"position fen {QUIET}", f"go {limits}")
    *reports, _ = moff.until("bestmove")
    words = reports[-1].split()
    return int(words[words.index("nodes") + 1])


def test_the_options_limit_the_strength_and_lift_the_limit(moff: Conversation) -> None:
    moff.send("uci")
    declared = moff.until("uciok")
    assert "option name UCI_LimitStrength type check default false" in declared
    assert any(
        line.startswith("option name UCI_Elo type spin default ")
        and line.endswith(f" min {WEAKEST} max {STRONGEST}")
        for line in declared
    )
    moff.send(f"setoption name UCI_Elo value {WEAKEST}")
    full = nodes_of(moff, f"nodes {scaled(20_000, 1000)}")
    assert full > strength(WEAKEST).nodes, "UCI_Elo alone limits nothing"
    moff.send("setoption name UCI_LimitStrength value true")
    assert nodes_of(moff) == strength(WEAKEST).nodes
    moff.send("setoption name UCI_Elo value 1111")
    assert nodes_of(moff) == strength(1111).nodes
    moff.send("setoption name UCI_AnalyseMode value true")
    assert nodes_of(moff, f"nodes {scaled(20_000, 1000)}") == full, "an analysis is never limited"
    moff.send("setoption name UCI_AnalyseMode value false")
    assert nodes_of(moff) == strength(1111).nodes
    moff.send("setoption name UCI_LimitStrength value false", "ucinewgame")
    assert nodes_of(moff, f"nodes {scaled(20_000, 1000)}") == full


@pytest.mark.parametrize("value", [str(WEAKEST - 1), str(STRONGEST + 1), "", "strong"])
def test_a_bad_rating_is_told_and_changes_nothing(moff: Conversation, value: str) -> None:
    moff.send("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 900")
    moff.ready()
    moff.send(f"setoption name UCI_Elo value {value}")
    (said,) = moff.ready()
    assert f"UCI_Elo takes a whole number from {WEAKEST} to {STRONGEST}, not {value!r}" in said
    assert nodes_of(moff) == strength(900).nodes
