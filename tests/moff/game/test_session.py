"""A game being played: players, clocks, take-back, ends and saving, with an engine that answers when the test
says so, and on the fly with the real one.
"""

import io
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import chess
import pytest

from moff.game import time_control
from moff.game.notation import NotedMove
from moff.game.pgn_file import PgnFile
from moff.game.player import Engine, Person
from moff.game.session import EARLIEST_DRAW, GAMES_FILE, HINT_TIME, Session
from search.limits import Limits
from search.line import Report, Result
from search.strength import STRONGEST, WEAKEST
from tests.oracle import read_games, scaled, verdict
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import coordinate, fen
from x88.piece import BLACK, WHITE

DEPTH = Limits(depth=3)
MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"
LATE = "4k3/8/8/8/8/8/4P3/R3K3 w - - 0 40"
NOTHING = "There is no move of yours to take back"
PATIENCE = 60


class Time:
    """A time that passes when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds

    def pass_by(self, seconds: float) -> None:
        self.seconds += seconds


class FakeSearch:
    """A search that ends when the test says so, and holds whoever uses it to the contract of `Search`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Limits]] = []
        self.board: Board = fen.parse(fen.START)
        self.is_running = False
        self.stops = 0
        self.new_games = 0
        self.elo: int | None = None
        self.elos: list[int | None] = []

    def limit_strength(self, elo: int | None) -> None:
        assert not self.is_running
        self.elo = elo

    def new_game(self) -> None:
        assert not self.is_running
        self.new_games += 1

    def start(
        self,
        board: Board,
        limits: Limits,
        on_report: Callable[[Report], object],
        on_result: Callable[[Result], object],
    ) -> None:
        assert not self.is_running, "no other search may be running"
        self.is_running = True
        self.stops = 0
        self.board = board.copy()
        self.asked.append((fen.write(board), limits))
        self.elos.append(self.elo)
        self._on_report, self._on_result = on_report, on_result

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
        """End the search with a move, else with the first legal one."""
        assert self.is_running
        self.is_running = False
        moves = legal_moves(self.board)
        best = next((packed for packed in moves if coordinate.write(packed) == move), moves[0])
        assert move in ("", coordinate.write(best))
        self._on_result(Result(best, 0, 100))


class Table:
    """A session with all that happens to it."""

    laid: ClassVar[list["Table"]] = []
    """The tables of a test."""

    def __init__(self, white: Any, black: Any, kind: type[FakeSearch] = FakeSearch, **options: Any) -> None:
        """The options are those of the session, over what would else be told here."""
        self.time = Time()
        self._kind = kind
        self.searches: list[FakeSearch] = []
        self.told: list[str] = []
        self.noted: list[NotedMove] = []
        self.reports: list[Report] = []
        told = {
            "on_report": self.reports.append,
            "on_move": self._on_move,
            "on_over": lambda: self.told.append(self.end),
        }
        self.session = Session(white, black, make_search=self._make_search, now=self.time, **(told | options))
        self.laid.append(self)

    def _make_search(self) -> Any:
        self.searches.append(self._kind())
        return self.searches[-1]

    def _on_move(self, noted: NotedMove) -> None:
        self.told.append(noted.san)
        self.noted.append(noted)

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

    def play(self, *moves: str) -> None:
        """Play the moves, each by whose turn it is."""
        for move in moves:
            if self.session.is_engine_to_move():
                self.session.go()
                self.busy().answer(move)
            else:
                self.session.play(move)

    def busy(self) -> FakeSearch:
        """The only search that is running."""
        (search,) = (search for search in self.searches if search.is_running)
        return search

    def left(self) -> tuple[float | None, float | None]:
        """What both clocks show, in seconds."""
        white, black = (self.session.time_left(side) for side in (WHITE, BLACK))
        return (
            None if white is None else round(white / 1000, 6),
            None if black is None else round(black / 1000, 6),
        )


def clock(text: str) -> Limits:
    return time_control.parse(text)


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


# --- Moves


@pytest.mark.parametrize("text", ["Nf3", "g1f3", "Ng1f3", "g1-f3", "G1F3"])
def test_a_move_is_read_in_coordinates_and_in_san(table: Table, text: str) -> None:
    noted = table.session.play(text)
    assert (noted.number, noted.san, coordinate.write(noted.move), noted.report) == (
        "1.",
        "Nf3",
        "g1f3",
        None,
    )
    assert table.session.is_engine_to_move()


