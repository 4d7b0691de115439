"""Run test suites: how many positions does the search solve, how soon and at which depth?

    python bench/epd.py wac.epd                                              one second a position
    python bench/epd.py bratko_kopec.epd --movetime 5000 --only-failed       five, and only the failures
    python bench/epd.py mate3.fen --mate 3                                   plain FENs with a mate in three
    python bench/epd.py suite960.epd --chess960                              Chess960 positions, X-FEN

A suite holds one position per line: a FEN of four (or six) fields and operations terminated by `;`, as in
`FEN bm Nd5 a4; id "BK.05";`. A line that begins with # is a comment. These operations define the solution; if
there are several, all must hold:

    bm MOVE...    the engine plays one of these moves, in SAN
    am MOVE...    it plays none of these moves
    dm N          it announces a mate in at most N moves

In a FEN of four fields, hmvc and fmvn give its counters. Other operations are kept but have no effect. Moves
may be separated by commas, and a `-` between operations is skipped. `--mate N` means `dm N` in positions
without any of the three. Each position is searched as a new game, in one thread. The time to the solution is
the time of the first iteration from which every answer was right.

`--json` prints one object per line with these keys: file, line, id (or the line), fen, operations (operands
by name), expected (bm, am and dm as text), played (SAN), solved (true or false), solved_after (seconds, or
null), solved_nodes (the nodes until then, or null), depth, score (centipawns, or null), mate (moves, negative
if mated, or null), nodes and seconds. With `--nodes`, solved_nodes is the same on every machine, busy or not.

Results go to standard output, progress and errors to standard error. The exit code is 0 whatever is solved, 1
if a line is damaged (the others are run), 2 after wrong usage or if a file cannot be read or holds no
position, 130 after an interrupt. Needs the `bench` extra.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import script  # first: it puts this checkout on the path

from moff.syzygy_path import opened
from search.limits import Limits
from search.line import Report, Result
from search.search import Search
from x88 import build
from x88.board import Board
from x88.movegen import legal_moves
from x88.notation import fen, san

TASKS = ("bm", "am", "dm")

_TOKEN = re.compile(r'\s*(?:"(?P<text>[^"]*)"|(?P<word>[^\s;"]+)|(?P<end>;)|(?P<fault>"))')
_OPCODE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,14}")


@dataclass(frozen=True)
class Position:
    """A line of a suite: its file and line, the FEN, its operations, and the solution."""

    path: Path
    line: int
    fen: str
    operations: dict[str, list[str]]
    """The operands by opcode, without their quotes."""
    best: frozenset[int]
    """The moves of `bm`, packed."""
    avoided: frozenset[int]
    """Those of `am`."""
    mate: int | None
    """The moves of `dm`."""
    chess960: bool = False
    """Whether the FEN is read as X-FEN."""

    @property
    def name(self) -> str:
        """The id, otherwise the line."""
        return " ".join(self.operations.get("id", [])) or f"line {self.line}"

    @property
    def expected(self) -> str:
        """The solution, as given in the suite."""
        asked = [code for code in TASKS if code in self.operations]
        return "; ".join(" ".join([code, *self.operations[code]]) for code in asked)

    def is_solved(self, move: int, mate: int | None) -> bool:
        """Whether a packed move and the announced mate, None without one, solve the position."""
        if self.mate is not None and not (mate is not None and 0 < mate <= self.mate):
            return False
        return move not in self.avoided and (not self.best or move in self.best)


@dataclass(frozen=True)
class Answer:
    """The search's answer in a position; depth, score and mate are from its last completed iteration."""

    position: Position
    played: str
    """The move, in SAN."""
    depth: int
    score: int | None
    """Centipawns; None if no iteration was completed."""
    mate: int | None
    """Moves to mate, negative if the side to move is mated; None if none is announced."""
    nodes: int
    seconds: float
    solved_after: float | None
    """The seconds after which the answer was right and stayed so; None if it is wrong."""
    solved_nodes: int | None
    """The nodes until then; None if it is wrong."""

    @property
    def is_solved(self) -> bool:
        """Whether the answer is right."""
        return self.solved_after is not None

    def as_json(self) -> str:
        """The answer as one line of JSON."""
        fields = vars(self) | {"solved": self.is_solved}
        position: Position = fields.pop("position")
        names = {"file": str(position.path), "line": position.line, "id": position.name, "fen": position.fen}
        task = {"operations": position.operations, "expected": position.expected}
        return json.dumps(names | task | fields)


