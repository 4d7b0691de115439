"""bench/train.py: what a run learns, runs that are interrupted or begin with another, and the export."""

import csv
import json
import re
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from search.nnue import network
from search.selfplay import Selfplay
from tests.networks import outputs_of
from tests.oracle import scaled
from tests.stored import make_file, make_pile

pytestmark = pytest.mark.slow

np: Any = pytest.importorskip("numpy", reason="the train extra is not installed")
pytest.importorskip("numba", reason="the train extra is not installed")

import dataset
import gamefile
import learner
import nets
import script
import train
import trainingrun

SHARE = 0.15


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_pile(tmp_path_factory.mktemp("pile"), 6, 20, plies=40)


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("run")
    assert train.main(arguments(data, run)) == 0
    return run


def parts_of(data: Path) -> tuple[Any, Any]:
    """The blocks to train on, and the positions set aside."""
    places, aside = dataset.Blocks([data]).split(SHARE)
    return places, dataset.batches(aside, 10**6, 0.0, dataset.Filters())


def arguments(data: Path, run: Path, **options: object) -> list[str]:
    """The words for a small run; `options` are added to them."""
    chosen = "--hidden 16 --outputs 2 --batch 16 --epochs 4 --rate 0.003 --final-rate 0.000003 --threads 1"
    chosen += f" --share {SHARE} --lookahead 0 --final-blend 0.8"
    words = [str(data), "--run", str(run), *chosen.split()]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    return words


KEPT: dict[str, object] = {"epochs": 1, "rate": 0.000001, "final_rate": 0.000001}
"""Options for a run that learns next to nothing."""


