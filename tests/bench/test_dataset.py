"""bench/dataset.py and search/replay.py: what they read is what python-chess finds in the games."""

import importlib.util
import math
import re
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

import chess
import pytest

from search import replay
from search.nnue.network import SCALE
from search.replay import FIELDS, ROWS, Mixer
from tests.networks import zone
from tests.oracle import scaled
from tests.programs import run
from tests.stored import (
    Stored,
    game_of,
    games,
    make_block,
    make_file,
    make_games,
    make_pile,
    ranked,
    start_of,
)
from x88 import build

pytestmark = pytest.mark.slow

import dataset
import gamefile

KINDS = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]
POINTS = [1, 3, 3, 5, 9, 1]

needs_numpy = pytest.mark.skipif(
    importlib.util.find_spec("numpy") is None, reason="the tuning extra is not installed"
)


class Reference:
    """A position of a game, slowly."""

    def __init__(self, board: chess.Board, ply: int, score: int, game: Stored, move: chess.Move) -> None:
        self.ply = ply
        self.board = board.board_fen()
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
            768 * zone(king ^ flip ^ mirror)
            + 384 * (piece.color != side)
            + 64 * KINDS.index(piece.piece_type)
            + (square ^ flip ^ mirror)
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
    """The same of these positions."""
    return [
        (
            frozenset(row.own),
            frozenset(row.other),
            len(row.own),
            row.points,
            round(65535 * row.expected),
            row.result,
        )
        for row in rows
    ]


def filled(block: gamefile.Block, *arguments: Any, **options: Any) -> Mixer:
    """A mixer with the positions of a block."""
    mixer = Mixer(block.positions, *arguments, **options)
    mixer.add(block.inflated(), block.games)
    return mixer


@pytest.mark.parametrize("lookahead", [0.0, 0.7])
def test_positions_are_those_of_the_games(lookahead: float) -> None:
    block = make_block(5, 0, scaled(25, 8))
    every = references(games(block.inflated(), block.games), lookahead)
    chosen = [row for row in every if row.is_usable()]
    assert 0.2 * len(every) < len(chosen) < 0.9 * len(every)
    assert written(filled(block, 0, lookahead)) == wanted(chosen)
    for least, most in ((20, 31753), (0, 400), (30, 100)):
        kept = [row for row in chosen if row.ply >= least and abs(row.score) <= most]
        assert 0 < len(kept) < len(chosen)
        assert written(filled(block, 0, lookahead, least, most)) == wanted(kept)


def test_mixer_takes_all_positions_with_their_kinds() -> None:
    block = make_block(5, 0, scaled(20, 6))
    every = references(games(block.inflated(), block.games))
    mixer = filled(block, takes_all=True)
    assert written(mixer) == wanted(every)
    fields = list(mixer.fields)
    for n, row in enumerate(every):
        state = fields[FIELDS * n + replay.STATE]
        score = fields[FIELDS * n + replay.SCORE]
        assert (score ^ 0x8000) - 0x8000 == row.score
        assert state >> replay.PLY_SHIFT == row.ply
        flags = (replay.CHECKED, replay.TACTICAL, replay.REPEATED, replay.BLACK_MOVES)
        assert [state & flag != 0 for flag in flags] == [row.checked, row.tactical, row.repeated, row.black]


def test_mixer_gives_each_position_once_in_an_order_that_follows_from_the_seed() -> None:
    block = make_block(5, 0, scaled(20, 6))
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


def patched(text: bytes, at: int, *numbers: int) -> bytes:
    """The text with these bytes from there on."""
    return text[:at] + bytes(numbers) + text[at + len(numbers) :]


def test_mixer_refuses_impossible_games() -> None:
    block = make_block(5, 0, 4)
    text = block.inflated()
    plies = sum(len(made["moves"]) for made in make_games(4, 5000))
    for damaged, reason in (
        (text[:20], "the payload is too short"),
        (text[: 32 + plies - 1], "the payload is too short"),
        (text[:-1], "the payload is too short"),
        (text + b"\0", "1 bytes too many"),
        (patched(text, 32 + 3, 250), "game 0 of a block cannot be replayed beyond ply 3"),
        (patched(text, 0, *(960).to_bytes(2, "little")), "960"),
        (patched(text, 4, *(401).to_bytes(2, "little")), "game 0 of a block cannot be: 401 plies"),
    ):
        with pytest.raises(ValueError, match=reason):
            Mixer(block.positions, takes_all=True).add(damaged, 4)
    # Black wins by fool's mate.
    board = chess.Board()
    ranks = bytearray()
    for word in ("f2f3", "e7e5", "g2g4", "d8h4"):
        ranks.append(ranked(board).index(chess.Move.from_uci(word)))
        board.push_uci(word)
    mate = {"white": 518, "black": 518, "opening": 0, "moves": bytes(ranks), "scores": [0] * 4}
    won, drawn, lost = (gamefile.packed(0, 0, {}, [game_of({**mate, "result": n})]) for n in (2, 1, 0))
    for wrong in (won, drawn):
        with pytest.raises(ValueError, match="cannot be replayed beyond ply 4"):
            filled(wrong)
    mixer = filled(lost, takes_all=True)
    with pytest.raises(ValueError, match="no room for more than 10 positions"):
        Mixer(10, takes_all=True).add(text, 4)
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


