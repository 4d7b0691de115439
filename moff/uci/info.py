"""The reports of a search as lines of UCI. `chess960` is as `coordinate.write` takes it."""

from search import wdl
from search.line import Progress, Report, Result, Statistics
from x88.notation import coordinate


def write_report(report: Report, shows_wdl: bool, chess960: bool) -> str:
    """The line of an iteration, with the win, draw and loss probabilities if `shows_wdl`."""
    score = f"cp {report.score}" if report.mate is None else f"mate {report.mate}"
    if report.bound:
        score += f" {report.bound}bound"
    if shows_wdl:
        score += " wdl " + " ".join(map(str, wdl.chances(report.score)))
    line = (
        f"info depth {report.depth} seldepth {report.seldepth} multipv {report.line} score {score} "
        f"{_effort(report)}"
    )
    if report.pv:
        line += " pv " + " ".join(coordinate.write(move, chess960) for move in report.pv)
    return line


def write_progress(progress: Progress, chess960: bool) -> str:
    """The line of the root move being searched."""
    move = coordinate.write(progress.move, chess960)
    return f"info depth {progress.depth} currmove {move} currmovenumber {progress.number}"


def write_statistics(counts: Statistics) -> str:
    """The line between the reports of two iterations."""
    return f"info depth {counts.depth} seldepth {counts.seldepth} {_effort(counts)}"


def write_bestmove(result: Result, chess960: bool) -> str:
    """The line that ends a search."""
    line = f"bestmove {coordinate.write(result.move, chess960) if result.move else '(none)'}"
    if result.reply:
        line += f" ponder {coordinate.write(result.reply, chess960)}"
    return line


def _effort(counts: Report | Statistics) -> str:
    return (
        f"nodes {counts.nodes} nps {int(counts.nodes * 1000 / max(counts.elapsed, 1))} "
        f"hashfull {counts.hashfull} tbhits {counts.tb_hits} time {int(counts.elapsed)}"
    )
