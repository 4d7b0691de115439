"""The work of `moff review`: reads games, has them searched, writes the results."""

import argparse
import contextlib
import hashlib
import io
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from moff import __version__
from moff.arguments import STANDARD
from moff.atomic_write import save
from moff.bar import Bar
from moff.messages import counted
from moff.reviews.analysis import Analysis, Assessment
from moff.reviews.journal import Journal
from moff.reviews.report import Page
from moff.reviews.reviewed import ReviewedGame
from search.limits import Limits
from x88.notation import pgn

_WIDEST_NAME = 24
_PATIENCE = 0.1


def review(options: argparse.Namespace) -> int:
    """Carry out the command; returns the exit code. Raises OSError, ValueError or MemoryError."""
    with contextlib.ExitStack() as opened:
        sources = [Source(name, opened.enter_context(_opened(name))) for name in options.files]
        return Review(options, sources).run()


@contextlib.contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    """A file that can be read twice: standard input and pipes are copied first."""
    with open(0 if name == STANDARD else name, "rb", closefd=name != STANDARD) as stream:
        if name != STANDARD and stream.seekable():
            yield stream
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(stream, copy)
            yield copy


class Source(NamedTuple):
    """A file of games."""

    name: str
    stream: BinaryIO


@dataclass
class Survey:
    """The content of the files, determined before anything is searched."""

    positions: list[int] = field(default_factory=list)
    """The number for each game of all files; 0 if it has no moves to search."""
    damaged: int = 0
    digest: str = ""


class Review:
    """The work of the command."""

    def __init__(self, options: argparse.Namespace, sources: list[Source]) -> None:
        self._options = options
        self._sources = sources
        self._bar = Bar(beside_results=True)
        if options.time is not None:
            self._limits = Limits(movetime=max(1, round(1000 * options.time)))
            self._settings = f"{options.time:g} s a move"
        else:
            self._limits = Limits(nodes=options.nodes)
            self._settings = f"{options.nodes} nodes a move"
        self._outputs = Outputs(options, f"Moff {__version__}, {self._settings}")
        self._survey = Survey()
        self._finished: dict[int, list[Assessment]] = {}
        self._searched = 0
        self._total = 0

    def run(self) -> int:
        """Review all games; returns the exit code."""
        try:
            self._survey_files()
        finally:
            self._bar.clear()
        journal = self._open_journal()
        try:
            self._work(journal)
            self._outputs.save()
            if journal is not None:
                journal.remove()
        except KeyboardInterrupt:
            done = f"{len(self._finished)} of {counted(len(self._survey.positions), 'game')}"
            hint = "; the same command continues" if journal is not None else ""
            print(f"interrupted after {done}{hint}", file=sys.stderr)
            raise
        finally:
            if journal is not None:
                journal.close()
        if self._survey.damaged:
            verb = "is" if self._survey.damaged == 1 else "are"
            games = counted(len(self._survey.positions), "game")
            print(f"{self._survey.damaged} of {games} {verb} damaged", file=sys.stderr)
        return 1 if self._survey.damaged else 0

    def _survey_files(self) -> None:
        """Read all games once, to count the positions and find damage."""
        survey = self._survey
        digest = hashlib.sha256()
        for source in self._sources:
            content = hashlib.sha256()
            while block := source.stream.read(1 << 20):
                content.update(block)
            digest.update(content.digest())
        survey.digest = digest.hexdigest()
        empty = {source.name for source in self._sources}
        for source, game in self._games():
            empty.discard(source.name)
            survey.positions.append(len(game.moves) + 1 if game.moves else 0)
            self._bar.show(None, f"{source.name}: {counted(game.number, 'game')}")
            if game.faults:
                survey.damaged += 1
                self._bar.clear()
                for fault in game.faults:
                    text = f"{source.name}: game {game.number}, line {fault.line}: {fault.text}"
                    print(text, file=sys.stderr)
        for name in sorted(empty):
            self._bar.clear()
            print(f"{name} holds no game", file=sys.stderr)

    def _games(self) -> Iterator[tuple[Source, pgn.Game]]:
        """All games of all files."""
        for source in self._sources:
            source.stream.seek(0)
            for game in pgn.Reader(source.stream):
                yield source, game

    def _open_journal(self) -> Journal | None:
        """The journal next to the first output file, if there is one; finished games are read from it."""
        options = self._options
        named = [path for path in (options.output, options.html, options.json) if path]
        # Not next to a device or a pipe.
        path = next((p for p in named if p != STANDARD and (os.path.isfile(p) or not os.path.exists(p))), "")
        if not path:
            return None
        journal = Journal(f"{path}.unfinished")
        job = {"version": __version__, "settings": self._settings, "games": self._survey.digest}
        try:
            known = journal.open(job)
        except ValueError as error:
            raise ValueError(
                f"{journal.path}: {error}; finish that review with its own command, or remove the file"
            ) from None
        for number, assessments in known:
            self._finished[number] = [Assessment(*assessment) for assessment in assessments]
        if known:
            print(f"{journal.path}: {counted(len(known), 'game')} already reviewed", file=sys.stderr)
        return journal

    def _work(self, journal: Journal | None) -> None:
        """Search unfinished games, and pass all games to the outputs in order."""
        positions = self._survey.positions
        missing = [count for i, count in enumerate(positions) if count and i not in self._finished]
        self._total = sum(missing)
        threads = max(1, min(self._options.threads, len(missing)))
        analysis = Analysis(self._limits, threads)
        began = time.monotonic()
        # A file may have grown since it was surveyed.
        games = enumerate(itertools.islice(self._games(), len(positions)))
        waiting: dict[int, tuple[Source, pgn.Game]] = {}
        written = 0
        try:
            while written < len(positions):
                # One more than there are threads, so that no thread waits for its next game.
                while analysis.waiting <= threads and (following := next(games, None)) is not None:
                    number, found = following
                    waiting[number] = found
                    if number not in self._finished:
                        self._begin(analysis, number, found[1])
                    written = self._write(waiting, written)
                if not analysis.waiting and written < len(positions):
                    raise ValueError("the games were changed during the review")
                if analysis.waiting:
                    done = analysis.take(_PATIENCE)
                    if done is not None:
                        self._finished[done.number] = done.assessments
                        if journal is not None:
                            journal.add([done.number, done.assessments])
                    written = self._write(waiting, written)
                    self._show(analysis.positions, time.monotonic() - began)
        finally:
            analysis.close()
            self._bar.clear()

    def _begin(self, analysis: Analysis, number: int, game: pgn.Game) -> None:
        """Submit a game for searching, if it has moves."""
        if game.moves:
            analysis.submit(number, game.start, [move.move for move in game.moves])
        else:
            self._finished[number] = []

    def _write(self, waiting: dict[int, tuple[Source, pgn.Game]], written: int) -> int:
        """Pass on the finished games whose turn it is; returns how many have been passed on."""
        while written in waiting and written in self._finished:
            source, game = waiting.pop(written)
            self._bar.clear()
            self._outputs.add(ReviewedGame(game, self._finished[written], source.name, game.number))
            written += 1
        return written

    def _show(self, searched: int, seconds: float) -> None:
        """Draw the bar."""
        left = ""
        if searched and seconds > 1:
            left = f", {clock(seconds / searched * (self._total - searched))} left"
        games = f"{len(self._finished)}/{counted(len(self._survey.positions), 'game')}"
        self._bar.show(searched / max(1, self._total), f"{games}{left}")


