"""bench/dataset.py and search/replay.py: what they read is what python-chess finds in the games."""

import importlib
import math
import re
import subprocess
import sys
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

import chess
import pytest

from search import replay
from search.nnue.network import SCALE
from search.replay import FIELDS, ROWS, Mixer
from tests import ROOT
from tests.bench.test_gamefile import game_of, make_file
from tests.oracle import scaled
from tests.stored import Stored, games, make_games, ranked
from x88 import build

pytestmark = pytest.mark.slow

BENCH = ROOT / "bench"
import dataset
import gamefile

KINDS = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]
POINTS = [1, 3, 3, 5, 9, 1]

needs_numpy = pytest.mark.skipif(
    importlib.util.find_spec("numpy") is None, reason="the tuning extra is not installed"
)


def make_block(first: int, count: int, seed: int = 5) -> Any:
    """A block of random games."""
    return gamefile.packed(seed, first, {}, [game_of(made, 1) for made in make_games(count, seed + first)])


class Reference:
    """A position of a game, slowly."""

    def __init__(self, board: chess.Board, ply: int, score: int, game: Stored, move: chess.Move) -> None:
        self.ply = ply
        self.black = board.turn == chess.BLACK
        self.score = -score if self.black else score
        self.result = 2 - game.result if self.black else game.result
        self.checked = board.is_check()
        self.tactical = board.is_capture(move) or move.promotion is not None
        self.repeated = board.is_repetition(2)
        self.own, self.other = (self._inputs(board, side) for side in (board.turn, not board.turn))
        self.points = sum(POINTS[KINDS.index(piece.piece_type)] for piece in board.piece_map().values())
        self.expected = 0.0

    def _inputs(self, board: chess.Board, side: bool) -> set[int]:
        """The inputs of a perspective, as search/nnue/network.py describes them."""
        flip = 0 if side else 56
        king = board.king(side)
        assert king is not None
        mirror = 7 if chess.square_file(king) < 4 else 0
        return {
            384 * (piece.color != side) + 64 * KINDS.index(piece.piece_type) + (square ^ flip ^ mirror)
            for square, piece in board.piece_map().items()
        }

    def is_usable(self) -> bool:
        return not (self.checked or self.tactical or self.repeated) and abs(self.score) < 31754


def references(found: list[Stored], lookahead: float = 0.0) -> list[Reference]:
    """All positions of games."""
    every = []
    for game in found:
        board = game.start.copy()
        rows = []
        for ply, move in enumerate(game.moves):
            if ply >= game.opening:
                rows.append(Reference(board, ply, game.scores[ply - game.opening], game, move))
            board.push(move)
        value = game.result / 2
        for row in reversed(rows):
            white = -row.score if row.black else row.score
            value = (1 - lookahead) / (1 + math.exp(-white / SCALE)) + lookahead * value
            row.expected = 1 - value if row.black else value
        every += rows
    return every


def written(mixer: Mixer, taken: bool = False) -> list[tuple[Any, ...]]:
    """The positions of a mixer as a network takes them: inputs, pieces, material, expected, result."""
    size = mixer.count
    own, other, rows = (array("i", bytes(4 * n * size)) for n in (32, 32, ROWS))
    end = mixer.take(size, own, other, rows) if taken else mixer.show(0, size, own, other, rows)
    found = []
    for n in range(size):
        start, pieces, material, expected, result = rows[ROWS * n : ROWS * n + ROWS]
        last = rows[ROWS * (n + 1)] if n + 1 < size else end
        assert last - start == pieces
        inputs = frozenset(own[start:last]), frozenset(other[start:last])
        found.append((*inputs, pieces, material, expected, result))
    return found


def wanted(rows: list[Reference]) -> list[tuple[Any, ...]]:
    return [
        (
            frozenset(row.own),
            frozenset(row.other),
            len(row.own),
            row.points,
            int(65535 * row.expected + 0.5),
            row.result,
        )
        for row in rows
    ]


@pytest.mark.parametrize("lookahead", [0.0, 0.7])
def test_positions_are_those_of_the_games(lookahead: float) -> None:
    block = make_block(0, scaled(60, 8))
    every = references(games(block.inflated(), block.games), lookahead)
    mixer = Mixer(block.positions, 0, lookahead)
    mixer.add(block.inflated(), block.games)
    chosen = [row for row in every if row.is_usable()]
    assert 0.2 * len(every) < len(chosen) < 0.9 * len(every)
    assert written(mixer) == wanted(chosen)
    for least, most in ((20, 31753), (0, 400), (30, 100)):
        mixer = Mixer(block.positions, 0, lookahead, least, most)
        mixer.add(block.inflated(), block.games)
        kept = [row for row in chosen if row.ply >= least and abs(row.score) <= most]
        assert 0 < len(kept) < len(chosen)
        assert written(mixer) == wanted(kept)