@pytest.fixture
def refused(data: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """A function that trains in vain and returns the reason."""

    def refuse(run: Path, *words: str, **options: object) -> str:
        assert train.main([*words] if words else arguments(data, run, **options)) == 2
        return capsys.readouterr().err

    return refuse


def interrupt(monkeypatch: pytest.MonkeyPatch, words: list[str], at: int = 150) -> None:
    """Train until this step."""
    learn = learner.Learner.learn

    def interrupted(self: Any, batch: Any, rate: float, steps: int) -> Any:
        if steps == at:
            raise KeyboardInterrupt
        return learn(self, batch, rate, steps)

    with monkeypatch.context() as patch:
        patch.setattr(learner.Learner, "learn", interrupted)
        assert train.main(words) == 130


def test_loss_is_that_of_the_scaled_value(trained: Path, data: Path) -> None:
    run = trainingrun.Run(trained, trainingrun.known_settings(trained))
    (rows,) = parts_of(data)[1]
    values = outputs_of(run.sizes, run.learner.numbers, rows) * (1 + 4 / 1024 * (rows.material - 64))
    errors = (1 / (1 + np.exp(-values)) - (0.8 * rows.expected + 0.2 * rows.points)) ** 2
    assert run.loss([rows]) == pytest.approx(errors.mean(), rel=1e-5)


@pytest.mark.parametrize("threads", [1, 3])
def test_processor_learns_what_pytorch_learns(threads: int, data: Path) -> None:
    pytest.importorskip("torch", reason="the gpu extra is not installed")
    import gpu

    sizes = nets.Sizes(32, 4)
    numbers = 1.5 * sizes.random(3)  # some neurons are clipped, either way
    moments = np.zeros((2, sizes.count), np.float32)
    ours = learner.Learner(sizes, numbers.copy(), moments.copy(), threads)
    theirs = gpu.Learner(sizes, numbers, moments, "cpu")
    shares = np.linspace(0.5, 2, 33).astype(np.float32)
    (rows,) = dataset.batches(parts_of(data)[0], 10**6, 0, dataset.Filters())
    for step, blend in enumerate((1, 0.9, 0.5, 0), 1):
        batch = nets.batch_of(rows, blend, 4, shares)
        loss = theirs.loss(batch)
        assert ours.loss(batch) == pytest.approx(loss, rel=1e-5)
        assert ours.learn(batch, 0.01, step) == pytest.approx(theirs.learn(batch, 0.01, step), rel=1e-5)
        assert np.abs(ours.numbers - theirs.numbers).max() < 1e-4
        assert np.abs(ours.moments - theirs.moments).max() < 1e-6


def test_a_zone_learns_what_the_others_learn(data: Path) -> None:
    sizes = nets.Sizes(16, 2)
    ours = learner.Learner(sizes, sizes.random(1), np.zeros((2, sizes.count), np.float32), 2)
    (rows,) = dataset.batches(parts_of(data)[0], 10**6, 0, dataset.Filters())
    # The first positions, as long as no king is in the last zone.
    size = next(n for n, at in enumerate(rows.starts) if max(rows.own[at], rows.other[at]) >= 2304)
    assert size > 1
    end = rows.starts[size]
    columns = (column[:size] for column in list(vars(rows).values())[2:])
    opening = dataset.Rows(rows.own[:end], rows.other[:end], *columns)
    ours.learn(nets.batch_of(opening, 0.9, 2, np.ones(33, np.float32)), 0.01, 1)
    slopes = sizes.parts(ours.moments[0])[0].reshape(4, -1)
    assert np.abs(slopes[3]).max() > 1e-6
    assert slopes[:3].sum(0) == pytest.approx(4 * slopes[3], rel=1e-3, abs=1e-9)


def losses_of(run: Path) -> list[dict[str, float]]:
    with (run / "losses.csv").open(encoding="utf-8", newline="") as file:
        return [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]


def test_training_lowers_both_losses(trained: Path, data: Path, tmp_path: Path) -> None:
    losses = losses_of(trained)
    places, checked = parts_of(data)
    positions = dataset.usable(places)
    assert len(losses) == 4 * trainingrun.PARTS
    assert 4 * positions - 4 * 16 < losses[-1]["positions"] <= 4 * positions
    assert losses[-1]["loss"] < 0.8 * losses[0]["loss"]
    untrained = trainingrun.Run(tmp_path / "run", trainingrun.known_settings(trained)).loss(checked)
    assert losses[-1]["validation"] < 0.95 * losses[0]["validation"] < 0.95 * untrained
    assert losses[0]["rate"] > 0.0027
    assert losses[-1]["rate"] == pytest.approx(0.000003, rel=0.1)
    assert (trained / "losses.csv").read_text(encoding="utf-8").count("\n") == 1 + len(losses)


def test_export_is_the_mean_of_the_last_weights_rounded(trained: Path, data: Path) -> None:
    run = trainingrun.Run(trained, trainingrun.known_settings(trained))
    sizes, numbers = nets.dequantised(network.read(trained / "net.moff"))
    assert sizes == run.sizes == nets.Sizes(16, 2)
    (rows,) = dataset.batches(parts_of(data)[0], 10**6, 0, dataset.Filters())
    found, exact, last = (
        outputs_of(sizes, given, rows) * network.SCALE for given in (numbers, run.mean, run.learner.numbers)
    )
    assert np.abs(found - exact).mean() < 2 < np.abs(last - exact).mean()
    assert np.corrcoef(found, rows.expected)[0, 1] > 0.6
    assert (trainingrun.beginning(trained, 16, 2)[1] == run.mean).all()


def test_widened_network_evaluates_almost_alike(data: Path, trained: Path) -> None:
    rows = parts_of(data)[1][0]
    sizes, numbers = trainingrun.beginning(trained, 48, 2)
    exact = outputs_of(sizes, numbers, rows)
    inputs, biases, outputs, _ = sizes.parts(numbers)
    for hidden in (32, 48):
        wider = nets.Sizes(hidden, 2)
        wide = nets.widened(sizes, numbers, hidden, 5)
        assert np.corrcoef(outputs_of(wider, wide, rows), exact)[0, 1] > 0.95
        wide_inputs, wide_biases, wide_outputs, _ = wider.parts(wide)
        copies = wide_inputs.reshape(network.INPUTS, -1, 16)
        assert (copies - inputs[:, None]).std() == pytest.approx(nets.DIFFERENCE * inputs.std(), rel=0.05)
        assert np.abs(copies[:, 0] - copies[:, 1]).min() > 0
        assert (wide_biases.reshape(-1, 16) == biases).all()
        assert wide_outputs.sum() == pytest.approx(outputs.sum(), rel=1e-4)


def test_run_begins_with_a_network_file(data: Path, trained: Path, tmp_path: Path, refused: Any) -> None:
    path = trained / "net.moff"
    sizes, numbers = trainingrun.beginning(path, 16, 2)
    network.write(tmp_path / "same", sizes.quantised(numbers))
    assert (tmp_path / "same").read_bytes() == path.read_bytes()
    assert train.main(arguments(data, tmp_path / "begun", begin=path, **KEPT)) == 0
    first, last = losses_of(tmp_path / "begun")[0], losses_of(trained)[-1]
    assert first["validation"] < 1.01 * last["validation"]
    other = tmp_path / "other"
    reason = "a network with 16 hidden neurons and 2 outputs, from which one with 16 and 4 cannot begin"
    assert f"{path} is {reason}" in refused(other, begin=path, outputs=4)
    damaged = tmp_path / "damaged"
    damaged.write_bytes(path.read_bytes()[:-1])
    for wrong, reason in ((damaged, "bytes instead of"), (tmp_path / "missing", "No such file")):
        error = refused(other, begin=wrong)
        assert str(wrong) in error
        assert reason in error
    assert not other.exists()


@pytest.mark.parametrize("step", [150, 1500])  # the second one in the mean of the last weights
def test_interrupted_run_goes_on_as_if_it_had_not_been(
    step: int, data: Path, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    interrupt(monkeypatch, arguments(data, run), step)
    assert 0 < losses_of(run)[-1]["positions"] < step * 16  # the last checkpoint before
    assert not (run / "net.moff").exists()
    assert (run / "losses.csv").exists()
    assert train.main(arguments(data, run)) == 0
    assert (run / "net.moff").read_bytes() == (trained / "net.moff").read_bytes()
    texts = ((run / "losses.csv").read_text("utf-8") for run in (run, trained))
    rows, same = (
        [line.rpartition(",")[0] for line in text.splitlines()] for text in texts
    )  # less the seconds
    assert rows == same


@pytest.mark.parametrize("text", ["[]", "{}", "{", '{"hidden": 16}', "\x00"])
def test_damaged_settings_are_reported_and_stay(
    text: str, trained: Path, tmp_path: Path, refused: Any
) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained, run)
    (run / "settings.json").write_text(text, encoding="utf-8")
    for words in ([], ["--run", str(run), "--export", str(tmp_path / "net")]):
        assert f"{run / 'settings.json'} is damaged or of another version" in refused(run, *words)
    assert (run / "settings.json").read_text(encoding="utf-8") == text
    assert not (tmp_path / "net").exists()


def test_finished_run_is_exported_again(
    data: Path, trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net"
    words = ["--run", str(trained), "--export", str(path)]
    assert train.main(words) == 0
    assert path.read_bytes() == (trained / "net.moff").read_bytes()
    assert capsys.readouterr().out == f"{path}: {path.stat().st_size} bytes\n"
    assert train.main([str(data), *words]) == 0
    exact, rounded = map(float, re.findall(r"0\.\d{6}", capsys.readouterr().out))
    assert rounded == pytest.approx(exact, abs=0.001)


def test_run_begins_with_the_weights_of_another(
    data: Path, trained: Path, tmp_path: Path, refused: Any
) -> None:
    begun, wide, other, damaged = (tmp_path / name for name in ("begun", "wide", "other", "damaged"))
    assert train.main(arguments(data, begun, begin=trained, **KEPT)) == 0
    first, last = losses_of(begun)[0], losses_of(trained)[-1]
    assert first["validation"] < 1.01 * last["validation"]
    assert (begun / "net.moff").read_bytes()[:32] != (trained / "net.moff").read_bytes()[:32], "it has learnt"
    # Another beginning would be another run.
    for options in (KEPT, {**KEPT, "begin": begun}):
        assert "is a run with other settings: begin" in refused(begun, **options)
    assert "from which one with 16 and 4 cannot begin" in refused(other, begin=trained, outputs=4)
    assert "is not a multiple of 16" in refused(other, begin=trained, hidden=40)
    damaged.mkdir()
    shutil.copy(trained / "settings.json", damaged)
    checkpoint = damaged / "checkpoint.npz"
    with (tmp_path / "wrong.npz").open("wb") as file:
        np.savez(file, numbers=np.zeros(3))
    assert f"{damaged} has no checkpoint" in refused(other, begin=damaged)
    with np.load(trained / "checkpoint.npz") as whole, (tmp_path / "short.npz").open("wb") as file:
        np.savez(file, **{**whole, "moments": whole["moments"][:, :100]})
    whole = (trained / "checkpoint.npz").read_bytes()
    wrong, short = ((tmp_path / name).read_bytes() for name in ("wrong.npz", "short.npz"))
    for content in (whole[:1000], whole[:-1], b"", 100 * b"junk", wrong, short):
        checkpoint.write_bytes(content)
        assert f"{checkpoint} is no checkpoint of a run of this version, or damaged: " in refused(
            other, begin=damaged
        )
    assert train.main(arguments(data, wide, epochs=1, hidden=32, begin=trained)) == 0
    assert network.read(wide / "net.moff").hidden == 32
    for hidden in (16, 48):
        assert f"from which one with {hidden} and 2 cannot begin" in refused(other, begin=wide, hidden=hidden)
    begins = [
        json.loads((run / "settings.json").read_text(encoding="utf-8"))["begin"] for run in (begun, wide)
    ]
    assert begins[0] == begins[1]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"hidden": 32}, "is a run with other settings: hidden"),
        ({"seed": 1, "blend": 1}, "is a run with other settings: blend, seed"),
        ({"min_ply": 1}, "is a run with other settings: filters"),
        ({"batch": 100_000}, "are too few: one batch has 100000"),
    ],
)
def test_run_with_other_settings_is_refused_and_stays(
    options: dict[str, object], reason: str, trained: Path, refused: Any
) -> None:
    before = (trained / "checkpoint.npz").read_bytes()
    assert reason in refused(trained, **options)
    assert (trained / "checkpoint.npz").read_bytes() == before


