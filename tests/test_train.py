"""bench/train.py: what the network sees, what it learns, runs that are interrupted, and the export."""

import importlib
import json
import sys
import threading
from pathlib import Path
from random import Random
from typing import Any

import chess
import pytest

from search import network
from search.evaluate import FULL_MATERIAL, MATERIAL_STEP, material_points
from tests.oracle import scaled
from x88 import fen

np: Any = pytest.importorskip("numpy", reason="the train extra is not installed")
torch: Any = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("matplotlib", reason="the train extra is not installed")

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path.append(str(BENCH))
positions: Any = importlib.import_module("positions")
recordfile: Any = importlib.import_module("recordfile")
nearby: Any = importlib.import_module("nearby")
selfplay: Any = importlib.import_module("selfplay")
train: Any = importlib.import_module("train")

KINDS = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]


def record_of(board: chess.Board, score: int = 0, result: int = 1) -> Any:
    """The record of a position, result and score from the view of the side to move."""
    cells = np.full((1, 64), recordfile.VACANT, np.uint8)
    for square, piece in board.piece_map().items():
        cells[0, square] = KINDS.index(piece.piece_type) | (0 if piece.color else 8)
    record = recordfile.pack(cells)
    record["score"] = score
    record["state"] = (not board.turn) | result << recordfile.RESULT_SHIFT
    return record


def random_boards(count: int, seed: int = 0) -> list[chess.Board]:
    """Positions of random games."""
    chance = Random(seed)
    found = []
    while len(found) < count:
        board = chess.Board()
        for _ in range(chance.randint(1, 120)):
            if board.is_game_over():
                break
            board.push(chance.choice(list(board.legal_moves)))
        found.append(board)
    return found


def material(board: chess.Board) -> int:
    """White's material less Black's, in centipawns."""
    worth = dict(zip(KINDS, (100, 300, 300, 500, 900, 0), strict=True))
    return sum(worth[p.piece_type] * (1 if p.color else -1) for p in board.piece_map().values())


def make_records(path: Path, count: int, seed: int) -> Path:
    """A file of positions whose score is their material."""
    file = recordfile.RecordFile(path)
    for board in random_boards(count, seed):
        score = material(board) * (1 if board.turn else -1)
        file.add(record_of(board, score, 2 if score > 0 else 1 if score == 0 else 0))
    file.close()
    return path


def expected_inputs(board: chess.Board, view: chess.Color) -> set[int]:
    """The inputs as they are described, the slow way."""
    king = board.king(view)
    assert king is not None
    mirrored = chess.square_file(king) < 4
    found = set()
    for square, piece in board.piece_map().items():
        seen = square if view == chess.WHITE else chess.square_mirror(square)
        if mirrored:
            seen = chess.square(7 - chess.square_file(seen), chess.square_rank(seen))
        found.add(384 * (piece.color != view) + 64 * KINDS.index(piece.piece_type) + seen)
    return found


def test_a_network_sees_the_board_from_both_sides() -> None:
    boards = [*random_boards(150), chess.Board("8/8/8/3k4/8/8/3PK3/8 b - - 0 1")]
    own, other, starts = train.inputs_of(np.concatenate([record_of(board) for board in boards]))
    ends = [*starts[1:], len(own)]
    for board, start, end in zip(boards, starts, ends, strict=True):
        assert end - start == len(board.piece_map())
        assert set(own[start:end]) == expected_inputs(board, board.turn)
        assert set(other[start:end]) == expected_inputs(board, not board.turn)


def test_values_are_scaled_by_the_material_as_in_the_search() -> None:
    boards = [*random_boards(150), chess.Board(), chess.Board("8/8/8/3k4/8/8/8/3K4 w - - 0 1")]
    factors = train.factors_of(np.concatenate([record_of(board) for board in boards]))
    for board, factor in zip(boards, factors, strict=True):
        points = material_points(fen.parse(board.fen()))
        assert factor == pytest.approx((1024 + MATERIAL_STEP * (points - FULL_MATERIAL)) / 1024)


