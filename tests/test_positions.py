"""bench/positions.py: records as python-chess sees the games, filters, shuffles, files that are refused."""

import importlib
import math
import re
import signal
import subprocess
import sys
from array import array
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import chess
import pytest

from search.network import REPORTED_SCALE
from x88 import coordinate, fen
from x88.game import OngoingGame
from x88.move import CASTLING, EN_PASSANT
from x88.movegen import legal_moves

np: Any = pytest.importorskip("numpy", reason="the tuning extra is not installed")

SCRIPT = Path(__file__).resolve().parent.parent / "bench" / "positions.py"

sys.path.append(str(SCRIPT.parent))
gamefile: Any = importlib.import_module("gamefile")
positions: Any = importlib.import_module("positions")
recordfile: Any = importlib.import_module("recordfile")

STARTS = [
    "",
    "r3k2r/1P4p1/8/2pPp3/5P2/8/1p4P1/R3K2R w KQkq c6 0 20",
    "r3k2r/1P4p1/8/4p3/2pPpP2/8/1p4P1/R3K2R b KQkq d3 0 20",
    "8/1P4P1/8/k7/7K/8/1p4p1/8 w - - 97 90",
    "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
]
EVERYTHING = positions.Filters(keep_checks=True, keep_tactical=True, keep_repeated=True, max_score=32768)


def random_game(number: int, start: str = "", plies: int = 60) -> Any:
    """A game of random moves and scores, with castling and en passant wherever they are possible."""
    chance = Random(f"{number} {start}")
    game = OngoingGame(start or fen.START)
    moves = bytearray()
    while len(moves) < plies and not game.is_over():
        legal = legal_moves(game.board)
        move = chance.choice([move for move in legal if move & (CASTLING | EN_PASSANT)] or legal)
        moves.append(gamefile.index_of(game.board, move))
        game.play(move)
    scored = max(0, len(moves) - number % 5)
    scores = array("h", (chance.choice([chance.randint(-900, 900), 31990, -32768]) for _ in range(scored)))
    bounds = bytes(chance.randint(0, 1) for _ in range(scored))
    return gamefile.Game(number, start, bytes(moves), scores, bounds, chance.randint(0, 2))


def game_of(text: str, result: int = 1) -> Any:
    """The game of these moves from the start position; the score of each is its number."""
    game = OngoingGame()
    moves = bytearray()
    for word in text.split():
        move = coordinate.parse(game.board, word)
        moves.append(gamefile.index_of(game.board, move))
        game.play(move)
    scores = array("h", range(len(moves)))
    return gamefile.Game(0, "", bytes(moves), scores, bytes(len(moves)), result)


def write(path: Path, games: list[Any], seed: int = 1) -> Path:
    """A file of games, a few in each block."""
    with gamefile.GameFile(path) as file:
        for first in range(0, len(games), 3):
            file.add(gamefile.Block(seed, {"nodes": 1}, games[first : first + 3]))
    return path


@pytest.fixture(scope="module")
def games() -> list[Any]:
    """Games of all kinds."""
    return [random_game(number, start) for number, start in enumerate(4 * STARTS)]


@pytest.fixture
def path(tmp_path: Path, games: list[Any]) -> Path:
    """Their file."""
    return write(tmp_path / "games.moff", games)


def rows(records: Any) -> Counter[bytes]:
    """How often each record is there."""
    return Counter(record.tobytes() for record in records)


def test_a_record_has_32_bytes() -> None:
    assert recordfile.RECORD.itemsize == 32