def test_every_game_is_checked(tmp_path: Path) -> None:
    pile = make_pile(tmp_path / "pile", 2)
    stored = [place for name in "ab" for place in gamefile.scan(pile / f"{name}.moff")]
    positions = sum(place.positions for place in stored)
    assert run("dataset", pile, "--check").stdout == f"24 games, {positions} positions\n"
    assert run("dataset", pile, pile / "a.moff", "--check").stderr == ""
    copy = make_file(tmp_path / "copy.moff", *map(gamefile.read, stored[:2]))
    twice = run("dataset", pile, copy, "--check")
    assert twice.stdout == f"24 games, {positions} positions\n"
    assert twice.stderr == "skipped 2 repeated blocks\n"
    path = tmp_path / "other" / "a.moff"
    make_pile(path.parent, 1)
    namesakes = run("dataset", pile, path, "--check", code=2).stderr
    assert f"{pile / 'a.moff'} and {path} have one name" in namesakes
    data = (pile / "a.moff").read_bytes()
    (pile / "a.moff").write_bytes(patched(data, stored[0].end - 5, data[stored[0].end - 5] ^ 1))
    damaged = run("dataset", pile, "--check", code=1)
    assert damaged.stdout == f"18 games, {positions - stored[0].positions} positions\n"
    message = f"a.moff: skipped bytes 0 to {stored[0].end}: the checksum of a block is wrong\n"
    assert damaged.stderr.endswith(message)
    # A block that says of itself what its games do not.
    block = gamefile.read(stored[1])
    for positions, usable, reason in (
        (1, block.usable, "there is no room for more than 1 positions"),
        (9999, block.usable, f"has {block.positions} positions, not 9999"),
        (block.positions, block.positions, f"has {block.usable} usable positions, not {block.positions}"),
    ):
        path = make_file(
            tmp_path / f"wrong{positions}{usable}.moff", block._replace(positions=positions, usable=usable)
        )
        messages = run("dataset", path, "--check", code=2).stderr
        assert f"{path.name}, the block at byte 0" in messages
        assert reason in messages
    # A block that a run is writing is no damage.
    path = make_file(tmp_path / "growing.moff", block)
    path.write_bytes(path.read_bytes() + path.read_bytes()[:60])
    assert run("dataset", path, "--check").stderr == ""


