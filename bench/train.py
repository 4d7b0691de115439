"""Trains a network on positions from Moff's own games.

    python bench/positions.py gen0.moff --shuffle train.records --validation test.records
    python bench/train.py train.records --validation test.records --run run0 --hidden 256 --epochs 10
    python bench/train.py --run run0 --export net.moff

The first command writes the positions of bench/selfplay.py in random order, with some games set aside; the
second trains. RUN is a folder with the settings, a checkpoint after each part of an epoch, and the losses as
a table (losses.csv) and as a plot (losses.svg). The same command continues an interrupted run, with the same
results as without the interruption on the same machine with the same number of threads. --begin starts from
the weights of another run's last checkpoint, or of a network file such as the shipped one, instead of random
ones; if that network is half, a third, ... as wide, each of its hidden neurons is copied, the output weights
are divided among the copies, and the copies are made to differ a little ("Net2Net", Tianqi Chen, Ian
Goodfellow and Jonathon Shlens, 2016).
--export writes the network of the run's last checkpoint in the format of search/network.py; a finished run
has already written it to RUN/net.moff.

Several files of records are mixed; a file named twice counts twice, and of FILE:N only the first N positions
count. The scores of FILE@S, or of FILE:N@S, are on the scale S instead of --scale.

The network is described in search/network.py. Its value, scaled by the material as in the search
(search/evaluate.py), is trained to predict, from 0 to 1, a blend of the search's score (--blend of it,
through the sigmoid of score / --scale) and the game's result (the rest; without a game, the score alone), by
squared error, with Adam, whose learning rate falls from --rate to --final-rate along a cosine. Positions are
those that passed the filters of bench/positions.py. In the last tenth of the steps the network computes with
its weights rounded as in the file, while the weights themselves are trained as before (a straight-through
estimator: Yoshua Bengio, Nicholas Léonard and Aaron Courville, 2013).

The validation loss is that of this network on the games set aside; the exported one is compared with it, and
the largest difference in centipawns is printed. The exit code is 0; 2 after wrong usage, with a damaged file,
or if the settings are not those of the run; 130 when interrupted. Needs the `train` extra.
"""

import argparse
import csv
import itertools
import json
import math
import os
import re
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import script  # first: it puts this checkout on the path

from search import network
from search.evaluate import FULL_MATERIAL, MATERIAL_STEP

try:
    import numpy as np
    import numpy.typing as npt
    import torch
    from torch.nn import functional
    from tqdm import tqdm
except ImportError as error:
    print(f'{error}: python -m pip install -e ".[train]"', file=sys.stderr)
    sys.exit(script.WRONG_USAGE)

import recordfile
from recordfile import BLACK_TO_MOVE, NO_RESULT, RESULT_SHIFT, Records

ROUNDING = 0.9
"""After this share of the steps, the network computes with rounded weights."""

TOGETHER = 64
"""Blocks of a batch's size that are shuffled together."""

PARTS = 8
"""Checkpoints in an epoch."""

MOST_WEIGHT = network.MOST_OUTPUT / network.OUTPUT_SCALE
"""Weights are clipped to this during training, so that they can be quantised."""

MOST_SUM = network.MOST_SUM / network.OUTPUT_SCALE
"""The weights of an output are scaled down if their absolute values add up to more than this, less their
rounding.
"""

MOST_SCORE = 32767
"""A record's score has 16 bits."""

LEAST_SCALE, MOST_SCALE = 1, 100_000
"""Of scores, in centipawns."""

DIFFERENCE = 0.1
"""The standard deviation of what is added to the input weights of each copy, relative to theirs."""

POINTS = np.array([1, 3, 3, 5, 9, 1, 0, 0])
"""The material of each kind of piece, as in search.evaluate.material_points; the last: empty squares."""

COLUMNS = ("part", "positions", "rate", "loss", "validation", "seconds")

Inputs = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]


# --- Positions


