"""A stub of lichess.org for the tests: what lichess-bot uses of its API (https://lichess.org/api).

One bot account plays one opponent, who moves at random and whose other actions a test chooses.
"""

import contextlib
import json
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

import chess

from tests.client import PATIENCE

TOKEN = "lip_of_the_tests"
"""The only access token that is valid."""

BOT = {"id": "moffbot", "name": "MoffBot", "title": "BOT", "rating": 2000}
OPPONENT = {"id": "randomplayer", "name": "RandomPlayer", "title": None, "rating": 1500}
SPECTATOR = "Spectator"

KEEP_ALIVE = 0.5
"""Seconds of silence after which a stream sends an empty line; lichess.org takes several seconds."""

LEAST_CLOCK = 1000
"""Milliseconds that a clock never falls below: on a busy machine, the bot does not lose on time."""

DAY = 86_400_000
"""Milliseconds in a day."""

VARIANTS = {"standard": "Standard", "chess960": "Chess960", "fromPosition": "From Position"}
NOT_YOUR_TURN = "Not your turn, or game already over"

Event = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What kind of game it is, and what the opponent does in it."""

    bot: chess.Color = chess.WHITE
    """The side of the bot."""
    variant: str = "standard"
    """A key of VARIANTS."""
    fen: str = chess.STARTING_FEN
    speed: str = "bullet"
    """As lichess.org calls it: `correspondence` has a day per move, all others a clock without increment."""
    clock: int = 30_000
    """Milliseconds for each side, in correspondence for each move."""
    actions: Mapping[int, str] = field(default_factory=dict)
    """What the opponent does on its first, second, ... turn.

    `abort`, `resign` and `flag` (lose on time) end the game; `resign late` makes a move and resigns while the
    bot thinks. `takeback` asks to take back the last move, and moves after the answer. `draw` makes a move
    and offers a draw, `chat` makes a move and asks the bot questions. On all other turns, the opponent makes
    a random move. It accepts every offer of a draw.
    """


class Game:
    """A game between the bot and its opponent."""

    def __init__(self, name: str, plan: Plan, changed: threading.Condition) -> None:
        """`changed` guards all games of a server and is notified of every event."""
        self.name = name
        self.plan = plan
        self.status = "created"
        """`created` for a challenge, `declined` if the bot did not accept it, then as lichess.org says."""
        self.winner: chess.Color | None = None
        self.reason = ""
        """The bot's reason for declining the challenge."""
        self.over = threading.Event()
        self.board = chess.Board(plan.fen, chess960=plan.variant == "chess960")
        self.moves: list[str] = []
        self.illegal: list[str] = []
        """The illegal moves that the bot tried to play."""
        self.takebacks: list[bool] = []
        """The bot's answers to requests for takebacks."""
        self.said: list[tuple[str, str]] = []
        """The messages of the bot, each with its room."""
        self.events: list[Event] = []
        """What is sent to those who follow the game."""
        self._changed = changed
        self._random = Random(name)
        self._turns = 0
        self._draw_offer: chess.Color | None = None
        self._asks_for_takeback = False
        self._clock = {chess.WHITE: plan.clock, chess.BLACK: plan.clock}
        self._moved_at = time.monotonic()

    @property
    def is_running(self) -> bool:
        """Whether moves can be made."""
        return self.status == "started"

    def start(self) -> None:
        """Begin; the opponent, if it has White, moves at once."""
        with self._changed:
            self.status = "started"
            self._moved_at = time.monotonic()
            if self.board.turn != self.plan.bot:
                self._take_turn()

    def decline(self, reason: str) -> None:
        """The bot declines the challenge."""
        with self._changed:
            self.reason = reason
            self._end("declined")

    def play(self, text: str, offers_draw: bool = False) -> str:
        """Make a move of the bot, which the opponent answers; the reason if it is refused, otherwise ""."""
        with self._changed:
            if not self.is_running or self.board.turn != self.plan.bot:
                return NOT_YOUR_TURN
            try:
                move = self.board.parse_uci(text)
            except ValueError:
                move = chess.Move.null()
            if not move:
                # A client that had no answer in time repeats its move, which can never be legal.
                if self.moves[-2:-1] != [text]:
                    self.illegal.append(text)
                return f"Illegal move {text}"
            self._push(move)
            if self.is_running:
                if offers_draw:
                    self._end("draw")
                else:
                    self._draw_offer = None
                    self._take_turn()
            return ""

    def answer_takeback(self, accepts: bool) -> None:
        """The bot answers a request for a takeback, and the opponent moves. A second answer does nothing."""
        with self._changed:
            if not self._asks_for_takeback:
                return
            self._asks_for_takeback = False
            self.takebacks.append(accepts)
            if accepts:
                for _ in range(2):
                    self.board.pop()
                    self.moves.pop()
            self._announce()
            self._move()

    def abort(self) -> str:
        """The bot aborts the game; the reason if it cannot."""
        with self._changed:
            if not self.is_running or len(self.moves) > 1:
                return "This game can no longer be aborted"
            self._end("aborted")
            return ""

    def resign(self) -> str:
        """The bot resigns; the reason if it cannot."""
        with self._changed:
            if not self.is_running:
                return "This game is over"
            self._end("resign", not self.plan.bot)
            return ""

    def chat(self, user: str, room: str, text: str) -> None:
        """Somebody writes into a room, `player` or `spectator`."""
        with self._changed:
            if user == BOT["name"]:
                self.said.append((room, text))
            self._tell({"type": "chatLine", "room": room, "username": user, "text": text})

    def state(self) -> Event:
        """The state of the game as a stream tells it."""
        state = {
            "type": "gameState",
            "moves": " ".join(self.moves),
            "wtime": self._clock[chess.WHITE],
            "btime": self._clock[chess.BLACK],
            "winc": 0,
            "binc": 0,
            "status": self.status,
        }
        if self.winner is not None:
            state["winner"] = chess.COLOR_NAMES[self.winner]
        if self._draw_offer is not None:
            state["wdraw" if self._draw_offer else "bdraw"] = True
        if self._asks_for_takeback:
            state["btakeback" if self.plan.bot else "wtakeback"] = True
        return state

    def full(self) -> Event:
        """The first line of a stream."""
        white, black = (BOT, OPPONENT) if self.plan.bot else (OPPONENT, BOT)
        return {
            "type": "gameFull",
            "id": self.name,
            **self._kind(),
            **(
                {"daysPerTurn": 1}
                if self.plan.speed == "correspondence"
                else {"clock": {"initial": self.plan.clock, "increment": 0}}
            ),
            "createdAt": int(time.time() * 1000),
            "white": white,
            "black": black,
            "initialFen": "startpos" if self.plan.fen == chess.STARTING_FEN else self.plan.fen,
            "state": self.state(),
        }

    def as_challenge(self) -> Event:
        """The game as a challenge of the opponent's."""
        if self.plan.speed == "correspondence":
            time_control = {"type": "correspondence", "daysPerTurn": 1}
        else:
            time_control = {"type": "clock", "limit": self.plan.clock // 1000, "increment": 0}
        challenge = {
            "id": self.name,
            "status": self.status,
            "challenger": OPPONENT,
            "destUser": BOT,
            **self._kind(),
            "timeControl": time_control,
            "color": chess.COLOR_NAMES[not self.plan.bot],
        }
        if self.plan.fen != chess.STARTING_FEN:
            challenge["initialFen"] = self.plan.fen
        return challenge

    def as_playing(self) -> Event:
        """The game in a list of those being played, and in events."""
        return {
            "gameId": self.name,
            "id": self.name,
            "color": chess.COLOR_NAMES[self.plan.bot],
            "fen": self.board.fen(),
            "isMyTurn": self.board.turn == self.plan.bot,
            "opponent": {"id": OPPONENT["id"], "username": OPPONENT["name"], "rating": OPPONENT["rating"]},
            "secondsLeft": self._clock[self.plan.bot] // 1000,
            **self._kind(),
        }

    def _kind(self) -> Event:
        return {
            "rated": False,
            "variant": {"key": self.plan.variant, "name": VARIANTS[self.plan.variant]},
            "speed": self.plan.speed,
            "perf": {"name": self.plan.speed.title()},
        }

    def _take_turn(self) -> None:
        """Let the opponent do what is planned for this turn."""
        self._turns += 1
        action = self.plan.actions.get(self._turns, "move")
        if action == "abort":
            self._end("aborted")
        elif action == "resign":
            self._end("resign", self.plan.bot)
        elif action == "flag":
            self._clock[not self.plan.bot] = 0
            self._end("outoftime", self.plan.bot)
        elif action == "takeback":
            self._asks_for_takeback = True
            self._announce()
        else:
            if action == "draw":
                self._draw_offer = not self.plan.bot
            self._move()
            if action == "resign late" and self.is_running:
                self._end("resign", self.plan.bot)
            elif action == "chat":
                self.chat(OPPONENT["name"], "player", "!name")
                self.chat(SPECTATOR, "spectator", "!eval")

    def _move(self) -> None:
        """Let the opponent make a random move."""
        self._push(self._random.choice(list(self.board.legal_moves)))

    def _push(self, move: chess.Move) -> None:
        """Make a legal move, press the clock and end the game if that ends it."""
        side = self.board.turn
        now = time.monotonic()
        if len(self.moves) > 1 and self.plan.speed != "correspondence":
            left = self._clock[side] - int((now - self._moved_at) * 1000)
            self._clock[side] = max(left, LEAST_CLOCK)
        self._moved_at = now
        self.moves.append(self.board.uci(move))
        self.board.push(move)
        if self.board.is_checkmate():
            self._end("mate", side)
        elif self.board.is_stalemate():
            self._end("stalemate")
        elif (
            self.board.is_insufficient_material()
            or self.board.is_fivefold_repetition()
            or self.board.halfmove_clock >= 100
        ):
            self._end("draw")
        else:
            self._announce()

    def _end(self, status: str, winner: chess.Color | None = None) -> None:
        self.status = status
        self.winner = winner
        self._announce()
        self.over.set()

    def _announce(self) -> None:
        self._tell(self.state())

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        self._changed.notify_all()


class Lichess(ThreadingHTTPServer):
    """The stub, at a free port of this machine, from entering a `with` block until leaving it."""

    daemon_threads = False  # so that server_close waits for them

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/"
        self.changed = threading.Condition()
        """Guards all below and all games."""
        self.title: str | None = "BOT"
        """The title of the bot's account, which an upgrade makes a bot's."""
        self.games: dict[str, Game] = {}
        self.events: list[Event] = []
        """What is sent to those who follow the events of the account."""
        self.unknown: list[str] = []
        """Requests that the stub does not know."""
        self.errors: list[str] = []
        """Errors of the stub itself."""
        self.is_closing = False
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,))

    def __enter__(self) -> "Lichess":
        self._thread.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        with self.changed:
            self.is_closing = True
            self.changed.notify_all()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def challenge(self, plan: Plan) -> Game:
        """Let the opponent challenge the bot to a game."""
        with self.changed:
            game = self._create(plan)
            self._tell({"type": "challenge", "challenge": game.as_challenge()})
            return game

    def start(self, plan: Plan) -> Game:
        """A game that has been agreed on without the bot, as by its owner on the site."""
        with self.changed:
            game = self._create(plan)
            self.begin(game)
            return game

    def begin(self, game: Game) -> None:
        """Begin a game and tell the account."""
        with self.changed:
            game.start()
            self._tell(self.started(game))

    @staticmethod
    def started(game: Game) -> Event:
        """The event of a game that has begun."""
        return {"type": "gameStart", "game": game.as_playing()}

    def profile(self) -> Event:
        """The account of the bot."""
        return {**BOT, "username": BOT["name"], "title": self.title, "perfs": {}}

    def running(self) -> list[Game]:
        """The games that are being played."""
        return [game for game in self.games.values() if game.is_running]

    def handle_error(self, *_request: object) -> None:
        """Note an error; http.server would print it."""
        self.errors.append(traceback.format_exc())

    def _create(self, plan: Plan) -> Game:
        game = Game(f"game{len(self.games) + 1:04}", plan, self.changed)
        self.games[game.name] = game
        return game

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        self.changed.notify_all()


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Lichess
    protocol_version = "HTTP/1.1"  # streams are sent in chunks
    timeout = PATIENCE
    disable_nagle_algorithm = True  # otherwise an answer waits until its header is acknowledged

    def log_message(self, *_message: object) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        """Answer a request for a page or a stream."""
        self._answer("")

    def do_POST(self) -> None:
        """Answer a request to do something."""
        with contextlib.suppress(ConnectionError):  # the client has gone
            self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

    def _answer(self, body: str) -> None:
        self.close_connection = True
        with contextlib.suppress(ConnectionError):  # the client has gone
            url = urlsplit(self.path)
            words = url.path.strip("/").split("/")
            if words != ["api", "token", "test"] and self.headers["Authorization"] != f"Bearer {TOKEN}":
                self._send({"error": "No such token"}, 401)
            elif self.command == "GET":
                self._get(words)
            else:
                query = {name: values[-1] for name, values in parse_qs(url.query).items()}
                self._post(words, query, body)

    def _get(self, words: list[str]) -> None:
        lichess = self.server
        match words:
            case ["api", "account"]:
                self._send(lichess.profile())
            case ["api", "account", "playing"]:
                with lichess.changed:
                    playing = [game.as_playing() for game in lichess.running()]
                self._send({"nowPlaying": playing})
            case ["api", "users", "status"]:
                self._send([{"id": BOT["id"], "name": BOT["name"], "online": True}])
            case ["api", "stream", "event"]:
                with lichess.changed:
                    first = [lichess.started(game) for game in lichess.running()]
                    first += [
                        {"type": "challenge", "challenge": game.as_challenge()}
                        for game in lichess.games.values()
                        if game.status == "created"
                    ]
                    seen = len(lichess.events)
                self._stream(first, lichess.events, seen, lambda: False)
            case ["api", "bot", "game", "stream", name] if game := lichess.games.get(name):
                with lichess.changed:
                    first = [game.full()]
                    seen = len(game.events)
                self._stream(first, game.events, seen, lambda: not game.is_running)
            case _:
                self._refuse()

    def _post(self, words: list[str], query: Mapping[str, str], body: str) -> None:
        lichess = self.server
        match words:
            case ["api", "token", "test"]:
                scopes = {"userId": BOT["id"], "scopes": "bot:play,challenge:write", "expires": None}
                # When lichess-bot repeats this request after a timeout, it has replaced the token in it.
                self._send({**dict.fromkeys(body.split(",")), TOKEN: scopes})
            case ["api", "bot", "account", "upgrade"]:
                lichess.title = "BOT"
                self._send({"ok": True})
            case ["api", "challenge", name, verb] if game := lichess.games.get(name):
                if game.status != "created":
                    self._send({"error": "Challenge not found"}, 404)
                    return
                if verb == "accept":
                    lichess.begin(game)
                else:
                    game.decline(parse_qs(body).get("reason", ["generic"])[0])
                self._send({"ok": True})
            case ["api", "bot", "game", name, *action] if game := lichess.games.get(name):
                match action:
                    case ["move", move]:
                        self._done(game.play(move, query.get("offeringDraw") == "true"))
                    case ["takeback", answer]:
                        game.answer_takeback(answer in ("yes", "true"))
                        self._done("")
                    case ["abort"]:
                        self._done(game.abort())
                    case ["resign"]:
                        self._done(game.resign())
                    case ["chat"]:
                        message = parse_qs(body)
                        game.chat(BOT["name"], message["room"][0], message["text"][0])
                        self._done("")
                    case _:
                        self._refuse()
            case _:
                self._refuse()

    def _done(self, reason: str) -> None:
        """Say that something was done, or why not."""
        if reason:
            self._send({"error": reason}, 400)
        else:
            self._send({"ok": True})

    def _refuse(self) -> None:
        self.server.unknown.append(f"{self.command} {self.path}")
        self._send({"error": "Not found"}, 404)

    def _send(self, answer: Any, status: int = 200) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _stream(
        self, first: list[Event], events: list[Event], seen: int, has_ended: Callable[[], bool]
    ) -> None:
        """Send some events, and those that are added to a list, one a line, until there will be no more."""
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in first:
            self._send_line(json.dumps(event))
        for event in self._follow(events, seen, has_ended):
            self._send_line("" if event is None else json.dumps(event))
        self.wfile.write(b"0\r\n\r\n")

    def _send_line(self, text: str) -> None:
        line = text.encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))

    def _follow(
        self, events: list[Event], seen: int, has_ended: Callable[[], bool]
    ) -> Iterator[Event | None]:
        """The events after the first `seen` as they come; None from time to time while there are none."""
        lichess = self.server
        while True:
            with lichess.changed:
                is_last = lichess.is_closing or has_ended()
                if not is_last and len(events) == seen:
                    lichess.changed.wait(KEEP_ALIVE)
                    is_last = lichess.is_closing or has_ended()
                fresh = events[seen:]
            seen += len(fresh)
            yield from fresh or ([] if is_last else [None])
            if is_last:
                return