def read_suite(
    path: Path, mate: int | None = None, chess960: bool = False
) -> tuple[list[Position], list[str]]:
    """The positions of a file, and a message for each damaged line. `mate` is the `dm` of those without bm,
    am and dm; `chess960` reads the positions as X-FEN.

    Raises OSError if the file cannot be read, ValueError with its path if it holds neither.
    """
    positions, complaints = [], []
    for number, line in script.numbered_lines(path):
        try:
            positions.append(_position(path, number, line, mate, chess960))
        except ValueError as error:
            complaints.append(f"{path}, line {number}: {_shortened(str(error))}")
    if not positions and not complaints:
        raise ValueError(f"{path} holds no position")
    return positions, complaints


def _position(path: Path, number: int, line: str, mate: int | None, chess960: bool) -> Position:
    """The position of a line. Raises ValueError with the faulty text and what is wrong with it."""
    text, rest = _split_fen(line.strip())
    # Elsewhere missing fields have defaults, but here a wrong default would look like a wrong answer.
    if len(text.split()) < 4:
        raise ValueError(f"bad FEN {text!r}: it has fewer than 4 fields")
    operations = _operations(rest)
    if operations.keys() & {"hmvc", "fmvn"} and len(text.split()) == 4:
        text = " ".join([text, *operations.get("hmvc", ["0"]), *operations.get("fmvn", ["1"])])
    board = fen.parse(text, chess960=chess960)
    if mate is not None and not any(code in operations for code in TASKS):
        operations["dm"] = [str(mate)]
    if not any(code in operations for code in TASKS):
        raise ValueError(f"{line.strip()!r}: it has no bm, am or dm")
    if not legal_moves(board):
        raise ValueError(f"{text!r}: the side to move has no move")
    best, avoided = _moves(board, "bm", operations), _moves(board, "am", operations)
    if best and best <= avoided:
        raise ValueError(f"{rest.strip()!r}: am forbids all that bm asks for")
    return Position(path, number, text, operations, best, avoided, _moves_to_mate(operations), chess960)


def _split_fen(line: str) -> tuple[str, str]:
    """The four fields of the position, with the counters if they follow, and the rest of the line."""
    words: list[str] = []
    end = 0
    for found in _TOKEN.finditer(line):
        word = found["word"]
        if word is None or (len(words) >= 4 and (len(words) == 6 or not word.isdecimal())):
            break
        words.append(word)
        end = found.end()
    return " ".join(words), line[end:]


def _operations(text: str) -> dict[str, list[str]]:
    """The operands by opcode. Raises ValueError with what is not an operation or is duplicated."""
    operations: dict[str, list[str]] = {}
    code = ""
    for found in _TOKEN.finditer(text):
        if found["fault"]:
            raise ValueError(f"{text[found.start() :].strip()!r}: the quotation is not closed")
        if found["end"]:
            code = ""
        elif code in ("bm", "am") and found["word"]:
            operations[code] += [word for word in found["word"].split(",") if word not in ("", "-")]
        elif code:
            operations[code].append(found["word"] or found["text"] or "")
        elif found["word"] != "-":
            code = found["word"] or ""
            if not _OPCODE.fullmatch(code):
                raise ValueError(f"{found[0].strip()!r} is not the name of an operation")
            if code in operations:
                raise ValueError(f"{text.strip()!r}: {code} occurs twice")
            operations[code] = []
    return operations


def _moves(board: Board, code: str, operations: dict[str, list[str]]) -> frozenset[int]:
    """The moves that `bm` or `am` names, packed."""
    if code not in operations:
        return frozenset()
    if not operations[code]:
        raise ValueError(f"{code!r} names no move")
    try:
        return frozenset(san.parse(board, text) for text in operations[code])
    except ValueError as error:
        raise ValueError(f"{' '.join([code, *operations[code]])!r}: {error}") from None


def _moves_to_mate(operations: dict[str, list[str]]) -> int | None:
    """The number that `dm` gives."""
    if "dm" not in operations:
        return None
    try:
        return script.positive(" ".join(operations["dm"]))
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"{' '.join(['dm', *operations['dm']])!r}: {error}") from None


def _shortened(text: str) -> str:
    return text if len(text) <= 400 else f"{text[:250]} ... {text[-145:]}"


def solve(search: Search, positions: Sequence[Position], limits: Limits) -> Iterator[Answer]:
    """Search every position, each as the first of a new game."""
    for position in positions:
        search.new_game()
        board = fen.parse(position.fen, chess960=position.chess960)
        reports: list[Report] = []
        began = time.perf_counter()
        result = search.think(board, limits._replace(mate=position.mate), reports.append)
        seconds = time.perf_counter() - began
        last = reports[-1] if reports else None
        depth, score, mate = (last.depth, last.score, last.mate) if last else (0, None, None)
        played = san.write(board, result.move)
        after, nodes = _solved(position, reports, result, seconds)
        yield Answer(position, played, depth, score, mate, result.nodes, seconds, after, nodes)


