"""A session: players, clocks, take-back, ends and saving, with a fake engine and with the real one."""

import contextlib
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import Mock

import chess
import pytest

from moff.game import time_control
from moff.game.notation import NotedMove
from moff.game.player import Engine, Person
from moff.game.session import EARLIEST_DRAW, GAMES_FILE, HINT_TIME, Session
from search.limits import Limits
from search.line import Report, Result
from search.strength import STRONGEST, WEAKEST
from tests.client import PATIENCE
from tests.oracle import packed, read_games, scaled, verdict
from x88.board import Board
from x88.notation import coordinate, fen
from x88.piece import BLACK, WHITE

DEPTH = Limits(depth=3)
MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"
LATE = "4k3/8/8/8/8/8/4P3/R3K3 w - - 0 40"
NOTHING = "There is no move of yours to take back"


class FakeSearch:
    """A search that ends when the test says so, and holds whoever uses it to the contract of `Search`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Limits]] = []
        self.elos: list[int | None] = []
        self.elo: int | None = None
        self.is_running = False
        self.stops = 0
        self.new_games = 0

    def limit_strength(self, elo: int | None) -> None:
        assert not self.is_running
        self.elo = elo

    def new_game(self) -> None:
        assert not self.is_running
        self.new_games += 1

    def start(self, board: Board, limits: Limits, *callbacks: Callable[..., object]) -> None:
        assert not self.is_running, "no other search may be running"
        self.is_running = True
        self.stops = 0
        self.board = board.copy()
        self.asked.append((fen.write(board), limits))
        self.elos.append(self.elo)
        self._on_report, self._on_result = callbacks

    def stop(self) -> None:
        self.stops += 1

    def wait(self) -> None:
        if self.is_running:
            assert self.stops, "that would take for ever"
            self.answer()

    def report(self, score: int = 0) -> Report:
        """Report an iteration, with a score in centipawns for the side to move."""
        report = Report(3, 3, score, None, 100, 5.0, 0, [])
        self._on_report(report)
        return report

    def answer(self, move: str = "") -> None:
        """End the search with a move, else with any legal one."""
        assert self.is_running
        self.is_running = False
        moves = packed(self.board)
        self._on_result(Result(moves[move or min(moves)], 0, 100))


class Table:
    """A session with everything that happens to it."""

    laid: ClassVar[list["Table"]] = []
    """The tables of a test."""

    def __init__(self, white: Any, black: Any, **options: Any) -> None:
        """The options are those of the session."""
        self.time = 1000.0
        """In seconds; it passes when the test says so."""
        self.searches: list[FakeSearch] = []
        self.noted: list[NotedMove] = []
        self.ends: list[str] = []
        self.reports: list[Report] = []
        options = {
            "on_report": self.reports.append,
            "on_move": self.noted.append,
            "on_over": lambda: self.ends.append(self.end),
            "now": lambda: self.time,
        } | options
        self.session = Session(white, black, make_search=self._make_search, **options)
        self.laid.append(self)

    def _make_search(self) -> Any:
        self.searches.append(FakeSearch())
        return self.searches[-1]

    @property
    def search(self) -> FakeSearch:
        """The only search that was made."""
        (search,) = self.searches
        return search

    @property
    def end(self) -> str:
        """The result and the reason."""
        return f"{self.session.game.result} {self.session.game.reason}".strip()

    @property
    def moves(self) -> list[str]:
        return [coordinate.write(move) for move in self.session.game.moves]

    @property
    def position(self) -> str:
        return fen.write(self.session.game.board)

    def think(self, move: str) -> None:
        """Play a move and let the engine think about the reply."""
        self.session.play(move)
        self.session.go()

    def play(self, *moves: str) -> None:
        """Play the moves of both sides."""
        for move in moves:
            if self.session.is_engine_to_move():
                self.session.go()
                (busy,) = (search for search in self.searches if search.is_running)
                busy.answer(move)
            else:
                self.session.play(move)

    def left(self) -> tuple[float | None, ...]:
        """The time on both clocks, in seconds."""
        left = map(self.session.time_left, (WHITE, BLACK))
        return tuple(milliseconds and round(milliseconds / 1000, 6) for milliseconds in left)


clock = time_control.parse


def refuses(reason: str, operation: Callable[..., object], *arguments: Any) -> None:
    with pytest.raises(ValueError, match=reason):
        operation(*arguments)


@pytest.fixture(autouse=True)
def cleared() -> Iterator[None]:
    """No search and no alarm of a test stays behind."""
    yield
    while Table.laid:
        Table.laid.pop().session.close()


@pytest.fixture
def table() -> Table:
    """A person with White against the engine at a fixed depth."""
    return Table(Person("Ada"), Engine(DEPTH))


def two_persons(text: str = "60", **options: Any) -> Table:
    return Table(Person("Ada", clock(text)), Person("Bob", clock(text)), **options)


def test_refused_moves_change_nothing(table: Table) -> None:
    for text in ("Nf3", "g1f3", "Ng1f3", "g1-f3", "G1F3"):
        table.session.new_game()
        noted = table.session.play(text)
        assert noted == NotedMove("1.", "Nf3", table.session.game.moves[-1], None)
        assert (table.moves, table.session.is_engine_to_move()) == (["g1f3"], True)
    start = "4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1"
    table.session.new_game(start)
    for text, reason in {"Ne2": "ambiguous", "e1e3": "can move to", "xyz": "is not a move", "": ""}.items():
        refuses(f"{re.escape(repr(text))}.*{reason}", table.session.play, text)
        assert table.position == start
    table.think("Nge2")
    refuses("bad FEN 'nonsense'", table.session.new_game, "nonsense")
    assert table.session.is_thinking()
    refuses("'Ke7' cannot be played: it is the engine's turn", table.session.play, "Ke7")
    for elo in (WEAKEST - 1, STRONGEST + 1):
        refuses(f"not {elo}", table.session.set_elo, BLACK, elo)
    refuses("White is not played by the engine", table.session.set_elo, WHITE, 1000)
    for limits in (Limits(), Limits(infinite=True, depth=3), Limits(ponder=True, depth=3), Limits(mate=3)):
        refuses("might never let the engine move", Engine, limits)
    assert table.session.players[BLACK] == Engine(DEPTH)
    table.session.resign(WHITE)
    refuses(r"'Ke7' cannot be played: the game is over \(White resigns\)", table.session.play, "Ke7")
    assert table.moves == ["g1e2"]


def test_the_engine_thinks_reports_and_moves_also_at_once(table: Table) -> None:
    assert table.session.wait(0)
    table.think("e4")
    assert table.session.is_thinking()
    assert not table.session.wait(0)
    assert table.search.asked == [(table.position, DEPTH)]
    for ask in (table.session.go, table.session.hint, table.session.offer_draw):
        refuses("The engine is still thinking", ask, *[print] * (ask != table.session.go))
    assert len(table.search.asked) == 1
    reports = [table.search.report(10), table.search.report(20)]
    assert table.moves == ["e2e4"]
    answering = threading.Thread(target=lambda: table.search.answer("e7e5"))
    answering.start()
    assert table.session.wait(PATIENCE)
    assert table.noted == [NotedMove("1...", "e5", table.session.game.moves[-1], reports[-1])]
    assert table.reports == reports
    answering.join()
    assert table.moves == ["e2e4", "e7e5"]
    assert not table.session.is_thinking()
    table.think("d4")
    assert not table.session.wait(0.01)
    assert table.search.stops == 0
    table.session.move_now()
    assert table.search.stops == 1
    table.session.take_back()
    assert table.session.wait(0)
    table.think("c4")
    table.session.move_now()
    table.search.answer()
    assert table.search.stops == 1, "also if the search began only afterwards"
    table.search.answer("d7d5")
    assert table.moves[2:] == ["c2c4", "d7d5"]


# --- Dropped requests

ABANDON: dict[str, Callable[[Session], object]] = {
    "take back": Session.take_back,
    "new game": Session.new_game,
    "set up": lambda session: session.new_game(MATE_IN_1),
    "switch": Session.switch_sides,
    "resign": lambda session: session.resign(WHITE),
    "replace": lambda session: session.set_player(BLACK, Person("Bob")),
}
"""Ways to leave the position that the engine thinks about."""


@pytest.mark.parametrize("how", ABANDON)
def test_a_late_answer_is_dropped_and_the_next_search_follows_it(table: Table, how: str) -> None:
    table.think("e4")
    table.search.report()
    ABANDON[how](table.session)
    assert not table.session.is_thinking()
    assert table.search.stops == 1
    assert table.ends == ["0-1 White resigns"] * (how == "resign")
    if how == "resign":
        table.session.take_back()
    if how == "replace":
        table.session.set_player(BLACK, Engine(DEPTH))
    table.session.go()
    before = table.moves, table.position, table.end, list(table.ends)
    assert len(table.search.asked) == 1
    table.search.report()
    table.search.answer("e7e5")
    assert len(table.reports) == 1
    assert table.search.asked[1:] == [(table.position, DEPTH)]
    assert table.search.new_games == (how in ("new game", "set up"))
    assert table.session.is_thinking()
    table.session.close()
    assert not table.search.is_running
    assert table.noted == []
    assert (table.moves, table.position, table.end, table.ends) == before


def test_a_failed_start_changes_nothing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(FakeSearch, "start", Mock(side_effect=MemoryError))
        with pytest.raises(MemoryError):
            table.think("e4")
    assert not table.session.is_thinking()
    table.play("e7e5")
    assert table.moves == ["e2e4", "e7e5"]


def test_the_callback_of_a_move_may_end_the_game() -> None:
    table = Table(Person(), Engine(DEPTH), on_move=lambda _noted: table.session.resign(WHITE))
    table.play("e4", "e7e5")
    assert table.ends == ["0-1 White resigns"]


def test_take_back_loses_no_move_and_admits_no_late_one() -> None:
    expected: list[int] = []
    engine = Engine(Limits(nodes=scaled(700, 10)))
    session = Session(Person(), engine, on_move=lambda noted: expected.append(noted.move))
    dropped = 0
    with contextlib.closing(session):
        for _ in range(scaled(300, 100)):
            with session.lock:
                if session.game.is_over():
                    session.new_game()
                    expected.clear()
                expected.append(session.play(random.choice([*packed(session.game.board)])).move)
                if session.game.is_over():
                    continue
                session.go()
            if random.random() < 0.4:
                assert session.wait(PATIENCE)
            else:
                time.sleep(random.choice((0, random.random() / 500)))
                with session.lock:
                    if session.is_thinking():
                        dropped += 1
                        session.take_back()
                        expected.pop()
            with session.lock:
                assert session.game.moves == expected
                assert session.game.is_over() or not session.is_engine_to_move()
    assert dropped
    assert session.game.moves == expected


# --- Clocks


def test_a_clock_runs_from_the_first_move_on_and_gains_its_increment() -> None:
    table = two_persons("60+2")
    for seconds, move, left in (
        (100, "", (60, 60)),
        (0, "e4", (62, 60)),
        (10, "", (62, 50)),
        (0, "e5", (62, 52)),
        (0.5, "", (61.5, 52)),
        (0, "Nf3", (63.5, 52)),
    ):
        table.time += seconds
        table.play(*[move] * bool(move))
        assert table.left() == left


def test_the_engine_s_clock_runs_from_its_first_thought_on() -> None:
    table = Table(Engine(clock("60+1")), Person())
    table.time += 5
    table.session.go()
    assert table.search.asked[-1][1] == Limits(time=(60000, 60000), increment=(1000, 1000))
    table.time += 3
    table.search.answer("e2e4")
    assert table.left() == (58, None)
    table.time += 100
    table.play("e5")
    assert table.left() == (58, None)
    table.session.go()
    assert table.search.asked[-1][1].time == (58000, 58000)
    # Without flags, an overstepped clock leaves it a millisecond.
    table.time += 60
    table.search.answer("d2d4")
    assert table.left() == (-1, None)
    table.think("d5")
    assert table.search.asked[-1][1].time == (1, 1)
    assert table.ends == []


def test_a_move_for_a_person_takes_the_time_of_the_person_with_a_clock() -> None:
    for own, milliseconds, increment, left in (
        (clock("30+2"), 30000, 2000, (28, 60)),
        (None, 60000, 1000, (None, 60)),
    ):
        table = Table(Person("Ada", own), Engine(clock("60+1")))
        table.session.go()
        wanted = Limits(time=(milliseconds, milliseconds), increment=(increment, increment))
        assert table.search.asked[-1][1] == wanted
        table.time += 4
        table.search.answer("e2e4")
        assert table.left() == left


def test_a_person_whose_flag_falls_loses() -> None:
    table = two_persons(has_flags=True)
    table.play("e4")
    table.time += 59.75
    table.play("e5", "Nf3")
    table.time += 0.25
    refuses("'d5' cannot be played: the game is over", table.session.play, "d5")
    table.time += 100
    table.session.move_now()
    assert (table.ends, table.moves) == (["1-0 Black runs out of time"], ["e2e4", "e7e5", "g1f3"])
    assert table.left() == (60, 0)
    table.session.take_back()
    assert (table.end, table.left(), len(table.moves)) == ("*", (60, 0.25), 3)
    # A clock that is changed runs on.
    table.session.set_player(BLACK, Person("Bob", clock("30")))
    table.time += 20
    assert table.left() == (60, 10)
    table.session.set_player(BLACK, Person("Bob"))
    table.time += 1000
    table.session.move_now()
    assert (table.left(), table.end) == ((60, None), "*")


def test_an_engine_whose_flag_falls_loses_and_its_late_move_is_dropped() -> None:
    for is_looked_at in (False, True):
        table = Table(Person(), Engine(clock("5")), has_flags=True)
        table.think("e4")
        table.time += 5.1
        if is_looked_at:
            table.session.move_now()
            assert table.search.stops == 1
            assert not table.session.is_thinking()
        table.search.answer("e7e5")
        assert (table.moves, table.ends) == (["e2e4"], ["1-0 Black runs out of time"])
        assert not table.session.is_thinking()


@pytest.mark.parametrize("slowness", [1, 4])
def test_a_flag_falls_without_another_call(slowness: float) -> None:
    """Also if the alarm rings too soon because the clock is slow."""
    over = threading.Event()
    begun = time.perf_counter()
    white, black = Person("Ada", clock("0.05")), Person("Bob", clock("1000"))
    slow = {"now": lambda: begun + (time.perf_counter() - begun) / slowness}
    table = Table(white, black, has_flags=True, on_over=over.set, **slow)
    table.play("e4", "e5")
    assert over.wait(PATIENCE)
    assert time.perf_counter() - begun >= 0.05 * slowness
    assert table.end == "0-1 White runs out of time"


def test_no_alarm_stays_behind() -> None:
    before = set(threading.enumerate())
    table = two_persons("1000", has_flags=True)
    table.play("e4", "e5", "Nf3")
    alarms = set(threading.enumerate()) - before
    assert alarms
    table.session.close()
    for alarm in alarms:
        alarm.join(PATIENCE)
    assert set(threading.enumerate()) <= before


def test_a_move_taken_back_gives_its_time_back() -> None:
    table = Table(Person("Ada", clock("60+1")), Engine(clock("60+1")))
    shown = [table.left()]
    for move in ("e4", "e7e5", "d4", "d7d5"):
        table.time += 7
        table.play(move)
        shown.append(table.left())
    assert shown == [(60, 60), (61, 60), (61, 54), (55, 54), (55, 48)]
    for _ in range(2):
        table.time += 3
        table.session.take_back()
        assert table.left() == shown[2]
        table.time += 2
        assert table.left() == (59, 54)
        table.session.redo()
        assert table.left() == shown[4]
    table.session.take_back()
    table.play("c4", "c7c5", "Nf3", "b8c6")
    table.session.take_back()
    assert table.left() == (62, 55)
    table.session.take_back(2)
    assert table.left() == shown[0]
    table.time += 9
    assert table.left() == shown[0]


# --- Taking back, playing again, and the end of a game


def test_take_back_takes_a_move_with_the_reply_if_there_is_one(table: Table) -> None:
    moves = ["e2e4", "e7e5", "d2d4", "d7d5"]
    table.play(*moves)
    table.think("c4")
    refuses("You have only 3 moves to take back", table.session.take_back, 4)
    for count in (0, -1):
        refuses(f"from 1, not {count}", table.session.take_back, count)
        refuses(f"from 1, not {count}", table.session.redo, count)
    assert (table.session.is_thinking(), table.search.stops) == (True, 0)
    table.session.take_back()
    table.search.answer()
    assert table.moves == moves
    assert not table.session.is_engine_to_move()
    table.session.take_back()
    assert table.moves == moves[:2]
    table.session.take_back()
    refuses(NOTHING, table.session.take_back)
    table.play(*moves)
    table.session.take_back(2)
    assert table.moves == []
    # The engine's first move stays.
    table.session.switch_sides()
    table.play("e2e4")
    refuses(NOTHING, table.session.take_back)
    table.play("e5", "g1f3", "d5", "f3e5")
    refuses("only 2 moves", table.session.take_back, 3)
    table.session.take_back(2)
    assert table.moves == ["e2e4"]


def test_redo_plays_the_moves_taken_back(table: Table) -> None:
    moves = ["e2e4", "e7e5", "d2d4", "d7d5", "g1f3", "b8c6"]
    table.play(*moves)
    assert not table.session.can_redo()
    table.session.take_back(3)
    table.session.redo()
    assert table.moves == moves[:2]
    assert table.session.can_redo()
    table.session.redo(2)
    assert table.moves == moves
    assert not table.session.can_redo()
    refuses("There is nothing to redo", table.session.redo)
    table.session.take_back()
    table.session.take_back()
    table.session.redo(9)
    assert table.moves == moves
    for then in (
        lambda: table.play("a3"),
        lambda: table.play("e4"),
        lambda: (table.session.go(), table.search.answer("c2c4")),
        table.session.new_game,
    ):
        table.session.new_game()
        table.play("e4", "e7e5", "d4", "d7d5")
        table.session.take_back(2)
        then()
        assert not table.session.can_redo()
        refuses("There is nothing to redo", table.session.redo)


def test_a_resignation_counts_as_a_move_to_take_back(table: Table) -> None:
    table.play("e4", "e7e5", "d4", "d7d5")
    for count, left in ((1, 4), (2, 2)):
        table.session.resign(WHITE)
        assert table.ends.pop() == "0-1 White resigns"
        table.session.take_back(count)
        assert (table.end, len(table.moves)) == ("*", left)
    assert table.session.can_redo()
    table.session.resign(WHITE)
    assert not table.session.can_redo()
    refuses("The game is over", table.session.redo)
    refuses("You have only 1 move to take back", table.session.take_back, 3)
    table.session.take_back(1)
    table.session.redo()
    assert len(table.moves) == 4
    assert table.ends == ["0-1 White resigns"]


@pytest.mark.parametrize(
    ("start", "moves", "end"),
    [
        (MATE_IN_1, ["Ra8#"], "1-0 checkmate"),
        ("r7/8/8/8/8/6k1/8/7K w - - 0 1", ["Kg1", "a8a1"], "0-1 checkmate"),
        ("k7/8/1K6/8/8/8/8/6Q1 w - - 0 1", ["Qg3"], "1/2-1/2 stalemate"),
        (fen.START, ["Nf3", "g8f6", "Ng1", "f6g8"] * 2, "1/2-1/2 threefold repetition"),
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", [], "1-0 checkmate"),
    ],
)
def test_an_end_by_rule_is_reported_once(table: Table, start: str, moves: list[str], end: str) -> None:
    session = table.session
    for number in (1, 2):
        session.new_game(start)
        table.play(*moves)
        assert table.end == end
        assert table.ends == [end] * number
    assert not session.is_engine_to_move()
    for refused in (session.go, session.switch_sides, session.agree_draw):
        refuses("The game is over", refused)
    for refused in (session.resign, session.hint, session.offer_draw):
        refuses("The game is over", refused, print)
    if not moves:
        refuses(NOTHING, session.take_back)
        return
    session.take_back()
    session.redo()
    assert table.ends == [end] * 3


def test_the_engine_accepts_a_draw_unless_it_is_better(table: Table) -> None:
    table.session.new_game(LATE)
    refuses("must be offered", table.session.agree_draw)
    table.session.play("e4")
    for either in (table, two_persons()):
        reason = "offered only to the engine, by a person whose turn it is"
        refuses(reason, either.session.offer_draw, print)
    answers: list[str] = []
    for score, answer in ((-1, "the engine thinks it is better"), (0, ""), (1, "")):
        table.session.new_game(LATE.replace("40", str(EARLIEST_DRAW)))
        table.session.offer_draw(answers.append)
        assert table.session.is_thinking()
        table.search.report(-500)
        table.search.report(score)
        assert not answers
        table.search.answer()
        assert answers.pop() == answer
        assert table.ends == ["1/2-1/2 draw agreed"] * (score + 1)
        if not answer:
            table.session.take_back()
            assert table.end == "*"
    table.session.new_game(LATE.replace("40", str(EARLIEST_DRAW - 1)))
    table.session.offer_draw(answers.append)
    assert answers == ["the engine accepts no draw before move 20"]
    assert not table.session.is_thinking()


def test_a_hint_has_limits_and_is_not_played() -> None:
    for player, limits in {
        Engine(DEPTH): DEPTH,
        Engine(Limits(nodes=9)): Limits(nodes=9),
        Engine(clock("60")): Limits(movetime=HINT_TIME),
        Person("Bob"): Limits(movetime=HINT_TIME),
    }.items():
        table = Table(Person(), player)
        hints: list[NotedMove] = []
        table.session.hint(hints.append)
        assert table.search.asked[0][1] == limits
        report = table.search.report(30)
        table.search.answer("g1f3")
        assert hints == [NotedMove("1.", "Nf3", hints[0].move, report)]
        assert (table.moves, table.noted, table.ends) == ([], [], [])


@pytest.mark.parametrize("ask", [Session.hint, Session.offer_draw])
@pytest.mark.parametrize("then", [lambda session: session.play("Ra3"), Session.redo, Session.take_back])
def test_the_next_move_drops_a_hint_or_a_draw_offer(table: Table, ask: Any, then: Any) -> None:
    table.session.new_game(LATE)
    table.play("e4", "e8e7", "Ra2", "e7e8")
    table.session.take_back()
    answers: list[object] = []
    ask(table.session, answers.append)
    then(table.session)
    table.search.answer()
    assert (answers, table.end) == ([], "*")


PACED: dict[str, tuple[Callable[[Table], object], list[str]]] = {
    "move now": (lambda table: table.session.move_now(), ["e2e4", "e7e5"]),
    "take back": (lambda table: table.session.take_back(), []),
    "new game": (lambda table: table.session.new_game(), []),
    "resign": (lambda table: table.session.resign(WHITE), ["e2e4"]),
}
"""What ends an engine's wait, and the moves that are left."""