def test_a_refused_move_or_position_names_the_text_and_the_reason_and_changes_nothing(table: Table) -> None:
    start = "4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1"
    table.session.new_game(start)
    for text, reason in {
        "Ne2": "ambiguous",
        "e1e3": "can move to",
        "xyzzy": "is not a move",
        "": "is not a move",
    }.items():
        with pytest.raises(ValueError, match=f"{re.escape(repr(text))}.*{reason}"):
            table.session.play(text)
        assert table.position == start
    table.session.play("Nge2")
    table.session.go()
    with pytest.raises(ValueError, match="bad FEN 'nonsense'"):
        table.session.new_game("nonsense")
    assert table.session.is_thinking()
    with pytest.raises(ValueError, match="'Ke7' cannot be played: it is the engine's turn"):
        table.session.play("Ke7")
    table.session.resign(WHITE)
    with pytest.raises(ValueError, match=r"'Ke7' cannot be played: the game is over \(White resigns\)"):
        table.session.play("Ke7")
    assert table.moves == ["g1e2"]


def test_the_engine_plays_its_move_and_reports_it(table: Table) -> None:
    table.session.play("e4")
    table.session.go()
    assert table.session.is_thinking()
    assert table.search.asked == [(table.position, DEPTH)]
    first, last = table.search.report(10), table.search.report(20)
    assert table.moves == ["e2e4"]
    table.search.answer("e7e5")
    assert table.moves == ["e2e4", "e7e5"]
    assert not table.session.is_thinking()
    (noted,) = table.noted
    assert noted == NotedMove("1...", "e5", table.session.game.moves[-1], last)
    assert table.reports == [first, last]


def test_a_second_request_is_refused_while_the_engine_thinks(table: Table) -> None:
    table.session.play("e4")
    table.session.go()
    for ask in (
        table.session.go,
        lambda: table.session.hint(print),
        lambda: table.session.offer_draw(print),
    ):
        with pytest.raises(ValueError, match="The engine is still thinking"):
            ask()
    assert len(table.search.asked) == 1


def test_wait_returns_after_the_last_report_or_when_the_request_is_dropped(table: Table) -> None:
    assert table.session.wait(0)
    table.session.play("e4")
    table.session.go()
    assert not table.session.wait(0)
    answering = threading.Thread(target=lambda: table.search.answer("e7e5"))
    answering.start()
    assert table.session.wait(PATIENCE)
    assert table.told == ["e5"]
    answering.join()
    table.session.play("d4")
    table.session.go()
    assert not table.session.wait(0.01)
    table.session.take_back()
    assert table.session.wait(0)


def test_move_now_stops_the_search_even_one_that_has_not_begun(table: Table) -> None:
    table.session.play("e4")
    table.session.go()
    table.session.take_back()
    table.session.play("d4")
    table.session.go()
    table.session.move_now()
    table.search.answer("e7e5")
    assert table.search.stops == 1
    table.search.answer("d7d5")
    assert table.moves == ["d2d4", "d7d5"]
    table.session.play("c4")
    table.session.go()
    assert table.search.stops == 0
    table.session.move_now()
    assert table.search.stops == 1


# --- What is dropped stays away


def give_up(table: Table, how: str) -> None:
    """Leave the position that the engine thinks about."""
    session = table.session
    {
        "take back": session.take_back,
        "new game": session.new_game,
        "set up": lambda: session.new_game(MATE_IN_1),
        "switch": session.switch_sides,
        "resign": lambda: session.resign(WHITE),
        "replace": lambda: session.set_player(BLACK, Person("Bob")),
    }[how]()


GIVEN_UP = ("take back", "new game", "set up", "switch", "resign", "replace")


@pytest.mark.parametrize("how", GIVEN_UP)
def test_a_late_answer_is_dropped_and_the_next_search_follows_it(table: Table, how: str) -> None:
    table.session.play("e4")
    table.session.go()
    table.search.report()
    give_up(table, how)
    assert not table.session.is_thinking()
    assert table.search.stops == 1
    assert table.told == ["0-1 White resigns"] * (how == "resign")
    if how == "resign":
        table.session.take_back()
    if how == "replace":
        table.session.set_player(BLACK, Engine(DEPTH))
    table.session.go()
    before = table.moves, table.position, table.end, list(table.told)
    assert len(table.search.asked) == 1
    table.search.report()
    table.search.answer("e7e5")
    assert (table.moves, table.position, table.end, table.told) == before
    assert len(table.reports) == 1
    assert table.search.asked[1:] == [(table.position, DEPTH)]
    assert table.search.new_games == (how in ("new game", "set up"))
    assert table.session.is_thinking()


def test_close_ends_the_search_without_its_move(table: Table) -> None:
    table.session.play("e4")
    table.session.go()
    table.session.close()
    assert not table.search.is_running
    assert table.moves == ["e2e4"]
    assert table.told == []


