"""A folder of self-play games that grows: bench/selfplay.py --positions fills it.

It holds files of games (bench/gamefile.py), named after their seeds; a copy of each version of Moff that has
played, in a folder `engine-`, from which it runs, so that the checkout can be changed meanwhile; and what
--status tells of a run in progress.
"""

import argparse
import contextlib
import hashlib
import json
import math
import os
import secrets
import shutil
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import gamefile
import script  # first: it puts this checkout on the path
from gamefile import SUFFIX, Block, Place, Settings, scan
from workers import connection, run_all

from moff.atomic_write import save
from moff.messages import counted
from search.nnue import network
from search.selfplay import Game, Selfplay
from x88 import build

GAMES = 100
"""Games in a block."""

BLOCKS = 1000
"""Blocks in a file."""

FROZEN = ("bench", "moff", "search", "x88")
"""The folders copied from a checkout; setup.py, which the build is checked against, comes along."""

LEFT_OUT = (".c", ".md", ".pyc")

SHIPPED = script.ROOT / "search" / "moff.net"
"""The network that comes with Moff."""

NOTE_EVERY = 5.0
"""Seconds between two notes for --status."""


@dataclass(frozen=True)
class Job:
    """A block to play: the file that it is for, its seed, the number of its first game, the number of its
    games, the settings, and the file of a network, empty for the one that comes with Moff.
    """

    path: Path
    seed: int
    first: int
    games: int
    settings: Settings
    network: str = ""


Played = tuple[Job, list[Game]]
"""A block and its games; no games if it was stopped."""