@pytest.mark.parametrize("then", PACED)
def test_an_engine_waits_as_a_person_would_until_that_is_cut_short(then: str) -> None:
    table = Table(Person("Ada"), Engine(DEPTH), pace=lambda: PATIENCE)
    table.think("e4")
    answering = threading.Thread(target=table.search.answer, args=("e7e5",))
    answering.start()
    answering.join(0.2)
    assert (table.moves, table.session.is_thinking()) == (["e2e4"], True)
    end, left = PACED[then]
    end(table)
    answering.join(PATIENCE / 2)
    assert not answering.is_alive()
    assert (table.moves, table.session.is_thinking()) == (left, False)


def test_an_engine_waits_no_longer_than_its_pace_and_with_moves_alone() -> None:
    paces = [0.3]
    table = Table(Person("Ada"), Engine(DEPTH), pace=paces.pop)
    hints: list[NotedMove] = []
    table.session.hint(hints.append)
    table.search.answer("e2e4")
    assert hints[0].san == "e4"
    began = time.monotonic()
    table.play("e4", "e7e5")
    assert time.monotonic() - began >= 0.3
    assert table.moves == ["e2e4", "e7e5"]


def test_a_new_position_has_full_clocks() -> None:
    table = Table(Person("Ada", clock("60+1")), Engine(clock("30")))
    table.play("e4")
    table.time += 4
    start = "4k3/8/8/8/8/8/4p3/4K2R b K - 7 30"
    table.session.new_game(start)
    assert (table.left(), table.moves, table.end) == ((60, 30), [], "*")
    table.time += 4
    table.session.go()
    assert table.search.asked[-1] == (start, clock("30"))
    table.search.answer("e8d7")
    assert table.noted[0].number == "30..."
    assert table.left() == (60, 30)


