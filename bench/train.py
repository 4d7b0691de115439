"""Trains a network on positions from Moff's own games.

    python bench/train.py pile --run run0 --hidden 256 --epochs 2
    python bench/train.py --run run0 --export net.moff
    python bench/train.py --random zero.net --hidden 64

PATH is a file of bench/selfplay.py or a folder of them. Some of their blocks, --share of them, are set aside
to validate; the others are drawn at random, from --mixed of them in memory (bench/dataset.py). A file may
grow meanwhile: a run learns from what was there when it began. RUN is a folder with the settings, a
checkpoint after each part of an epoch, and a table of the losses (losses.csv). The same command continues an
interrupted run, with the same results as without the interruption on the same machine with the same number of
threads. --begin starts from another run or a network file such as the shipped one, instead of random weights;
if that network is half, a third, ... as wide, each of its hidden neurons is copied, the output weights are
divided among the copies, and the copies are made to differ a little ("Net2Net", Tianqi Chen, Ian Goodfellow
and Jonathon Shlens, 2016). --export writes the network of the run's last checkpoint in the format of
search/nnue/network.py; a finished run has already written it to RUN/net.moff. --random writes a network that
has learnt nothing, whose games are a start from nothing.

The network is described in search/nnue/network.py. Its value, scaled by the material as in the search
(search/nnue/evaluate.py), is trained to predict, from 0 to 1, a blend of the result expected from the score
and the game's result, by squared error, with AdamW. The score's share is --blend, or goes from there to
--final-blend. The rate of learning rises to --rate, and then falls to --final-rate along a cosine. The result
is the mean of the weights over the last fifth ("stochastic weight averaging", Pavel Izmailov et al., 2018),
rounded. With --lookahead, the results expected from the scores of the next moves count, too
(search/replay.py). Positions that do not pass the usual filters are left out, and those before --min-ply or
with scores beyond --max-score. --flatten lets positions with rare numbers of pieces count more: 1 makes all
numbers equal, up to a limit.

The processors do the training, with --idle only while no other process wants them; or with --device cuda a
GPU, which needs PyTorch.

The validation loss is that of this network on the blocks set aside. The exit code is 0; 2 after wrong usage,
or if the settings are not those of the run; 130 when interrupted. Damaged blocks are reported and skipped.
Needs the `train` extra.
"""

import argparse
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import script  # first: it puts this checkout on the path

from search.nnue import network
from search.nnue.evaluate import FULL_MATERIAL, MATERIAL_STEP
from search.score import LONGEST_MATE, MATE
from search.selfplay import LONGEST
from x88 import build

try:
    from dataset import MIXED, Blocks, Filters, Rows, batches, usable
    from nets import Floats, Sizes, checksum
    from trainingrun import CHECKPOINT, Run, Settings, beginning, known_settings
except ImportError as error:
    script.cannot_begin(error, "train", __doc__ or "")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = script.parser(__doc__ or "")
    add = parser.add_argument
    add("paths", nargs="*", type=Path, metavar="PATH", help="files of bench/selfplay.py, or folders")
    add("--run", type=Path, metavar="FOLDER", help="where the run is kept")
    add("--begin", type=Path, metavar="PATH", help="start from the weights of this run or network file")
    add("--random", type=Path, metavar="FILE", help="write a network with random weights, do not train")
    add("--export", type=Path, metavar="FILE", help="write the run's network, do not train")
    add("--hidden", type=script.positive, default=256, metavar="N", help="default 256")
    add("--outputs", type=script.positive, default=8, metavar="N", help="default 8")
    add("--epochs", type=script.positive, default=10, metavar="N", help="default 10")
    add("--batch", type=script.positive, default=16384, metavar="N", help="default 16384")
    add("--rate", type=float, default=0.001, help="of learning, at first (default 0.001)")
    add("--final-rate", type=float, default=0.000002, metavar="RATE", help="default 0.000002")
    add("--blend", type=float, default=0.9, help="the score's share of the target, at first (default 0.9)")
    add("--final-blend", type=float, metavar="BLEND", help="in the end (default: that of --blend)")
    add("--lookahead", type=float, default=0.7, metavar="L", help="weight of later scores (default 0.7)")
    text = f"drawn from so many, of 32 bytes each (default {MIXED})"
    add("--mixed", type=script.positive, default=MIXED, metavar="N", help=text)
    add("--min-ply", type=int, default=0, help="leave out the plies before (default 0)")
    text = "leave out larger scores, in centipawns of the search (default: mates)"
    add("--max-score", type=int, default=LONGEST_MATE - 1, help=text)
    add("--flatten", type=float, default=0.0, help="weigh by the number of pieces (default 0)")
    add("--share", type=float, default=0.02, help="set aside to validate (default 0.02)")
    add("--seed", type=int, default=0, help="of weights and order (default 0)")
    add("--threads", type=script.positive, metavar="N", help="processors (default: all)")
    add("--idle", action="store_true", help="take only what no other process wants")
    add("--device", default="cpu", help="cpu, or what PyTorch calls another (default cpu)")
    options = parser.parse_args(arguments)
    if options.final_blend is None:
        options.final_blend = options.blend
    return options