def test_a_search_that_cannot_begin_leaves_the_session_as_it_was(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise MemoryError

    table.session.play("e4")
    with monkeypatch.context() as patched:
        patched.setattr(FakeSearch, "start", fail)
        with pytest.raises(MemoryError):
            table.session.go()
    assert not table.session.is_thinking()
    table.play("e7e5")
    assert table.moves == ["e2e4", "e7e5"]


class HastySearch(FakeSearch):
    """A search in a thread, that ends when it likes, soon after it was stopped."""

    def start(self, *arguments: Any) -> None:
        super().start(*arguments)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._stopped,))
        self._thread.start()

    def stop(self) -> None:
        super().stop()
        self._stopped.set()

    def wait(self) -> None:
        self._thread.join()

    def _run(self, stopped: threading.Event) -> None:
        stopped.wait(random.random() / 500)
        self.report()
        time.sleep(random.random() / 2000)
        self.answer()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_no_move_is_lost_or_late_whenever_it_is_taken_back(seed: int) -> None:
    chance = random.Random(seed)
    expected: list[str] = []
    table = Table(
        Person(),
        Engine(DEPTH),
        HastySearch,
        on_move=lambda noted: expected.append(coordinate.write(noted.move)),
    )
    session = table.session
    dropped = 0
    for _ in range(scaled(150, 60)):
        with session.lock:
            if session.game.is_over():
                session.new_game()
                expected.clear()
            move = coordinate.write(chance.choice(legal_moves(session.game.board)))
            session.play(move)
            expected.append(move)
            if session.game.is_over():
                continue
            session.go()
        if chance.random() < 0.4:
            assert session.wait(PATIENCE)
        else:
            time.sleep(chance.choice((0, chance.random() / 500)))
            with session.lock:
                if session.is_thinking():
                    dropped += 1
                    session.take_back()
                    expected.pop()
        with session.lock:
            assert table.moves == expected
            assert session.game.is_over() or not session.is_engine_to_move()
    assert dropped
    session.close()
    assert table.moves == expected


# --- Clocks


def test_a_clock_runs_from_the_first_move_on_and_gains_its_increment() -> None:
    table = two_persons("60+2")
    table.time.pass_by(100)
    assert table.left() == (60, 60)
    table.play("e4")
    assert table.left() == (62, 60)
    table.time.pass_by(10)
    assert table.left() == (62, 50)
    table.play("e5")
    table.time.pass_by(0.5)
    assert table.left() == (61.5, 52)
    table.play("Nf3")
    assert table.left() == (63.5, 52)


def test_the_engine_s_clock_runs_from_its_first_thought_on() -> None:
    table = Table(Engine(clock("60+1")), Person())
    table.time.pass_by(5)
    table.session.go()
    assert table.busy().asked[-1][1] == Limits(time=(60000, 60000), increment=(1000, 1000))
    table.time.pass_by(3)
    table.busy().answer("e2e4")
    assert table.left() == (58, None)
    table.time.pass_by(100)
    table.play("e5")
    assert table.left() == (58, None)
    table.session.go()
    assert table.busy().asked[-1][1].time == (58000, 58000)


def test_a_move_for_a_person_takes_the_time_of_the_person_with_a_clock() -> None:
    table = Table(Person("Ada", clock("30+2")), Engine(clock("60+1")))
    table.session.go()
    assert table.search.asked[-1][1] == Limits(time=(30000, 30000), increment=(2000, 2000))
    table.time.pass_by(4)
    table.search.answer("e2e4")
    assert table.left() == (28, 60)
    table = Table(Person("Ada"), Engine(clock("60+1")))
    table.session.go()
    assert table.search.asked[-1][1] == Limits(time=(60000, 60000), increment=(1000, 1000))
    table.time.pass_by(4)
    table.search.answer("e2e4")
    assert table.left() == (None, 60)


def test_a_person_whose_flag_falls_loses() -> None:
    table = two_persons(has_flags=True)
    table.play("e4")
    table.time.pass_by(59.75)
    table.play("e5", "Nf3")
    table.time.pass_by(0.25)
    with pytest.raises(ValueError, match="'d5' cannot be played: the game is over"):
        table.session.play("d5")
    table.time.pass_by(100)
    table.session.move_now()
    assert (table.told, table.moves) == (["1-0 Black runs out of time"], ["e2e4", "e7e5", "g1f3"])
    assert table.left() == (60, 0)
    table.session.take_back()
    assert (table.end, table.left(), len(table.moves)) == ("*", (60, 0.25), 3)


@pytest.mark.parametrize("is_looked_at", [False, True])
def test_an_engine_whose_flag_falls_loses_and_its_late_move_is_dropped(is_looked_at: bool) -> None:
    table = Table(Person(), Engine(clock("5")), has_flags=True)
    table.session.play("e4")
    table.session.go()
    table.time.pass_by(5.1)
    if is_looked_at:
        table.session.move_now()
        assert table.search.stops == 1
        assert not table.session.is_thinking()
    table.search.answer("e7e5")
    assert (table.moves, table.told) == (["e2e4"], ["1-0 Black runs out of time"])
    assert not table.session.is_thinking()