def test_records_are_what_python_chess_sees(games: list[Any]) -> None:
    seen: Counter[str] = Counter()
    for game in games:
        records = recordfile.expand([game])
        assert len(records) == len(game.scores)
        board = chess.Board(game.start or chess.STARTING_FEN)
        opening = len(game.moves) - len(game.scores)
        for ply, (_, packed) in enumerate(gamefile.replay(game)):
            move = chess.Move.from_uci(coordinate.write(packed))
            if ply >= opening:
                record = records[ply - opening]
                score = game.scores[ply - opening]
                white = board.turn == chess.WHITE
                assert recordfile.write_fen(record).split()[:5] == board.fen(en_passant="legal").split()[:5]
                assert record["score"] == (score if white or score == gamefile.NO_SCORE else -score)
                told = int(record["move"])
                assert (told & 63, told >> 6 & 63) == (move.from_square, move.to_square)
                assert told >> 12 == (move.promotion - 1 if move.promotion else 0)
                state = int(record["state"])
                facts = {
                    "black": (recordfile.BLACK_TO_MOVE, not white),
                    "check": (recordfile.IN_CHECK, board.is_check()),
                    "tactical": (recordfile.TACTICAL, board.is_capture(move) or move.promotion is not None),
                    "checks": (recordfile.GIVES_CHECK, board.gives_check(move)),
                    "repeated": (recordfile.REPEATED, board.is_repetition(2)),
                    "bound": (recordfile.LOWER_BOUND, game.bounds[ply - opening] == 1),
                }
                for name, (bit, fact) in facts.items():
                    assert (state & bit != 0) == fact, (name, board.fen(), move)
                    seen[name] += fact
                assert state >> recordfile.RESULT_SHIFT & 3 == (game.result if white else 2 - game.result)
                assert int(record["counts"]) & 511 == ply
                seen["castles"] += board.is_castling(move)
                seen["en passant"] += board.is_en_passant(move)
                seen["may take"] += board.has_legal_en_passant()
                seen["promotes"] += move.promotion is not None
            board.push(move)
    assert all(seen[name] for name in ("check", "tactical", "checks", "bound", "promotes")), seen
    assert all(seen[name] for name in ("castles", "en passant", "may take")), seen


def test_castling_en_passant_promotion_and_repetition_are_followed() -> None:
    for text, last in (
        ("g1f3 g8f6 g2g3 g7g6 f1g2 f8g7 e1g1 e8g8 d2d4", "rnbq1rk1/ppppppbp/5np1/8/8/5NP1/PPPPPPBP/RNBQ1RK1"),
        (
            "d2d4 d7d5 c1f4 c8f5 b1c3 b8c6 d1d2 d8d7 e1c1 e8c8 g1f3",
            "2kr1bnr/pppqpppp/2n5/3p1b2/3P1B2/2N5/PPPQPPPP/2KR1BNR",
        ),
        (
            "e2e4 a7a6 e4e5 d7d5 e5d6 h7h6 d6c7 g7g6 c7b8n g8f6",
            "rNbqkbnr/1p2pp2/p5pp/8/8/8/PPPP1PPP/RNBQKBNR",
        ),
        (
            "h2h3 d7d5 h3h4 d5d4 e2e4 d4e3 a2a3 e3f2 e1f2 a7a6",
            "rnbqkbnr/ppp1pppp/8/8/7P/P7/1PPP1KP1/RNBQ1BNR",
        ),
    ):
        records = recordfile.expand([game_of(text)])
        assert recordfile.write_fen(records[-1]).split()[0] == last
    records = recordfile.expand([game_of("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6")])
    assert (records["state"] & recordfile.REPEATED != 0).tolist() == [False] * 4 + [True] * 2


def test_packing_is_undone_by_unpacking() -> None:
    chance = np.random.default_rng(0)
    cells = np.full((200, 64), recordfile.VACANT, np.uint8)
    for row in range(200):
        squares = chance.permutation(64)[: row % 33]
        cells[row, squares] = chance.choice([0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13], len(squares))
    assert (recordfile.unpack(recordfile.pack(cells)) == cells).all()


def test_filters_leave_out_what_they_name(games: list[Any]) -> None:
    every = recordfile.expand(games)
    assert (EVERYTHING.select(every) == (every["score"] != gamefile.NO_SCORE)).all()
    records = scored(games)
    assert 0 < len(records) < len(every)
    for name, bit in (
        ("keep_checks", recordfile.IN_CHECK),
        ("keep_tactical", recordfile.TACTICAL),
        ("keep_repeated", recordfile.REPEATED),
    ):
        keeping = {"keep_checks": True, "keep_tactical": True, "keep_repeated": True, name: False}
        kept = positions.Filters(**keeping, max_score=32768).select(records)
        assert (kept == (records["state"] & bit == 0)).all()
    everything = {"keep_checks": True, "keep_tactical": True, "keep_repeated": True}
    kept = positions.Filters(**everything, max_score=32768, drop_bounds=True).select(records)
    assert (kept == (records["state"] & recordfile.LOWER_BOUND == 0)).all()
    kept = positions.Filters(**everything).select(records)
    assert (kept == (abs(records["score"].astype(int)) < 31000)).all()
    assert 0 < kept.sum() < len(records)
    kept = positions.Filters(**everything, max_score=300).select(records)
    assert (kept == (abs(records["score"].astype(int)) <= 300)).all()
    kept = positions.Filters(**everything, max_score=32768, min_ply=30).select(records)
    assert (kept == (records["counts"] & 511 >= 30)).all()


