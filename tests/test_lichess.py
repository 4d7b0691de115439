"""lichess-bot plays with Moff, set up as docs/chess-programs.md says, on a stub of lichess.org.

The tests that need lichess-bot (https://github.com/lichess-bot-devs/lichess-bot) are skipped unless
LICHESS_BOT in the environment names its folder. It runs on the Python of a virtual environment `venv` or
`.venv` in that folder, or if there is none, on the Python of the tests.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import chess
import chess.engine
import pytest

from tests.client import ENGINE, PATIENCE
from tests.lichess import BOT, NOT_YOUR_TURN, OPPONENT, TOKEN, Event, Game, Lichess, Plan
from tests.oracle import scaled
from x88 import build

PAGE = Path(__file__).resolve().parent.parent / "docs" / "chess-programs.md"
FOLDER = Path(os.environ.get("LICHESS_BOT", "")).resolve()
BOT_PATIENCE = 900.0
"""Seconds to wait for what lichess-bot does; a game takes a minute, or minutes on a busy machine."""

CHESS960 = chess.Board.from_chess960_pos(112).fen()
BLOCKED = "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 w - - 70 80"
"""Nothing can be captured, nor a pawn be moved, until the game is drawn after fifty moves."""

MIDDLEGAME = "r1bqk2r/ppp2ppp/2np1n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R w KQkq - 0 6"


def block() -> str:
    """The settings that the page gives for lichess-bot."""
    (found,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture
def lichess() -> Iterator[Lichess]:
    """The stub, which must have understood all that it was asked."""
    with Lichess() as running:
        yield running
    assert running.errors == []
    assert running.unknown == []


# --- The page


def test_the_options_that_the_page_sets_are_the_engines() -> None:
    ((_, lines),) = re.findall(r"^( *)uci_options:\n((?:\1 +.+\n)+)", block(), re.MULTILINE)
    settings = re.findall(r"^ *(.+?): *([^#\n]+?) *(?:#.*)?$", lines, re.MULTILINE)
    assert len(settings) == len(lines.splitlines())
    with chess.engine.SimpleEngine.popen_uci(ENGINE, timeout=PATIENCE) as engine:
        for name, value in settings:
            assert name in engine.options
            assert str(engine.options[name].parse(value)) == value


# --- The stub


class Client:
    """What lichess-bot does, move by move."""

    def __init__(self, lichess: Lichess, token: str = TOKEN) -> None:
        self.url = lichess.url
        self.headers = {"Authorization": f"Bearer {token}"}
        # The proxy of the environment is for other machines.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def ask(self, path: str, body: str | None = None) -> tuple[int, Any]:
        """The status of an answer and what it says; a request with a body is a POST."""
        data = None if body is None else body.encode()
        request = urllib.request.Request(self.url + path, data, self.headers)
        try:
            with self.opener.open(request, timeout=PATIENCE) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def do(self, path: str, body: str = "") -> None:
        """Send a request that must be granted."""
        assert self.ask(path, body) == (200, {"ok": True})

    @contextlib.contextmanager
    def stream(self, path: str) -> Iterator[Iterator[Event]]:
        """The events of a stream."""
        request = urllib.request.Request(self.url + path, headers=self.headers)
        with self.opener.open(request, timeout=PATIENCE) as lines:
            yield events_in(lines)


def events_in(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of a stream, whose empty lines only keep it alive. Fails if none comes for too long."""
    deadline = time.monotonic() + PATIENCE
    for line in lines:
        assert time.monotonic() < deadline, "nothing happens"
        if line.strip():
            yield json.loads(line)
            deadline = time.monotonic() + PATIENCE


def legal_move(full: Event, state: Event) -> str:
    """A legal move in a game of the stub, from what its stream has told."""
    board = chess.Board(chess.STARTING_FEN if full["initialFen"] == "startpos" else full["initialFen"])
    board.chess960 = full["variant"]["key"] == "chess960"
    for move in state["moves"].split():
        board.push_uci(move)
    return Random(state["moves"]).choice(list(board.legal_moves)).uci()