def test_without_flags_an_overstepped_clock_leaves_the_engine_a_millisecond() -> None:
    table = Table(Person(), Engine(clock("5+1")))
    table.session.play("e4")
    table.session.go()
    table.time.pass_by(8)
    table.search.answer("e7e5")
    assert table.left() == (None, -2)
    table.session.play("d4")
    table.session.go()
    assert table.search.asked[-1][1].time == (1, 1)
    assert table.told == ["e5"]


@pytest.mark.parametrize("slowness", [1, 4])
def test_a_flag_falls_without_anybody_looking(slowness: float) -> None:
    """Also where the alarm rings too soon, as by a clock that is slow."""
    over = threading.Event()
    begun = time.perf_counter()
    session = Session(
        Person("Ada", clock("0.05")),
        Person("Bob", clock("1000")),
        has_flags=True,
        on_over=over.set,
        now=lambda: begun + (time.perf_counter() - begun) / slowness,
    )
    session.play("e4")
    session.play("e5")
    assert over.wait(PATIENCE)
    assert time.perf_counter() - begun >= 0.05 * slowness
    assert (session.game.result, session.game.reason) == ("0-1", "White runs out of time")
    session.close()


def test_no_alarm_stays_behind() -> None:
    before = set(threading.enumerate())
    session = Session(Person("Ada", clock("1000")), Person("Bob", clock("1000")), has_flags=True)
    for move in ("e4", "e5", "Nf3"):
        session.play(move)
    assert set(threading.enumerate()) - before
    session.close()
    deadline = time.monotonic() + PATIENCE
    while set(threading.enumerate()) - before:
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_a_move_taken_back_gives_its_time_back() -> None:
    table = Table(Person("Ada", clock("60+1")), Engine(clock("60+1")))
    shown = [table.left()]
    for move in ("e4", "e7e5", "d4", "d7d5"):
        table.time.pass_by(7)
        table.play(move)
        shown.append(table.left())
    assert shown == [(60, 60), (61, 60), (61, 54), (55, 54), (55, 48)]
    for _ in range(2):
        table.time.pass_by(3)
        table.session.take_back()
        assert table.left() == shown[2]
        table.time.pass_by(2)
        assert table.left() == (59, 54)
        table.session.redo()
        assert table.left() == shown[4]
    table.session.take_back()
    table.play("c4", "c7c5", "Nf3", "b8c6")
    table.session.take_back()
    assert table.left() == (62, 55)
    table.session.take_back()
    assert table.left() == shown[2]
    table.session.take_back()
    assert table.left() == shown[0]
    table.time.pass_by(9)
    assert table.left() == shown[0]


# --- Taking back and playing again


def test_a_person_takes_back_a_move_with_the_reply_if_there_is_one(table: Table) -> None:
    table.play("e4", "e7e5", "d4", "d7d5", "c4")
    table.session.go()
    table.session.take_back()
    assert table.moves == ["e2e4", "e7e5", "d2d4", "d7d5"]
    assert not table.session.is_engine_to_move()
    table.session.take_back()
    assert table.moves == ["e2e4", "e7e5"]
    table.session.take_back()
    with pytest.raises(ValueError, match=NOTHING):
        table.session.take_back()


def test_taking_back_too_many_moves_is_refused_and_disturbs_nothing(table: Table) -> None:
    table.play("e4", "e7e5", "d4")
    table.session.go()
    with pytest.raises(ValueError, match="You have only 2 moves to take back"):
        table.session.take_back(3)
    assert table.session.is_thinking()
    assert table.search.stops == 0
    for count in (0, -1):
        with pytest.raises(ValueError, match=f"from 1, not {count}"):
            table.session.take_back(count)
        with pytest.raises(ValueError, match=f"from 1, not {count}"):
            table.session.redo(count)
    table.session.take_back(2)
    assert table.moves == []


def test_the_engine_s_first_move_is_not_the_person_s_to_take_back() -> None:
    table = Table(Engine(DEPTH), Person())
    table.play("e2e4")
    with pytest.raises(ValueError, match=NOTHING):
        table.session.take_back()
    table.play("e5", "g1f3", "d5", "f3e5")
    with pytest.raises(ValueError, match="only 2 moves"):
        table.session.take_back(3)
    table.session.take_back(2)
    assert table.moves == ["e2e4"]


def test_redo_plays_again_what_was_taken_back(table: Table) -> None:
    moves = ["e2e4", "e7e5", "d2d4", "d7d5", "g1f3", "b8c6"]
    table.play(*moves)
    table.session.take_back(3)
    table.session.redo()
    assert table.moves == moves[:2]
    table.session.redo(2)
    assert table.moves == moves
    with pytest.raises(ValueError, match="There is nothing to redo"):
        table.session.redo()
    table.session.take_back()
    table.session.take_back()
    table.session.redo(9)
    assert table.moves == moves


