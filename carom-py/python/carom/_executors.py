"""Units of a study on the workers of any executor of `concurrent.futures`: threads, processes, Dask, MPI."""

from __future__ import annotations

import concurrent.futures as futures
import hashlib
import os
import pickle
import sys
import time
from collections import deque
from typing import Any, Callable, Optional

from . import _carom
from ._errors import CaromError, OptionError, StudyError

#: Seconds of work that a batch is meant to have.
_BATCH = 0.5

#: Batches for each worker that are on their way.
_AHEAD = 2

#: How often a batch is done again.
_TRIES = 3

#: The job of this process that was used last, by its mark.
_JOBS: dict[bytes, Any] = {}


def work(mark: bytes, pickled: bytes, units: list[int]) -> tuple[str, float]:
    """In a worker: the rows of units, and the seconds that they took."""
    job = _JOBS.get(mark)
    if job is None:
        name, scene, options = pickle.loads(pickled)
        job = _carom.open_study(name, scene._raw, options)
        _JOBS.clear()
        _JOBS[mark] = job
    begun = time.perf_counter()
    rows = job.rows(units)
    return rows, time.perf_counter() - begun


def _width(executor: Any) -> int:
    """Workers of an executor, as far as it tells."""
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    client = getattr(executor, "_client", None)
    try:
        return max(1, sum(client.ncores().values())) if client is not None else os.cpu_count() or 1
    except Exception:
        return os.cpu_count() or 1


def distribute(
    job: Any, task: tuple[Any, ...], executor: Any, workers: Optional[int],
    progress: Optional[Callable[[int, int], Any]], folder: Optional[str],
) -> None:
    """Has all units of a job that are missing computed by an executor, in batches of about half a second."""
    if not callable(getattr(executor, "submit", None)):
        raise OptionError(f"`executor` is {type(executor).__name__}", hint="an executor has a method `submit`")
    pickled = pickle.dumps(task)
    mark = hashlib.blake2b(pickled, digest_size=16).digest()
    missing = deque(job.missing())
    total, done, width = len(missing), 0, max(1, workers or _width(executor))
    running: dict[Any, list[int]] = {}
    tries: dict[int, int] = {}
    cost: Optional[float] = None

    def lost(error: BaseException) -> StudyError:
        kept = f"they are kept in `{folder}`, and the same call goes on" if folder else "give `out` to keep them"
        units = job.units()
        text = f"the executor cannot go on: {error or type(error).__name__}; {units - total + done} of {units} units"
        return StudyError(f"{text} are done, {kept}")

    def submit() -> None:
        most = -(-len(missing) // (_AHEAD * width))
        size = 1 if cost is None else max(1, min(most, int(_BATCH / max(cost, 1e-9))))
        units = [missing.popleft() for _ in range(min(size, len(missing)))]
        try:
            running[executor.submit(work, mark, pickled, units)] = units
        except (futures.BrokenExecutor, RuntimeError) as error:
            missing.extendleft(reversed(units))
            raise lost(error) from error

    def gather(ready: Any) -> Optional[BaseException]:
        nonlocal cost, done
        broken: Optional[BaseException] = None
        for future in ready:
            units = running.pop(future)
            try:
                rows, seconds = future.result()
            except CaromError:
                raise
            except futures.BrokenExecutor as error:
                missing.extendleft(reversed(units))
                broken = error
                continue
            except Exception as error:
                missing.extendleft(reversed(units))
                tries[units[0]] = tries.get(units[0], 0) + 1
                if tries[units[0]] >= _TRIES:
                    broken = error
                continue
            job.take(rows)
            done += len(units)
            spent = seconds / len(units)
            cost = spent if cost is None else 0.5 * (cost + spent)
        return broken

    try:
        while missing or running:
            while missing and len(running) < _AHEAD * width:
                submit()
            ready, _ = futures.wait(running, timeout=1, return_when=futures.FIRST_COMPLETED)
            broken = gather(ready)
            if progress is not None:
                progress(done, total)
            if broken is not None:
                gather([future for future in running if future.done()])
                raise lost(broken) from broken
    finally:
        for future in running:
            future.cancel()


class Line:
    """How many units are done, on one line of standard error, after the first second."""

    def __init__(self) -> None:
        self.begun, self.told, self.width = time.monotonic(), 0.0, 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        passed = now - self.begun
        if passed < 1 or now - self.told < 0.2:
            return
        self.told = now
        rate = done / passed
        left = f", {(total - done) / rate:.0f} s left" if rate > 0 else ""
        text = f"{done} of {total}, {rate:.3g} per s{left}"
        print("\r" + text.ljust(self.width), end="", file=sys.stderr, flush=True)
        self.width = len(text)

    def clear(self) -> None:
        """Takes the line away."""
        if self.width:
            print("\r" + " " * self.width + "\r", end="", file=sys.stderr, flush=True)
