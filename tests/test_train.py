"""bench/train.py: what a run learns, runs that are interrupted or begin with another, and the export."""

import importlib
import json
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import chess
import pytest

from search import network
from tests.networks import random_weights
from tests.oracle import scaled
from tests.records import make_records, record_of
from x88 import build

np: Any = pytest.importorskip("numpy", reason="the train extra is not installed")
torch: Any = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("matplotlib", reason="the train extra is not installed")

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))
batches: Any = importlib.import_module("batches")
nearby: Any = importlib.import_module("nearby")
nets: Any = importlib.import_module("nets")
positions: Any = importlib.import_module("positions")
recordfile: Any = importlib.import_module("recordfile")
selfplay: Any = importlib.import_module("selfplay")
train: Any = importlib.import_module("train")
trainingrun: Any = importlib.import_module("trainingrun")


def test_the_scaled_value_is_trained(trained: Path, data: tuple[Path, Path]) -> None:
    run = trainingrun.Run(trained, trainingrun.known_settings(trained), "cpu")
    records = recordfile.load(data[1])
    batch = run._batch(records)
    with torch.no_grad():
        values = run.net(batch).numpy() * batches.factors_of(records)
    errors = (1 / (1 + np.exp(-values)) - batch.targets.numpy()) ** 2
    assert run.loss(records) == pytest.approx(errors.mean())


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
    assert (trained / "losses.csv").read_text(encoding="utf-8").count("\n") == 1 + len(losses)
    picture = (trained / "losses.svg").read_text(encoding="utf-8")
    assert picture.count("<svg") == 1
    assert picture.count("<!-- training -->") == picture.count("<!-- validation -->") == 1  # of the legend


def test_the_export_judges_as_the_trained_network(trained: Path, data: tuple[Path, Path]) -> None:
    weights = network.read(trained / "net.moff")
    assert weights[:2] == (16, 2)
    run = trainingrun.Run(trained, trainingrun.known_settings(trained), "cpu")
    checked = recordfile.load(data[0])
    batch = batches.batch_of(checked, 1, 400, 2, "cpu")
    with torch.no_grad():
        exact = run.net(batch).numpy() * network.SCALE
    found = nets.values(weights, batch)
    assert np.abs(found - exact).max() < 2
    run.net.rounds = False
    with torch.no_grad():
        assert np.abs(run.net(batch).numpy() * network.SCALE - exact).max() > 0.1
    assert np.corrcoef(found, checked["score"])[0, 1] > 0.7


def test_a_widened_network_judges_almost_as_the_one_it_begins_from(
    data: tuple[Path, Path], trained: Path, tmp_path: Path
) -> None:
    batch = batches.batch_of(recordfile.load(data[0]), 1, 400, 2, "cpu")

    def judged(hidden: int) -> Any:
        net = nets.Net(hidden, 2)
        net.load_state_dict(nets.widened(trainingrun.beginning(trained, hidden, 2), hidden, 5))
        with torch.no_grad():
            return net, net(batch).numpy()

    narrow, exact = judged(16)
    for hidden in (32, 48):
        wide, found = judged(hidden)
        assert np.corrcoef(found, exact)[0, 1] > 0.95
        copies = wide.inputs.weight.detach().numpy().reshape(network.INPUTS, -1, 16)
        original = narrow.inputs.weight.detach().numpy()[:, None]
        assert (copies - original).std() == pytest.approx(nets.DIFFERENCE * original.std(), rel=0.05)
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
    net = nets.Net(16, 2)
    net.load_state_dict(trainingrun.beginning(path, 16, 2))
    network.write(tmp_path / "same", nets.quantised(net))
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
    learn = trainingrun.Run._learn

    def interrupted(run: Any, batch: Any) -> Any:
        if run.step == 31:
            raise KeyboardInterrupt
        return learn(run, batch)

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(trainingrun.Run, "_learn", interrupted)
        assert train.main(arguments(data, run)) == 130
    assert losses_of(run)[-1]["positions"] == 29 * 32  # the last checkpoint before
    assert not (run / "net.moff").exists()
    assert "<!-- validation -->" in (run / "losses.svg").read_text(encoding="utf-8")
    assert train.main(arguments(data, run)) == 0
    assert (run / "net.moff").read_bytes() == (trained / "net.moff").read_bytes()
    for row, same in zip(losses_of(run), losses_of(trained), strict=True):
        assert {**row, "seconds": 0} == {**same, "seconds": 0}