def test_the_scaled_value_is_trained(trained: Path, data: tuple[Path, Path]) -> None:
    run = train.Run(trained, train._known_settings(trained), "cpu")
    records = recordfile.load(data[1])
    batch = run._batch(records)
    with torch.no_grad():
        values = run.net(batch).numpy() * train.factors_of(records)
    errors = (1 / (1 + np.exp(-values)) - batch.targets.numpy()) ** 2
    assert run.loss(records) == pytest.approx(errors.mean())


def test_a_target_blends_score_and_result() -> None:
    board = chess.Board()
    records = np.concatenate(
        [record_of(board, score, result) for score, result in ((0, 2), (400, 0), (-800, 1))]
    )
    share = [1 / (1 + np.exp(-x)) for x in (0, 1, -2)]
    assert train.targets_of(records, 1.0, 400) == pytest.approx(share)
    assert train.targets_of(records, 0.0, 400) == pytest.approx([1, 0, 0.5])
    assert train.targets_of(records, 0.75, 400) == pytest.approx(
        [0.75 * s + 0.25 * r for s, r in zip(share, (1, 0, 0.5), strict=True)]
    )


def test_the_target_of_a_position_of_no_game_is_its_score() -> None:
    records = record_of(chess.Board(), 400, recordfile.NO_RESULT)
    for blend in (0.0, 0.75, 1.0):
        assert train.targets_of(records, blend, 400) == pytest.approx([1 / (1 + np.exp(-1))])


def test_an_epoch_has_every_record_once_and_another_order_than_the_next() -> None:
    records = np.zeros(70, recordfile.RECORD)
    records["score"] = range(70)

    def order(seed: int, epoch: int) -> list[int]:
        return [
            int(score)
            for rows in train.shuffled([train.Source(records)], 1, seed, epoch)
            for score in rows["score"]
        ]

    first = order(5, 0)
    assert sorted(first) == list(range(70))
    assert first == order(5, 0)
    assert len({tuple(first), tuple(order(5, 1)), tuple(order(6, 0)), tuple(range(70))}) == 4
    whole = [len(rows) for rows in train.shuffled([train.Source(records)], 16, 0, 0)]
    assert whole == [16] * 4


def test_files_are_mixed() -> None:
    files = [train.Source(np.zeros(count, recordfile.RECORD)) for count in (6400, 12800)]
    files[1].records["score"] = 1
    batches = [int(rows["score"].sum()) for rows in train.shuffled(files, 64, 0, 0)]
    assert sum(batches) == 12800
    assert len(batches) == 300
    assert all(20 < count < 64 for count in batches)  # two of three, in each
    twice = [len(rows) for rows in train.shuffled([files[0], files[0]], 64, 0, 0)]
    assert len(twice) == 200


def test_scores_of_another_scale_are_converted() -> None:
    files = [train.Source(np.zeros(100, recordfile.RECORD), factor) for factor in (1, 0.4, 2, 2)]
    for file, score in zip(files, (7, -34, 20_000, -20_000), strict=True):
        file.records["score"] = score
    scores = np.concatenate([rows["score"] for rows in train.shuffled(files, 40, 0, 0)])
    assert {int(score): int((scores == score).sum()) for score in scores} == {
        7: 100,
        -14: 100,
        32_767: 100,
        -32_767: 100,
    }
    assert (files[1].records["score"] == -34).all()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("records")
    return make_records(folder / "train", 640, 1), make_records(folder / "test", 100, 2)


def arguments(data: tuple[Path, Path], run: Path, **options: object) -> list[str]:
    chosen: dict[str, object] = {
        "hidden": 16,
        "outputs": 2,
        "batch": 32,
        "epochs": 4,
        "rate": 0.01,
        "threads": 1,
    }
    words = [str(data[0]), "--validation", str(data[1]), "--run", str(run)]
    for name, value in {**chosen, **options}.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return words