def test_run_learns_from_the_blocks_that_were_there_when_it_began(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grown, run = tmp_path / "pile", tmp_path / "run"
    shutil.copytree(data, grown)
    interrupt(monkeypatch, arguments(grown, run, epochs=1))
    more = [gamefile.read(place)._replace(seed=9) for place in gamefile.scan(grown / "a.moff")]
    make_file(grown / "a.moff", *more)
    with (grown / "b.moff").open("ab") as unfinished:
        unfinished.write((grown / "a.moff").read_bytes()[:70])
    make_file(grown / "c.moff", *more)
    assert train.main(arguments(grown, run, epochs=1)) == 0
    assert train.main(arguments(data, tmp_path / "whole", epochs=1)) == 0
    assert (run / "net.moff").read_bytes() == (tmp_path / "whole" / "net.moff").read_bytes()


def test_folder_in_use_and_unknown_device_are_refused(data: Path, tmp_path: Path, refused: Any) -> None:
    pytest.importorskip("torch", reason="the gpu extra is not installed")
    run = tmp_path / "run"
    assert "--device nonsense: " in refused(run, device="nonsense")
    assert not run.exists(), "a run with other settings can still begin there"
    run.mkdir()
    with (run / "lock").open("wb") as file:
        assert script.lock(file)
        assert f"another process trains in {run}" in refused(run, **KEPT)
    assert train.main(arguments(data, run, **KEPT)) == 0


def test_rate_rises_and_then_falls_along_a_cosine(trained: Path) -> None:
    run = trainingrun.Run(trained, trainingrun.known_settings(trained))
    for run.done, rate in ((0.0, 0.0), (0.0025, 0.0015), (0.005, 0.003), (0.5, 0.0015), (1.0, 0.000003)):
        assert run.rate() == pytest.approx(rate, rel=0.01)


def test_share_of_the_score_stays_unless_another_one_is_given(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Any] = []
    learn = learner.Learner.learn

    def watched(self: Any, batch: Any, rate: float, steps: int) -> Any:
        loss = learn(self, batch, rate, steps)
        taken.append(self.numbers.copy())
        return loss

    monkeypatch.setattr(learner.Learner, "learn", watched)
    words = arguments(data, tmp_path / "run", epochs=1, blend=0.3)
    at = words.index("--final-blend")
    assert train.main(words[:at] + words[at + 2 :]) == 0
    run = trainingrun.Run(tmp_path / "run", trainingrun.known_settings(tmp_path / "run"))
    assert run.settings.final_blend == 0.3
    assert np.abs(run.mean - np.mean(taken[-run.averaged :], axis=0)).max() < 1e-6, "of the last weights"
    assert run.averaged == pytest.approx(len(taken) / 5, abs=2)


@pytest.mark.parametrize("options", [{"flatten": 1}, {"blend": 0.5}], ids=["pieces", "the first blend"])
def test_weights_of_positions_and_results_change_the_network(
    options: dict[str, object], data: Path, trained: Path, tmp_path: Path
) -> None:
    assert train.main(arguments(data, tmp_path / "run", **options)) == 0
    assert (tmp_path / "run" / "net.moff").read_bytes() != (trained / "net.moff").read_bytes()


def test_random_network_plays_games_and_learns_from_them(tmp_path: Path) -> None:
    zero, run = tmp_path / "zero.net", tmp_path / "run"
    assert train.main(["--random", str(zero), "--hidden", "32"]) == 0
    player = Selfplay(network.read(str(zero)))
    path, size = tmp_path / "zero.moff", scaled(10, 2)
    for first in range(0, 3 * size, size):
        games = [player.play(1, number, 2) for number in range(first, first + size)]
        make_file(path, gamefile.packed(1, first, {}, games))
    chosen = {"epochs": 1, "batch": 16, "hidden": 32, "outputs": 8, "blend": 0, "begin": zero}
    assert train.main(arguments(path, run, **chosen)) == 0
    assert network.read(str(run / "net.moff")).hidden == 32
    assert (run / "net.moff").read_bytes() != zero.read_bytes()


def test_failure_in_the_thread_that_prepares_batches_ends_the_run(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Any
) -> None:
    read = dataset.read
    threads = set()

    def failing(place: Any) -> Any:
        threads.add(threading.current_thread() is threading.main_thread())
        if len(threads) == 2:
            raise OSError("the disk is gone")
        return read(place)

    monkeypatch.setattr(dataset, "read", failing)
    assert "the disk is gone" in refused(tmp_path / "run", mixed=16)
    assert threads == {True, False}
