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
has already written it to RUN/net.moff. With --mean-with, each weight is the mean of the run's and of another
network's, such as the one that it began from, which can be stronger than both ("WiSE-FT", Mitchell Wortsman
et al., 2022).

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
import os
import re
import sys
from pathlib import Path
from typing import Any

import script  # first: it puts this checkout on the path

from search import network
from search.evaluate import FULL_MATERIAL, MATERIAL_STEP

try:
    import numpy as np
    import recordfile
    import torch
    from batches import Source
    from nets import checksum
    from trainingrun import Run, Settings, beginning, known_settings
except ImportError as error:
    script.cannot_begin(error, "train", __doc__ or "")

LEAST_SCALE, MOST_SCALE = 1, 100_000
"""Of scores, in centipawns."""


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
    parser.add_argument(
        "--mean-with",
        type=Path,
        metavar="FILE",
        help="with --export, without --validation: the mean with this network's weights",
    )
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


def _device(name: str | None) -> str:
    """The device of this name, by default a GPU if there is one. Raises ValueError if it cannot be used."""
    if name is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:  # the latter: PyTorch was built without it
        reason = (str(error).splitlines() or ["it cannot be used"])[0]
        raise ValueError(f"--device {name}: {reason}") from None
    return name


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
        "" if begin is None else f"{checksum(begin):08x}",
    )


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Train or export; returns the exit code."""
    options = _options(arguments)
    script.require("train", "matplotlib")
    device = _device(options.device)
    if options.threads:
        torch.set_num_threads(options.threads)
    if options.export:
        if not (options.run / "checkpoint.pt").exists():
            raise ValueError(f"{options.run} has no checkpoint")
        run = Run(options.run, known_settings(options.run), device)
        rows: Any = _load(options.validation, run.settings.scale).all() if options.validation else np.empty(0)
        print(run.export(options.export, rows, options.mean_with))
        return 0
    if options.mean_with:
        raise ValueError("--mean-with needs --export")
    if not options.records or not options.validation:
        raise ValueError("training needs RECORDS and --validation RECORDS")
    if not LEAST_SCALE <= options.scale <= MOST_SCALE:
        raise ValueError(f"--scale must be from {LEAST_SCALE} to {MOST_SCALE}")
    files = [_load(text, options.scale) for text in options.records]
    checked = _load(options.validation, options.scale)
    begin = None
    if options.begin:
        network.check_sizes(options.hidden, options.outputs)
        begin = beginning(options.begin, options.hidden, options.outputs)
    run = Run(options.run, _settings(options, files, checked, begin), device, begin)
    try:
        run.train(files, checked.all())
    finally:
        if run.losses:  # of an interrupted run, too
            run.draw()
    print(run.export(options.run / "net.moff", checked.all()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