# --- Players


def test_sides_are_changed_with_the_clocks_and_the_searches() -> None:
    table = Table(Person("Ada", clock("60+1")), Engine(clock("30+2"), 900))
    table.play("e4")
    table.time += 5
    table.session.switch_sides()
    assert [type(player) for player in table.session.players] == [Engine, Person]
    assert table.left() == (25, 61)
    table.time += 2
    assert table.left() == (25, 59)
    table.play("e5")
    assert table.left() == (25, 60)
    table.session.go()
    assert table.search.asked[-1][1] == Limits(time=(25000, 25000), increment=(2000, 2000))
    table.session.switch_sides()
    table.search.answer()
    assert (table.moves, table.noted) == (["e2e4", "e7e5"], [])
    table.session.switch_sides()
    table.session.take_back()
    assert table.left() == (30, 61)
    assert len(table.searches) == 1


def test_a_changed_level_holds_from_the_next_move_on(table: Table) -> None:
    table.think("e4")
    table.session.set_player(BLACK, Engine(clock("10"), 1000))
    table.session.set_elo(BLACK, 1500)
    table.search.answer("e7e5")
    table.play("d4")
    table.session.go()
    table.time += 6
    table.search.answer("d7d5")
    assert [limits for _, limits in table.search.asked] == [DEPTH, clock("10")]
    assert table.search.elos == [None, 1500]
    # Another Elo leaves the clock; another level fills it.
    table.session.set_elo(BLACK, 800)
    assert table.left() == (None, 4)
    table.session.set_player(BLACK, Engine(clock("60")))
    assert table.left() == (None, 60)
    table.play("c4")
    table.session.take_back()
    assert table.left() == (None, 60)