def clock(seconds: float) -> str:
    """A time in hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Outputs:
    """The outputs of the command: files are written completely at the end, standard output game by game."""

    def __init__(self, options: argparse.Namespace, annotator: str) -> None:
        self._annotator = annotator
        self._json = options.json
        self._html = options.html
        self._pgn = options.output
        if not (self._json or self._html or self._pgn):
            self._pgn = STANDARD
        self._page = Page(annotator)
        self._lines: list[str] = []
        self._games: list[str] = []
        self._rows: list[list[str]] = []
        self._has_table = STANDARD not in (self._pgn, self._json)
        if isinstance(sys.stdout, io.TextIOWrapper) and self._pgn == STANDARD:
            sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")

    def add(self, reviewed: ReviewedGame) -> None:
        """Add a game."""
        if self._has_table:
            self._rows.append(_row(reviewed, len(self._rows) + 1))
        if self._json:
            self._put(self._json, self._lines, json.dumps(reviewed.as_dict()) + "\n")
        # Last, because it changes the game.
        if self._pgn or self._html:
            text = reviewed.write(self._annotator)
            if self._pgn:
                self._put(self._pgn, self._games, text)
        if self._html:
            self._page.add(reviewed)

    def _put(self, path: str, texts: list[str], text: str) -> None:
        if path == STANDARD:
            print(text, end="", flush=True)
        else:
            texts.append(text)

    def save(self) -> None:
        """Write the files, each completely or not at all, and the table. Raises OSError."""
        for path, texts in ((self._pgn, self._games), (self._json, self._lines)):
            if path and path != STANDARD:
                _save(path, "".join(texts))
        if self._html:
            _save(self._html, self._page.html())
        if self._has_table:
            print("\n".join(_table(self._rows)))


def _save(path: str, text: str) -> None:
    try:
        save(path, text)
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename = path  # not that of the temporary file
        raise


HEADINGS = ("game", "White", "accuracy", "loss", "?! ? ??", "Black", "accuracy", "loss", "?! ? ??", "result")


def _row(reviewed: ReviewedGame, number: int) -> list[str]:
    """The row of a game in the table."""
    row = [str(number)]
    for name, total in zip(("White", "Black"), reviewed.tallies, strict=True):
        row.append(_printable(reviewed.game.tags.get(name, "?")))
        if total.accuracy is None or total.centipawns is None:
            row += ["-", "-", "-"]
        else:
            marks = " ".join(map(str, total.marks.values()))
            row += [f"{total.accuracy:.1f}", f"{total.centipawns:.0f}", marks]
    return [*row, reviewed.game.result]


def _printable(name: str) -> str:
    """A name for a column of text."""
    return "".join(c if c.isprintable() else "?" for c in name)[:_WIDEST_NAME]


def _table(rows: list[list[str]]) -> list[str]:
    """The rows under their headings, in columns: names and results left-aligned, figures right-aligned."""
    columns = list(zip(HEADINGS, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for row in [HEADINGS, *rows]:
        cells = [
            text.ljust(width) if heading in ("White", "Black", "result") else text.rjust(width)
            for heading, text, width in zip(HEADINGS, row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