def test_all_positions_are_there_with_their_kinds() -> None:
    block = make_block(0, scaled(40, 6))
    every = references(games(block.inflated(), block.games))
    mixer = Mixer(block.positions, takes_all=True)
    mixer.add(block.inflated(), block.games)
    assert written(mixer) == wanted(every)
    fields = list(mixer.fields)
    for n, row in enumerate(every):
        state = fields[FIELDS * n + replay.STATE]
        score = fields[FIELDS * n + replay.SCORE]
        assert (score ^ 0x8000) - 0x8000 == row.score
        assert state >> replay.PLY_SHIFT == row.ply
        flags = (replay.CHECKED, replay.TACTICAL, replay.REPEATED, replay.BLACK_MOVES)
        assert [state & flag != 0 for flag in flags] == [row.checked, row.tactical, row.repeated, row.black]


def test_each_position_is_taken_once_in_an_order_that_follows_from_the_seed() -> None:
    block = make_block(0, scaled(40, 6))
    orders = []
    for seed in (1, 1, 2):
        mixer = Mixer(2 * block.positions, seed)
        mixer.add(block.inflated(), block.games)
        given = written(mixer)
        mixer.add(block.inflated(), block.games)
        orders.append(written(mixer, taken=True))
        assert mixer.count == 0
        assert Counter(orders[-1]) == Counter(given + given)
        assert orders[-1] != given + given
    assert orders[0] == orders[1] != orders[2]
    places = {position: n for n, position in enumerate(given)}
    gaps = [abs(places[a] - places[b]) for a, b in zip(orders[0], orders[0][1:], strict=False)]
    assert sum(gaps) / len(gaps) > 0.25 * len(given), "neighbours in a game do not stay neighbours"


def test_games_that_cannot_be_are_refused() -> None:
    block = make_block(0, 4)
    text = block.inflated()
    mixer = Mixer(block.positions, takes_all=True)
    plies = sum(len(made["moves"]) for made in make_games(4, 5))
    illegal = bytearray(text)
    illegal[32 + 3] = 250
    wrong_start = bytearray(text)
    wrong_start[0:2] = (960).to_bytes(2, "little")
    too_long = bytearray(text)
    too_long[4:6] = (401).to_bytes(2, "little")
    for damaged, said in (
        (text[:20], "the payload is too short"),
        (text[: 32 + plies - 1], "the payload is too short"),
        (text[:-1], "the payload is too short"),
        (text + b"\0", "1 bytes too many"),
        (bytes(illegal), "game 0 of a block cannot be replayed beyond ply 3"),
        (bytes(wrong_start), "960"),
        (bytes(too_long), "game 0 of a block cannot be: 401 plies"),
    ):
        with pytest.raises(ValueError, match=said):
            Mixer(block.positions, takes_all=True).add(damaged, 4)
    for number, outcome in ((0, 2), (1, 0), (2, 1)):
        # Fool's mate, as won for White and so on: Black has won.
        line = ["f2f3", "e7e5", "g2g4", "d8h4"]
        board = chess.Board()
        ranks = bytearray()
        for word in line:
            ranks.append(ranked(board).index(chess.Move.from_uci(word)))
            board.push_uci(word)
        made = {"white": 518, "black": 518, "opening": 0, "result": outcome, "moves": bytes(ranks)}
        mated = gamefile.packed(number, 0, {}, [game_of({**made, "scores": [0] * 4})])
        if outcome == 0:
            mixer.add(mated.inflated(), 1)
        else:
            with pytest.raises(ValueError, match="cannot be replayed beyond ply 4"):
                mixer.add(mated.inflated(), 1)
    full = Mixer(10, takes_all=True)
    with pytest.raises(ValueError, match="no room for more than 10 positions"):
        full.add(text, 4)
    size = mixer.count
    short = array("i", bytes(4 * 32 * size - 4))
    enough = array("i", bytes(4 * 32 * size))
    for own, other, rows in ((short, enough, enough), (enough, short, enough), (enough, enough, short[:3])):
        with pytest.raises(ValueError, match="no room"):
            mixer.take(size, own, other, rows)
    with pytest.raises(ValueError, match="there are"):
        mixer.take(size + 1, enough, enough, enough)
    with pytest.raises(ValueError, match="there are"):
        mixer.show(1, size, enough, enough, enough)
    if build.compiled:
        with pytest.raises(ValueError, match="items of 8 bytes"):
            mixer.show(0, size, array("q", bytes(8 * 32 * size)), enough, enough)