def test_a_person_takes_the_place_of_the_engine_and_gives_it_back() -> None:
    engine = Engine(clock("60"))
    table = Table(engine, Engine(DEPTH))
    table.session.go()
    table.session.set_player(WHITE, Person("Ada", clock("30")))
    assert not table.session.is_thinking()
    table.search.answer("d2d4")
    table.time += 5
    table.play("e4")
    assert table.left() == (30, None)
    table.session.set_player(WHITE, engine)
    table.play("e7e5", "g1f3")
    assert table.moves == ["e2e4", "e7e5", "g1f3"]


def test_two_engines_play_each_with_its_own_search_and_strength() -> None:
    table = Table(Engine(Limits(depth=1), 900), Engine(Limits(depth=2)))
    table.play("e2e4", "e7e5", "g1f3")
    assert table.moves == ["e2e4", "e7e5", "g1f3"]
    asked = [[limits.depth for _, limits in search.asked] for search in table.searches]
    assert (asked, [search.elos for search in table.searches]) == ([[1, 1], [2]], [[900, 900], [None]])
    table.session.take_back(2)
    assert table.moves == ["e2e4"]
    table.session.redo()
    assert table.moves == ["e2e4", "e7e5"]


def test_two_persons_take_back_single_moves_and_agree_on_a_draw() -> None:
    table = two_persons()
    table.play("e4", "e5", "Nf3")
    table.session.take_back()
    assert table.moves == ["e2e4", "e7e5"]
    table.session.take_back(2)
    table.session.redo()
    assert table.moves == ["e2e4"]
    table.session.redo(5)
    assert table.moves == ["e2e4", "e7e5", "g1f3"]
    table.session.agree_draw()
    assert table.ends == ["1/2-1/2 draw agreed"]
    table.session.take_back()
    assert (table.end, len(table.moves)) == ("*", 3)
    assert table.searches == []
    table.session.go()
    assert table.search.asked[0][1] == Limits(movetime=HINT_TIME)


