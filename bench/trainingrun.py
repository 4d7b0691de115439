"""A training run of bench/train.py, kept in a folder with its settings, last checkpoint and losses."""

import csv
import json
import math
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from dataset import Filters, Rows, Stream, usable, weights
from gamefile import Place
from nets import Batch, Net, batch_of, dequantised, mean, quantised, values, widened
from tqdm import tqdm

from moff.atomic_write import save, writing
from search.nnue import network

ROUNDING = 0.9
"""After this share of the steps, the network computes with rounded weights."""

PARTS = 8
"""Checkpoints in an epoch, as far as each has LEAST batches."""

LEAST = 16

COLUMNS = ("part", "positions", "rate", "loss", "validation", "seconds")


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
    lookahead: float
    flatten: float
    filters: Filters
    seed: int
    share: float
    """The share of blocks set aside for validation."""
    ends: dict[str, int]
    """The bytes read of each file of games: it may have grown since."""
    material: list[int]
    """The scaling of the network's values: MATERIAL_STEP and FULL_MATERIAL of search.nnue.evaluate."""
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
        self.step = self.part = 0
        self.done = 0.0
        """The share of the training that lies behind."""
        self._weights = np.ones(33, np.float32)
        self.losses: list[dict[str, float]] = []
        folder.mkdir(parents=True, exist_ok=True)
        known = folder / "settings.json"
        if not known.exists():
            save(known, json.dumps(asdict(settings), indent=1))
        elif (found := known_settings(folder)) != settings:
            old, new = asdict(found), asdict(settings)
            different = sorted(name for name in new if old[name] != new[name])
            raise ValueError(f"{folder} is a run with other settings: {', '.join(different)}")
        if begin is not None:
            self.net.load_state_dict(widened(begin, settings.hidden, settings.seed))
        if (folder / "checkpoint.pt").exists():
            state = _checkpoint(folder, device)
            self.net.load_state_dict(state["net"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.step, self.part, self.done = state["step"], state["part"], state["done"]
            self.losses = state["losses"]
        self._choose_rounding()

    def _choose_rounding(self) -> None:
        self.net.rounds = self.done >= ROUNDING

    def train(self, places: list[Place], checked: list[Rows]) -> None:
        """Train on these blocks to the last epoch."""
        settings = self.settings
        self._weights = weights(places, settings.flatten)
        positions = usable(places)
        parts = max(1, min(PARTS, positions // (LEAST * settings.batch), len(places)))
        progress = {"total": positions * settings.epochs, "initial": self.step * settings.batch}
        with tqdm(**progress, unit=" positions", unit_scale=True, disable=None) as bar:
            while self.part < parts * settings.epochs:
                epoch, part = divmod(self.part, parts)
                began, loss, count = time.perf_counter(), torch.zeros((), device=self.device), 0
                for batch, share in self._batches(places, epoch, part, parts):
                    self.done = (self.part + share) / (parts * settings.epochs)
                    loss += self._learn(batch)
                    count += 1
                    bar.update(settings.batch)
                self.part += 1
                if count:
                    self._note(float(loss) / count, checked, time.perf_counter() - began)
                    bar.set_postfix(loss=self.losses[-1]["loss"], validation=self.losses[-1]["validation"])
        if not self.losses:
            raise ValueError(f"no batch of {settings.batch} positions is left by the filters")

    def _batches(
        self, places: list[Place], epoch: int, part: int, parts: int
    ) -> Iterator[tuple[Batch, float]]:
        """The batches of a part of an epoch, each with the share done after it; a thread prepares the next
        one.
        """
        settings = self.settings
        seed = f"{settings.seed}/{epoch}/{part}"
        stream = Stream(places[part::parts], settings.batch, seed, settings.lookahead, settings.filters)
        with ThreadPoolExecutor(1) as worker:
            rows = iter(stream)

            def prepare() -> tuple[Batch, float] | None:
                found = next(rows, None)
                return None if found is None else (self._batch(found[0]), found[1])

            batch = prepare()
            while batch is not None:
                following = worker.submit(prepare)
                yield batch
                batch = following.result()

    def _learn(self, batch: Batch) -> torch.Tensor:
        """Take one step; returns the loss before it."""
        self._choose_rounding()
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate()
        loss = torch.mean(batch.weights * self._errors(batch))
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

    def _batch(self, rows: Rows) -> Batch:
        settings = self.settings
        return batch_of(rows, settings.blend, settings.outputs, self._weights, self.device)

    def rate(self) -> float:
        """The learning rate of the next step."""
        settings = self.settings
        fall = settings.rate - settings.final_rate
        return settings.final_rate + fall * (1 + math.cos(math.pi * self.done)) / 2

    def loss(self, checked: list[Rows]) -> float:
        """The mean loss over these positions."""
        with torch.no_grad():
            total = sum(float(torch.sum(self._errors(self._batch(rows)))) for rows in checked)
        return total / sum(map(len, checked))

    def _note(self, loss: float, checked: list[Rows], seconds: float) -> None:
        """Record the losses, and save a checkpoint."""
        settings = self.settings
        validation = self.loss(checked)
        row = (len(self.losses) + 1, self.step * settings.batch, self.rate(), loss, validation, seconds)
        self.losses.append(dict(zip(COLUMNS, row, strict=True)))
        state = {"net": self.net.state_dict(), "optimiser": self.optimiser.state_dict()}
        state |= {name: getattr(self, name) for name in ("step", "part", "done", "losses")}
        with writing(self.folder / "checkpoint.pt") as stream:
            torch.save(state, stream)
        with (self.folder / "losses.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(self.losses)

    def export(self, path: Path, checked: list[Rows], other: Path | None = None) -> str:
        """Write the quantised network, or the mean of its weights and those of another. Returns a line that
        names the file and, if there are positions, compares its values with those in floating point.

        Raises ValueError if the other network is damaged or has other sizes, or for positions as well, since
        a mean in floating point is not computed; or OSError.
        """
        if other and checked:
            raise ValueError("--mean-with and positions cannot be combined")
        weights = quantised(self.net)
        if other:
            weights = mean(weights, network.read(other), str(other))
        part = path.with_name(path.name + ".part")
        network.write(part, weights)
        os.replace(part, path)
        text = f"{path}: {path.stat().st_size} bytes"
        if not checked:
            return text
        batch = self._batch(checked[0])
        with torch.no_grad():
            exact = self.net(batch).cpu().double().numpy() * network.SCALE
        differences = np.abs(values(network.read(path), batch) - exact)
        return (
            f"{text}; {len(exact)} values differ by {differences.mean():.2f} centipawns on average, "
            f"by {differences.max():.1f} at most"
        )


def known_settings(folder: Path) -> Settings:
    """The settings of a run. Raises ValueError or OSError."""
    try:
        found = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        return Settings(**found | {"filters": Filters(**found["filters"])})
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{folder / 'settings.json'} is damaged or of another version: {error}") from None


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
        or found.keys() != {"net", "optimiser", "step", "part", "done", "losses"}
        or found["net"].keys() != {"inputs.weight", "biases", "outputs.weight", "outputs.bias"}
    ):
        raise ValueError(f"{path} is not a checkpoint of a run")
    return found


def beginning(path: Path, hidden: int, outputs: int) -> dict[str, torch.Tensor]:
    """The weights of another run or of a network file with a hidden layer as wide, half, a third, ... as
    wide. Raises ValueError if it has other sizes or is damaged, or OSError.
    """
    found: dict[str, torch.Tensor]
    found = _checkpoint(path)["net"] if path.is_dir() else dequantised(network.read(path))
    width, bands = len(found["biases"]), len(found["outputs.bias"])
    if hidden % width or bands != outputs:
        raise ValueError(
            f"{path} is a network with {width} hidden neurons and {bands} outputs, from which one with "
            f"{hidden} and {outputs} cannot begin"
        )
    return found