def states_played(lichess: Lichess, plan: Plan, draw: str = "false", takeback: str = "no") -> list[Event]:
    """The states of a game that a client plays as the bot, with random moves."""
    client = Client(lichess)
    game = lichess.start(plan)
    states = []
    with client.stream(f"api/bot/game/stream/{game.name}") as events:
        full = next(events)
        assert full["type"] == "gameFull"
        states.append(full["state"])
        side = "white" if full["white"]["id"] == BOT["id"] else "black"
        asked = "btakeback" if side == "white" else "wtakeback"
        seen = None
        while states[-1]["status"] == "started":
            state = states[-1]
            parity = len(state["moves"].split()) % 2
            is_first = chess.Board(plan.fen).turn == plan.bot
            if state.get(asked):
                client.do(f"api/bot/game/{game.name}/takeback/{takeback}")
            elif parity == (0 if is_first else 1) and state["moves"] != seen:
                seen = state["moves"]
                move = legal_move(full, state)
                answer = client.ask(f"api/bot/game/{game.name}/move/{move}?offeringDraw={draw}", "")
                assert answer in ((200, {"ok": True}), (400, {"error": NOT_YOUR_TURN}))
            states.append(next(event for event in events if event["type"] == "gameState"))
        assert list(events) == []
    assert game.over.is_set()
    assert game.illegal == []
    return states


def test_a_token_is_needed(lichess: Lichess) -> None:
    assert Client(lichess, "wrong").ask("api/account")[0] == 401
    status, told = Client(lichess).ask("api/token/test", f"{TOKEN},wrong")
    assert status == 200
    assert "bot:play" in told[TOKEN]["scopes"]
    assert told["wrong"] is None


def test_an_answer_that_is_repeated_changes_nothing(lichess: Lichess) -> None:
    client = Client(lichess)
    game = lichess.start(Plan(actions={2: "takeback"}))
    client.do(f"api/bot/game/{game.name}/move/e2e4")
    client.do(f"api/bot/game/{game.name}/move/{next(iter(game.board.legal_moves)).uci()}")
    for _ in range(2):
        client.do(f"api/bot/game/{game.name}/takeback/no")
    assert game.takebacks == [False]
    assert len(game.moves) == 4


def test_the_account_is_upgraded(lichess: Lichess) -> None:
    lichess.title = None
    client = Client(lichess)
    assert client.ask("api/account")[1]["title"] is None
    client.do("api/bot/account/upgrade")
    assert client.ask("api/account")[1] == {**BOT, "username": BOT["name"], "perfs": {}}
    assert client.ask(f"api/users/status?ids={BOT['id']}")[1][0]["online"]


def test_an_unknown_request_is_refused_and_noted() -> None:
    with Lichess() as lichess:
        assert Client(lichess).ask("api/tournament")[0] == 404
        assert Client(lichess).ask("api/bot/game/none/resign", "")[0] == 404
        assert lichess.unknown == ["GET /api/tournament", "POST /api/bot/game/none/resign"]


def test_a_challenge_is_accepted_or_declined(lichess: Lichess) -> None:
    client = Client(lichess)
    with client.stream("api/stream/event") as events:
        first, second = lichess.challenge(Plan()), lichess.challenge(Plan(bot=chess.BLACK))
        told = [next(events)["challenge"] for _ in range(2)]
        assert [(challenge["id"], challenge["color"]) for challenge in told] == [
            (first.name, "black"),
            (second.name, "white"),
        ]
        client.do(f"api/challenge/{first.name}/decline", "reason=later")
        assert (first.status, first.reason) == ("declined", "later")
        assert client.ask("api/account/playing")[1] == {"nowPlaying": []}
        client.do(f"api/challenge/{second.name}/accept")
        event = next(events)
        assert (event["type"], event["game"]["id"]) == ("gameStart", second.name)
        (playing,) = client.ask("api/account/playing")[1]["nowPlaying"]
        assert (playing["gameId"], playing["isMyTurn"]) == (second.name, True)
        assert playing["opponent"]["username"] == OPPONENT["name"]
        assert client.ask(f"api/challenge/{second.name}/accept", "")[0] == 404
    # Who comes late hears of what is still going on.
    third = lichess.challenge(Plan())
    with client.stream("api/stream/event") as events:
        assert next(events)["game"]["id"] == second.name
        assert next(events)["challenge"]["id"] == third.name


@pytest.mark.parametrize("move", ["e2e5", "e7e5", "0000", "nonsense"])
def test_an_illegal_move_is_refused(lichess: Lichess, move: str) -> None:
    client = Client(lichess)
    game = lichess.start(Plan())
    assert client.ask(f"api/bot/game/{game.name}/move/{move}", "")[0] == 400
    assert game.illegal == [move]
    assert game.moves == []