def inputs_of(records: Records) -> Inputs:
    """The inputs that are 1, of the side to move and of the other side, one position after the other, and
    where each position begins in both.
    """
    cells = recordfile.unpack(records)
    rows, squares = np.nonzero(cells != recordfile.VACANT)
    codes = cells[rows, squares].astype(np.int64)
    kinds, colours = codes & 7, codes >> 3
    movers = (records["state"] & BLACK_TO_MOVE).astype(np.int64)
    perspectives = []
    for perspective in range(2):
        sides = movers ^ perspective  # the side of the perspective, by position
        own = colours == sides[rows]
        seen = squares ^ 56 * sides[rows]
        kings = seen[own & (kinds == 5)]  # one in every position, in their order
        seen = seen ^ np.where(kings & 7 < 4, 7, 0)[rows]
        perspectives.append(384 * ~own + 64 * kinds + seen)
    starts = np.searchsorted(rows, np.arange(len(records)))
    return perspectives[0], perspectives[1], starts


def targets_of(records: Records, blend: float, scale: float) -> npt.NDArray[np.float32]:
    """The targets of the network, from 0 to 1: a blend of the score's expectation and the result; without a
    result, the former alone. In the score, `scale` centipawns multiply the odds by e.
    """
    results = records["state"] >> RESULT_SHIFT & 3
    scores = 1 / (1 + np.exp(-records["score"].astype(np.float64) / scale))
    blended = blend * scores + (1 - blend) * results / 2
    found: npt.NDArray[np.float32] = np.where(results == NO_RESULT, scores, blended).astype(np.float32)
    return found


def factors_of(records: Records) -> npt.NDArray[np.float32]:
    """The factors by which the search multiplies the network's values: the more material, the larger."""
    points = POINTS[recordfile.unpack(records) & 7].sum(1)
    found: npt.NDArray[np.float32] = (1 + MATERIAL_STEP / 1024 * (points - FULL_MATERIAL)).astype(np.float32)
    return found


@dataclass
class Batch:
    """Positions as input to the network, the factors of its values in the search, and its targets."""

    perspectives: list[torch.Tensor]
    starts: torch.Tensor
    bands: torch.Tensor
    factors: torch.Tensor
    targets: torch.Tensor


def batch_of(records: Records, blend: float, scale: float, outputs: int, device: str) -> Batch:
    """These positions, on a device."""
    own, other, starts = inputs_of(records)
    pieces = np.diff(starts, append=len(own))
    bands = np.array([network.band(count, outputs) for count in range(33)])
    return Batch(
        [torch.from_numpy(own).to(device), torch.from_numpy(other).to(device)],
        torch.from_numpy(starts).to(device),
        torch.from_numpy(bands[pieces]).to(device),
        torch.from_numpy(factors_of(records)).to(device),
        torch.from_numpy(targets_of(records, blend, scale)).to(device),
    )


@dataclass(frozen=True)
class Source:
    """Records, and by what their scores are multiplied to be on the scale of the run."""

    records: Records
    factor: float = 1.0

    def __len__(self) -> int:
        return len(self.records)

    def all(self) -> Records:
        """All records, with their scores on the scale of the run."""
        return self.block(0, len(self))

    def block(self, first: int, size: int) -> Records:
        """Some of the records, with their scores on the scale of the run."""
        rows = self.records[first : first + size]
        if self.factor != 1:
            rows = rows.copy()
            scores = np.rint(rows["score"].astype(np.float64) * self.factor)
            rows["score"] = np.clip(scores, -MOST_SCORE, MOST_SCORE)
        return rows


def shuffled(files: list[Source], size: int, seed: int, epoch: int) -> Iterator[Records]:
    """The records of an epoch in batches: the blocks of all files in random order, each shuffled with its
    neighbours. A last, incomplete batch is left out.
    """
    chance = np.random.default_rng([seed, epoch])
    blocks = [(number, first) for number, file in enumerate(files) for first in range(0, len(file), size)]
    order = chance.permutation(len(blocks))
    rest = files[0].records[:0]
    for at in range(0, len(order), TOGETHER):
        chosen = [blocks[index] for index in order[at : at + TOGETHER]]
        mixed = np.concatenate([rest, *(files[number].block(first, size) for number, first in chosen)])
        mixed = mixed[chance.permutation(len(mixed))]
        whole = len(mixed) // size * size
        for begin in range(0, whole, size):
            yield mixed[begin : begin + size]
        rest = mixed[whole:]