@pytest.fixture(scope="module")
def trained(data: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("run")
    assert train.main(arguments(data, run)) == 0
    return run


def losses_of(run: Path) -> list[dict[str, float]]:
    found: list[dict[str, float]] = torch.load(run / "checkpoint.pt", weights_only=True)["losses"]
    return found


def test_training_lowers_both_losses(trained: Path) -> None:
    losses = losses_of(trained)
    assert len(losses) == 4 * 7  # a part has 3 of 20 batches
    assert losses[-1]["positions"] == 4 * 640
    assert losses[-1]["loss"] < 0.6 * losses[0]["loss"]
    assert losses[-1]["validation"] < 0.95 * losses[0]["validation"]  # so few positions teach little
    assert losses[0]["rate"] > 0.009
    assert losses[-1]["rate"] == pytest.approx(0.00001, rel=0.001)
    assert (trained / "losses.csv").read_text().count("\n") == 1 + len(losses)
    assert (trained / "losses.svg").read_text().count("<svg") == 1


def test_the_export_judges_as_the_trained_network(trained: Path, data: tuple[Path, Path]) -> None:
    weights = network.read(trained / "net.moff")
    assert weights[:2] == (16, 2)
    run = train.Run(trained, train._known_settings(trained), "cpu")
    checked = recordfile.load(data[0])
    batch = train.batch_of(checked, 1, 400, 2, "cpu")
    with torch.no_grad():
        exact = run.net(batch).numpy() * network.SCALE
    found = train.values(weights, batch)
    assert np.abs(found - exact).max() < 2
    run.net.rounds = False
    with torch.no_grad():
        assert np.abs(run.net(batch).numpy() * network.SCALE - exact).max() > 0.1
    assert np.corrcoef(found, checked["score"])[0, 1] > 0.7


def test_however_large_weights_grow_they_can_be_exported(tmp_path: Path) -> None:
    net = train.Net(256, 2)
    with torch.no_grad():
        for numbers in net.parameters():
            numbers.fill_(9)
        net.outputs.weight[1] = 0
    net.clip()
    network.write(tmp_path / "net", train.quantised(net))
    weights = network.read(tmp_path / "net").output_weights
    assert network.MOST_SUM - 2 * 512 <= sum(weights) <= network.MOST_SUM
    assert not any(weights[512:])


def test_a_widened_network_judges_almost_as_the_one_it_begins_from(
    data: tuple[Path, Path], trained: Path, tmp_path: Path
) -> None:
    batch = train.batch_of(recordfile.load(data[0]), 1, 400, 2, "cpu")

    def judged(hidden: int) -> Any:
        net = train.Net(hidden, 2)
        net.load_state_dict(train._widened(train._beginning(trained, hidden, 2), hidden, 5))
        with torch.no_grad():
            return net, net(batch).numpy()

    narrow, exact = judged(16)
    for hidden in (32, 48):
        wide, found = judged(hidden)
        assert np.corrcoef(found, exact)[0, 1] > 0.95
        copies = wide.inputs.weight.detach().numpy().reshape(network.INPUTS, -1, 16)
        original = narrow.inputs.weight.detach().numpy()[:, None]
        assert (copies - original).std() == pytest.approx(train.DIFFERENCE * original.std(), rel=0.05)
        assert np.abs(copies[:, 0] - copies[:, 1]).min() > 0
        biases = narrow.biases.detach().numpy()
        assert (wide.biases.detach().numpy().reshape(-1, 16) == biases).all()
        assert wide.outputs.weight.sum().item() == pytest.approx(narrow.outputs.weight.sum().item(), rel=1e-4)
    own = {"hidden": 32, "begin": trained, "epochs": 1}
    assert train.main(arguments(data, tmp_path / "wide", **own)) == 0
    assert network.read(tmp_path / "wide" / "net.moff").hidden == 32


def test_a_run_begins_with_a_network_file(
    data: tuple[Path, Path], trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = trained / "net.moff"
    net = train.Net(16, 2)
    net.load_state_dict(train._beginning(path, 16, 2))
    network.write(tmp_path / "same", train.quantised(net))
    assert (tmp_path / "same").read_bytes() == path.read_bytes()
    kept: dict[str, object] = {"epochs": 1, "rate": 0.000001, "final_rate": 0.000001, "begin": path}
    assert train.main(arguments(data, tmp_path / "begun", **kept)) == 0
    first, last = losses_of(tmp_path / "begun")[0], losses_of(trained)[-1]
    assert first["validation"] == pytest.approx(last["validation"], rel=0.01)
    assert train.main(arguments(data, tmp_path / "other", **{**kept, "outputs": 4})) == 2
    said = "a network with 16 hidden neurons and 2 outputs, from which one with 16 and 4 cannot begin"
    assert f"{path} is {said}" in capsys.readouterr().err
    damaged = tmp_path / "damaged"
    damaged.write_bytes(path.read_bytes()[:-1])
    for wrong, reason in ((damaged, "bytes instead of"), (tmp_path / "missing", "No such file")):
        assert train.main(arguments(data, tmp_path / "other", **{**kept, "begin": wrong})) == 2
        error = capsys.readouterr().err
        assert str(wrong) in error
        assert reason in error
    assert not (tmp_path / "other").exists()


def test_an_interrupted_run_goes_on_as_if_it_had_not_been(
    data: tuple[Path, Path], trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = train.Run._learn

    def interrupted(run: Any, batch: Any) -> Any:
        if run.step == 31:
            raise KeyboardInterrupt
        return learn(run, batch)

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(train.Run, "_learn", interrupted)
        assert train.main(arguments(data, run)) == 130
    assert losses_of(run)[-1]["positions"] == 29 * 32  # the last checkpoint before
    assert not (run / "net.moff").exists()
    assert train.main(arguments(data, run)) == 0
    assert (run / "net.moff").read_bytes() == (trained / "net.moff").read_bytes()
    for row, same in zip(losses_of(run), losses_of(trained), strict=True):
        assert {**row, "seconds": 0} == {**same, "seconds": 0}


def test_a_finished_run_is_exported(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net"
    assert train.main(["--run", str(trained), "--export", str(path)]) == 0
    assert path.read_bytes() == (trained / "net.moff").read_bytes()
    assert capsys.readouterr().out == f"{path}: {path.stat().st_size} bytes\n"


def test_a_run_begins_with_the_numbers_of_another(
    data: tuple[Path, Path], trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: dict[str, object] = {"epochs": 1, "rate": 0.000001, "final_rate": 0.000001}
    begun = tmp_path / "begun"
    assert train.main(arguments(data, begun, begin=trained, **kept)) == 0
    first, last = losses_of(begun)[0], losses_of(trained)[-1]
    assert first["validation"] == pytest.approx(last["validation"], rel=0.01)
    assert (begun / "net.moff").read_bytes()[:32] != (trained / "net.moff").read_bytes()[:32], "it has learnt"
    # Another beginning would be another run.
    for options in (kept, {**kept, "begin": begun}):
        assert train.main(arguments(data, begun, **options)) == 2
        assert "is a run with other settings: begin" in capsys.readouterr().err
    assert train.main(arguments(data, tmp_path / "other", begin=trained, **{**kept, "outputs": 4})) == 2
    assert "from which one with 16 and 4 cannot begin" in capsys.readouterr().err
    assert train.main(arguments(data, tmp_path / "other", begin=trained, **{**kept, "hidden": 40})) == 2
    assert "is not a multiple of 16" in capsys.readouterr().err
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "checkpoint.pt").write_bytes((trained / "checkpoint.pt").read_bytes()[:1000])
    assert train.main(arguments(data, tmp_path / "other", begin=damaged, **kept)) == 2
    assert f"{damaged / 'checkpoint.pt'} is damaged" in capsys.readouterr().err
    assert train.main(["--run", str(damaged), "--export", str(tmp_path / "net")]) == 2
    capsys.readouterr()
    for content in (b"", 100 * b"junk"):
        (damaged / "checkpoint.pt").write_bytes(content)
        assert train.main(arguments(data, tmp_path / "other", begin=damaged, **kept)) == 2
        assert f"{damaged / 'checkpoint.pt'} is damaged: " in capsys.readouterr().err
    for other in ({"net": {}}, {"net": {}, "optimiser": {}, "step": 0, "losses": []}):
        torch.save(other, damaged / "checkpoint.pt")
        assert train.main(arguments(data, tmp_path / "other", begin=damaged, **kept)) == 2
        assert "is not a checkpoint of a run" in capsys.readouterr().err
    # Its weights may be widened on another machine, which need not give the same random numbers.
    wide = {"epochs": 1, "hidden": 32, "begin": trained}
    assert train.main(arguments(data, tmp_path / "wide", **wide)) == 0
    assert train.main(arguments(data, tmp_path / "wide", **wide, device="cpu")) == 0
    for hidden in (16, 48):
        own = {**wide, "hidden": hidden, "begin": tmp_path / "wide"}
        assert train.main(arguments(data, tmp_path / "other", **own)) == 2
        assert f"from which one with {hidden} and 2 cannot begin" in capsys.readouterr().err
    begins = [json.loads((run / "settings.json").read_text())["begin"] for run in (begun, tmp_path / "wide")]
    assert begins[0] == begins[1]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"hidden": 32}, "is a run with other settings: hidden"),
        ({"seed": 1, "blend": 1}, "is a run with other settings: blend, seed"),
        ({"batch": 641}, "640 positions for training and 100 for validation are too few: one batch has 641"),
        ({"blend": 1.1}, "--blend must be from 0 to 1"),
        ({"scale": 0}, "--scale must be from 1 to 100000"),
        ({"scale": "inf"}, "--scale must be from 1 to 100000"),
        ({"scale": 100_001}, "--scale must be from 1 to 100000"),
        ({"scale": 0.99}, "--scale must be from 1 to 100000"),
        ({"rate": 0.000001}, "--rate must be positive, and --final-rate no higher"),
        ({"hidden": 20}, "a hidden layer of 20 is not a multiple of 16"),
        ({"seed": -1}, "--seed must not be negative"),
    ],
)
def test_wrong_usage_is_told(
    options: dict[str, object],
    reason: str,
    data: tuple[Path, Path],
    trained: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = (trained / "checkpoint.pt").read_bytes()
    assert train.main(arguments(data, trained, **options)) == 2
    assert reason in capsys.readouterr().err
    assert (trained / "checkpoint.pt").read_bytes() == before


def test_what_is_missing_or_damaged_is_told(
    data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(["--run", str(tmp_path), "--export", str(tmp_path / "net")]) == 2
    assert f"{tmp_path} has no checkpoint" in capsys.readouterr().err
    assert train.main([str(data[0]), "--run", str(tmp_path)]) == 2
    assert "training needs RECORDS and --validation RECORDS" in capsys.readouterr().err
    damaged = tmp_path / "damaged"
    damaged.write_bytes(data[0].read_bytes()[:-1])
    assert train.main(arguments((damaged, data[1]), tmp_path / "run")) == 2
    assert str(damaged) in capsys.readouterr().err


def test_of_a_file_only_some_positions_may_count(
    data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = {"epochs": 1}
    assert train.main(arguments((Path(f"{data[0]}:320"), data[1]), tmp_path / "run", **chosen)) == 0
    assert json.loads((tmp_path / "run" / "settings.json").read_text())["positions"] == 320
    capsys.readouterr()
    assert train.main(arguments((Path(f"{data[0]}:641"), data[1]), tmp_path / "other", **chosen)) == 2
    assert capsys.readouterr().err == f"{data[0]} has 640 positions, not 641\n"


def test_from_no_position_to_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything on the way to a network, on a small scale."""
    path = {name: tmp_path / name for name in ("games", "records", "checked", "near", "near-checked")}
    played = ["--positions", str(path["games"]), "--games", str(scaled(1000, 12)), "--nodes", "40"]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["selfplay.py", *played, "--concurrency", "2"])
        assert selfplay.main() == 0
    shuffled = ["--shuffle", str(path["records"]), "--validation", str(path["checked"]), "--share", "0.3"]
    assert positions.main([str(path["games"]), *shuffled]) == 0
    found = ["--out", str(path["near"]), "--validation", str(path["near-checked"]), "--share", "0.9"]
    assert nearby.main([str(path["games"]), *found, "--per-position", "1", "--concurrency", "2"]) == 0
    first, run = tmp_path / "first", tmp_path / "run"
    chosen: dict[str, object] = {"epochs": 1, "batch": scaled(256, 32), "hidden": 32}
    assert train.main(arguments((path["near"], path["near-checked"]), first, blend=1, **chosen)) == 0
    assert train.main(arguments((path["records"], path["checked"]), run, begin=first, **chosen)) == 0
    records = recordfile.load(path["records"])
    assert len(records) > scaled(30_000, 300)
    assert json.loads((run / "settings.json").read_text())["positions"] == len(records)
    weights = network.read(run / "net.moff")
    assert weights.hidden == 32
    queen_up = record_of(chess.Board("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"))
    queen_down = record_of(chess.Board("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"))
    up, down = (
        int(train.values(weights, train.batch_of(one, 1, 400, 2, "cpu"))[0]) for one in (queen_up, queen_down)
    )
    assert up > scaled(150, 0) + down


def test_a_file_may_have_another_scale(
    data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"epochs": 1, "scale": 200}
    scaled_files = (Path(f"{data[0]}:320@400"), Path(f"{data[1]}@400"))
    assert train.main(arguments(scaled_files, tmp_path / "a", **own)) == 0
    assert train.main(arguments((Path(f"{data[0]}:320"), data[1]), tmp_path / "b", epochs=1, scale=400)) == 0
    assert losses_of(tmp_path / "a")[-1]["validation"] == losses_of(tmp_path / "b")[-1]["validation"]
    assert json.loads((tmp_path / "a" / "settings.json").read_text())["factors"] == [0.5, 0.5]
    assert train.main(arguments((Path(f"{data[0]}:320"), data[1]), tmp_path / "a", **own)) == 2
    assert "is a run with other settings: factors" in capsys.readouterr().err
    assert train.main(arguments((scaled_files[0], data[1]), tmp_path / "a", **own)) == 2
    assert "is a run with other settings: factors" in capsys.readouterr().err
    for scale in ("0", "0." + 300 * "0" + "1", 400 * "9"):
        assert train.main(arguments((Path(f"{data[0]}@{scale}"), data[1]), tmp_path / "other", **own)) == 2
        error = capsys.readouterr().err
        assert error == f"{data[0]}@{scale}: the scale is not from 1 to 100000\n"
    assert train._load(f"{data[0]}:10@62.5", 125).factor == 2
    assert len(train._load(f"{data[0]}:10@62.5", 125)) == 10
    odd = tmp_path / "odd:3@400"
    odd.write_bytes(data[1].read_bytes())
    assert (len(train._load(str(odd), 200)), train._load(str(odd), 200).factor) == (100, 1)


def test_what_fails_in_the_thread_that_prepares_batches_is_told(
    data: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    block = train.Source.block
    threads = set()

    def failing(source: Any, first: int, size: int) -> Any:
        threads.add(threading.current_thread() is threading.main_thread())
        if len(threads) == 2:
            raise OSError("the disk is gone")
        return block(source, first, size)

    monkeypatch.setattr(train, "TOGETHER", 4)
    monkeypatch.setattr(train.Source, "block", failing)
    assert train.main(arguments(data, tmp_path / "run")) == 2
    assert "the disk is gone" in capsys.readouterr().err
    assert threads == {True, False}