def test_a_shuffle_keeps_every_record_that_passes(path: Path, games: list[Any], tmp_path: Path) -> None:
    out, again, other = (tmp_path / name for name in ("out", "again", "other"))
    assert positions.main([str(path), "--shuffle", str(out)]) == 0
    records = recordfile.expand(games)
    expected = records[positions.Filters().select(records)]
    assert rows(recordfile.load(out)) == rows(expected)
    assert recordfile.load(out).tobytes() != expected.tobytes()
    assert positions.main([str(path), "--shuffle", str(again), "--concurrency", "2"]) == 0
    assert again.read_bytes() == out.read_bytes()
    assert positions.main([str(path), "--shuffle", str(other), "--seed", "1"]) == 0
    assert rows(recordfile.load(other)) == rows(expected)
    assert other.read_bytes() != out.read_bytes()
    assert {file.name for file in tmp_path.iterdir()} == {path.name, "out", "again", "other"}


def test_a_shuffle_of_several_pieces_is_whole(
    path: Path, games: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordfile, "CHUNK", 7)
    monkeypatch.setattr(recordfile, "CHUNK", 7)
    out = tmp_path / "out"
    assert positions.main([str(path), "--shuffle", str(out), *KEEP]) == 0
    assert rows(recordfile.load(out)) == rows(scored(games))