@pytest.mark.parametrize("move", ["a3", "e4", "the engine's", "new game"])
def test_another_move_or_game_ends_what_could_be_played_again(table: Table, move: str) -> None:
    table.play("e4", "e7e5", "d4", "d7d5")
    table.session.take_back(2)
    if move == "new game":
        table.session.new_game()
    elif move == "the engine's":
        table.session.go()
        table.search.answer("c2c4")
    else:
        table.play(move)
    with pytest.raises(ValueError, match="There is nothing to redo"):
        table.session.redo()


def test_a_resignation_counts_as_a_move_to_take_back(table: Table) -> None:
    table.play("e4", "e7e5", "d4", "d7d5")
    table.session.resign(WHITE)
    assert table.told[-1] == "0-1 White resigns"
    table.session.take_back()
    assert (table.end, len(table.moves)) == ("*", 4)
    table.session.resign(WHITE)
    table.session.take_back(2)
    assert table.moves == ["e2e4", "e7e5"]
    table.session.resign(WHITE)
    with pytest.raises(ValueError, match="The game is over"):
        table.session.redo()
    with pytest.raises(ValueError, match="You have only 1 move to take back"):
        table.session.take_back(3)
    table.session.take_back(1)
    table.session.redo()
    assert len(table.moves) == 4
    assert table.told.count("0-1 White resigns") == 3


# --- How a game ends


@pytest.mark.parametrize(
    ("start", "moves", "end"),
    [
        (MATE_IN_1, ["Ra8#"], "1-0 checkmate"),
        ("r7/8/8/8/8/6k1/8/7K w - - 0 1", ["Kg1", "a8a1"], "0-1 checkmate"),
        ("k7/8/1K6/8/8/8/8/6Q1 w - - 0 1", ["Qg3"], "1/2-1/2 stalemate"),
        ("7k/8/8/8/8/8/1p6/K7 w - - 0 1", ["Kxb2"], "1/2-1/2 insufficient material"),
        ("7k/8/8/8/8/8/8/KR6 w - - 99 80", ["Rb2"], "1/2-1/2 fifty-move rule"),
        (fen.START, ["Nf3", "g8f6", "Ng1", "f6g8"] * 2, "1/2-1/2 threefold repetition"),
    ],
)
def test_an_end_by_rule_is_reported_once_after_the_move(start: str, moves: list[str], end: str) -> None:
    table = Table(Person(), Engine(DEPTH))
    table.session.new_game(start)
    table.play(*moves)
    assert table.end == end
    assert table.told[-1] == end
    assert table.told.count(end) == 1
    assert not table.session.is_engine_to_move()
    for refused in (
        table.session.go,
        table.session.switch_sides,
        table.session.agree_draw,
        lambda: table.session.resign(WHITE),
        lambda: table.session.hint(print),
        lambda: table.session.offer_draw(print),
    ):
        with pytest.raises(ValueError, match="The game is over"):
            refused()


@pytest.mark.parametrize(("score", "accepted"), [(-1, False), (0, True), (1, True)])
def test_the_engine_accepts_a_draw_if_it_is_not_better(table: Table, score: int, accepted: bool) -> None:
    table.session.new_game(LATE.replace("40", str(EARLIEST_DRAW)))
    answers: list[str] = []
    table.session.offer_draw(answers.append)
    assert table.session.is_thinking()
    table.search.report(-500)
    table.search.report(score)
    assert answers == []
    table.search.answer()
    assert answers == (["the engine thinks it is better"], [""])[accepted]
    assert table.told == ["1/2-1/2 draw agreed"] * accepted
    if accepted:
        table.session.take_back()
        assert table.end == "*"
    table.session.new_game(LATE.replace("40", str(EARLIEST_DRAW - 1)))
    table.session.offer_draw(answers.append)
    assert answers[1:] == ["the engine accepts no draw before move 20"]
    assert not table.session.is_thinking()


def test_a_draw_is_offered_by_the_person_who_is_to_move(table: Table) -> None:
    table.session.new_game(LATE)
    with pytest.raises(ValueError, match="must be offered"):
        table.session.agree_draw()
    table.session.play("e4")
    for either in (table, two_persons()):
        with pytest.raises(ValueError, match="offered only to the engine, by a person whose turn it is"):
            either.session.offer_draw(print)


# --- Hints


def test_a_hint_is_reported_and_not_played(table: Table) -> None:
    hints: list[NotedMove] = []
    table.session.hint(hints.append)
    report = table.search.report(30)
    table.search.answer("g1f3")
    assert hints == [NotedMove("1.", "Nf3", hints[0].move, report)]
    assert (table.moves, table.told) == ([], [])


@pytest.mark.parametrize("ask", ["hint", "offer_draw"])
@pytest.mark.parametrize("then", ["play", "redo", "take_back"])
def test_a_hint_or_a_draw_offer_is_dropped_with_the_next_move(table: Table, ask: str, then: str) -> None:
    table.session.new_game(LATE)
    table.play("e4", "e8e7", "Ra2", "e7e8")
    table.session.take_back()
    answers: list[object] = []
    getattr(table.session, ask)(answers.append)
    getattr(table.session, then)(*["Ra3"] * (then == "play"))
    table.search.answer()
    assert (answers, table.end) == ([], "*")


