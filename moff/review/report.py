"""Reviewed games as a self-contained HTML page: boards, curves, tables of moves.

All text from games goes through `escaped` or through JSON that the page's script shows as text. A content
security policy keeps the page from running or loading anything else.
"""

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from moff.accuracy import LOSSES, NAMES, Tally, expected_score
from moff.messages import counted
from moff.picture.picture import THEMES, Picture
from moff.picture.shapes import escaped
from moff.review.reviewed import ReviewedGame
from x88.move import NO_MOVE
from x88.notation import coordinate, pgn
from x88.piece import BLACK

_TAGS = ("White", "Black", "WhiteElo", "BlackElo", "Event", "Site", "Date", "Round")
_COMMAND = re.compile(r"\[%\w+\s[^\]]*\]\s*")
_FOLDER = Path(__file__).parent


class Page:
    """A page that games are added to."""

    def __init__(self, settings: str) -> None:
        """`settings` says how the games were searched."""
        self._settings = settings
        self._games: list[str] = []
        self._rows: list[str] = []

    def add(self, reviewed: ReviewedGame) -> None:
        """Add a game. Positions and moves are kept as compact JSON."""
        text = json.dumps(_data(reviewed), separators=(",", ":"))
        # Escape what could end the script element or begin a comment in it.
        self._games.append(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
        self._rows.append(_row(reviewed, len(self._games)))

    def html(self) -> str:
        """The page."""
        style, script = (_source(f"report.{suffix}") for suffix in ("css", "js"))
        policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
        title = f"Review of {counted(len(self._games), 'game')}"
        legend = "; ".join(
            f"<b class=mark>{mark}</b> {NAMES[mark]}: {100 * LOSSES[mark]:.0f} % or more"
            for mark in reversed(LOSSES)
        )
        # With everything that the script needs: all pieces, last-move squares, an arrow.
        pictures = {theme: Picture(theme=theme, last_move="a1a2", arrows=["a1a2"]) for theme in THEMES}
        boards = "".join(
            f'<div class="board {theme}">{picture.svg()}</div>' for theme, picture in pictures.items()
        )
        marks = '<th scope="col" aria-label="Inaccuracies, mistakes, blunders">?! ? ??</th>'
        games = ",\n".join(self._games)
        return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p>{escaped(self._settings)}. Marks show the win probability that a move lost: {legend}. A mate in one that
was not played is a blunder. Accuracy is in per cent, mean loss in centipawns.</p>
</header>
<noscript><p>The boards need JavaScript, which is turned off.</p></noscript>
<section aria-labelledby="summary">
<h2 id="summary">Summary</h2>
<div class="scroll" tabindex="0" role="group" aria-label="Table of the games">
<table id="games">
<thead><tr><th scope="col">Game</th><th scope="col">White</th><th scope="col">Accuracy</th>
<th scope="col">Loss</th>{marks}<th scope="col">Result</th><th scope="col">Black</th>
<th scope="col">Accuracy</th><th scope="col">Loss</th>{marks}</tr></thead>
<tbody>
{"".join(self._rows)}</tbody>
</table>
</div>
</section>
<main id="viewer" hidden>
<div class="title">
<button type="button" id="previous-game" aria-label="Previous game">‹</button>
<h2 id="players" tabindex="-1"></h2>
<button type="button" id="next-game" aria-label="Next game">›</button>
</div>
<p id="details"></p>
<div class="columns">
<div class="left">
<div id="boards">{boards}</div>
<div class="controls">
<button type="button" id="first" aria-label="Start of the game">|◀</button>
<button type="button" id="back" aria-label="One move back">◀</button>
<button type="button" id="forward" aria-label="One move forward">▶</button>
<button type="button" id="last" aria-label="End of the game">▶|</button>
<button type="button" id="next-mark">Next mistake</button>
<button type="button" id="flip" aria-pressed="false">Flip</button>
</div>
<input type="range" id="ply" min="0" value="0" aria-label="Position in the game">
<p id="status" role="status"></p>
<svg id="curve" viewBox="0 -16 1000 292" role="img" aria-labelledby="curve-title">
<title id="curve-title">White's win probability</title>
<rect class="black" y="-16" width="1000" height="292"/><path class="white"/>
<path class="half" d="M0 130H1000"/><path class="line"/><g class="marks"></g><path class="here"/></svg>
</div>
<div class="right">
<table id="moves"><caption>Moves with evaluations in pawns, from White's view</caption>
<thead><tr><th scope="col">No.</th><th scope="col">White</th><th scope="col">Pawns</th>
<th scope="col">Black</th><th scope="col">Pawns</th></tr></thead><tbody></tbody></table>
</div>
</div>
<p class="help">Keys: ← → one move, Home and End, M the next mistake, F flip the board, N and P the next and
the previous game. Click the curve or a move to go there; the moves of a better line can be clicked too.</p>
</main>
<script type="application/json" id="data">[{games}]</script>
<script>{script}</script>
</body>
</html>
"""


def _source(name: str) -> str:
    """The text of a file of the page."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash of a text in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _row(reviewed: ReviewedGame, number: int) -> str:
    """The row of a game in the summary."""
    tags = reviewed.game.tags
    white, black = (escaped(tags.get(name, "?")) for name in ("White", "Black"))
    totals = ["".join(f"<td>{cell}</td>" for cell in _cells(total)) for total in reviewed.tallies]
    return (
        f'<tr><td><a href="#game-{number}">{number}</a></td><th scope="row">{white}</th>{totals[0]}'
        f"<td>{reviewed.game.result}</td><th>{black}</th>{totals[1]}</tr>\n"
    )


def _cells(total: Tally) -> tuple[str, str, str]:
    """Accuracy, mean loss and marks of a side."""
    if total.accuracy is None or total.centipawns is None:
        return "–", "–", "–"
    marks = " ".join(str(count) for count in total.marks.values())
    return f"{total.accuracy:.1f}", f"{total.centipawns:.0f}", marks


def _data(reviewed: ReviewedGame) -> dict[str, Any]:
    """A game as the script expects it: short keys, none for empty values, because there are many moves."""
    game = reviewed.game
    fields = game.start.split()
    return {
        "tags": {name: game.tags[name] for name in _TAGS if game.tags.get(name, "").strip("?. ")},
        "result": game.result,
        "opening": " ".join(reviewed.opening).strip() if reviewed.opening else "",
        "totals": [_cells(total) for total in reviewed.tallies],
        "number": int(fields[5]),
        "blackFirst": reviewed.first == BLACK,
        "start": {
            "fen": fields[0],
            "pawns": reviewed.evaluation(0) if reviewed.scores else "",
            "win": _per_mille(reviewed, 0) if reviewed.scores else 500,
            "comment": _COMMAND.sub("", game.comment).strip(),
        },
        "moves": [_move(reviewed, i) for i in range(len(game.moves))],
        "faults": [f"line {fault.line}: {fault.text}" for fault in game.faults],
    }


def _per_mille(reviewed: ReviewedGame, i: int) -> int:
    return round(1000 * expected_score(reviewed.scores[i]))


def _move(reviewed: ReviewedGame, i: int) -> dict[str, Any]:
    """A move: SAN, coordinates, placement after it, evaluation; mark, loss, better line and comment."""
    move, judgement = reviewed.game.moves[i], reviewed.judgements[i]
    found = {**_step(move), "e": reviewed.evaluation(i + 1), "w": _per_mille(reviewed, i + 1)}
    if judgement.mark:
        found |= {"m": judgement.mark, "l": round(100 * judgement.loss)}
        found["b"] = [_step(better) for better in reviewed.better[i]]
    comment = _COMMAND.sub("", move.comment).strip()
    if comment:
        found["c"] = comment
    return found


def _step(move: pgn.Move) -> dict[str, str]:
    text = "" if move.move == NO_MOVE else coordinate.write(move.move)
    return {"s": move.san, "u": text, "f": move.fen.split()[0]}