class Players:
    """A player for each thread, kept from block to block."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[Selfplay] = []
        self._is_over = False

    def play(self, job: Job) -> Played:
        """Play a block."""
        if not hasattr(self._own, "player"):
            self._own.player = Selfplay(network.read(job.network) if job.network else None)
            self._all.append(self._own.player)
            if self._is_over:  # it was not there yet when the others were stopped
                self._own.player.stop()
        return played(self._own.player, job)

    def stop(self) -> None:
        """End all games."""
        self._is_over = True
        for player in self._all:
            player.stop()


def played(player: Selfplay, job: Job) -> Played:
    """A block, played by this player."""
    games = []
    for number in range(job.first, job.first + job.games):
        game = player.play(job.seed, number, job.settings["nodes"])
        if game is None:
            return job, []
        games.append(game)
    return job, games


def play_far(job: Job) -> Played:
    """Play a block on a worker of a cluster. Raises ValueError if its Moff is another version."""
    if (found := script.fingerprint(Path(build.__file__).parents[1])) != job.settings["engine"]:
        raise ValueError(f"a worker has another version of Moff: {found}, not {job.settings['engine']}")
    return played(Selfplay(), job)


# --- The folder


class Pile:
    """A folder that this process fills."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        """Raises ValueError if another process fills it, or OSError."""
        self.folder = folder
        self.settings = settings
        self._lock = (folder / "lock").open("wb")
        if not script.lock(self._lock):
            raise ValueError(f"another process fills {folder}")

    def begun(self) -> Iterator[tuple[Path, int]]:
        """The files with these settings that are not complete, and their seeds. Damage is reported, and left
        as it is. Raises ValueError for what is no file of games, or OSError.
        """
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            if sum(isinstance(part, Place) for part in scan(path, check=False)) >= BLOCKS:
                continue
            places = []
            for part in scan(path):
                if isinstance(part, Place):
                    places.append(part)
                elif not part.is_unfinished:
                    message = f"{path}: bytes {part.start} to {part.end} are damaged: {part.reason}"
                    print(message, file=sys.stderr)
            if places and gamefile.read(places[0]).settings == self.settings:
                yield path, places[0].seed

    def missing(self, path: Path, seed: int, games: int) -> Iterator[tuple[int, int]]:
        """The first number and the length of each block that a file lacks, up to so many games. A block that
        is shorter than others stays so. Raises ValueError if other settings made it, or OSError.
        """
        path.touch()
        if size := gamefile.cut(path):
            print(f"{path}: cut off {size} bytes of an unfinished block", file=sys.stderr)
        places = [part for part in scan(path) if isinstance(part, Place)]
        if places and (found := gamefile.read(places[0]).settings) != self.settings:
            raise ValueError(f"{path} holds games with {found}, not {self.settings}: use another --seed")
        there = {place.first for place in places}
        for first in range(0, games, GAMES):
            if first not in there:
                yield first, min(GAMES, games - first)

    def note(self, state: dict[str, Any]) -> None:
        """Note how the run goes, for --status."""
        save(self.folder / "running.json", json.dumps(state))

    def close(self) -> None:
        """Leave the folder to others."""
        self._lock.close()


# --- The frozen copy


def frozen(folder: Path) -> Path:
    """The copy of this Moff in the folder, made if it is missing. A checkout that was changed after it was
    compiled is not copied: then the copy that was made last goes on. Raises ValueError or OSError.
    """
    copies = sorted(folder.glob("engine-*"), key=lambda path: path.stat().st_mtime)
    if build.problem:
        if not copies:
            raise ValueError(build.problem)
        print(f"{build.problem}; the version that was copied before goes on", file=sys.stderr)
        return copies[-1]
    files = [
        path
        for name in FROZEN
        for path in sorted((script.ROOT / name).rglob("*"))
        if path.is_file() and path.suffix not in LEFT_OUT
    ]
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(script.ROOT)).encode() + path.read_bytes())
    copy = folder / f"engine-{digest.hexdigest()[:12]}"
    if script.ROOT.name == copy.name or copy.exists():
        return copy
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="part-") as part:
        for path in [*files, script.ROOT / "setup.py"]:
            target = Path(part) / copy.name / path.relative_to(script.ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        with contextlib.suppress(FileExistsError):  # another process was faster
            (Path(part) / copy.name).rename(copy)
    return copy


# --- Filling it


class Progress:
    """The progress of a run, as a line on standard error: in place on a terminal, once a minute in a log."""

    def __init__(self, pile: Pile) -> None:
        self._begun = self._shown_at = time.time()
        self._is_terminal = sys.stderr.isatty()
        self._pile = pile
        self.games = self.positions = self.usable = 0
        self._note(self._begun)

    def add(self, block: Block) -> None:
        """Count a block, and tell from time to time."""
        self.games += block.games
        self.positions += block.positions
        self.usable += block.usable
        now = time.time()
        if now - self._shown_at >= (0.5 if self._is_terminal else 60):
            self._shown_at = now
            self.show()
        if now - self._noted >= NOTE_EVERY:
            self._note(now)

    def _note(self, now: float) -> None:
        self._noted = now
        seconds = now - self._begun
        state = {"pid": os.getpid(), "seconds": seconds, "games": self.games, "usable": self.usable}
        self._pile.note(state)

    def show(self, end: str = "") -> None:
        """Show the line; `end` is "\n" for the last one."""
        passed = max(time.time() - self._begun, 0.001)
        text = (
            f"{self.games} games, {self.positions} positions, {self.usable} usable, "
            f"{self.usable / passed:.0f}/s"
        )
        if self._is_terminal:
            print(f"\r{text}\x1b[K", end=end, file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def jobs(pile: Pile, options: argparse.Namespace) -> Iterator[Job]:
    """The blocks to play: those of --seed that are missing; or those that files lack, and then new ones."""
    end = time.monotonic() + 60 * options.minutes if options.minutes else math.inf
    seeds = iter(lambda: secrets.randbits(64), None) if options.seed is None else iter([options.seed])
    new = ((pile.folder / f"{seed:016x}{SUFFIX}", seed) for seed in seeds)
    for path, seed in chain(pile.begun() if options.seed is None else (), new):
        for first, count in pile.missing(path, seed, options.games):
            if time.monotonic() >= end:
                return
            yield Job(path, seed, first, count, pile.settings, options.network)


def fill(options: argparse.Namespace) -> int:
    """Play until stopped; returns the exit code. Raises ValueError or OSError."""
    if options.network:
        network.read(options.network)  # what is no network is refused before anything is made
    copy = frozen(options.positions)
    if copy.resolve() != script.ROOT:
        return _hand_over(copy)
    if options.idle and (code := script.idly()) is not None:
        return code
    settings = {
        "engine": script.fingerprint(),
        "network": f"{zlib.crc32(Path(options.network or SHIPPED).read_bytes()):08x}",
        "nodes": options.nodes,
    }
    count, parent = options.concurrency, os.getppid()
    with contextlib.ExitStack() as stack:
        pile = stack.enter_context(contextlib.closing(Pile(options.positions, settings)))
        work: Callable[[Job], Played]
        if options.scheduler:
            modules = (script, sys.modules[__name__])
            available, submit = stack.enter_context(connection(options.scheduler, *modules))
            work, count = play_far, max(1, min(count, available))
        else:
            players = Players()
            submit = stack.enter_context(ThreadPoolExecutor(count)).submit
            stack.callback(players.stop)
            work = players.play
        progress = Progress(pile)
        stack.callback(progress.show, "\n")
        for job, games in run_all(submit, work, jobs(pile, options), count):
            if games:
                block = gamefile.packed(job.seed, job.first, settings, games)
                gamefile.append(job.path, block)
                progress.add(block)
            if options.idle and os.getppid() != parent:
                break  # nobody could interrupt it any more
    return 0


def _hand_over(copy: Path) -> int:
    """Run the script of the copy in place of this one, or wait for it where a system has no such thing;
    returns its exit code.
    """
    command = [sys.executable, str(copy.resolve() / "bench" / "selfplay.py"), *sys.argv[1:]]
    return script.run(command) if os.name == "nt" else os.execv(command[0], command)


# --- Its state


def status(folder: Path) -> str:
    """The content of the folder, and whether it is being filled. Raises ValueError or OSError."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    paths = [*folder.glob(f"*{SUFFIX}")]
    places = [part for path in paths for part in scan(path, check=False) if isinstance(part, Place)]
    games, positions = sum(place.games for place in places), sum(place.positions for place in places)
    usable = sum(place.usable for place in places)
    size, free = sum(path.stat().st_size for path in paths), shutil.disk_usage(folder).free
    found = f"{counted(len(paths), 'file')}, {counted(games, 'game')}, {positions} positions"
    lines = [f"{found}, {usable} of them usable", f"{size / 1e6:.1f} MB, {free / 1e9:.1f} GB free"]
    lock = folder / "lock"
    if lock.exists():
        with lock.open("rb") as file:
            if script.lock(file, shared=True):
                return "\n".join([*lines, "nobody plays"])
        with contextlib.suppress(FileNotFoundError):  # it will be there in a moment
            state = json.loads((folder / "running.json").read_text(encoding="utf-8"))
            lines.append(
                f"process {state['pid']}, for {state['seconds'] / 60:.0f} minutes: {state['games']} games, "
                f"{state['usable'] / max(1, state['seconds']):.0f} usable positions a second"
            )
    return "\n".join(lines)