@needs_numpy
def test_statistics_are_those_of_the_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pile = make_pile(tmp_path / "pile", 2)
    stored = [place for name in "ab" for place in gamefile.scan(pile / f"{name}.moff")]
    found = [game for place in stored for game in games(gamefile.read(place).inflated(), place.games)]
    every = references(found)

    def share(part: int, whole: int = len(every)) -> str:
        return f"{part} ({100 * part / whole:.1f} %)"

    text = run("dataset", pile, "--stats").stdout
    assert f"24 games, {len(every)} positions" in text
    assert '24 games: {"nodes": 7}' in text
    usual = sum(game.start == chess.Board() for game in found)
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
    monkeypatch.setattr(dataset, "ONE_IN", 1)
    block = gamefile.read(stored[0])
    path = make_file(tmp_path / "a.moff", block, block._replace(first=100))
    twice = 2 * references(games(block.inflated(), block.games))
    duplicates = 1 - len({(frozenset(row.own), frozenset(row.other)) for row in twice}) / len(twice)
    assert f"{'duplicates':27}{100 * duplicates:.1f} %" in dataset.statistics(dataset.Blocks([path]))
    assert dataset.Table(stored[0]).pieces.tolist() == [len(row.own) for row in twice[: len(twice) // 2]]


def stored_moves(white: int, black: int, line: str) -> dict[str, Any]:
    """A game of these moves from the start positions of these numbers, without random plies."""
    board, ranks = start_of(white, black), bytearray()
    for san in line.split():
        move = board.parse_san(san)
        ranks.append(ranked(board).index(move))
        board.push(move)
    scores = [0] * len(ranks)
    return {
        "white": white,
        "black": black,
        "opening": 0,
        "result": 1,
        "moves": bytes(ranks),
        "scores": scores,
    }


@needs_numpy
def test_hashes_differ_by_pieces_and_side_to_move(tmp_path: Path) -> None:
    """Starts of Chess960 occupy the same squares; a king that returns in three moves passes the move on."""
    line = "e3 Nf6 d3 Ng8 Kd2 Nf6 Ke2 Ng8 Ke1 Nf6"
    made = [stored_moves(518, 518, line)]
    for number in range(0, 960, 24):
        board = start_of(number, number)
        made.append(stored_moves(number, number, board.san(ranked(board)[0])))
    block = gamefile.packed(1, 0, {"nodes": 7}, [game_of(fields) for fields in made])
    place = dataset.Blocks([make_file(tmp_path / "a.moff", block)]).places[0]
    table = dataset.Table(place)
    shown = [(row.board, row.black) for row in references(games(block.inflated(), block.games))]
    keys = table.keys().tolist()
    assert len(set(keys)) == len(set(shown)) == len(shown)
    assert len({board for board, _ in shown}) < len(shown)
    assert len({key % 256 for key in keys}) > len(set(keys)) / 2, "a sample takes them by the last bits"
    assert table.pieces.tolist() == [32] * len(keys)


@needs_numpy
def test_the_blocks_of_a_sample_are_spread_over_all(tmp_path: Path) -> None:
    places = dataset.Blocks([make_pile(tmp_path / "pile", 3)]).places
    most = dataset.usable(places) // 2
    found = sum(map(len, dataset.batches(places, 1000, 0, dataset.Filters(), most)))
    assert found == dataset.usable(places[::2])


@needs_numpy
def test_stream_yields_each_position_once(tmp_path: Path) -> None:
    pile = dataset.Blocks([make_pile(tmp_path / "pile", 2)])
    whole = dataset.batches(pile.places, 1000, 0.7, dataset.Filters(), 10**9)
    total = sum(map(len, whole))
    assert total == dataset.usable(pile.places)

    def inputs(rows: list[Any]) -> Counter[tuple[Any, ...]]:
        return Counter(
            (frozenset(row.own[start:end].tolist()), float(row.expected[n]), float(row.points[n]))
            for row in rows
            for n, (start, end) in enumerate(zip(row.starts, [*row.starts[1:], len(row.own)], strict=True))
        )

    every = inputs(whole)
    for mixed in (10**6, 200):
        stream = list(dataset.Stream(pile.places, 32, "1", 0.7, mixed=mixed))
        assert len(stream) == total // 32
        assert inputs([rows for rows, _ in stream]) <= every
        shares = [share for _, share in stream]
        assert shares == sorted(shares)
        assert 0 < shares[0] < 0.2
        assert shares[-1] == pytest.approx(1, abs=0.05)
        again = dataset.Stream(pile.places, 32, "1", 0.7, mixed=mixed)
        assert all((a.own == b.own).all() for (a, _), (b, _) in zip(stream, again, strict=True))
    strict = list(dataset.Stream(pile.places, 32, "1", 0.0, dataset.Filters(20, 300)))
    assert 0 < len(strict) < len(stream)
    assert strict[-1][1] == pytest.approx(1, abs=0.1)


@needs_numpy
def test_blocks_set_aside_stay_aside_when_the_files_grow(tmp_path: Path) -> None:
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
def test_rare_numbers_of_pieces_count_more(tmp_path: Path) -> None:
    pile = dataset.Blocks([make_pile(tmp_path / "pile", 2)])
    rows = dataset.batches(pile.places, 1000, 0, dataset.Filters())
    counts = Counter(int(pieces) for batch in rows for pieces in batch.pieces)
    total = sum(counts.values())
    flat, half, steep = (dataset.weights(pile.places, strength) for strength in (0, 0.5, 1))
    for found in (flat, half, steep):
        mean = sum(found[pieces] * count for pieces, count in counts.items()) / total
        assert mean == pytest.approx(1, rel=0.01)
        assert found.max() <= 4.01
    assert all(flat[pieces] == pytest.approx(1) for pieces in counts)
    rare, common = min(counts, key=lambda n: counts[n]), max(counts, key=lambda n: counts[n])
    assert flat[rare] < half[rare] <= steep[rare]
    assert steep[common] < half[common] < flat[common]
    both = [pieces for pieces in counts if steep[pieces] < 3.9]
    assert steep[both[0]] * counts[both[0]] == pytest.approx(steep[both[-1]] * counts[both[-1]], rel=0.01)
