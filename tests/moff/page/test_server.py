"""The server of the board page: what it serves, and that nothing a client does stops it."""

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from moff.game.levels import LEVELS
from moff.page import request
from moff.page.connections import MOST_CONNECTIONS, MOST_STREAMS
from moff.page.gamelist import LARGEST_TEXT
from moff.page.host import LOOPBACK, local_network
from moff.page.request import LARGEST_COMMAND, LARGEST_HEAD, LARGEST_REMOTE_TEXT
from moff.page.server import HTTP_PORT, Server
from moff.page.tab import Tab
from moff.page.tabs import MOST_TABS, Tabs
from moff.page.tabview import snapshot
from tests import ROOT
from tests.client import ENGINE, PATIENCE
from tests.oracle import scaled
from tests.page_source import Elements
from x88.notation import fen

pytestmark = pytest.mark.slow

GRACE = 0.3

at_both_hosts = pytest.mark.parametrize("served", ["loopback", "network"], indirect=True)
"""Runs a test of the server with the default host, and with the address that --lan finds."""


OTHER = ("127.0.0.2", 0)
from_another_address = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux has a second loopback address"
)


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server in this process."""
    host = LOOPBACK
    if getattr(request, "param", "loopback") == "network":
        try:
            host = local_network()
        except ValueError as error:
            pytest.skip(str(error))
    one = Server(Tabs(Tab, GRACE), host=host)
    thread = threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield one
    one.end()
    thread.join()


class Client:
    """One connection of a well-behaved page, from a `source` if given."""

    def __init__(
        self, served: Server, tab: str = "tab-number-1", source: tuple[str, int] | None = None
    ) -> None:
        self.served = served
        self.tab = tab
        self.connection = http.client.HTTPConnection(
            served.host.address, served.port, timeout=PATIENCE, source_address=source
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.connection.close()

    def fetch(
        self, name: str, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, bytes]:
        """The status and the body of an answer; underscores in names of headers stand for hyphens."""
        path = f"/{self.served.token}/{name}"
        named = {header.replace("_", "-"): value for header, value in headers.items()}
        self.connection.request(method, path, body, named)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def do(self, name: str, **values: Any) -> Any:
        """The answer to a command."""
        status, body = self.fetch(f"do?tab={self.tab}", "POST", json.dumps({"name": name, **values}).encode())
        assert status == 200
        return json.loads(body)


class Listener:
    """A stream of events. `buffer` is how many bytes wait to be read, by default as many as the system likes,
    which may be dozens of megabytes.
    """

    def __init__(self, served: Server, tab: str = "tab-number-1", buffer: int = 0) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE)
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.connect((served.host.address, served.port))
        head = f"GET /{served.token}/events?tab={tab} HTTP/1.1\r\nHost: {host_of(served)}\r\n\r\n"
        self.socket.sendall(head.encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])

    def __enter__(self) -> "Listener":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.file.close()
        self.socket.close()

    def next(self, topic: str) -> Any:
        """The next value of a topic."""
        for line in self.file:
            if line == f"event: {topic}\n".encode():
                return json.loads(self.file.readline().removeprefix(b"data: "))
        raise AssertionError("the stream has ended")


def host_of(served: Server) -> str:
    """The server's name in the header Host."""
    return f"{served.host.name}:{served.port}"


def connected(served: Server) -> socket.socket:
    return socket.create_connection((served.host.address, served.port), timeout=PATIENCE)


def exchange(served: Server, request: bytes) -> bytes:
    """All that the server answers to some bytes, after which nothing more is sent."""
    with connected(served) as connection:
        answer = b""
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while received := connection.recv(65536):
                answer += received
        return answer


def assert_serves(served: Server) -> None:
    """The server still serves the page and carries out commands."""
    with Client(served, "tab-of-an-honest-page") as client:
        assert client.fetch("")[0] == 200
        assert client.do("testboard")["fen"]


# --- What is served