def _solved(
    position: Position, reports: list[Report], result: Result, seconds: float
) -> tuple[float, int] | tuple[None, None]:
    """The seconds and nodes until the answer was right and stayed so; None if it is wrong in the end."""
    # An iteration cut short can still change the move, unreported.
    if not position.is_solved(result.move, reports[-1].mate if reports else None):
        return None, None
    nodes = result.nodes
    for report in reversed(reports):
        if not position.is_solved(report.pv[0], report.mate):
            break
        seconds, nodes = report.elapsed / 1000, report.nodes
    return seconds, nodes


def table(answers: list[Answer]) -> str:
    """A row for each answer."""
    from tabulate import tabulate

    files = {answer.position.path for answer in answers}
    rows = []
    for answer in answers:
        position = answer.position
        name = f"{position.path.name}, {position.name}" if len(files) > 1 else position.name
        after = "" if answer.solved_after is None else f"{answer.solved_after:.2f}"
        verdict = "ok" if answer.is_solved else "FAILED"
        figures = [_score(answer), answer.depth, f"{answer.nodes:,}", after]
        rows.append([name, position.expected, answer.played, *figures, verdict])
    headers = ["position", "expected", "played", "score", "depth", "nodes", "solved\nafter s", ""]
    alignment = ["left"] * 3 + ["right"] * 4 + ["left"]
    return str(tabulate(rows, headers, disable_numparse=True, colalign=alignment))


def _score(answer: Answer) -> str:
    """Pawns, or the moves to mate after #."""
    if answer.mate is not None:
        return f"#{answer.mate}"
    return "" if answer.score is None else f"{answer.score / 100:+.2f}"


def summary(answers: list[Answer]) -> str:
    """The number of solved positions, and the nodes."""
    solved = sum(answer.is_solved for answer in answers)
    nodes, seconds = sum(answer.nodes for answer in answers), sum(answer.seconds for answer in answers)
    return (
        f"{solved} of {len(answers)} solved ({100 * solved / len(answers):.1f} %)\n"
        f"{nodes:,} nodes in {seconds:.1f} s, {nodes / max(seconds, 1e-9):,.0f} nodes/s"
    )


def _watched(answers: Iterator[Answer], total: int) -> Iterator[Answer]:
    """The answers, with a progress bar of the positions done and solved on a terminal."""
    from tqdm import tqdm

    solved = 0
    with tqdm(total=total, unit=" positions", disable=None, file=sys.stderr) as bar:
        for done, answer in enumerate(answers, 1):
            solved += answer.is_solved
            bar.set_postfix_str(f"{solved}/{done} solved", refresh=False)
            bar.update()
            yield answer


def _options() -> argparse.Namespace:
    parser = script.parser(__doc__)
    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="an EPD suite, or FENs")
    limits = parser.add_mutually_exclusive_group()
    limit, number = limits.add_argument, script.positive
    limit("--movetime", type=number, metavar="MS", help="milliseconds per position (default 1000)")
    limit("--depth", type=number, metavar="N", help="plies per position")
    limit("--nodes", type=number, metavar="N", help="nodes per position")
    add("--hash", type=number, default=64, metavar="MB", help="size of the transposition table")
    add("--mate", type=number, metavar="N", help="a position without bm, am and dm is a mate in N moves")
    add("--chess960", action="store_true", help="K, Q, k and q mean the outermost rooks (X-FEN)")
    add("--tables", default="", metavar="FOLDERS", help="folders of the Syzygy tables to use")
    add("--only-failed", action="store_true", help="show only unsolved positions")
    add("--json", action="store_true", help="print each answer as a line of JSON instead of the table")
    return parser.parse_intermixed_args()


@script.command
def main() -> int:
    """Read the suites, search, print the table; returns the exit code."""
    options = _options()
    script.require("bench", "tabulate", "tqdm")
    search = Search(options.hash)
    tables = opened(options.tables)
    if options.tables and not tables.most:
        raise ValueError("; ".join(tables.problems) or f"{options.tables}: there is no table")
    search.use_tablebases(tables)
    suites = [read_suite(path, options.mate, options.chess960) for path in options.files]
    positions = [position for found, _ in suites for position in found]
    complaints = [complaint for _, found in suites for complaint in found]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if not positions:
        return 1
    if not build.compiled:
        print(build.notice(), file=sys.stderr)

    answers = []
    limits = Limits(depth=options.depth, nodes=options.nodes, movetime=options.movetime)
    limits = Limits(movetime=1000) if limits == Limits() else limits
    for answer in _watched(solve(search, positions, limits), len(positions)):
        answers.append(answer)
        if options.json and not (options.only_failed and answer.is_solved):
            print(answer.as_json(), flush=True)
    if not options.json:
        shown = [answer for answer in answers if not (options.only_failed and answer.is_solved)]
        if shown:
            print(table(shown), end="\n\n")
        print(summary(answers))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
