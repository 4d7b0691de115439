"""The options of the UCI protocol: the table of them, and what setting each one does."""

from collections.abc import Callable
from typing import NamedTuple

from moff import __version__ as VERSION
from moff.messages import counted, echo, shorten, whole_number
from moff.uci.ownbook import LATEST_MOVE, OwnBook
from search.limits import Limits
from search.pool import MOST_THREADS
from search.search import Search
from search.strength import STRONGEST, WEAKEST
from search.syzygy.pairs import MOST_PIECES
from search.syzygy.probing import MOST_DEPTH
from search.syzygy.tablebase import Tablebase, folders_of
from search.transposition import MAX_MEGABYTES
from x88 import build

AUTHOR = "the Moff authors"

DEFAULT_HASH = 16
DEFAULT_OVERHEAD = 20
DEFAULT_ELO = 1500
ABOUT = f"Moff {VERSION} by {AUTHOR}: plain Python on a 0x88 board, {'' if build.compiled else 'un'}compiled"


class Option(NamedTuple):
    """An option as UCI declares it. `set` takes the value, of the right type and within its bounds; None for
    a button.
    """

    kind: str
    default: str
    set: Callable[[str], None]
    bounds: tuple[int, int] = (0, 0)

    def declare(self, name: str) -> str:
        """The line that declares it to a GUI."""
        line = f"option name {name} type {self.kind}"
        if self.kind != "button":
            line += f" default {self.default or '<empty>'}"
        if self.kind == "spin":
            line += f" min {self.bounds[0]} max {self.bounds[1]}"
        return line

    def read(self, name: str, value: str) -> str:
        """The value in its normal form. Raises ValueError naming it."""
        if self.kind == "spin":
            return str(whole_number(name, value, *self.bounds))
        if self.kind == "check":
            if value.lower() not in ("true", "false"):
                raise ValueError(f"{name} takes true or false, not {echo(value)}")
            return value.lower()
        return "" if value == "<empty>" else value