def _settings(options: argparse.Namespace, pile: Blocks, begin: tuple[Sizes, Floats] | None) -> Settings:
    """Raises ValueError for impossible ones."""
    if not all(0 <= share <= 1 for share in (options.blend, options.final_blend, options.flatten)):
        raise ValueError("--blend, --final-blend and --flatten must be from 0 to 1")
    if not 0 <= options.lookahead < 1:
        raise ValueError("--lookahead must be from 0 to below 1")
    if not 0 < options.share < 1:
        raise ValueError("--share must be between 0 and 1")
    if not 0 < options.final_rate <= options.rate:
        raise ValueError("--rate must be positive, and --final-rate no higher")
    if not 0 <= options.seed < 2**63 or not 0 <= options.min_ply <= LONGEST:
        raise ValueError(f"--seed must be from 0 to 2**63 - 1, and --min-ply from 0 to {LONGEST}")
    if not 0 <= options.max_score <= MATE:
        raise ValueError(f"--max-score must be from 0 to {MATE}")
    network.check_sizes(options.hidden, options.outputs)
    named: dict[str, Any] = {field.name: getattr(options, field.name, None) for field in fields(Settings)}
    named |= {"filters": Filters(options.min_ply, options.max_score), "ends": pile.ends}
    named |= {"begin": "" if begin is None else f"{checksum(begin[1]):08x}"}
    return Settings(**named | {"material": [MATERIAL_STEP, FULL_MATERIAL]})


@script.command
def main(arguments: list[str] | None = None) -> int:
    """Train or export; returns the exit code."""
    options = _options(arguments)
    if options.random:
        sizes = Sizes(options.hidden, options.outputs)
        network.write(options.random, sizes.quantised(sizes.random(options.seed)))
        return 0
    if not options.run:
        raise ValueError("--run is missing: the folder of the run")
    if options.idle and (code := script.idly()) is not None:
        return code
    known = (options.run / "settings.json").exists()
    pile = Blocks(options.paths, known_settings(options.run).ends if known else None)
    if options.export:
        if not (options.run / CHECKPOINT).exists():  # a new run would be made
            raise ValueError(f"{options.run} has no checkpoint")
        run = Run(options.run, known_settings(options.run), threads=options.threads)
        print(run.export(options.export, _checked(pile, run.settings)))
        return 0
    if not options.paths:
        raise ValueError("training needs files of games")
    if not build.compiled:
        print(build.notice(), file=sys.stderr)
    begin = None
    if options.begin:
        network.check_sizes(options.hidden, options.outputs)
        begin = beginning(options.begin, options.hidden, options.outputs)
    settings = _settings(options, pile, begin)
    places, others = pile.split(settings.share)
    checked = _checked(pile, settings)
    if usable(places) < options.batch or not usable(others):
        raise ValueError(
            f"{usable(places)} positions for training and {usable(others)} for validation are too few: one "
            f"batch has {options.batch}"
        )
    if not checked:
        raise ValueError("no position for validation is left by the filters")
    run = Run(options.run, settings, begin, options.threads, options.device)
    run.train(places, checked)
    print(run.export(options.run / "net.moff", checked))
    return 0


def _checked(pile: Blocks, settings: Settings) -> list[Rows]:
    """The positions that are set aside."""
    return batches(pile.split(settings.share)[1], settings.batch, settings.lookahead, settings.filters)


if __name__ == "__main__":
    sys.exit(main())