def test_a_hint_has_the_engine_s_limits_or_a_second_of_its_own() -> None:
    for player, limits in {
        Engine(DEPTH): DEPTH,
        Engine(Limits(nodes=9)): Limits(nodes=9),
        Engine(clock("60")): Limits(movetime=HINT_TIME),
        Person("Bob"): Limits(movetime=HINT_TIME),
    }.items():
        table = Table(Person(), player)
        table.session.hint(print)
        assert table.search.asked[0][1] == limits


# --- Positions set up


def test_a_position_is_set_up_with_full_clocks() -> None:
    table = Table(Person("Ada", clock("60+1")), Engine(clock("30")))
    table.play("e4")
    table.time.pass_by(4)
    table.session.new_game("4k3/8/8/8/8/8/4p3/4K2R b K - 7 30")
    assert table.left() == (60, 30)
    assert (table.moves, table.end) == ([], "*")
    table.time.pass_by(4)
    table.session.go()
    assert table.search.asked[-1] == ("4k3/8/8/8/8/8/4p3/4K2R b K - 7 30", clock("30"))
    table.search.answer("e8d7")
    assert table.noted[0].number == "30..."
    assert table.left() == (60, 30)


def test_a_position_set_up_that_is_over_is_reported_each_time(table: Table) -> None:
    for _ in range(2):
        table.session.new_game("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1")
    assert table.told == ["1-0 checkmate"] * 2
    with pytest.raises(ValueError, match=NOTHING):
        table.session.take_back()


# --- Players


def test_sides_are_changed_with_the_clocks_and_what_was_learnt() -> None:
    table = Table(Person("Ada", clock("60+1")), Engine(clock("30+2"), 900))
    table.play("e4")
    table.time.pass_by(5)
    table.session.switch_sides()
    assert [type(player) for player in table.session.players] == [Engine, Person]
    assert table.left() == (25, 61)
    table.time.pass_by(2)
    assert table.left() == (25, 59)
    table.play("e5")
    assert table.left() == (25, 60)
    table.session.go()
    assert table.search.asked[-1][1] == Limits(time=(25000, 25000), increment=(2000, 2000))
    table.session.switch_sides()
    table.search.answer()
    assert (table.moves, table.told) == (["e2e4", "e7e5"], [])
    table.session.switch_sides()
    table.session.take_back()
    assert table.left() == (30, 61)
    assert len(table.searches) == 1


def test_a_changed_level_holds_from_the_next_move_on(table: Table) -> None:
    table.play("e4")
    table.session.go()
    table.session.set_player(BLACK, Engine(clock("10"), 1000))
    table.session.set_elo(BLACK, 1500)
    table.search.answer("e7e5")
    table.play("d4", "d7d5")
    assert [limits for _, limits in table.search.asked] == [DEPTH, clock("10")]
    assert table.search.elos == [None, 1500]


def test_another_elo_leaves_the_clock_and_another_level_fills_it() -> None:
    table = Table(Engine(clock("60")), Person())
    table.session.go()
    table.time.pass_by(6)
    table.search.answer("e2e4")
    table.session.set_elo(WHITE, 800)
    assert table.left() == (54, None)
    table.session.set_player(WHITE, Engine(clock("60")))
    assert table.left() == (60, None)
    table.play("e5")
    table.session.take_back()
    assert table.left() == (60, None)


def test_a_clock_that_is_changed_while_it_runs_runs_on() -> None:
    table = two_persons(has_flags=True)
    table.play("e4")
    table.time.pass_by(50)
    table.session.set_player(BLACK, Person("Bob", clock("30")))
    table.time.pass_by(20)
    assert table.left() == (60, 10)
    table.session.set_player(BLACK, Person("Bob"))
    table.time.pass_by(1000)
    table.session.move_now()
    assert (table.left(), table.end) == ((60, None), "*")


def test_a_person_takes_the_place_of_the_engine_and_gives_it_back(table: Table) -> None:
    table.session.set_player(WHITE, Engine(Limits(nodes=7)))
    table.session.go()
    table.session.set_player(WHITE, Person("Ada"))
    assert not table.session.is_thinking()
    table.search.answer("d2d4")
    table.play("e4")
    table.session.set_player(WHITE, Engine(Limits(nodes=7)))
    table.play("e7e5", "g1f3")
    assert table.moves == ["e2e4", "e7e5", "g1f3"]


def test_a_person_who_relieves_the_engine_before_the_first_move_has_a_full_clock() -> None:
    table = Table(Engine(clock("60")), Person())
    table.session.go()
    table.session.set_player(WHITE, Person("Ada", clock("30")))
    table.time.pass_by(5)
    table.play("e4")
    assert table.left() == (30, None)