@pytest.mark.parametrize("text", ["[]", "{}", "{", '{"hidden": 16}', "\x00"])
def test_damaged_settings_are_told(
    text: str, data: tuple[Path, Path], trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    (run / "settings.json").write_text(text, encoding="utf-8")
    for words in (arguments(data, run), ["--run", str(run), "--export", str(tmp_path / "net")]):
        assert train.main(words) == 2
        assert f"{run / 'settings.json'} is damaged or of another version" in capsys.readouterr().err
    assert (run / "settings.json").read_text(encoding="utf-8") == text
    assert not (tmp_path / "net").exists()


def test_a_finished_run_is_exported(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net"
    assert train.main(["--run", str(trained), "--export", str(path)]) == 0
    assert path.read_bytes() == (trained / "net.moff").read_bytes()
    assert capsys.readouterr().out == f"{path}: {path.stat().st_size} bytes\n"


def test_the_mean_of_a_run_and_another_network_is_exported(
    data: tuple[Path, Path], trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, wider, more, path = (tmp_path / name for name in ("other", "wider", "more", "net"))
    network.write(other, random_weights(16, 2, inputs=500))
    network.write(wider, random_weights(32, 2))
    network.write(more, random_weights(16, 3))
    words = ["--run", str(trained), "--export", str(path), "--mean-with"]
    assert train.main([*words, str(other)]) == 0
    found, *both = (network.read(name) for name in (path, other, trained / "net.moff"))
    assert found[:2] == (16, 2)
    for middle, first, second in zip(found[2:], both[0][2:], both[1][2:], strict=True):
        assert list(middle) == [round((a + b) / 2) for a, b in zip(first, second, strict=True)]
    capsys.readouterr()
    before = path.read_bytes()
    for wrong, said in (
        ([*words, str(wider)], f"{wider} has 32 hidden neurons and 2 outputs, the run 16 and 2: they"),
        ([*words, str(more)], f"{more} has 16 hidden neurons and 3 outputs, the run 16 and 2: they"),
        ([*words, str(tmp_path / "nowhere")], "nowhere"),
        (
            [*words, str(other), "--validation", str(data[1])],
            "--mean-with and --validation cannot be combined",
        ),
        ([*words, str(data[0])], f"{data[0]} is not a network"),
        ([*arguments(data, tmp_path / "run"), "--mean-with", str(other)], "--mean-with needs --export"),
    ):
        assert train.main(wrong) == 2
        assert said in capsys.readouterr().err
    assert path.read_bytes() == before
    assert not (tmp_path / "run").exists()


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
    begins = [
        json.loads((run / "settings.json").read_text(encoding="utf-8"))["begin"]
        for run in (begun, tmp_path / "wide")
    ]
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
        ({"device": "nonsense"}, "--device nonsense: "),
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
    assert json.loads((tmp_path / "run" / "settings.json").read_text(encoding="utf-8"))["positions"] == 320
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
    assert json.loads((run / "settings.json").read_text(encoding="utf-8"))["positions"] == len(records)
    weights = network.read(run / "net.moff")
    assert weights.hidden == 32
    queen_up = record_of(chess.Board("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"))
    queen_down = record_of(chess.Board("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"))
    up, down = (
        int(nets.values(weights, batches.batch_of(one, 1, 400, 2, "cpu"))[0])
        for one in (queen_up, queen_down)
    )
    if build.compiled:  # the few games of the uncompiled build teach too little
        assert up > 150 + down


def test_a_file_may_have_another_scale(
    data: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {"epochs": 1, "scale": 200}
    scaled_files = (Path(f"{data[0]}:320@400"), Path(f"{data[1]}@400"))
    assert train.main(arguments(scaled_files, tmp_path / "a", **own)) == 0
    assert train.main(arguments((Path(f"{data[0]}:320"), data[1]), tmp_path / "b", epochs=1, scale=400)) == 0
    assert losses_of(tmp_path / "a")[-1]["validation"] == losses_of(tmp_path / "b")[-1]["validation"]
    assert json.loads((tmp_path / "a" / "settings.json").read_text(encoding="utf-8"))["factors"] == [0.5, 0.5]
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
    block = batches.Source.block
    threads = set()

    def failing(source: Any, first: int, size: int) -> Any:
        threads.add(threading.current_thread() is threading.main_thread())
        if len(threads) == 2:
            raise OSError("the disk is gone")
        return block(source, first, size)

    monkeypatch.setattr(batches, "TOGETHER", 4)
    monkeypatch.setattr(batches.Source, "block", failing)
    assert train.main(arguments(data, tmp_path / "run")) == 2
    assert "the disk is gone" in capsys.readouterr().err
    assert threads == {True, False}