# --- The programs


def make_pile(folder: Path, count: int, size: int = 6, plies: int = 100) -> Path:
    """A folder with two files of random games, whose usable positions are counted."""
    folder.mkdir(exist_ok=True)
    for name, seed in (("a", 1), ("b", 2)):
        made = []
        for first in range(0, count * size, size):
            found = make_games(size, 1000 * seed + first, plies)
            block = gamefile.packed(seed, first, {"nodes": 7}, [game_of(fields) for fields in found])
            mixer = Mixer(block.positions)
            mixer.add(block.inflated(), block.games)
            made.append(block._replace(usable=mixer.count))
        make_file(folder / f"{name}.moff", *made)
    return folder


def run(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run dataset.py."""
    command = [sys.executable, str(BENCH / "dataset.py"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def test_every_game_is_checked(tmp_path: Path) -> None:
    pile = make_pile(tmp_path / "pile", 2)
    stored = [place for name in "ab" for place in gamefile.scan(pile / f"{name}.moff")]
    positions = sum(place.positions for place in stored)
    assert run(pile, "--check").stdout == f"24 games, {positions} positions\n"
    assert run(pile, pile / "a.moff", "--check").stderr == ""
    copy = tmp_path / "copy.moff"
    copy.write_bytes((pile / "a.moff").read_bytes())
    twice = run(pile, copy, "--check")
    assert twice.stdout == f"24 games, {positions} positions\n"
    assert twice.stderr == "skipped 2 repeated blocks\n"
    data = bytearray((pile / "a.moff").read_bytes())
    data[stored[0].end - 5] ^= 1
    (pile / "a.moff").write_bytes(data)
    damaged = run(pile, "--check", code=1)
    assert damaged.stdout == f"18 games, {positions - stored[0].positions} positions\n"
    told = f"a.moff: skipped bytes 0 to {stored[0].end}: the checksum of a block is wrong\n"
    assert damaged.stderr.endswith(told)
    # A block that says of itself what its games do not.
    block = gamefile.read(stored[1])
    for wrong, said in (
        (block._replace(positions=1), ": there is no room for more than 1 positions"),
        (block._replace(positions=9999), f" has {block.positions} positions, not 9999"),
        (
            block._replace(usable=block.positions),
            f" has {block.usable} usable positions, not {block.positions}",
        ),
    ):
        path = tmp_path / f"wrong{wrong.positions}{wrong.usable}.moff"
        make_file(path, wrong)
        assert f"{path.name}, the block at byte 0{said}" in run(path, "--check", code=2).stderr
    # What a run is writing is no damage.
    path = make_file(tmp_path / "growing.moff", block)
    path.write_bytes(path.read_bytes() + path.read_bytes()[:60])
    assert run(path, "--check").stderr == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--check"], "PATH"),
        (["nowhere.moff", "--check"], "nowhere.moff"),
        ([".", "--check"], ". holds no file *.moff"),
        (["."], "--check"),
        ([str(BENCH / "script.py"), "--check"], "script.py is not a file of games"),
    ],
)
def test_wrong_usage_ends_with_2(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said in run(*words, code=2).stderr


@needs_numpy
def test_the_statistics_are_those_of_the_games(tmp_path: Path) -> None:
    pile = make_pile(tmp_path / "pile", 2)
    every = []
    usual = 0
    for name in "ab":
        for place in gamefile.scan(pile / f"{name}.moff"):
            found = games(gamefile.read(place).inflated(), place.games)
            every += references(found)
            usual += sum(game.start == chess.Board() for game in found)
    text = run(pile, "--stats").stdout

    def share(part: int, whole: int = len(every)) -> str:
        return f"{part} ({100 * part / whole:.1f} %)"

    assert f"24 games, {len(every)} positions" in text
    assert '24 games: {"nodes": 7}' in text
    assert f"standard chess: {share(usual, 24)} of the games" in text
    for name, count in (
        ("usable", sum(row.is_usable() for row in every)),
        ("in check", sum(row.checked for row in every)),
        ("best move is tactical", sum(row.tactical for row in every)),
        ("repeats an earlier one", sum(row.repeated for row in every)),
        ("mate score", sum(abs(row.score) >= 31754 for row in every)),
    ):
        assert f"{name:27}{share(count)}" in text
    assert re.search(r"^duplicates +[0-9.]+ % \(of a sample\)$", text, re.MULTILINE)


@needs_numpy
def test_a_stream_yields_each_position_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pile = dataset.Blocks([make_pile(tmp_path / "pile", scaled(6, 2))])
    whole = dataset.batches(pile.places, 1000, 0.7, dataset.Filters(), 10**9)
    total = sum(map(len, whole))
    assert total == dataset.usable(pile.places)

    def inputs(rows: list[Any]) -> Counter[tuple[Any, ...]]:
        found: Counter[tuple[Any, ...]] = Counter()
        for row in rows:
            ends = [*row.starts[1:], len(row.own)]
            for n, (start, end) in enumerate(zip(row.starts, ends, strict=True)):
                found[
                    frozenset(row.own[start:end].tolist()), float(row.expected[n]), float(row.points[n])
                ] += 1
        return found

    every = inputs(whole)
    for mixed in (10**6, 200):
        monkeypatch.setattr(dataset, "MIXED", mixed)
        stream = list(dataset.Stream(pile.places, 32, "1", 0.7))
        assert len(stream) == total // 32
        found = inputs([rows for rows, _ in stream])
        assert found <= every
        shares = [share for _, share in stream]
        assert shares == sorted(shares)
        assert 0 < shares[0] < 0.2
        assert shares[-1] == pytest.approx(1, abs=0.05)
        again = dataset.Stream(pile.places, 32, "1", 0.7)
        assert all((a.own == b.own).all() for (a, _), (b, _) in zip(stream, again, strict=True))
    strict = list(dataset.Stream(pile.places, 32, "1", 0.0, dataset.Filters(20, 300)))
    assert 0 < len(strict) < len(stream)
    assert strict[-1][1] == pytest.approx(1, abs=0.1)


@needs_numpy
def test_what_is_set_aside_stays_aside_when_the_files_grow(tmp_path: Path) -> None:
    folder = make_pile(tmp_path / "pile", 3)
    whole = dataset.Blocks([folder])
    trained, aside = whole.split(0.3)
    assert len(trained) + len(aside) == 6
    assert trained
    assert aside
    small = dataset.Blocks([folder], {"a.moff": whole.places[1].end})
    assert [place.first for place in small.places] == [0, 6]
    if any(place in aside for place in small.places):
        assert set(small.split(0.3)[1]) == {place for place in small.places if place in aside}
    (only,) = dataset.Blocks([folder], {"a.moff": whole.places[0].end}).split(0.01)[1]
    assert only == whole.places[0]


@needs_numpy
def test_duplicates_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "ONE_IN", 1)
    made = [game_of(fields) for fields in make_games(8, 3)]
    path = make_file(
        tmp_path / "a.moff", gamefile.packed(1, 0, {}, made), gamefile.packed(1, 8, {}, made[:4])
    )
    every = references(games(gamefile.packed(1, 0, {}, made).inflated(), 8))
    every += references(games(gamefile.packed(1, 0, {}, made[:4]).inflated(), 4))
    share = 1 - len({(frozenset(row.own), frozenset(row.other)) for row in every}) / len(every)
    assert f"{'duplicates':27}{100 * share:.1f} %" in dataset.statistics(dataset.Blocks([path]))


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    one, other = (make_pile(tmp_path / name, 1) for name in ("one", "other"))
    assert (
        f"{one / 'a.moff'} and {other / 'a.moff'} have one name" in run(one, other, "--check", code=2).stderr
    )


@needs_numpy
def test_rare_numbers_of_pieces_count_more(tmp_path: Path) -> None:
    pile = dataset.Blocks([make_pile(tmp_path / "pile", scaled(6, 2))])
    counts = Counter(
        int(pieces)
        for rows in dataset.batches(pile.places, 1000, 0, dataset.Filters())
        for pieces in rows.pieces
    )
    total = sum(counts.values())
    flat, half, steep = (dataset.weights(pile.places, strength) for strength in (0, 0.5, 1))
    for found in (flat, half, steep):
        assert sum(found[pieces] * count for pieces, count in counts.items()) == pytest.approx(
            total, rel=0.01
        )
        assert found.max() <= 4.01
    assert all(flat[pieces] == pytest.approx(1) for pieces in counts)
    rare, common = min(counts, key=lambda n: counts[n]), max(counts, key=lambda n: counts[n])
    assert flat[rare] < half[rare] <= steep[rare]
    assert steep[common] < half[common] < flat[common]
    both = [pieces for pieces in counts if steep[pieces] < 3.9]
    assert steep[both[0]] * counts[both[0]] == pytest.approx(steep[both[-1]] * counts[both[-1]], rel=0.01)