# --- The network


class Net(torch.nn.Module):
    """The network in floating point. Its output times network.SCALE is a value in centipawns."""

    def __init__(self, hidden: int, outputs: int) -> None:
        super().__init__()
        self.inputs = torch.nn.EmbeddingBag(network.INPUTS, hidden, mode="sum")
        self.biases = torch.nn.Parameter(torch.zeros(hidden))
        self.outputs = torch.nn.Linear(2 * hidden, outputs)
        torch.nn.init.uniform_(self.inputs.weight, -0.18, 0.18)  # up to 32 inputs are 1
        torch.nn.init.zeros_(self.outputs.bias)
        self.rounds = False
        """Whether it computes with its weights rounded as in the file."""

    def forward(self, batch: Batch) -> torch.Tensor:
        """The output for each position."""
        inputs = self._shown(self.inputs.weight, network.INPUT_SCALE)
        biases = self._shown(self.biases, network.INPUT_SCALE)
        outputs = self._shown(self.outputs.weight, network.OUTPUT_SCALE)
        hidden = [
            torch.clamp(
                functional.embedding_bag(perspective, inputs, batch.starts, mode="sum") + biases, 0, 1
            )
            ** 2
            for perspective in batch.perspectives
        ]
        found = functional.linear(torch.cat(hidden, 1), outputs, self.outputs.bias)
        chosen: torch.Tensor = found.gather(1, batch.bands[:, None])[:, 0]
        return chosen

    def _shown(self, numbers: torch.Tensor, scale: int) -> torch.Tensor:
        """The weights to compute with, rounded or not; the gradients are those of the weights either way."""
        if not self.rounds:
            return numbers
        return numbers + (torch.round(numbers * scale) / scale - numbers).detach()

    def clip(self) -> None:
        """Keep the weights in the range that can be quantised."""
        with torch.no_grad():
            for weights in (self.inputs.weight, self.biases, self.outputs.weight):
                weights.clamp_(-MOST_WEIGHT, MOST_WEIGHT)
            weights = self.outputs.weight
            most = MOST_SUM - weights.shape[1] / network.OUTPUT_SCALE
            weights.mul_(torch.clamp(most / weights.abs().sum(1, keepdim=True), max=1))


def quantised(net: Net) -> network.Weights:
    """The network's weights as integers."""

    def rounded(numbers: torch.Tensor, scale: int) -> list[int]:
        found: list[int] = torch.round(numbers.detach().double().cpu() * scale).long().flatten().tolist()
        return found

    return network.Weights(
        net.inputs.embedding_dim,
        net.outputs.out_features,
        rounded(net.inputs.weight, network.INPUT_SCALE),
        rounded(net.biases, network.INPUT_SCALE),
        rounded(net.outputs.weight, network.OUTPUT_SCALE),
        rounded(net.outputs.bias, network.UNIT),
    )