@at_both_hosts
def test_one_document_is_the_page_and_files_are_served_no_more(served: Server) -> None:
    static = [path.name for path in (ROOT / "moff" / "page" / "static").iterdir()]
    with Client(served) as client:
        status, page = client.fetch("")
        assert (status, page) == (200, served.page)
        for name in (*static, "index.html", "figurines.json"):
            assert client.fetch(name) == (404, b"there is no such file\n")
    found = Elements(page.decode())
    # Nothing else is loaded, and no markup could run a script.
    for name, attributes in found.found:
        assert name in ("html", "head", "meta", "title", "link", "style", "body", "noscript", "script")
        assert not attributes.keys() & {"src", "style"}
        assert attributes.get("href", "data:").startswith("data:")
    data, script = (code for kind, code in found.texts if kind == "script")
    assert set(json.loads(data)) == {"elo", "figurines", "levels", "range"}
    assert [level["elo"] for level in json.loads(data)["levels"]] == [level.elo for level in LEVELS]
    assert not re.search(r"^(import|export) ", script, re.MULTILINE), "one script of all modules"


@at_both_hosts
def test_downloads_are_the_game_the_study_and_the_review(served: Server) -> None:
    text = (
        '[White "Anna"]\n[Black "<b>"]\n\n1. e4 {[%eval 0.3]} e5 {[%eval 0.3]} *\n\n[White "C"]\n\n1. d4 *\n'
    )
    with Client(served) as client:
        assert client.fetch("games.pgn?tab=tab-number-1") == (200, b"")
        assert client.do("set_up", text=text)["games"] == 2
        assert client.fetch("games.pgn?tab=tab-number-1") == (200, text.strip().encode())
        game = client.fetch("game.pgn?tab=tab-number-1")[1].decode()
        assert "[%eval 0.30]" in game
        status, report = client.fetch("report.html?tab=tab-number-1")
        for name in ("game.pgn", "games.pgn", "report.html"):
            assert client.fetch(name)[0] == 400, "of no tab"
    found = Elements(report.decode())
    assert status == 200
    assert found.title.strip() == "Anna – <b>"
    (tree,) = json.loads(next(code for kind, code in found.texts if kind == "script"))["report"]["games"]
    assert [move["san"] for move in tree["moves"]] == ["e4", "e5"]


def test_the_page_is_part_of_the_package() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        data = tomllib.load(file)["tool"]["setuptools"]["package-data"]
    assert "static/*" in data["moff.page"]