def test_moves_are_refused_after_the_end_and_when_repeated(lichess: Lichess) -> None:
    client = Client(lichess)
    game = lichess.start(Plan())
    client.do(f"api/bot/game/{game.name}/move/e2e4")
    assert client.ask(f"api/bot/game/{game.name}/move/e2e4", "")[0] == 400
    client.do(f"api/bot/game/{game.name}/resign")
    assert client.ask(f"api/bot/game/{game.name}/move/d2d4", "") == (400, {"error": NOT_YOUR_TURN})
    assert client.ask(f"api/bot/game/{game.name}/resign", "")[0] == 400
    assert (game.status, game.winner, game.illegal) == ("resign", chess.BLACK, [])


def test_only_a_game_without_two_moves_is_aborted(lichess: Lichess) -> None:
    client = Client(lichess)
    new, old = lichess.start(Plan(bot=chess.BLACK)), lichess.start(Plan())
    client.do(f"api/bot/game/{old.name}/move/e2e4")
    assert client.ask(f"api/bot/game/{old.name}/abort", "")[0] == 400
    client.do(f"api/bot/game/{new.name}/abort")
    assert (new.status, old.status) == ("aborted", "started")


@pytest.mark.parametrize("bot", chess.COLORS, ids=chess.COLOR_NAMES[::-1])
@pytest.mark.parametrize(
    ("action", "status"),
    [("abort", "aborted"), ("resign", "resign"), ("resign late", "resign"), ("flag", "outoftime")],
)
def test_the_stream_ends_with_the_result(
    lichess: Lichess, bot: chess.Color, action: str, status: str
) -> None:
    state = states_played(lichess, Plan(bot=bot, actions={2: action}))[-1]
    assert state["status"] == status
    assert state.get("winner") == (None if action == "abort" else chess.COLOR_NAMES[bot])


@pytest.mark.parametrize(
    "plan",
    [
        Plan(),
        Plan(variant="chess960", fen=CHESS960),
        Plan(bot=chess.BLACK, variant="fromPosition", fen=MIDDLEGAME),
    ],
    ids=lambda plan: plan.variant,
)
def test_random_games_end_as_the_rules_say(plan: Plan) -> None:
    random = Random(1)
    for number in range(scaled(10, 3)):
        game = Game(f"game{number}", plan, threading.Condition())
        game.start()
        while game.is_running:
            assert game.play(random.choice(list(game.board.legal_moves)).uci()) == ""
        board = chess.Board(plan.fen, chess960=plan.variant == "chess960")
        for move in game.moves:
            assert board.outcome() is None
            board.push_uci(move)
        outcome = board.outcome()
        assert outcome is not None or board.halfmove_clock == 100
        assert game.winner == (outcome.winner if outcome is not None else None)
        endings = {chess.Termination.CHECKMATE: "mate", chess.Termination.STALEMATE: "stalemate"}
        assert game.status == endings.get(outcome and outcome.termination, "draw")
        assert game.over.is_set()


def test_fifty_moves_are_a_draw(lichess: Lichess) -> None:
    last = states_played(lichess, Plan(fen=BLOCKED, variant="fromPosition"))[-1]
    assert (last["status"], len(last["moves"].split())) == ("draw", 30)


def test_an_offer_of_a_draw_is_accepted_and_made(lichess: Lichess) -> None:
    assert states_played(lichess, Plan(), draw="true")[-1]["status"] == "draw"
    states = states_played(lichess, Plan(bot=chess.BLACK, actions={2: "draw", 4: "resign"}))
    offered = [len(state["moves"].split()) for state in states if state.get("wdraw")]
    assert offered == [3, 4]


@pytest.mark.parametrize(("answer", "left"), [("yes", 2), ("no", 4)])
def test_a_takeback_takes_two_moves_back_if_it_is_accepted(lichess: Lichess, answer: str, left: int) -> None:
    states = states_played(lichess, Plan(actions={3: "takeback", 5: "resign"}), takeback=answer)
    lengths = [len(state["moves"].split()) for state in states]
    asked = next(index for index, state in enumerate(states) if state.get("btakeback"))
    assert lengths[asked - 1 : asked + 3] == [5, 5, left + 1, left + 2]


def test_what_is_said_in_a_game_is_heard(lichess: Lichess) -> None:
    client = Client(lichess)
    game = lichess.start(Plan(actions={1: "chat"}))
    with client.stream(f"api/bot/game/stream/{game.name}") as events:
        client.do(f"api/bot/game/{game.name}/move/e2e4")
        client.do(f"api/bot/game/{game.name}/chat", "room=player&text=Good+luck%21")
        chat = (event for event in events if event["type"] == "chatLine")
        told = [(line["room"], line["text"]) for line in (next(chat), next(chat), next(chat))]
    assert told == [("player", "!name"), ("spectator", "!eval"), ("player", "Good luck!")]
    assert game.said == [("player", "Good luck!")]