def values(weights: network.Weights, batch: Batch) -> npt.NDArray[np.int64]:
    """The values in centipawns of a quantised network, as search/network.py defines them."""
    hidden, outputs = weights.hidden, weights.outputs
    rows = np.array(weights.inputs, np.int64).reshape(-1, hidden)
    starts = batch.starts.cpu().numpy()
    squares = []
    for perspective in batch.perspectives:
        sums = np.add.reduceat(rows[perspective.cpu().numpy()], starts) + np.array(weights.input_biases)
        squares.append(np.clip(sums, 0, network.INPUT_SCALE) ** 2 // 4)
    bands = batch.bands.cpu().numpy()
    chosen = np.array(weights.output_weights, np.int64).reshape(outputs, 2 * hidden)[bands]
    sums = (np.concatenate(squares, 1) * chosen).sum(1) + np.array(weights.output_biases)[bands]
    found: npt.NDArray[np.int64] = sums * network.SCALE // network.UNIT
    return found


# --- A run


@dataclass(frozen=True)
class Settings:
    """The settings of a run, which can only be continued with the same ones."""

    hidden: int
    outputs: int
    epochs: int
    batch: int
    rate: float
    final_rate: float
    blend: float
    scale: float
    factors: list[float]
    """By what the scores of each file are multiplied, those for validation last."""
    seed: int
    positions: int
    checked: int
    """Positions for training and for validation."""
    material: list[int]
    """How the network's values are scaled: MATERIAL_STEP and FULL_MATERIAL of search.evaluate."""
    begin: str
    """The CRC-32 of the weights it begins with, before they are widened; empty if they are random."""


class Run:
    """A network in training, kept in a folder."""

    def __init__(
        self, folder: Path, settings: Settings, device: str, begin: dict[str, torch.Tensor] | None = None
    ) -> None:
        """Continues the run in the folder, or begins with these weights, widened. Raises ValueError if the
        run there has other settings, or OSError.
        """
        self.folder = folder
        self.settings = settings
        self.device = device
        torch.manual_seed(settings.seed)
        self.net = Net(settings.hidden, settings.outputs).to(device)
        self.optimiser = torch.optim.Adam(self.net.parameters(), settings.rate)
        self.step = 0
        self.losses: list[dict[str, float]] = []
        folder.mkdir(parents=True, exist_ok=True)
        known = folder / "settings.json"
        if not known.exists():
            _replace(known, json.dumps(asdict(settings), indent=1).encode())
        elif (found := json.loads(known.read_text())) != asdict(settings):
            different = [
                name
                for name in asdict(settings).keys() | found
                if found.get(name) != asdict(settings).get(name)
            ]
            raise ValueError(f"{folder} is a run with other settings: {', '.join(sorted(different))}")
        if begin is not None:
            self.net.load_state_dict(_widened(begin, settings.hidden, settings.seed))
        if (folder / "checkpoint.pt").exists():
            state = _checkpoint(folder, device)
            self.net.load_state_dict(state["net"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.step = state["step"]
            self.losses = state["losses"]
        self._choose_rounding()

    def steps_of_epoch(self) -> int:
        """Batches in an epoch."""
        return self.settings.positions // self.settings.batch

    def _choose_rounding(self) -> None:
        self.net.rounds = self.step >= ROUNDING * self.steps_of_epoch() * self.settings.epochs

    def train(self, files: list[Source], checked: Records) -> None:
        """Train to the last epoch."""
        settings = self.settings
        steps = self.steps_of_epoch()
        part = -(-steps // PARTS)
        began, loss = time.perf_counter(), torch.zeros((), device=self.device)
        with tqdm(
            total=steps * settings.epochs * settings.batch,
            initial=self.step * settings.batch,
            unit=" positions",
            unit_scale=True,
            disable=None,
        ) as bar:
            while self.step < steps * settings.epochs:
                epoch, done = divmod(self.step, steps)
                for number, batch in enumerate(self._batches(files, epoch, done), done):
                    loss += self._learn(batch)
                    bar.update(settings.batch)
                    if (number + 1) % part == 0 or number + 1 == steps:
                        count = number % part + 1
                        self._note(float(loss) / count, checked, time.perf_counter() - began)
                        bar.set_postfix(
                            loss=self.losses[-1]["loss"], validation=self.losses[-1]["validation"]
                        )
                        began = time.perf_counter()
                        loss.zero_()

    def _batches(self, files: list[Source], epoch: int, done: int) -> Iterator[Batch]:
        """The batches of an epoch after those that are done. While the network learns from one, a thread
        prepares the next.
        """
        rows = shuffled(files, self.settings.batch, self.settings.seed, epoch)
        chosen = itertools.islice(rows, done, None)
        with ThreadPoolExecutor(1) as worker:

            def prepare() -> Batch | None:
                records = next(chosen, None)
                return None if records is None else self._batch(records)

            batch = prepare()  # here, so that an interrupt ends it: those that are done are skipped first
            while batch is not None:
                following = worker.submit(prepare)
                yield batch
                batch = following.result()

    def _learn(self, batch: Batch) -> torch.Tensor:
        """Take one step; returns the loss before it."""
        self._choose_rounding()
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        loss = torch.mean(self._errors(batch))
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        self.net.clip()
        self.step += 1
        return loss.detach()

    def _errors(self, batch: Batch) -> torch.Tensor:
        """The squared error of each position."""
        expected: torch.Tensor = torch.sigmoid(self.net(batch) * batch.factors)
        return (expected - batch.targets) ** 2

    def _batch(self, rows: Records) -> Batch:
        settings = self.settings
        return batch_of(rows, settings.blend, settings.scale, settings.outputs, self.device)

    def rate(self) -> float:
        """The learning rate of the next step."""
        settings = self.settings
        done = min(1, self.step / max(1, self.steps_of_epoch() * settings.epochs - 1))
        return (
            settings.final_rate + (settings.rate - settings.final_rate) * (1 + math.cos(math.pi * done)) / 2
        )

    def loss(self, records: Records) -> float:
        """The mean loss over these positions."""
        total = 0.0
        with torch.no_grad():
            for first in range(0, len(records), self.settings.batch):
                rows = records[first : first + self.settings.batch]
                batch = self._batch(rows)
                total += float(torch.sum(self._errors(batch)))
        return total / len(records)

    def _note(self, loss: float, checked: Records, seconds: float) -> None:
        """Record the losses, and save a checkpoint."""
        settings = self.settings
        validation = self.loss(checked)
        row = (len(self.losses) + 1, self.step * settings.batch, self.rate(), loss, validation, seconds)
        self.losses.append(dict(zip(COLUMNS, row, strict=True)))
        state = {
            "net": self.net.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "losses": self.losses,
        }
        part = self.folder / "checkpoint.pt.part"
        torch.save(state, part)
        os.replace(part, self.folder / "checkpoint.pt")
        with (self.folder / "losses.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.losses)

    def draw(self) -> None:
        """Draw the losses."""
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(7, 4))
        done = [row["positions"] / 1e6 for row in self.losses]
        axes.plot(done, [row["loss"] for row in self.losses], label="training")
        axes.plot(done, [row["validation"] for row in self.losses], label="validation")
        axes.set_xlabel("million positions")
        axes.set_ylabel("mean squared error")
        axes.legend()
        figure.tight_layout()
        figure.savefig(self.folder / "losses.svg")
        pyplot.close(figure)

    def export(self, path: Path, checked: Records) -> str:
        """Write the quantised network; returns a comparison with the one in floating point."""
        part = path.with_name(path.name + ".part")
        network.write(part, quantised(self.net))
        os.replace(part, path)
        text = f"{path}: {path.stat().st_size} bytes"
        if not len(checked):
            return text
        batch = self._batch(checked[:10_000])
        with torch.no_grad():
            exact = self.net(batch).cpu().double().numpy() * network.SCALE
        differences = np.abs(values(network.read(path), batch) - exact)
        return (
            f"{text}; {len(exact)} values differ by {differences.mean():.2f} centipawns on average, "
            f"by {differences.max():.1f} at most"
        )


def _checkpoint(folder: Path, device: str = "cpu") -> dict[str, Any]:
    """The last checkpoint of a run. Raises ValueError if it is damaged, or OSError."""
    path = folder / "checkpoint.pt"
    try:
        found: Any = torch.load(path, map_location=device, weights_only=True)
    except OSError:
        raise
    except Exception as error:  # of many kinds: a pickle says what it wants
        reason = (str(error).splitlines() or ["it is cut off"])[0]
        raise ValueError(f"{path} is damaged: {reason}") from None
    if (
        not isinstance(found, dict)
        or found.keys() != {"net", "optimiser", "step", "losses"}
        or found["net"].keys() != {"inputs.weight", "biases", "outputs.weight", "outputs.bias"}
    ):
        raise ValueError(f"{path} is not a checkpoint of a run")
    return found


def _beginning(path: Path, hidden: int, outputs: int) -> dict[str, torch.Tensor]:
    """The weights of another run or of a network file, whose hidden layer is as wide, half, a third, ... as
    wide. Raises ValueError if it has other sizes or is damaged, or OSError.
    """
    found: dict[str, torch.Tensor] = _checkpoint(path)["net"] if path.is_dir() else _exact(network.read(path))
    width, bands = len(found["biases"]), len(found["outputs.bias"])
    if hidden % width or bands != outputs:
        raise ValueError(
            f"{path} is a network with {width} hidden neurons and {bands} outputs, from which one with "
            f"{hidden} and {outputs} cannot begin"
        )
    return found


def _exact(weights: network.Weights) -> dict[str, torch.Tensor]:
    """The weights of a quantised network in floating point. `quantised` finds the same integers again, but
    for the last bits of a large output bias.
    """

    def numbers(found: Sequence[int], scale: int, *shape: int) -> torch.Tensor:
        return (torch.tensor(list(found), dtype=torch.double) / scale).float().reshape(shape)

    hidden, outputs = weights.hidden, weights.outputs
    return {
        "inputs.weight": numbers(weights.inputs, network.INPUT_SCALE, network.INPUTS, hidden),
        "biases": numbers(weights.input_biases, network.INPUT_SCALE, hidden),
        "outputs.weight": numbers(weights.output_weights, network.OUTPUT_SCALE, outputs, 2 * hidden),
        "outputs.bias": numbers(weights.output_biases, network.UNIT, outputs),
    }


def _widened(numbers: dict[str, torch.Tensor], hidden: int, seed: int) -> dict[str, torch.Tensor]:
    """The weights of a network with several copies of each hidden neuron, which differ a little; the same
    weights if it has as many as asked for.
    """
    copies = hidden // len(numbers["biases"])
    if copies == 1:
        return numbers
    chance = torch.Generator().manual_seed(seed)
    inputs, outputs = numbers["inputs.weight"], numbers["outputs.weight"]
    wide = inputs.repeat(1, copies)
    noise = torch.randn(wide.shape, generator=chance) * DIFFERENCE * inputs.std()
    own, other = outputs.chunk(2, dim=1)
    return {
        **numbers,
        "inputs.weight": wide + noise,
        "biases": numbers["biases"].repeat(copies),
        "outputs.weight": torch.cat([own.repeat(1, copies), other.repeat(1, copies)], 1) / copies,
    }


def _replace(path: Path, content: bytes) -> None:
    """Write a file that is never half-written."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)


# --- The command line


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = script.parser(__doc__ or "")
    parser.add_argument(
        "records",
        nargs="*",
        metavar="FILE[:N][@S]",
        help="records, written by bench/positions.py --shuffle; N positions of them; scores on the scale S",
    )
    parser.add_argument("--validation", metavar="FILE[:N][@S]", help="records of other games")
    parser.add_argument("--run", type=Path, required=True, metavar="FOLDER", help="where the run is kept")
    parser.add_argument(
        "--begin", type=Path, metavar="PATH", help="start from the weights of this run or network file"
    )
    parser.add_argument("--export", type=Path, metavar="FILE", help="write the run's network, do not train")
    parser.add_argument("--hidden", type=script.positive, default=256, metavar="N", help="default 256")
    parser.add_argument("--outputs", type=script.positive, default=8, metavar="N", help="default 8")
    parser.add_argument("--epochs", type=script.positive, default=10, metavar="N", help="default 10")
    parser.add_argument("--batch", type=script.positive, default=16384, metavar="N", help="default 16384")
    parser.add_argument("--rate", type=float, default=0.001, help="of learning, at first (default 0.001)")
    parser.add_argument("--final-rate", type=float, default=0.00001, metavar="RATE", help="default 0.00001")
    parser.add_argument(
        "--blend", type=float, default=0.9, help="the score's share of the target (default 0.9)"
    )
    parser.add_argument(
        "--scale",
        type=float,
        default=network.REPORTED_SCALE,
        help="centipawns that multiply the odds by e, in the scores (default %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of weights and order (default 0)")
    parser.add_argument("--threads", type=script.positive, metavar="N", help="processors (default: all)")
    parser.add_argument("--device", help="cpu, cuda (default: cuda if there is one)")
    return parser.parse_args(arguments)


def _load(text: str, scale: float) -> Source:
    """The records of "FILE", the first N of "FILE:N", either with "@S" for scores on the scale S, in a run on
    another scale; a file of that very name takes precedence. Raises ValueError if there are fewer or no such
    scale, or OSError.
    """
    found = re.fullmatch(r"(?P<path>.+?)(:(?P<count>[0-9]+))?(@(?P<scale>[0-9]+(\.[0-9]*)?))?", text, re.S)
    if not found:
        raise ValueError("the name of a file of records is empty")
    if os.path.exists(text):  # False for a name that is too long
        return Source(recordfile.load(Path(text)))
    factor = 1.0
    if found["scale"]:
        if not LEAST_SCALE <= float(found["scale"]) <= MOST_SCALE:
            raise ValueError(f"{text}: the scale is not from {LEAST_SCALE} to {MOST_SCALE}")
        factor = scale / float(found["scale"])
    records = recordfile.load(Path(found["path"]))
    if found["count"]:
        if int(found["count"]) > len(records):
            raise ValueError(f"{found['path']} has {len(records)} positions, not {found['count']}")
        records = records[: int(found["count"])]
    return Source(records, factor)


def _settings(
    options: argparse.Namespace, files: list[Source], checked: Source, begin: dict[str, torch.Tensor] | None
) -> Settings:
    """Raises ValueError for impossible ones."""
    count = sum(map(len, files))
    if not 0 <= options.blend <= 1:
        raise ValueError("--blend must be from 0 to 1")
    if not 0 < options.final_rate <= options.rate:
        raise ValueError("--rate must be positive, and --final-rate no higher")
    if options.seed < 0:
        raise ValueError("--seed must not be negative")
    network.check_sizes(options.hidden, options.outputs)
    if count < options.batch or not len(checked):
        raise ValueError(
            f"{count} positions for training and {len(checked)} for validation are too few: one batch "
            f"has {options.batch}"
        )
    return Settings(
        options.hidden,
        options.outputs,
        options.epochs,
        options.batch,
        options.rate,
        options.final_rate,
        options.blend,
        options.scale,
        [file.factor for file in (*files, checked)],
        options.seed,
        count,
        len(checked),
        [MATERIAL_STEP, FULL_MATERIAL],
        "" if begin is None else f"{_checksum(begin):08x}",
    )


def _checksum(numbers: dict[str, torch.Tensor]) -> int:
    found = 0
    for name in sorted(numbers):
        found = zlib.crc32(numbers[name].numpy().tobytes(), found)
    return found


def _known_settings(folder: Path) -> Settings:
    """The settings of a run. Raises ValueError or OSError."""
    try:
        return Settings(**json.loads((folder / "settings.json").read_text()))
    except (json.JSONDecodeError, TypeError) as error:
        raise ValueError(f"{folder / 'settings.json'} is damaged: {error}") from None


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Train or export; returns the exit code."""
    options = _options(arguments)
    script.require("train", "matplotlib")
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.export:
        if not (options.run / "checkpoint.pt").exists():
            raise ValueError(f"{options.run} has no checkpoint")
        run = Run(options.run, _known_settings(options.run), device)
        rows: Any = _load(options.validation, run.settings.scale).all() if options.validation else np.empty(0)
        print(run.export(options.export, rows))
        return 0
    if not options.records or not options.validation:
        raise ValueError("training needs RECORDS and --validation RECORDS")
    if not LEAST_SCALE <= options.scale <= MOST_SCALE:
        raise ValueError(f"--scale must be from {LEAST_SCALE} to {MOST_SCALE}")
    files = [_load(text, options.scale) for text in options.records]
    checked = _load(options.validation, options.scale)
    begin = None
    if options.begin:
        network.check_sizes(options.hidden, options.outputs)
        begin = _beginning(options.begin, options.hidden, options.outputs)
    run = Run(options.run, _settings(options, files, checked, begin), device, begin)
    run.train(files, checked.all())
    run.draw()
    print(run.export(options.run / "net.moff", checked.all()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