def test_the_page_needs_no_network() -> None:
    for path in (ROOT / "moff" / "page" / "static").iterdir():
        text = path.read_text(encoding="utf-8")
        addresses = set(re.findall(r"\w+://[^\s\"'`)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, path


@at_both_hosts
@pytest.mark.parametrize(
    "path",
    [
        "../server.py",
        "..%2fserver.py",
        "%2e%2e/server.py",
        "..\\server.py",
        "page.css/../../server.py",
        "/etc/passwd",
        "//etc/passwd",
        "....//server.py",
        "page.css%00.js",
        "./page.css",
        "PAGE.CSS",
        "__init__.py",
    ],
)
def test_no_path_leads_out_of_the_page(served: Server, path: str) -> None:
    with Client(served) as client:
        assert client.fetch(path) == (404, b"there is no such file\n")


@at_both_hosts
def test_what_is_sent_can_be_used_by_the_page_alone(served: Server) -> None:
    with Client(served) as client:
        client.connection.request("GET", f"/{served.token}/")
        answer = client.connection.getresponse()
        answer.read()
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "Python" not in answer.headers["Server"]


# --- Who may ask


def test_every_server_has_another_token(served: Server) -> None:
    other = Server(Tabs(Tab))
    assert len(served.token) >= 32
    assert served.token != other.token
    other.server_close()


def test_only_this_machine_can_connect(served: Server) -> None:
    assert served.socket.getsockname()[0] == "127.0.0.1"
    assert set(served.hosts) == {f"127.0.0.1:{served.port}", f"localhost:{served.port}"}


@at_both_hosts
@pytest.mark.parametrize("change", ["none", "shorter", "longer", "other", "case", "none at all"])
def test_without_the_token_nothing_is_served(served: Server, change: str) -> None:
    token = {
        "none": "",
        "shorter": served.token[:-1],
        "longer": served.token + "A",
        "other": "A" * len(served.token),
        "case": served.token.swapcase(),
        "none at all": "page.css",
    }[change]
    for path in (f"/{token}/", f"/{token}/page.css", f"/{token}/events?tab=tab-number-1", f"/{token}", "/"):
        request = f"GET {path} HTTP/1.1\r\nHost: {host_of(served)}\r\n\r\n"
        answer = exchange(served, request.encode())
        assert answer.startswith(b"HTTP/1.1 403 "), path
        assert served.token.encode() not in answer


@at_both_hosts
@pytest.mark.parametrize(
    "headers",
    [
        ["Host: evil.example"],
        ["Host: {host}", "Host: {host}"],
        [],
        ["Host: 127.0.0.1"],
        ["Host: 127.0.0.1.evil.example:{port}"],
        ["Host: {host}", "Origin: http://evil.example"],
        ["Host: {host}", "Origin: null"],
        ["Host: {host}", "Origin: https://{host}"],
        ["Host: {host}", "Origin: http://127.0.0.1:1"],
        ["Host: {host}", "Origin: http://localhost:{port}"],
        ["Host: {host}", "Sec-Fetch-Site: cross-site"],
        ["Host: {host}", "Sec-Fetch-Site: same-site"],
    ],
)
def test_other_pages_and_other_names_of_the_machine_are_refused(served: Server, headers: list[str]) -> None:
    named = [header.format(host=host_of(served), port=served.port) for header in headers]
    for method in ("GET", "POST"):
        lines = [f"{method} /{served.token}/do?tab=tab-number-1 HTTP/1.1", *named, "Content-Length: 0"]
        answer = exchange(served, "\r\n".join([*lines, "", ""]).encode())
        assert answer.startswith(b"HTTP/1.1 403 ")


@at_both_hosts
def test_the_page_itself_is_let_in(served: Server) -> None:
    with Client(served) as client:
        for host in served.hosts:
            site = {"Host": host, "Origin": f"http://{host}", "Sec_Fetch_Site": "same-origin"}
            assert client.fetch("", **site)[0] == 200


@pytest.mark.parametrize("served", ["network"], indirect=True)
def test_an_address_in_the_network_is_the_only_one_and_has_one_name(served: Server) -> None:
    assert served.socket.getsockname()[0] == served.host.address
    assert served.hosts == {host_of(served)}
    with Client(served) as client:
        for name in (LOOPBACK.name, "localhost", socket.gethostname().lower()):
            assert client.fetch("", Host=f"{name}:{served.port}") == (403, b"wrong host\n")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((LOOPBACK.address, served.port), timeout=PATIENCE)


# --- What is refused


@at_both_hosts
def test_a_body_must_tell_its_length_and_be_no_larger_than_allowed(served: Server) -> None:
    with Client(served) as client:
        name = "do?tab=tab-number-1"
        for headers, status in (
            ({"Content_Length": str(LARGEST_COMMAND + 1)}, 413),
            ({"Content_Length": "9" * 12}, 413),
            ({"Content_Length": "-1"}, 411),
            ({"Content_Length": "1e3"}, 411),
            ({"Transfer_Encoding": "chunked"}, 411),
        ):
            assert client.fetch(name, "POST", None, **headers)[0] == status
            client.connection.close()
        largest = client.fetch("games?tab=tab-number-1", "POST", None, Content_Length=str(LARGEST_TEXT + 1))
        assert largest[0] == 413


@from_another_address
def test_another_device_may_send_fewer_games(served: Server) -> None:
    name, games = "games?tab=tab-number-1", b"1. e4 *\n\n".ljust(LARGEST_REMOTE_TEXT)
    with Client(served, source=OTHER) as other, Client(served) as client:
        assert other.fetch(name, "POST", games) == (200, b'{"games":1}')
        # Its body is not awaited.
        assert other.fetch(name, "POST", None, Content_Length=str(len(games) + 1))[0] == 413
        assert client.fetch(name, "POST", games + b" ") == (200, b'{"games":1}')


@at_both_hosts
def test_a_head_has_a_limit(served: Server) -> None:
    head = f"GET /{served.token}/ HTTP/1.1\r\nHost: {host_of(served)}\r\n"
    line = f"X: {'x' * 3000}\r\n"
    lines = 1 + LARGEST_HEAD // len(line)
    assert exchange(served, (head + line * (lines - 2) + "\r\n").encode()).startswith(b"HTTP/1.1 200 ")
    assert exchange(served, (head + line * lines).encode()).startswith(b"HTTP/1.1 431 ")


def test_a_command_that_makes_no_sense_is_refused_with_the_reason(served: Server) -> None:
    with Client(served) as client:
        assert client.do("nonsense")["error"] == "unknown command 'nonsense'"
        assert "is not a legal move" in client.do("move", text="e2e5")["error"]
        assert "takes a text" in client.do("move", text=7)["error"]
        assert "takes a whole number" in client.do("go_to", node=True)["error"]
        assert "no move with the number" in client.do("go_to", node=99)["error"]
        assert "bad FEN" in client.do("set_up", text="8/8/8/8/8/8/8/8 w - - 0 1")["error"]
        assert "holds no game" in client.do("set_up", text="")["error"]
        for body in (b"", b"[]", b"{", b"[" * 60000, b'{"name": 1}', b"\xff\xfe"):
            status, answer = client.fetch("do?tab=tab-number-1", "POST", body)
            assert status == 200
            assert "the command" in json.loads(answer)["error"]


def malformed(random: Random, served: Server) -> bytes:
    """A request with something wrong in it."""
    noise = random.randbytes(random.randrange(1, 60))
    word = noise.hex()[:12]
    good_path = f"/{served.token}/do?tab=tab-number-1"
    line, headers, body = f"POST {good_path} HTTP/1.1", [f"Host: {host_of(served)}"], b'{"name": "hint"}'
    match random.randrange(12):
        case 0:
            return noise
        case 1:
            return noise + b"\r\n\r\n"
        case 2:
            line = f"{word} {good_path} HTTP/1.1"
        case 3:
            line = (
                f"GET /{word}/{random.choice(['', 'page.css', '../x', 'events?tab=tab-number-1'])} HTTP/1.1"
            )
        case 4:
            line = f"GET /{served.token}/{random.choice(['..', '%2e%2e', word, '%00', '~'])}/{word} HTTP/1.1"
        case 5:
            line = f"GET {good_path} HTTP/{random.choice(['9.9', '2.0', 'x', '1.1.1', ''])}"
        case 6:
            headers = [f"Host: {word}"]
        case 7:
            headers.append(f"Origin: http://{word}")
        case 8:
            length = random.choice(["-5", "x", "1" * 30, "99999999", "0x10", "", "5, 6"])
            return f"{line}\r\n{headers[0]}\r\nContent-Length: {length}\r\n\r\n".encode() + body
        case 9:
            headers += [f"X-{number}: {word}" for number in range(150)]
        case 10:
            line = f"GET {good_path}{'x' * 70000} HTTP/1.1"
        case 11:
            # Less than it says, or no command.
            return f"{line}\r\n{headers[0]}\r\nContent-Length: 500\r\n\r\n".encode() + noise
    headers.append(f"Content-Length: {len(body)}")
    return "\r\n".join([line, *headers, "", ""]).encode() + body


@at_both_hosts
def test_malformed_requests_bring_errors_and_no_harm(
    served: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    random = Random(1)
    for number in range(scaled(5_000, 500)):
        request = malformed(random, served)
        answer = exchange(served, request)
        # Whoever does not say which HTTP it speaks gets no head; what is no line at all, nothing.
        assert re.match(rb"(HTTP/1\.1 )?[45]\d\d ", answer) or (answer == b"" and b"HTTP/" not in request), (
            request
        )
        assert served.token.encode() not in answer
        if number % 500 == 499:
            assert_serves(served)
    assert capfd.readouterr() == ("", "")


# --- Clients that take their time


@at_both_hosts
def test_a_client_that_sends_nothing_or_too_slowly_is_cut_off(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moff.page.connections.LONGEST_HEAD", 0.5)
    monkeypatch.setattr(request, "LONGEST_EXCHANGE", 0.5)
    head = f"POST /{served.token}/do?tab=tab-number-1 HTTP/1.1\r\nHost: {host_of(served)}\r\n"
    for start in (b"", b"GET / HT", f"{head}Content-Length: 100\r\n\r\n{{".encode()):
        with connected(served) as slow:
            began = time.monotonic()
            with contextlib.suppress(ConnectionError):
                slow.sendall(start)
                while time.monotonic() - began < PATIENCE:
                    slow.settimeout(0.1)
                    try:
                        if not slow.recv(4096):
                            break
                    except TimeoutError:
                        slow.send(b" ")
            assert time.monotonic() - began < PATIENCE / 2
    assert_serves(served)


def test_a_stream_that_is_not_read_holds_nobody_up(served: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request, "LONGEST_WRITE", 0.5)
    with Client(served) as client, Listener(served, buffer=65536):
        games = "\n\n".join(f'[White "{"W" * 200}"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *' for _ in range(3))
        moves = "1. e4 e5 " + " ".join(f"{{{'x' * 3000}}}" for _ in range(100))
        # Changes come together where they are sent more slowly than they are made, so that how many fill the
        # buffers is a matter of the machine.
        deadline = time.monotonic() + PATIENCE
        while served.connections._streams and time.monotonic() < deadline:
            began = time.monotonic()
            assert "error" not in client.do("set_up", text=games)
            client.fetch("games?tab=tab-number-1", "POST", f"{moves} *".encode())
            assert time.monotonic() - began < PATIENCE / 4
        assert not served.connections._streams
        assert_serves(served)


@at_both_hosts
def test_two_hundred_clients_at_once_do_not_stop_the_page(served: Server) -> None:
    with contextlib.ExitStack() as stack:
        client = stack.enter_context(Client(served))
        listener = stack.enter_context(Listener(served))
        assert client.fetch("")[0] == 200
        listener.next("games")
        for _ in range(200):
            with contextlib.suppress(OSError):
                idle = stack.enter_context(connected(served))
                idle.sendall(b"GET / ")
        assert "error" not in client.do("flip")
        assert listener.next("state")["flipped"]
        assert_serves(served)
        assert len(served.connections._open) <= MOST_CONNECTIONS


@from_another_address
def test_a_crowd_from_one_address_drops_none_of_another(served: Server) -> None:
    with contextlib.ExitStack() as stack:
        honest = stack.enter_context(connected(served))
        honest.sendall(f"GET /{served.token}/ HTTP/1.1\r\n".encode())
        for _ in range(2 * MOST_CONNECTIONS):
            with contextlib.suppress(OSError):
                idle = socket.create_connection((LOOPBACK.address, served.port), PATIENCE, OTHER)
                stack.enter_context(idle).sendall(b"GET / ")
        honest.sendall(f"Host: {host_of(served)}\r\n\r\n".encode())
        assert honest.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_two_hundred_honest_requests_at_once_are_all_answered(served: Server) -> None:
    answers: list[int] = []

    def ask() -> None:
        for _ in range(20):
            with contextlib.suppress(OSError, http.client.HTTPException), Client(served) as client:
                status, _ = client.fetch("")
                if status == 200:
                    answers.append(status)
                    return
            time.sleep(0.1)

    threads = [threading.Thread(target=ask) for _ in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 200


def test_so_many_streams_and_no_more(served: Server) -> None:
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(Listener(served, f"tab-number-{i}")) for i in range(MOST_STREAMS)]
        assert {stream.status for stream in streams} == {200}
        with Listener(served, "tab-one-too-many") as refused:
            assert refused.status == 503
    with Listener(served) as another:
        assert another.status == 200


# --- Tabs


@at_both_hosts
def test_a_tab_keeps_its_game_and_every_tab_has_its_own(served: Server) -> None:
    with Client(served, "tab-number-1") as one, Client(served, "tab-number-2") as other:
        for client in (one, other):
            client.do("new_game", colour="both", clock="")
        one.do("move", text="e4")
        with Listener(served, "tab-number-1") as listener:
            assert [move["san"] for move in listener.next("tree")["moves"]] == ["e4"]
        one.do("move", text="e5")
        with Listener(served, "tab-number-1") as again:
            assert [move["san"] for move in again.next("tree")["moves"]] == ["e4", "e5"]
        with Listener(served, "tab-number-2") as listener:
            assert listener.next("tree")["moves"] == []


def test_a_name_in_any_bytes_is_downloaded_as_it_came(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moff.page.tab.user_name", lambda: "Andr\udce9")
    with Client(served) as client:
        assert b'[White "Andr\xe9"]' in client.fetch("game.pgn?tab=tab-number-1")[1]
        text = b'[White "Andr\xe9"]\n\n1. e4 *\n'
        client.fetch("games?tab=tab-number-1", "POST", text)
        assert client.fetch("games.pgn?tab=tab-number-1") == (200, text)


def test_a_page_that_is_closed_ends_its_searches(served: Server) -> None:
    with Client(served) as client:
        client.do("mode", mode="analysis")
        with Listener(served) as listener:
            client.do("engine", on=True)
            while not listener.next("lines")["lines"]:
                pass
            tab = served.tabs.tab("tab-number-1")
            assert tab.analyst._thinker._is_searching
        deadline = time.monotonic() + PATIENCE
        while tab.analyst._thinker._is_searching and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not tab.analyst._thinker._is_searching
        with Listener(served) as listener:
            while not listener.next("lines")["lines"]:
                pass
            assert tab.analyst._thinker._is_searching


def test_a_page_that_is_loaded_again_at_once_goes_on(served: Server) -> None:
    served.tabs._grace = PATIENCE
    with Client(served) as client:
        client.do("mode", mode="analysis")
        with Listener(served):
            client.do("engine", on=True)
        time.sleep(1)
        tab = served.tabs.tab("tab-number-1")
        assert tab.analyst._thinker._is_searching
        assert not tab.analyst.is_paused


def test_a_command_without_a_page_starts_no_search_that_lasts(served: Server) -> None:
    with Client(served) as client:
        client.do("mode", mode="analysis")
        client.do("engine", on=True)
    tab = served.tabs.tab("tab-number-1")
    deadline = time.monotonic() + PATIENCE
    while (not tab.analyst.is_paused or tab.analyst._thinker._is_searching) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not tab.analyst._thinker._is_searching


def test_of_many_tabs_the_one_left_longest_is_forgotten(served: Server) -> None:
    kept = served.tabs.tab("tab-that-is-open")
    with Listener(served, "tab-that-is-open"):
        tabs = [served.tabs.tab(f"tab-number-{i}") for i in range(MOST_TABS)]
        assert served.tabs.tab("tab-that-is-open") is kept
        assert served.tabs.tab(f"tab-number-{MOST_TABS - 1}") is tabs[-1]
        assert served.tabs.tab("tab-number-0") is not tabs[0]


# --- The command


def started(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ENGINE, "board", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_port_0_is_any_free_port() -> None:
    process = started("--port", "0")
    assert process.stdout is not None
    assert re.match(rf"Moff's board is at http://{re.escape(LOOPBACK.name)}:[1-9]", process.stdout.readline())
    process.kill()
    process.communicate()


def test_clients_may_leave_out_the_port_of_http() -> None:
    try:
        served = Server(Tabs(Tab), HTTP_PORT)
    except OSError as error:
        pytest.skip(f"port {HTTP_PORT} cannot be used: {error}")
    thread = threading.Thread(target=served.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    with Client(served) as client:
        for host in ("127.0.0.1", "localhost", "127.0.0.1:80"):
            assert client.fetch("", Host=host, Origin=f"http://{host}")[0] == 200
        assert client.fetch("", Host="evil.example")[0] == 403
    served.end()
    thread.join()


def test_a_taken_port_is_one_clear_error(served: Server) -> None:
    process = started("--port", str(served.port))
    out, err = process.communicate(timeout=PATIENCE)
    told = [line for line in err.splitlines() if "uncompiled" not in line]
    assert (process.returncode, out) == (1, "")
    assert len(told) == 1
    assert f"port {served.port} of 127.0.0.1 cannot be used" in told[0]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_an_interrupt_ends_it_cleanly_with_a_search_and_a_stream_open() -> None:
    process = started("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1")
    assert process.stdout is not None
    assert process.stderr is not None
    line = process.stdout.readline()
    address = re.fullmatch(rf"Moff's board is at http://{re.escape(LOOPBACK.name)}:(\d+)/([\w-]+)/\n", line)
    assert address, line
    port, token = int(address[1]), address[2]
    with socket.create_connection((LOOPBACK.address, port), timeout=PATIENCE) as stream:
        head = f"GET /{token}/events?tab=tab-number-1 HTTP/1.1\r\nHost: {LOOPBACK.name}:{port}\r\n\r\n"
        stream.sendall(head.encode())
        body = json.dumps({"name": "engine", "on": True}).encode()
        connection = http.client.HTTPConnection(LOOPBACK.address, port, timeout=PATIENCE)
        connection.request("POST", f"/{token}/do?tab=tab-number-1", body)
        assert json.loads(connection.getresponse().read()) == {}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_changes_to_a_study_survive_an_interrupt(tmp_path: Path) -> None:
    path = tmp_path / "study.pgn"
    path.write_text("1. e4 e5 *\n", encoding="utf-8")
    process = started(str(path))
    assert process.stdout is not None
    port, token = re.fullmatch(r".*:(\d+)/([\w-]+)/\n", process.stdout.readline()).groups()
    connection = http.client.HTTPConnection(LOOPBACK.address, int(port), timeout=PATIENCE)
    body = json.dumps({"name": "annotate", "node": 2, "comment": "a reply"}).encode()
    connection.request("POST", f"/{token}/do?tab=tab-number-1", body)
    assert json.loads(connection.getresponse().read()) == {}
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    kept = tmp_path / "study.unsaved.pgn"
    assert f"changes to {path} were not saved: they are in {kept}" in err
    assert "e5 {a reply}" in kept.read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8") == "1. e4 e5 *\n"


@pytest.mark.parametrize("served", ["network"], indirect=True)
@pytest.mark.parametrize("has_segno", [True, False])
def test_an_address_for_other_devices_is_explained_and_shown_as_a_code(
    served: Server, has_segno: bool, tmp_path: Path
) -> None:
    segno = pytest.importorskip("segno")
    from tests.terminal import environment, pexpect

    if not has_segno:
        (tmp_path / "segno.py").write_text("raise ImportError\n", encoding="utf-8")
    process = pexpect.spawn(
        ENGINE[0],
        [*ENGINE[1:], "board", "--lan", "--no-browser"],
        env=environment(PYTHONPATH=str(tmp_path)),
        encoding="utf-8",
        timeout=PATIENCE,
    )
    process.expect(r"Moff's board is at (\S+)\s+")
    url = process.match[1]
    assert re.fullmatch(rf"http://{re.escape(served.host.address)}:\d+/[\w-]+/", url)
    process.expect("(?s)(.*)Any device on your network can open it .* but nothing else of it[.]\r\n")
    shown = process.match[1]
    process.sendintr()
    process.expect(pexpect.EOF)
    if not has_segno:
        assert shown == 'For a QR code of it: pip install "moff-chess[phone]"\r\n'
        return
    light = {"█": (1, 1), "▀": (1, 0), "▄": (0, 1), " ": (0, 0)}
    rows: list[list[int]] = []
    for line in shown.splitlines():
        code = re.fullmatch("\033\\[97;40m(.*)\033\\[0m", line)
        rows += ([*half] for half in zip(*(light[block] for block in code[1]), strict=True))
    matrix = segno.make(url, error="l", micro=False).matrix_iter(border=2)
    assert rows[: len(rows[0])] == [[1 - module for module in row] for row in matrix]


def test_a_name_of_this_machine_is_the_name_in_the_address() -> None:
    process = started("--host", "LocalHost")
    assert process.stdout is not None
    url = re.fullmatch(r"Moff's board is at http://localhost:(\d+)/(\S+)/\n", process.stdout.readline())
    for name, status in (("localhost", 200), ("127.0.0.1", 403)):
        connection = http.client.HTTPConnection(LOOPBACK.address, int(url[1]), timeout=PATIENCE)
        connection.request("GET", f"/{url[2]}/", headers={"Host": f"{name}:{url[1]}"})
        assert connection.getresponse().status == status
        connection.close()
    process.kill()
    assert "Any device" not in process.communicate()[1]


@pytest.mark.skipif(sys.platform == "win32", reason="the browser here is a shell script")
def test_the_browser_is_told_to_open_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, opened = tmp_path / "browser", tmp_path / "opened"
    script.write_text(
        f'#!/bin/sh\necho "$1" >"{opened}.part"\nmv "{opened}.part" "{opened}"\n', encoding="utf-8"
    )
    script.chmod(0o755)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    process = subprocess.Popen(
        [*ENGINE, "board"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    deadline = time.monotonic() + PATIENCE
    while not opened.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert line == f"Moff's board is at {opened.read_text(encoding='utf-8')}"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["8/8 w"], 1, "bad FEN"),
        (["."], 1, ".: "),
        (["no-such-file.pgn"], 1, "No such file"),
        ([str(ROOT / "LICENSE")], 1, "LICENSE"),
        (["--port", "65536"], 2, "whole number"),
        (["--lan", "--host", "127.0.0.1"], 2, "not allowed with argument"),
        (["--host", "192.0.2.77"], 1, "192.0.2.77 is not an address of this machine\n"),
        (["--host", "0.0.0.0"], 1, "0.0.0.0 is not the address of one machine: give yours, or use --lan\n"),
        (["--host", "::1"], 1, "::1 is an IPv6 address: the board is served over IPv4 only\n"),
        (["--host", "no-such-machine.invalid"], 1, "'no-such-machine.invalid' has no IPv4 address: "),
        *(
            (["--host", text], 1, f"{text!r} is neither an IPv4 address nor the name of a machine\n")
            for text in ("", "127.1", "0x7f000001", "2130706433", "a b", "http://a/", "a:80", "..", "é" * 64)
        ),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], code: int, said: str) -> None:
    process = started(*arguments)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


def test_a_position_and_a_file_are_shown_to_begin_with(tmp_path: Path) -> None:
    file = tmp_path / "two.pgn"
    file.write_text('[White "A"]\n\n1. e4 *\n\n[White "B"]\n\n1. d4 *\n', encoding="utf-8")
    from moff.page.command import read_games

    games = Tab(games=read_games(str(file)))
    listed = {"list": 1, "name": "two.pgn", "count": 2, "opened": 1, "can_save": True}
    assert snapshot(games, "games") == listed
    assert [move["san"] for move in snapshot(games, "tree")["moves"]] == ["e4"]
    late = Tab("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1")
    assert snapshot(late, "state")["fen"] == fen.write(fen.parse("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1"))
    games.close()
    late.close()