# --- lichess-bot


def interpreter() -> str:
    """The Python that runs lichess-bot."""
    programs = [FOLDER / name / "bin" / "python" for name in ("venv", ".venv")]
    return next((str(program) for program in programs if program.exists()), sys.executable)


needs_lichess_bot = pytest.mark.skipif(
    "LICHESS_BOT" not in os.environ or os.name == "nt",
    reason="LICHESS_BOT does not name the folder of lichess-bot",
)


def merged(settings: Event, changes: Event) -> Event:
    """Settings with changes; a change within a section leaves the rest of the section."""
    found = dict(settings)
    for name, value in changes.items():
        before = found.get(name)
        found[name] = merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return found


def settings_of_the_page() -> Event:
    """The settings that come with lichess-bot, with those of the page."""
    texts = [(FOLDER / "config.yml.default").read_text("utf-8"), block()]
    program = "import json, sys, yaml; print(json.dumps([*map(yaml.safe_load, json.load(sys.stdin))]))"
    command = [interpreter(), "-c", program]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    default, page = json.loads(done.stdout)
    del default["engine"]["uci_options"]  # the page lists all options to set
    return merged(default, page)


class Bot:
    """lichess-bot on the stub, from entering a `with` block until it is interrupted or the block is left."""

    def __init__(self, folder: Path, lichess: Lichess, *flags: str, **changes: Any) -> None:
        """`changes` of settings go beyond what the page says."""
        self.log = folder / "bot.log"
        self.details = folder / "lichess_bot_auto_logs" / "lichess-bot.log"
        """A log with all that the engine is told, too."""
        self.output = ""
        """All that was printed, once the bot has ended."""
        program = folder / "moff"
        program.write_text("#!/bin/sh\nexec " + " ".join(f'"{word}"' for word in ENGINE), encoding="utf-8")
        program.chmod(0o755)
        config = folder / "config.yml"
        own = {"token": TOKEN, "url": lichess.url, "engine": {"dir": str(folder), "name": program.name}}
        settings = merged(merged(settings_of_the_page(), own), changes)
        config.write_text(json.dumps(settings), encoding="utf-8")  # JSON is YAML, too
        command = [interpreter(), FOLDER / "lichess-bot.py", "--config", config, "-l", self.log, *flags]
        inherited = {name: value for name, value in os.environ.items() if name != "LICHESS_BOT_TOKEN"}
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=inherited | {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Bot":
        return self

    def __exit__(self, *_exception: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join(PATIENCE)

    def _read(self) -> None:
        with self.process.stdout as pipe:
            self.output = pipe.read().decode(errors="replace")

    def check(self) -> None:
        """It has neither ended nor complained."""
        text = self.log.read_text("utf-8") if self.log.exists() else ""
        complaints = re.findall(r"^(?:Traceback|.* (?:WARNING|ERROR|CRITICAL) ).*", text, re.MULTILINE)
        assert [line for line in complaints if build.compiled or build.notice() not in line] == [], text
        assert self.process.poll() is None, f"{self.output}{text}"

    def finish(self, game: Game) -> None:
        """Wait for the end of a game. All moves of the bot must have been legal."""
        deadline = time.monotonic() + BOT_PATIENCE
        while not game.over.wait(1.0):
            self.check()
            assert time.monotonic() < deadline, game.state()
        assert game.illegal == []

    def wait_until_idle(self, games: int) -> None:
        """Wait until it has closed the engines of that many games."""
        deadline = time.monotonic() + BOT_PATIENCE
        while not self.log.exists() or self.log.read_text("utf-8").count("Process Freed") < games:
            self.check()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        self.check()

    def interrupt(self) -> None:
        """Press Ctrl-C. The bot ends without a complaint, and all its processes and engines with it."""
        self.check()
        os.killpg(self.process.pid, signal.SIGINT)
        assert self.process.wait(BOT_PATIENCE) == 0
        # All that it has started write to the same pipe.
        self._reader.join(BOT_PATIENCE)
        assert not self._reader.is_alive(), "processes are left over"
        assert "Traceback" not in self.output
        assert "ERROR" not in self.output


@needs_lichess_bot
@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(Plan(), id="white"),
        pytest.param(Plan(bot=chess.BLACK), id="black"),
        pytest.param(Plan(variant="chess960", fen=CHESS960), id="chess960"),
        pytest.param(Plan(bot=chess.BLACK, variant="fromPosition", fen=MIDDLEGAME), id="position"),
    ],
)
def test_lichess_bot_plays_a_game_to_its_end(lichess: Lichess, tmp_path: Path, plan: Plan) -> None:
    game = lichess.challenge(plan)
    with Bot(tmp_path, lichess) as bot:
        bot.finish(game)
        bot.wait_until_idle(1)
        bot.interrupt()
    if build.compiled:
        assert (game.status, game.winner) == ("mate", plan.bot)
    assert ("player", "Good game!") in game.said
    assert "<< go ponder" in bot.details.read_text("utf-8")


