"""Workers for many jobs at a time: processes of this machine, or a Dask cluster."""

import contextlib
import importlib
import logging
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeVar

AnyJob = TypeVar("AnyJob")
AnyResult = TypeVar("AnyResult")

Submit = Callable[[Callable[[Any], Any], Any], "Future[Any]"]
"""A function that submits a function and its job."""

SCHEDULER_TIMEOUT = 10.0
"""Seconds that a Dask scheduler may take to answer."""


@contextlib.contextmanager
def processes(count: int) -> Iterator[Submit]:
    """A function that submits jobs to so many processes; not threads: the search releases the GIL, but
    everything around it needs it.
    """
    with ProcessPoolExecutor(count, initializer=_follow_the_parent) as executor:
        try:
            yield executor.submit
        finally:
            executor.shutdown(cancel_futures=True)


def _follow_the_parent() -> None:
    """Leave interrupts to the parent, and exit when it is gone, even if it was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if parent := multiprocessing.parent_process():

        def wait_for_its_end() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=wait_for_its_end, daemon=True).start()


def run_all(
    submit: Submit, work: Callable[[AnyJob], AnyResult], jobs: Iterable[AnyJob], count: int
) -> Iterator[AnyResult]:
    """Do this work for each job with so many workers; yield each result as it comes. Closing the iterator
    cancels those not begun.
    """
    waiting = iter(jobs)
    running: set[Future[AnyResult]] = set()
    try:
        while True:
            # One job waits for each worker, so that no worker waits for this process.
            while len(running) < 2 * count and (job := next(waiting, None)) is not None:
                running.add(submit(work, job))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in running:
            future.cancel()


@contextlib.contextmanager
def connection(scheduler: str, *modules: ModuleType) -> Iterator[tuple[int, Submit]]:
    """The number of jobs that a Dask cluster does at a time, and a function that submits a function of these
    modules, which the workers need not have, with its job.

    Raises ImportError without the package, ValueError if no scheduler answers there.
    """
    try:
        cloudpickle: Any = importlib.import_module("cloudpickle")
        distributed: Any = importlib.import_module("distributed")
    except ImportError as error:
        raise ImportError(f'{error}: python -m pip install -e ".[cluster]"') from None
    # The workers do not have these modules: they get them with every job.
    for module in (*modules, importlib.import_module(__name__)):
        cloudpickle.register_pickle_by_value(module)
    # Errors end a job and are reported there.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(scheduler, timeout=SCHEDULER_TIMEOUT)
    except (OSError, ValueError) as error:
        raise ValueError(f"no scheduler answers at {scheduler}: {error}") from None
    with client:
        executor = client.get_executor(pure=False)
        # Pickled here: Dask's own pickling would look for these modules on the workers.
        yield (
            sum(client.nthreads().values()),
            lambda work, job: executor.submit(pickle.loads, cloudpickle.dumps(Task(work, job))),
        )


@dataclass(frozen=True)
class Task:
    """A job that is carried out where it is unpickled."""

    work: Callable[[Any], Any]
    job: Any

    def __reduce__(self) -> tuple[Callable[[Any], Any], tuple[Any]]:
        return self.work, (self.job,)