class Options:
    """All options: their values, and the search that they change."""

    def __init__(
        self,
        search: Search,
        tell: Callable[[str], object],
        complain: Callable[[str], object],
        start_log: Callable[[str], None],
        forget_game: Callable[[], None],
    ) -> None:
        """`tell` takes a note, `complain` a fault, `start_log` the name of a file. `forget_game` is called
        when the next position must be parsed from scratch, even if it continues the game.
        """
        self.limits = Limits(overhead=DEFAULT_OVERHEAD)
        self.book = OwnBook()
        self.threads = 1
        self.shows_wdl = False
        self.analyses = False
        self.plays_chess960 = False
        self._elo = DEFAULT_ELO
        self._is_limited = False
        self._search = search
        self._tell = tell
        self._complain = complain
        self._forget_game = forget_game
        self._table = {
            "Hash": Option(
                "spin",
                str(DEFAULT_HASH),
                lambda value: self._search.resize_table(int(value)),
                (1, MAX_MEGABYTES),
            ),
            "Clear Hash": Option("button", "", lambda _: self._search.forget()),
            "Threads": Option("spin", "1", self._set_threads, (1, MOST_THREADS)),
            # The GUI decides when to ponder; the option tells it that it may.
            "Ponder": Option("check", "false", lambda _: None),
            "MultiPV": Option("spin", "1", lambda value: self._limit("lines", value), (1, 256)),
            "Move Overhead": Option(
                "spin", str(DEFAULT_OVERHEAD), lambda value: self._limit("overhead", value), (0, 5000)
            ),
            "nodestime": Option("spin", "0", lambda value: self._limit("nodestime", value), (0, 10000)),
            "UCI_ShowWDL": Option("check", "false", self._show_wdl),
            "UCI_LimitStrength": Option("check", "false", self._limit_strength),
            "UCI_Elo": Option("spin", str(DEFAULT_ELO), self._set_elo, (WEAKEST, STRONGEST)),
            "UCI_Chess960": Option("check", "false", self._set_chess960),
            "UCI_AnalyseMode": Option("check", "false", self._set_analysis),
            "SyzygyPath": Option("string", "", self._set_tables),
            "SyzygyProbeDepth": Option(
                "spin", "1", lambda value: self._search.use_tablebases(depth=int(value)), (1, MOST_DEPTH)
            ),
            "SyzygyProbeLimit": Option(
                "spin",
                str(MOST_PIECES),
                lambda value: self._search.use_tablebases(limit=int(value)),
                (0, MOST_PIECES),
            ),
            "Syzygy50MoveRule": Option(
                "check", "true", lambda value: self._search.use_tablebases(fifty_move_rule=value == "true")
            ),
            "OwnBook": Option("check", "false", self._switch_book),
            "Book File": Option("string", "", self.book.open),
            "Best Book Move": Option("check", "false", self._take_best_book_move),
            "Book Depth": Option("spin", str(LATEST_MOVE), self._leave_book_after, (1, LATEST_MOVE)),
            "Book Seed": Option("spin", "0", lambda value: self.book.draw_by(int(value)), (0, 2**31 - 1)),
            "EvalFile": Option("string", "", self._search.use_network),
            "UCI_EngineAbout": Option("string", ABOUT, lambda _: None),
            "Debug Log File": Option("string", "", start_log),
        }

    def declare(self) -> list[str]:
        """The lines that declare them to a GUI."""
        return [option.declare(name) for name, option in self._table.items()]

    def read(self, words: list[str], rest: str) -> Callable[[], None]:
        """Read what follows `setoption`; returns what carries it out when no search runs. `rest` is the same
        text as it was typed, since names of files have spaces. Raises ValueError.
        """
        if not words or words[0] != "name":
            raise ValueError("expected name, as in setoption name Hash value 64")
        split = words.index("value") if "value" in words else len(words)
        asked = " ".join(words[1:split])
        name = next((name for name in self._table if name.lower() == asked.lower()), None)
        if name is None:
            raise ValueError(f"there is no option {echo(asked)}")
        option = self._table[name]
        value = " ".join(words[split + 1 :])
        if value and option.kind == "string":
            value = rest.split(maxsplit=split + 1)[-1].strip()
        value = option.read(name, value)
        return lambda: self._set(name, option, value)

    def _set(self, name: str, option: Option, value: str) -> None:
        try:
            option.set(value)
        except OSError as error:
            self._complain(f"{name} {echo(value)}: {error.strerror or error}")
        except (ValueError, MemoryError, ImportError) as error:
            self._complain(f"{name}: {shorten(str(error) or 'not enough memory')}")

    def _set_threads(self, value: str) -> None:
        self.threads = int(value)
        self._search.resize_pool(self.threads)

    def _limit(self, name: str, value: str) -> None:
        """Set a limit of every search."""
        self.limits = Limits(**self.limits._asdict() | {name: int(value)})

    def _show_wdl(self, value: str) -> None:
        self.shows_wdl = value == "true"

    def _limit_strength(self, value: str) -> None:
        self._is_limited = value == "true"
        self._set_strength()

    def _set_elo(self, value: str) -> None:
        self._elo = int(value)
        self._set_strength()

    def _set_analysis(self, value: str) -> None:
        self.analyses = value == "true"
        self._set_strength()

    def _set_strength(self) -> None:
        """Limit the strength in games, never in analysis."""
        self._search.limit_strength(self._elo if self._is_limited and not self.analyses else None)

    def _set_chess960(self, value: str) -> None:
        self.plays_chess960 = value == "true"
        self._forget_game()

    def _set_tables(self, value: str) -> None:
        tables = Tablebase(folders_of(value), lambda text: self._complain(f"SyzygyPath: {text}"))
        self._search.use_tablebases(tables)
        if value:
            results = counted(tables.count(".rtbw"), "WDL table")
            distances = counted(tables.count(".rtbz"), "DTZ table")
            self._tell(f"{results} and {distances}")
        for name in tables.missing():
            self._complain(f"SyzygyPath: {name} is missing")

    def _switch_book(self, value: str) -> None:
        self.book.is_on = value == "true"

    def _take_best_book_move(self, value: str) -> None:
        self.book.takes_best = value == "true"

    def _leave_book_after(self, value: str) -> None:
        self.book.last_move = int(value)
