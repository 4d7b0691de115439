"""A training run of bench/train.py, kept in a folder with its settings, last checkpoint and losses."""

import csv
import importlib
import itertools
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
import script  # first: it puts this checkout on the path
from dataset import Filters, Rows, Stream, usable, weights
from gamefile import Place
from learner import Learner
from nets import Batch, Floats, Sizes, batch_of, dequantised, widened
from tqdm import tqdm

from moff.atomic_write import save, writing
from search.nnue import network

WARM_UP = 0.005
"""The share of the training in which the rate of learning rises to its full height."""

AVERAGED = 0.8
"""After this share of the training the mean of the weights begins, which is the result."""

PARTS = 8
"""Checkpoints in an epoch, as far as there are LEAST batches before each."""

LEAST = 16

CHECKPOINT = "checkpoint.npz"
STATE = ("numbers", "moments", "mean", "counts", "done", "losses")

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
    final_blend: float
    lookahead: float
    mixed: int
    """Positions in memory, from which a batch is drawn."""
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
    """The CRC-32 of the numbers it begins with, before they are widened; empty if they are random."""


class Run:
    """A network in training, kept in a folder."""

    def __init__(
        self,
        folder: Path,
        settings: Settings,
        begin: tuple[Sizes, Floats] | None = None,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        """Continues the run in the folder, or begins with these numbers, widened. Raises ValueError if the
        run there has other settings or the device cannot be used, ImportError, or OSError.
        """
        self.folder = folder
        self.settings = settings
        self.sizes = Sizes(settings.hidden, settings.outputs)
        self.step = self.epoch = self.batches = self.averaged = 0
        """The steps taken, the epoch, the batches of it that lie behind, and the weights in the mean."""
        self.done = 0.0
        """The share of the training that lies behind."""
        self.losses: list[list[float]] = []
        """A row of COLUMNS for each part."""
        known = folder / "settings.json"
        if known.exists() and (found := known_settings(folder)) != settings:
            old, new = asdict(found), asdict(settings)
            different = sorted(name for name in new if old[name] != new[name])
            raise ValueError(f"{folder} is a run with other settings: {', '.join(different)}")
        if (folder / CHECKPOINT).exists():
            state = _checkpoint(folder, self.sizes)
            numbers, moments, self.mean = (state[name] for name in ("numbers", "moments", "mean"))
            self.step, self.epoch, self.batches, self.averaged = state["counts"].tolist()
            self.done, self.losses = float(state["done"]), state["losses"].tolist()
        else:
            numbers = self.sizes.random(settings.seed)
            if begin is not None:
                numbers = widened(*begin, settings.hidden, settings.seed)
            moments = np.zeros((2, self.sizes.count), np.float32)
            self.mean = np.zeros(self.sizes.count, np.float32)
        if device == "cpu":
            self.learner: Any = Learner(self.sizes, numbers, moments, threads or os.cpu_count() or 1)
        else:
            script.require("gpu", "torch")
            self.learner = importlib.import_module("gpu").Learner(self.sizes, numbers, moments, device)
        folder.mkdir(parents=True, exist_ok=True)
        if not known.exists():
            save(known, json.dumps(asdict(settings), indent=1))
        self._weights = np.ones(33, np.float32)

    def train(self, places: list[Place], checked: list[Rows]) -> None:
        """Train on these blocks to the last epoch. Raises ValueError if another process does, or no batch is
        left by the filters.
        """
        with (self.folder / "lock").open("wb") as lock:
            if not script.lock(lock):
                raise ValueError(f"another process trains in {self.folder}")
            self._train(places, checked)

    def _train(self, places: list[Place], checked: list[Rows]) -> None:
        settings = self.settings
        self._weights = weights(places, settings.flatten)
        positions = usable(places)
        part = max(LEAST, math.ceil(positions / (PARTS * settings.batch)))
        progress = {"total": positions * settings.epochs, "initial": self.step * settings.batch}
        with tqdm(**progress, unit=" positions", unit_scale=True, disable=None) as bar:
            while self.epoch < settings.epochs:
                began, losses = time.perf_counter(), []
                for batch, done in self._batches(places):
                    self.step, self.batches, self.done = self.step + 1, self.batches + 1, done
                    losses.append(self.learner.learn(batch, self.rate(), self.step))
                    if self.done > AVERAGED:
                        self.averaged += 1
                        self.mean += (self.learner.numbers - self.mean) / self.averaged
                    bar.update(settings.batch)
                    if self.batches % part == 0:
                        self._note(losses, checked, time.perf_counter() - began)
                        bar.set_postfix(loss=self.losses[-1][3], validation=self.losses[-1][4])
                        began, losses = time.perf_counter(), []
                self.epoch, self.batches = self.epoch + 1, 0
                self._note(losses, checked, time.perf_counter() - began)
        if not self.losses:
            raise ValueError(f"no batch of {settings.batch} positions is left by the filters")

    def _batches(self, places: list[Place]) -> Iterator[tuple[Batch, float]]:
        """The batches of this epoch that are left, each with the share of the training done after it; a
        thread prepares the next one.
        """
        settings = self.settings
        seed = f"{settings.seed}/{self.epoch}"
        stream = Stream(places, settings.batch, seed, settings.lookahead, settings.filters, settings.mixed)
        with ThreadPoolExecutor(1) as worker:
            rows = itertools.islice(stream, self.batches, None)

            def prepare() -> tuple[Batch, float] | None:
                found = next(rows, None)
                if found is None:
                    return None
                done = (self.epoch + found[1]) / settings.epochs
                return self._batch(found[0], done), done

            batch = prepare()
            while batch is not None:
                following = worker.submit(prepare)
                yield batch
                batch = following.result()

    def _batch(self, rows: Rows, done: float = 1.0) -> Batch:
        settings = self.settings
        blend = settings.blend + (settings.final_blend - settings.blend) * done
        return batch_of(rows, blend, settings.outputs, self._weights)

    def rate(self) -> float:
        """The learning rate of the next step."""
        settings = self.settings
        fall = settings.rate - settings.final_rate
        height = settings.final_rate + fall * (1 + math.cos(math.pi * self.done)) / 2
        return height * min(1.0, self.done / WARM_UP)

    def loss(self, checked: list[Rows], learner: Learner | None = None) -> float:
        """The mean loss over these positions, with the blend of the end."""
        learner = learner or self.learner
        total = sum(learner.loss(self._batch(rows)) * len(rows) for rows in checked)
        return total / sum(map(len, checked))

    def _note(self, losses: list[float], checked: list[Rows], seconds: float) -> None:
        """Record the losses of a part, if it has any, and save a checkpoint."""
        if losses:
            seen, loss = self.step * self.settings.batch, sum(losses) / len(losses)
            self.losses.append([len(self.losses) + 1, seen, self.rate(), loss, self.loss(checked), seconds])
        state = {"numbers": self.learner.numbers, "moments": self.learner.moments, "mean": self.mean}
        counts = np.array([self.step, self.epoch, self.batches, self.averaged])
        with writing(self.folder / CHECKPOINT) as stream:
            np.savez(stream, counts=counts, done=np.array(self.done), losses=np.array(self.losses), **state)
        with (self.folder / "losses.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows([int(part), int(seen), *rest] for part, seen, *rest in self.losses)

    def export(self, path: Path, checked: list[Rows]) -> str:
        """Write the quantised network, of the mean if that has begun. Returns a line that names the file and,
        if there are positions, tells what rounding does to their loss. Raises OSError.
        """
        numbers = self.mean if self.averaged else self.learner.numbers
        part = path.with_name(path.name + ".part")
        network.write(part, self.sizes.quantised(numbers))
        os.replace(part, path)
        text = f"{path}: {path.stat().st_size} bytes"
        if checked:
            _, rounded = dequantised(network.read(path))
            losses = [
                self.loss(checked, Learner(self.sizes, found, self.mean, 1)) for found in (numbers, rounded)
            ]
            text += "; validation loss {:.6f}, rounded {:.6f}".format(*losses)
        return text


def known_settings(folder: Path) -> Settings:
    """The settings of a run. Raises ValueError or OSError."""
    try:
        found = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        return Settings(**found | {"filters": Filters(**found["filters"])})
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{folder / 'settings.json'} is damaged or of another version: {error}") from None


def _checkpoint(folder: Path, sizes: Sizes) -> dict[str, Any]:
    """The last checkpoint of a run. Raises ValueError if there is none or it is damaged, or OSError."""
    path = folder / CHECKPOINT
    if not path.exists():
        raise ValueError(f"{folder} has no checkpoint")
    try:
        with np.load(path) as file:
            found = {name: file[name] for name in STATE}
        if {found[name].size for name in ("numbers", "mean")} | {found["moments"].size // 2} != {sizes.count}:
            raise ValueError("its arrays have other sizes")
        return found
    except OSError:
        raise
    except Exception as error:  # of many kinds: a file that is cut off, no archive, a name that is missing
        raise ValueError(f"{path} is no checkpoint of a run of this version, or damaged: {error}") from None


def beginning(path: Path, hidden: int, outputs: int) -> tuple[Sizes, Floats]:
    """The result of another run so far, or a network file, with a hidden layer as wide, half, a third, ... as
    wide. Raises ValueError if it has other sizes or is damaged, or OSError.
    """
    if path.is_dir():
        settings = known_settings(path)
        sizes = Sizes(settings.hidden, settings.outputs)
        state = _checkpoint(path, sizes)
        numbers: Floats = state["mean" if state["counts"][3] else "numbers"]
    else:
        sizes, numbers = dequantised(network.read(path))
    if hidden % sizes.hidden or sizes.outputs != outputs:
        raise ValueError(
            f"{path} is a network with {sizes.hidden} hidden neurons and {sizes.outputs} outputs, from which "
            f"one with {hidden} and {outputs} cannot begin"
        )
    return sizes, numbers