@pytest.mark.parametrize("name", ["add", "finish"])
def test_two_files_are_written_together_or_not_at_all(
    name: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, aside = tmp_path / "out", tmp_path / "aside"
    words = [str(path), "--shuffle", str(out), "--validation", str(aside)]
    usual = getattr(recordfile.RecordFile, name)

    def failing(file: Any, *records: Any) -> None:
        if file._path == aside:
            raise OSError("no space left")
        usual(file, *records)

    with monkeypatch.context() as patch:
        patch.setattr(recordfile.RecordFile, name, failing)
        assert positions.main(words) == 2
    assert capsys.readouterr().err == "no space left\n"
    assert list(tmp_path.iterdir()) == [path]
    assert positions.main(words) == 0


LIMITED = """
import resource, sys
limit = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
import positions
sys.exit(positions.main())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_disk_that_is_full_at_any_time_leaves_nothing_behind(path: Path, tmp_path: Path) -> None:
    out, aside = tmp_path / "out", tmp_path / "aside"
    words = [str(path), "--shuffle", str(out), "--validation", str(aside), "--share", "0.4"]
    codes = set()
    for limit in (10, 100, 4096, 5000, 9000, 12_000, 1 << 20):
        ended = subprocess.run(
            [sys.executable, "-c", LIMITED, str(limit), *words],
            cwd=Path(recordfile.__file__).parent,
            capture_output=True,
            encoding="utf-8",
        )
        codes.add(ended.returncode)
        left = {file.name for file in tmp_path.iterdir()} - {path.name}
        assert left == ({"out", "aside"} if ended.returncode == 0 else set()), ended.stderr
        assert "Traceback" not in ended.stderr
    assert codes == {0, 2}


@pytest.mark.skipif(sys.platform == "win32", reason="there SIGTERM ends the process at once")
def test_a_termination_leaves_no_half_written_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recordfile.RecordFile, "add", lambda *_: signal.raise_signal(signal.SIGTERM))
    assert positions.main([str(path), "--shuffle", str(tmp_path / "out")]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")
    assert list(tmp_path.iterdir()) == [path]


def scored(games: list[Any]) -> Any:
    """The records of games with a score."""
    records = recordfile.expand(games)
    return records[records["score"] != gamefile.NO_SCORE]


KEEP = ["--keep-checks", "--keep-tactical", "--keep-repeated", "--max-score", "32768"]


def test_validation_holds_whole_games(path: Path, games: list[Any], tmp_path: Path) -> None:
    out, aside = tmp_path / "out", tmp_path / "aside"
    words = ["--shuffle", str(out), "--validation", str(aside), "--share", "0.4", *KEEP]
    assert positions.main([str(path), *words]) == 0
    block = gamefile.Block(1, {}, [])
    chosen = [game for game in games if positions.is_held_out(block, game, 0.4)]
    assert 0 < len(chosen) < len(games)
    assert rows(recordfile.load(aside)) == rows(scored(chosen))
    assert rows(recordfile.load(aside)) + rows(recordfile.load(out)) == rows(scored(games))


def test_a_score_that_looks_ahead_blends_those_of_the_rest_of_the_game(games: list[Any]) -> None:
    records = recordfile.expand(games)
    found = positions.looked_ahead(records, [len(game.scores) for game in games], 0.8, 267)
    i = 0
    for game in games:
        expected = game.result / 2  # White's
        wanted = []
        for score in reversed(game.scores):
            if score != gamefile.NO_SCORE:
                expected = 0.2 / (1 + math.exp(-score / 267)) + 0.8 * expected
            wanted.append(expected)
        for score, expected in zip(game.scores, reversed(wanted), strict=True):
            black = int(records[i]["state"]) & recordfile.BLACK_TO_MOVE
            if score in (gamefile.NO_SCORE, 31990):
                assert found[i] == records[i]["score"]
            else:
                own = 1 - expected if black else expected
                assert found[i] == pytest.approx(267 * math.log(own / (1 - own)), abs=0.51)
            i += 1
    assert i == len(records)


def test_a_score_that_looks_ahead_is_bounded() -> None:
    games = [game_of("e2e4 e7e5", result)._replace(scores=array("h", [30_000] * 2)) for result in (1, 2)]
    found = positions.looked_ahead(recordfile.expand(games), [2, 2], 0.5, 400)
    # Drawn: 7/8 and 3/4 of a point for White; won: as much as can be told.
    most = round(400 * math.log((1 - positions.LEAST_EXPECTED) / positions.LEAST_EXPECTED))
    assert found.tolist() == [round(400 * math.log(7)), -round(400 * math.log(3)), most, -most]


def test_a_score_that_looks_ahead_stays_below_the_mates_on_every_scale() -> None:
    game = game_of("e2e4 e7e5", 2)._replace(scores=array("h", [0, 1]))
    found = positions.looked_ahead(recordfile.expand([game]), [2], 0.5, 100_000)
    assert found.tolist() == [recordfile.MATES - 1, 1 - recordfile.MATES]
    mate = recordfile.expand([game_of("e2e4", 0)._replace(scores=array("h", [31_000]))])
    assert positions.looked_ahead(mate, [1], 0.5, 1).tolist() == [31_000]
    assert pytest.approx(1e-5) == positions.LEAST_EXPECTED


def test_games_without_a_score_do_not_shift_those_that_look_ahead() -> None:
    one = game_of("e2e4", 2)
    empty = one._replace(scores=array("h"), bounds=b"")
    games = [empty, one, empty, one._replace(result=0)]
    assert positions.looked_ahead(recordfile.expand(games), [0, 1, 0, 1], 0.5, 400).tolist() == [439, -439]
    assert positions.looked_ahead(recordfile.expand([empty]), [0], 0.5, 400).tolist() == []


def test_the_filters_see_the_score_of_the_search(tmp_path: Path) -> None:
    path = write(tmp_path / "a.moff", [game_of("e2e4 e7e5", 2)._replace(scores=array("h", [100, 30_000]))])
    words = [str(path), "--shuffle", str(tmp_path / "out")]
    assert positions.main([*words, "--lookahead", "0.9", "--max-score", "500"]) == 0
    expected = 0.1 / (1 + math.exp(-100 / REPORTED_SCALE)) + 0.9  # won in the end
    score = round(REPORTED_SCALE * math.log(expected / (1 - expected)))
    assert recordfile.load(tmp_path / "out")["score"].tolist() == [score]
    assert positions.main(words) == 0
    assert sorted(recordfile.load(tmp_path / "out")["score"].tolist()) == [-30_000, 100]


def test_a_shuffle_looks_ahead_before_it_filters(path: Path, games: list[Any], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert positions.main([str(path), "--shuffle", str(out), "--lookahead", "0.7", "--scale", "300"]) == 0
    records = recordfile.expand(games)
    kept = positions.Filters().select(records)
    records["score"] = positions.looked_ahead(records, [len(game.scores) for game in games], 0.7, 300)
    assert rows(recordfile.load(out)) == rows(records[kept])


def test_the_moves_of_a_game_are_counted_whoever_begins() -> None:
    records = recordfile.expand([game_of("e2e4 e7e5 g1f3")])
    assert [recordfile.write_fen(record).split()[5] for record in records] == ["1", "1", "2"]
    game = OngoingGame("4k3/8/8/8/8/8/8/4K2R b K - 0 1")
    moves = bytearray()
    for word in ("e8d8", "e1g1", "d8e8"):
        move = coordinate.parse(game.board, word)
        moves.append(gamefile.index_of(game.board, move))
        game.play(move)
    one = gamefile.Game(0, "4k3/8/8/8/8/8/8/4K2R b K - 0 1", bytes(moves), array("h", [0] * 3), bytes(3), 1)
    records = recordfile.expand([one])
    assert [recordfile.write_fen(record).split()[5] for record in records] == ["1", "2", "2"]


def test_castling_onto_the_rook_s_square_moves_both() -> None:
    start = "4k3/8/8/8/8/8/8/5KR1 w G - 0 1"
    game = OngoingGame(start)
    moves = bytearray()
    for wanted in (CASTLING, 0):
        move = next(move for move in legal_moves(game.board) if move & CASTLING == wanted)
        moves.append(gamefile.index_of(game.board, move))
        game.play(move)
    records = recordfile.expand([gamefile.Game(0, start, bytes(moves), array("h", [0] * 2), bytes(2), 1)])
    assert recordfile.write_fen(records[1]).startswith("4k3/8/8/8/8/8/8/5RK1 b")


def test_plies_and_half_moves_are_counted_up_to_their_limits() -> None:
    found = recordfile.Rows()
    for ply, halfmove in ((600, 130), (511, 120)):
        found.add(bytearray([recordfile.VACANT] * 64), 0, 0, 0, ply, halfmove)
    assert found.records()["counts"].tolist() == [511 | 127 << 9, 511 | 120 << 9]


def test_other_games_are_held_out_with_another_seed() -> None:
    game = random_game(0, plies=5)
    one, other = (
        [positions.is_held_out(gamefile.Block(seed, {}, []), game._replace(number=n), 0.3) for n in range(99)]
        for seed in (1, 2)
    )
    assert one != other


def test_games_of_other_settings_are_other_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.moff"
    with gamefile.GameFile(path) as file:
        for nodes in (1, 2):
            file.add(gamefile.Block(1, {"nodes": nodes}, [random_game(1)]))
    assert positions.main([str(path), "--check"]) == 0
    told = capsys.readouterr()
    assert told.out.startswith("2 games")
    assert told.err == ""


def test_about_the_share_asked_for_is_held_out() -> None:
    block = gamefile.Block(3, {}, [])
    game = random_game(0, plies=5)
    count = sum(positions.is_held_out(block, game._replace(number=n), 0.02) for n in range(10000))
    assert 150 < count < 250


def test_a_shuffle_of_nothing_is_a_file_of_nothing(tmp_path: Path) -> None:
    path = tmp_path / "empty.moff"
    path.write_bytes(b"")
    assert positions.main([str(path), "--shuffle", str(tmp_path / "out")]) == 0
    assert len(recordfile.load(tmp_path / "out")) == 0


def test_a_shuffle_that_fails_leaves_no_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(recordfile.RecordFile, "close", interrupted)
    assert positions.main([str(path), "--shuffle", str(tmp_path / "out")]) == 130
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_damaged_records_are_refused(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert positions.main([str(path), "--shuffle", str(out)]) == 0
    data = out.read_bytes()
    for size in [*range(70), len(data) - 32, len(data) - 1]:
        out.write_bytes(data[:size])
        with pytest.raises(ValueError, match="out"):
            recordfile.load(out)
    out.write_bytes(data + b"\0")
    with pytest.raises(ValueError, match="bytes instead of"):
        recordfile.load(out)
    # The last 8 bytes of the header mean nothing.
    for at in [*range(24), *range(32, len(data), 97)]:
        damaged = bytearray(data)
        damaged[at] ^= 4
        out.write_bytes(damaged)
        with pytest.raises(ValueError, match="out"):
            recordfile.load(out)
    out.write_bytes(bytes(damaged))
    assert len(recordfile.load(out, check=False)) == (len(data) - 32) // 32
    with pytest.raises(ValueError, match="games"):
        recordfile.load(path)


def test_the_statistics_count(games: list[Any]) -> None:
    block = gamefile.Block(9, {"nodes": 5}, games)
    records = recordfile.expand(games)
    statistics = positions.Statistics(positions.Filters())
    for _ in range(2):
        statistics.add(block, records)
    text = statistics.report()
    assert f"40 games, {2 * len(records)} positions" in text
    assert '40 games: seed 9 {"nodes": 5}' in text
    won = sum(game.result == 2 for game in games)
    assert f"White won {2 * won} ({5 * won:.1f} %)" in text
    kept = 2 * int(positions.Filters().select(records).sum())
    assert re.search(rf"pass the filters +{kept} ", text)
    checks = 2 * int((records["state"] & recordfile.IN_CHECK != 0).sum())
    assert re.search(rf"in check +{checks} ", text)
    known = {" ".join(recordfile.write_fen(record).split()[:4]) for record in records}
    assert statistics.duplicates() == 2 * len(records) - len(known)
    # Every position is in one row of each of the two tables, but for those without a score.
    shares = [float(share) for share in re.findall(r"([0-9.]+) %(?: +[0-9.]+){3}", text)]
    missing = int((records["score"] == gamefile.NO_SCORE).sum()) / len(records)
    assert 0.1 < missing < 0.5
    assert sum(shares) == pytest.approx(200 - 100 * missing, abs=0.3)


def test_scores_and_pieces_are_told_with_their_results() -> None:
    # White has won: every position where White is to move, which has an even score, is won.
    statistics = positions.Statistics(positions.Filters())
    block = gamefile.Block(9, {}, [game_of("e2e4 d7d5 e4d5 d8d5", result=2)])
    statistics.add(block, recordfile.expand(block.games))
    text = statistics.report()
    assert re.search(r"-20 +20 +100\.00 % +50\.0 +0\.0 +50\.0", text)
    assert re.search(r"29 +32 +100\.00 % +50\.0 +0\.0 +50\.0", text)
    assert re.search(r"best move is tactical +2 \(50\.0 %\)", text)
    assert re.search(r"duplicates +0 ", text)


def test_statistics_of_nothing_are_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.moff"
    path.write_bytes(b"")
    assert positions.main([str(path), "--stats"]) == 0
    assert capsys.readouterr().out == "0 games, 0 positions\n"


def test_several_files_are_read_as_one_and_a_game_counts_once(
    path: Path, games: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(tmp_path / "other.moff", [*games[:2], random_game(77)])
    further = write(tmp_path / "further.moff", games[:1], seed=2)
    count = sum(len(game.scores) for game in [*games, random_game(77), games[0]])
    assert positions.main([str(path), str(other), str(further), "--check"]) == 0
    told = capsys.readouterr()
    assert told.out == f"22 games, {count} positions\n"
    assert "skipped 2 repeated games\n" in told.err
    merged = tmp_path / "merged.moff"
    assert positions.main([str(path), str(other), str(further), "--merge", str(merged)]) == 0
    assert f"22 games, {count} positions" in capsys.readouterr().out
    assert positions.main([str(merged), "--check"]) == 0
    assert capsys.readouterr().out == f"22 games, {count} positions\n"
    assert positions.main([str(path), "--merge", str(merged)]) == 2
    assert "exists already" in capsys.readouterr().err


def test_lines_for_the_tuner_are_quiet_positions_from_white_s_view(
    path: Path, games: list[Any], tmp_path: Path
) -> None:
    out = tmp_path / "out.txt"
    words = ["--text", str(out), "--per-game", "5", "--max-score", "800"]
    assert positions.main([str(path), *words]) == 0
    lines = out.read_text(encoding="ascii").splitlines()
    known = {}
    for game in games:
        board = chess.Board(game.start or chess.STARTING_FEN)
        opening = len(game.moves) - len(game.scores)
        for ply, (_, packed) in enumerate(gamefile.replay(game)):
            if ply >= opening:
                key = tuple(board.fen(en_passant="legal").split()[:5])
                known.setdefault(key, []).append((game.number, game.scores[ply - opening], game.result))
            board.push(chess.Move.from_uci(coordinate.write(packed)))
    found: Counter[int] = Counter()
    for line in lines:
        text, result, score = line.split(";")
        board = chess.Board(text)
        assert board.is_valid()
        assert not board.is_check()
        assert abs(int(score)) <= 800
        ((number, told, points), *others) = known[tuple(text.split()[:5])]
        assert others or (int(score), float(result)) == (told, points / 2)
        if not others:
            found[number] += 1
    assert len(lines) <= 5 * len(games)
    assert max(found.values()) == 5


def test_damage_is_passed_over_and_told(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(path.read_bytes())
    data[40] ^= 1
    path.write_bytes(data)
    assert positions.main([str(path), "--check"]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("17 games, ")
    assert re.search(r"games\.moff: skipped bytes 0 to \d+: the checksum of a block is wrong", told.err)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--stats"], "FILE"),
        (["a.moff"], "--check"),
        (["a.moff", "--check", "--stats"], "--stats"),
        (["nowhere.moff", "--check"], "nowhere.moff"),
        (["letter", "--check"], "letter is not a file of games"),
        (["a.moff", "letter", "--stats"], "letter is not a file of games"),
        (["a.moff", "--shuffle", "no/such/folder/out"], "no/such/folder/out"),
        (["a.moff", "--stats", "--concurrency", "0"], "--concurrency"),
        (["a.moff", "--stats", "--validation", "b"], "--validation"),
        (["a.moff", "--shuffle", "b", "--share", "1"], "--share"),
        (["a.moff", "--shuffle", "b", "--min-ply", "-1"], "--min-ply"),
        (["a.moff", "--shuffle", "b", "--min-ply", "512"], "--min-ply must be at most 511"),
        (["a.moff", "--shuffle", "b", "--lookahead", "1"], "--lookahead must be from 0 to below 1"),
        (["a.moff", "--shuffle", "b", "--lookahead", "nan"], "--lookahead must be from 0 to below 1"),
        (["a.moff", "--shuffle", "b", "--lookahead", "-0.1"], "--lookahead must be from 0 to below 1"),
        (["a.moff", "--shuffle", "b", "--lookahead", "0.5", "--scale", "0"], "--scale must be from 1"),
        (["a.moff", "--shuffle", "b", "--lookahead", "0.5", "--scale", "100001"], "--scale must be from 1"),
        (["a.moff", "--shuffle", "b", "--scale", "300"], "--scale needs --lookahead"),
        (["a.moff", "--shuffle", "a.moff"], "a.moff would be overwritten"),
        (["a.moff", "--text", "./a.moff"], "a.moff would be overwritten"),
        (["a.moff", "b.ordered.part", "--shuffle", "b"], "b.ordered.part would be overwritten"),
        (["a.moff", "--shuffle", "b", "--validation", "b"], "b would be overwritten"),
        (["a.moff", "--shuffle", "b.ordered", "--validation", "b"], "b.ordered.part would be overwritten"),
        (["a.moff", "--shuffle", "."], ". is not a file"),
        (["a.moff", "--shuffle", "b", "--validation", "no/such/folder/v"], "no/such/folder/v"),
        (["a.moff", "--stats", "--lookahead", "0.5"], "--lookahead needs --shuffle"),
        (["bad.moff", "--check"], "no move 200"),
        (["bad.moff", "--stats"], "no move 200"),
        (["bad.moff", "--stats", "--concurrency", "2"], "no move 200"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.moff", [random_game(0, plies=9)])
    write(tmp_path / "bad.moff", [random_game(0, plies=9)._replace(moves=b"\0" * 8 + b"\xc8")])
    (tmp_path / "letter").write_text("Dear Sir,\n", encoding="ascii")
    try:
        code = positions.main(arguments)
    except SystemExit as error:
        code = error.code
    assert code == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert {file.name for file in tmp_path.iterdir()} == {"a.moff", "bad.moff", "letter"}