# --- Saving


def saved_moves(path: Path) -> list[list[str]]:
    games = read_games(path.read_text(encoding="utf-8", errors="surrogateescape"))
    return [[move.uci() for move in game.mainline_moves()] for game in games]


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_game_is_appended_and_takes_its_own_place(table: Table, tmp_path: Path, end: str) -> None:
    path = tmp_path / "games.pgn"
    before = f'[Event "before"]\n\n1. a4 *{end}'
    path.write_text(before, encoding="utf-8", newline="\n")
    for moves in (["e2e4"], ["e2e4", "e7e5"], ["e2e4", "e7e5", "d2d4"]):
        table.play(moves[-1])
        table.session.save(str(path))
        assert saved_moves(path) == [["a2a4"], moves]
        text = path.read_text(encoding="utf-8")
        assert text.startswith(before)
        assert end != "\n\n" or text[len(before) :].startswith("[Event")
    table.session.save(str(tmp_path / ".." / tmp_path.name / path.name))
    assert path.read_text(encoding="utf-8") == text
    table.session.take_back()
    table.session.save(str(path))
    assert saved_moves(path) == [["a2a4"], ["e2e4", "e7e5"]]
    table.session.new_game()
    table.play("d4")
    table.session.save(str(path))
    assert saved_moves(path) == [["a2a4"], ["e2e4", "e7e5"], ["d2d4"]]
    assert len(re.findall(r"\*\n\n+\[Event ", path.read_text(encoding="utf-8"))) == 2


