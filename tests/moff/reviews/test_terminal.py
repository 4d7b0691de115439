"""`moff review` on a terminal."""

import re
from pathlib import Path

import pytest

from moff.reviews.reviewer import clock
from tests.terminal import shown

pytestmark = pytest.mark.slow


def test_a_bar_shows_the_games_done_and_the_time_left(tmp_path: Path) -> None:
    path, out = tmp_path / "games.pgn", tmp_path / "out.pgn"
    path.write_text(3 * "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 *\n\n", encoding="utf-8")
    text = shown("review", str(path), "--time", "0.1", "-o", str(out))  # of 33 positions
    assert min(re.findall(r"\[#+ *\] +\d+ %  [0-2]/3 games, (\d:\d\d) left", text)) <= "0:01"
    # The table stands on lines of its own.
    assert re.search(r"^game  White ", text.replace("\r\x1b[K", "\n"), re.MULTILINE)


def test_times_are_in_minutes_or_hours() -> None:
    assert [clock(seconds) for seconds in (0, 59.6, 61, 3600, 36_059)] == [
        "0:00", "1:00", "1:01", "1:00:00", "10:00:59",
    ]  # fmt: skip