@needs_lichess_bot
def test_lichess_bot_answers_questions(lichess: Lichess, tmp_path: Path) -> None:
    game = lichess.challenge(Plan(actions={1: "chat", 2: "resign"}))
    with Bot(tmp_path, lichess, engine={"uci_options": {"UCI_ShowWDL": True}}) as bot:
        bot.finish(game)
        bot.wait_until_idle(1)
        bot.interrupt()
    assert any(room == "player" and f"{BOT['name']} running Moff" in text for room, text in game.said)
    assert any(room == "spectator" and "Winrate: " in text for room, text in game.said)


@needs_lichess_bot
def test_lichess_bot_plays_one_game_after_another(lichess: Lichess, tmp_path: Path) -> None:
    lichess.title = None
    endings = {
        "abort": ("aborted", None),
        "resign": ("resign", chess.WHITE),
        "resign late": ("resign", chess.WHITE),
        "flag": ("outoftime", chess.WHITE),
    }
    games = [lichess.challenge(Plan(actions={1 if action == "abort" else 2: action})) for action in endings]
    with Bot(tmp_path, lichess, "-u") as bot:
        for game in games:
            bot.finish(game)
        bot.wait_until_idle(len(games))
        bot.interrupt()
    assert lichess.title == "BOT"
    assert [(game.status, game.winner) for game in games] == list(endings.values())


@needs_lichess_bot
@pytest.mark.parametrize("accepted", [0, 1])
def test_lichess_bot_answers_requests_for_takebacks(lichess: Lichess, tmp_path: Path, accepted: int) -> None:
    """By default it declines them."""
    game = lichess.challenge(Plan(bot=chess.BLACK, actions={3: "takeback", 5: "takeback", 7: "resign"}))
    changes = {"max_takebacks_accepted": accepted} if accepted else {}
    with Bot(tmp_path, lichess, **changes) as bot:
        bot.finish(game)
        bot.wait_until_idle(1)
        bot.interrupt()
    assert game.takebacks == [bool(accepted), False]
    assert (game.status, game.winner) == ("resign", chess.BLACK)


@needs_lichess_bot
def test_lichess_bot_agrees_to_a_draw_or_plays_until_it_is_one(lichess: Lichess, tmp_path: Path) -> None:
    game = lichess.challenge(Plan(variant="fromPosition", fen=BLOCKED, actions={2: "draw"}))
    with Bot(tmp_path, lichess) as bot:
        bot.finish(game)
        bot.wait_until_idle(1)
        bot.interrupt()
    assert (game.status, game.winner) == ("draw", None)


@needs_lichess_bot
def test_lichess_bot_plays_by_correspondence_only_if_it_was_agreed_on(
    lichess: Lichess, tmp_path: Path
) -> None:
    plan = Plan(speed="correspondence", clock=4000, actions={3: "resign"})
    declined, game = lichess.challenge(plan), lichess.start(plan)
    with Bot(tmp_path, lichess) as bot:
        bot.finish(declined)
        bot.finish(game)
        bot.wait_until_idle(1)
        bot.interrupt()
    assert (declined.status, declined.reason) == ("declined", "timeControl")
    assert (game.status, game.winner) == ("resign", chess.WHITE)


@needs_lichess_bot
@pytest.mark.parametrize("bot", chess.COLORS, ids=chess.COLOR_NAMES[::-1])
def test_no_engine_is_left_when_lichess_bot_is_interrupted(
    lichess: Lichess, tmp_path: Path, bot: chess.Color
) -> None:
    game = lichess.challenge(Plan(bot=bot))
    with Bot(tmp_path, lichess) as running:
        deadline = time.monotonic() + BOT_PATIENCE
        while len(game.moves) < 6:
            running.check()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        running.interrupt()
    assert game.is_running