@pytest.mark.parametrize("other", ['{}\n[Event "other"]\n\n1. a4 *\n', "{}x", "same size"])
def test_save_keeps_text_of_others(table: Table, tmp_path: Path, other: str) -> None:
    path = tmp_path / "game.pgn"
    table.play("e4")
    table.session.save(str(path))
    text = path.read_text(encoding="utf-8")
    before = text.replace("1. e4", "1. d4") if other == "same size" else other.format(text)
    path.write_text(before, encoding="utf-8", newline="\n")
    table.session.save(str(path))
    assert path.read_text(encoding="utf-8").startswith(before)
    assert len(path.read_text(encoding="utf-8")) > len(before)


@pytest.mark.parametrize("name", [".", "no/such/folder.pgn", "/dev/full", "x" * 300, "a\0b"])
def test_save_may_fail(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    if name == "/dev/full" and not Path(name).exists():
        pytest.skip("there is no device that is always full")
    monkeypatch.chdir(tmp_path)
    table.play("e4")
    refuses(re.escape(f"The game could not be saved in {name}: ") + "(?!None)", table.session.save, name)
    assert table.moves == ["e2e4"]
    assert table.session.keep() == GAMES_FILE


def test_a_full_disk_keeps_the_saved_games(table: Table, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "game.pgn"
    path.write_text('[Event "before"]\n\n1. a4 *\n', encoding="utf-8")
    table.session.set_player(WHITE, Person("M\udcfcller"))
    table.play("e4", "e7e5")
    table.session.save(str(path))
    before = path.read_bytes()
    assert b"M\xfcller" in before
    table.play("d4", "d7d5")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 3, limit[1]))
        refuses("The game could not be saved in", table.session.save, str(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_bytes() == before
    table.session.save(str(path))
    assert saved_moves(path) == [["a2a4"], ["e2e4", "e7e5", "d2d4", "d7d5"]]


def test_keep_saves_changes(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keep = table.session.keep
    assert keep() == ""
    table.play("e4")
    table.session.take_back()
    assert keep() == ""
    assert list(tmp_path.iterdir()) == []
    table.play("e4")
    assert (keep(), keep()) == (GAMES_FILE, "")
    for name in ("a.pgn", "b.pgn", "a.pgn"):
        table.session.save(name)
    assert keep() == ""
    table.session.resign(WHITE)
    for _ in range(3):
        assert (keep(), keep()) == ("a.pgn", "")
        if table.moves:
            table.session.take_back()
    assert saved_moves(tmp_path / "a.pgn") == [[]]
    assert saved_moves(tmp_path / "b.pgn") == [["e2e4"]]
    table.session.new_game()
    assert keep() == ""
    table.play("d4")
    assert keep() == GAMES_FILE


def test_the_record_names_players_level_clock_end_and_start() -> None:
    table = Table(Engine(clock("60+0.5"), 1200), Person("Müller"))
    table.session.new_game(LATE)
    table.play("e2e4")
    table.session.resign(BLACK)
    record = table.session.record()
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", record.tags.pop("Date"))
    assert record.tags == {
        "Event": "Casual game",
        "Round": "-",
        "White": Engine(DEPTH).name,
        "WhiteElo": "1200",
        "Black": "Müller",
        "TimeControl": "60+0.5",
        "Termination": "Black resigns",
    }
    assert (record.start, record.result) == (LATE, "1-0")
    names = ("TimeControl", "WhiteTimeControl", "BlackTimeControl")
    for white, black, controls in (
        (Person(), Engine(DEPTH), ["-"]),
        (Person(), Engine(Limits(movetime=2500)), ["-"]),
        (Person(), Person(), ["-"]),
        (Person(), Person("Bob", clock("60")), ["60"]),
        (Person("Ada", clock("60+1")), Engine(clock("60+1")), ["60+1"]),
        (Person("Ada", clock("60+1")), Engine(clock("30")), ["?", "60+1", "30"]),
        (Person("Ada", clock("60+1")), Engine(DEPTH), ["60+1"]),
    ):
        tags = Session(white, black).record().tags
        assert [tags[name] for name in names if name in tags] == controls
        assert not {"WhiteElo", "BlackElo", "Termination"} & tags.keys()


def test_two_engines_play_a_whole_game_by_the_rules() -> None:
    over = threading.Event()
    session = Session(
        Engine(Limits(depth=1), 700),
        Engine(Limits(nodes=50)),
        on_move=lambda _noted: session.game.is_over() or session.go(),
        on_over=over.set,
    )
    with contextlib.closing(session):
        session.new_game("4k3/pp6/8/8/8/8/PP6/R3K3 w - - 60 1")
        session.go()
        assert over.wait(5 * PATIENCE)
    position = chess.Board(session.game.start)
    for move in session.game.moves:
        assert verdict(position) is None
        position.push_uci(coordinate.write(move))
    assert verdict(position) == (session.game.result, session.game.reason)


def test_the_real_engine_obeys_move_now_take_back_and_new_game() -> None:
    noted: list[NotedMove] = []
    with contextlib.closing(Session(Person(), Engine(clock("100000")), on_move=noted.append)) as session:
        for move in ("e4", "d4", "c4"):
            session.play(move)
            session.go()
            session.take_back()
        session.play("b4")
        session.go()
        assert not session.wait(0.05)
        session.move_now()
        assert session.wait(PATIENCE)
        assert len(noted) == 1
        assert [coordinate.write(session.game.moves[0]), len(session.game.moves)] == ["b2b4", 2]
        session.play("a3")
        session.go()
        session.new_game(MATE_IN_1)
        session.hint(noted.append)
        assert session.wait(PATIENCE)
        assert noted[-1].san == "Ra8#"