@pytest.mark.parametrize("elo", [WEAKEST - 1, STRONGEST + 1])
def test_an_elo_out_of_range_is_refused(table: Table, elo: int) -> None:
    with pytest.raises(ValueError, match=f"not {elo}"):
        table.session.set_elo(BLACK, elo)
    with pytest.raises(ValueError, match="White is not played by the engine"):
        table.session.set_elo(WHITE, 1000)
    assert table.session.players[BLACK] == Engine(DEPTH)


@pytest.mark.parametrize(
    "limits", [Limits(), Limits(infinite=True, depth=3), Limits(ponder=True, depth=3), Limits(mate=3)]
)
def test_limits_that_might_never_end_are_refused(limits: Limits) -> None:
    with pytest.raises(ValueError, match="might never let the engine move"):
        Engine(limits)


def test_two_engines_play_each_with_its_own_search_and_strength() -> None:
    table = Table(Engine(Limits(depth=1), 900), Engine(Limits(depth=2)))
    for move in ("e2e4", "e7e5", "g1f3"):
        table.session.go()
        table.busy().answer(move)
    assert table.moves == ["e2e4", "e7e5", "g1f3"]
    white, black = table.searches
    assert ([limits.depth for _, limits in white.asked], white.elos) == ([1, 1], [900, 900])
    assert ([limits.depth for _, limits in black.asked], black.elos) == ([2], [None])
    table.session.take_back(2)
    assert table.moves == ["e2e4"]
    table.session.redo()
    assert table.moves == ["e2e4", "e7e5"]


def test_an_end_brought_about_by_the_callback_of_a_move_is_reported_once() -> None:
    table = Table(Person(), Engine(DEPTH), on_move=lambda _noted: table.session.resign(WHITE))
    table.play("e4", "e7e5")
    assert table.told == ["0-1 White resigns"]


def test_two_persons_play_take_back_single_moves_and_agree_on_a_draw() -> None:
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
    assert table.told == ["1/2-1/2 draw agreed"]
    table.session.take_back()
    assert (table.end, len(table.moves)) == ("*", 3)
    assert table.searches == []
    table.session.go()
    assert table.search.asked[0][1] == Limits(movetime=HINT_TIME)


# --- Saving


def saved_moves(path: Path) -> list[list[str]]:
    return [
        [move.uci() for move in game.mainline_moves()]
        for game in read_games(path.read_text(encoding="utf-8"))
    ]


def test_a_game_saved_again_takes_the_place_of_what_it_was(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "game.pgn"
    table.play("e4", "e7e5", "d4")
    table.session.save(str(path))
    assert saved_moves(path) == [["e2e4", "e7e5", "d2d4"]]
    once = path.read_bytes()
    table.session.save(str(path.parent / ".." / path.parent.name / path.name))
    assert path.read_bytes() == once
    table.session.take_back()
    table.session.save(str(path))
    assert saved_moves(path) == [["e2e4", "e7e5"]]


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_a_game_is_appended_to_those_before(table: Table, tmp_path: Path, end: str) -> None:
    path = tmp_path / "games.pgn"
    before = f'[Event "before"]\n\n1. a4 *{end}'
    path.write_text(before, encoding="utf-8", newline="\n")
    for moves in (["e2e4"], ["e2e4", "e7e5"]):
        table.play(moves[-1])
        table.session.save(str(path))
        assert saved_moves(path) == [["a2a4"], moves]
        assert path.read_text(encoding="utf-8").startswith(before)
        assert end != "\n\n" or path.read_text(encoding="utf-8")[len(before) :].startswith("[Event")
    table.session.new_game()
    table.play("d4")
    table.session.save(str(path))
    assert saved_moves(path) == [["a2a4"], ["e2e4", "e7e5"], ["d2d4"]]
    assert len(re.findall(r"\*\n\n+\[Event ", path.read_text(encoding="utf-8"))) == 2


@pytest.mark.parametrize("other", ['{}\n[Event "other"]\n\n1. a4 *\n', "{}x", "same size"])
def test_a_text_that_others_wrote_behind_or_instead_stays(table: Table, tmp_path: Path, other: str) -> None:
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
def test_a_file_that_cannot_be_written_is_told_and_changes_nothing(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "/dev/full" and not Path(name).exists():
        pytest.skip("there is no device that is always full")
    monkeypatch.chdir(tmp_path)
    table.play("e4")
    with pytest.raises(ValueError, match=re.escape(f"The game could not be saved in {name}: ")) as caught:
        table.session.save(name)
    assert "None" not in str(caught.value)
    assert table.moves == ["e2e4"]
    assert table.session.keep() == GAMES_FILE


def test_a_disk_that_is_full_costs_nothing_that_was_saved(table: Table, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "game.pgn"
    path.write_text('[Event "before"]\n\n1. a4 *\n', encoding="utf-8")
    table.play("e4", "e7e5")
    table.session.save(str(path))
    before = path.read_bytes()
    table.play("d4", "d7d5")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 3, limit[1]))
        with pytest.raises(ValueError, match="The game could not be saved in"):
            table.session.save(str(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_bytes() == before
    table.session.save(str(path))
    assert saved_moves(path) == [["a2a4"], ["e2e4", "e7e5", "d2d4", "d7d5"]]


def test_a_game_is_kept_where_it_was_saved_last_and_only_if_it_has_changed(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keep = table.session.keep
    assert keep() == ""
    table.play("e4")
    table.session.take_back()
    assert keep() == ""
    assert list(tmp_path.iterdir()) == []
    table.play("e4")
    assert (keep(), keep()) == (GAMES_FILE, "")
    table.session.save("a.pgn")
    table.session.save("b.pgn")
    table.session.save("a.pgn")
    assert keep() == ""
    table.session.resign(WHITE)
    assert (keep(), keep()) == ("a.pgn", "")
    table.session.take_back()
    assert (keep(), keep()) == ("a.pgn", "")
    table.session.take_back()
    assert (keep(), keep()) == ("a.pgn", "")
    assert saved_moves(tmp_path / "a.pgn") == [[]]
    assert saved_moves(tmp_path / "b.pgn") == [["e2e4"]]
    table.session.new_game()
    assert keep() == ""
    table.play("d4")
    assert keep() == GAMES_FILE
    table.session.new_game()
    assert keep() == ""


def test_the_record_names_players_level_clock_end_and_start() -> None:
    table = Table(Engine(clock("60+0.5"), 1200), Person("Müller"))
    table.session.new_game(LATE)
    table.play("e2e4")
    table.session.resign(BLACK)
    tags = table.session.record().tags
    assert re.fullmatch(r"\d{4}\.\d\d\.\d\d", tags.pop("Date"))
    assert tags == {
        "White": Engine(DEPTH).name,
        "WhiteElo": "1200",
        "Black": "Müller",
        "TimeControl": "60+0.5",
        "Termination": "Black resigns",
    }
    assert (table.session.record().start, table.session.record().result) == (LATE, "1-0")


@pytest.mark.parametrize(
    ("white", "black", "controls"),
    [
        (Person(), Engine(DEPTH), ["-"]),
        (Person(), Engine(Limits(nodes=5)), ["-"]),
        (Person(), Engine(Limits(movetime=2500)), ["1/2.5"]),
        (Person(), Person(), ["-"]),
        (Person(), Person("Bob", clock("60")), ["60"]),
        (Person("Ada", clock("60+1")), Engine(clock("60+1")), ["60+1"]),
        (Person("Ada", clock("60+1")), Engine(clock("30")), ["?", "60+1", "30"]),
        (Person("Ada", clock("60+1")), Engine(DEPTH), ["?", "60+1", "-"]),
    ],
)
def test_the_record_has_the_time_control_of_both_or_of_each(
    white: Any, black: Any, controls: list[str]
) -> None:
    tags = Session(white, black).record().tags
    names = ("TimeControl", "WhiteTimeControl", "BlackTimeControl")
    assert [tags[name] for name in names if name in tags] == controls


def test_a_pgn_file_writes_all_where_the_system_writes_a_part_and_any_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Reluctant(io.FileIO):
        def write(self, text: Any) -> int:
            return super().write(bytes(text[:7]))

    monkeypatch.setattr("builtins.open", lambda path, _mode, buffering: Reluctant(path, "a+"))
    PgnFile(str(tmp_path / "game.pgn")).write("a text that is longer, by M\udcfcller\n")
    assert (tmp_path / "game.pgn").read_bytes() == b"a text that is longer, by M\xfcller\n"


# --- With the real engine


@pytest.fixture
def engines() -> Iterator[Callable[..., Session]]:
    """Makes sessions that are closed with the test."""
    made: list[Session] = []

    def make(*players: Any, **options: Any) -> Session:
        made.append(Session(*players, **options))
        return made[-1]

    yield make
    for session in made:
        session.close()


def test_a_whole_game_of_two_engines_is_played_by_the_rules(engines: Callable[..., Session]) -> None:
    over = threading.Event()
    session = engines(
        Engine(Limits(depth=1), 700),
        Engine(Limits(nodes=50)),
        on_move=lambda _noted: session.game.is_over() or session.go(),
        on_over=over.set,
    )
    session.new_game("4k3/pp6/8/8/8/8/PP6/R3K3 w - - 60 1")
    session.go()
    assert over.wait(5 * PATIENCE)
    position = chess.Board(session.game.start)
    for move in session.game.moves:
        assert verdict(position) is None
        position.push_uci(coordinate.write(move))
    assert verdict(position) == (session.game.result, session.game.reason)


def test_the_real_engine_obeys_move_now_take_back_and_new_game(engines: Callable[..., Session]) -> None:
    noted: list[NotedMove] = []
    session = engines(Person(), Engine(clock("100000")), on_move=noted.append)
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
