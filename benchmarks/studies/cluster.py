"""A Dask cluster on this machine: what it adds to very short trials, how busy it keeps workers, and what two save.

- `python benchmarks/studies/cluster.py short [TRIALS]`: seconds and the driver's memory as a study of trials that take
  no time grows;
- `... sleeping [METHOD] [WORKERS] [SHORTEST] [LONGEST]`: trials that sleep, so many at a time, on real workers; the
  part of their time that trials take until the last one begins;
- `... speedup [TRIALS] [MILLIONS]`: trials that compute for so many steps of a loop, with one worker process and with
  two; the same steps in plain processes beside it, because two cores are seldom twice as fast as one. Nothing else may
  run meanwhile.
"""

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import Pool

import numpy as np
import psutil
from distributed import Client, LocalCluster

from comitia import FunctionEvaluator, Study
from comitia.history import Observation
from comitia.space import Config

SPACE = {"x": (0.0, 1.0)}
STEP = 1_000
"""Trials between lines."""
PER_WORKER = 10


def nothing(config: Config) -> float:
    return float(config["x"])


@dataclass(frozen=True)
class Work:
    """A loop of so many steps."""

    n_steps: int

    def __call__(self, config: Config) -> float:
        total = 0
        for i in range(self.n_steps):
            total += i & 3
        return float(config["x"]) + 0.0 * total


def sleeping(shortest: float, longest: float) -> Callable[[Config], float]:
    def sleep(config: Config) -> float:
        drawn = np.random.default_rng(int(1e9 * float(config["x"]))).random()
        time.sleep(shortest + (longest - shortest) * drawn)
        return float(config["x"])

    return sleep


def client_of(stack: ExitStack, n_workers: int, n_threads: int, *, processes: bool) -> Client:
    """Return a client of a local cluster that ends with the stack."""
    local = LocalCluster(
        n_workers=n_workers, threads_per_worker=n_threads, processes=processes, dashboard_address="127.0.0.1:0"
    )
    stack.enter_context(local)
    client: Client = stack.enter_context(Client(local))
    return client


def short(n: int) -> None:
    began = time.perf_counter()

    def say(study: Study, observation: Observation) -> None:
        if study.history.n_finished % STEP == 0:
            memory = psutil.Process().memory_info().rss / 2**20
            seconds = time.perf_counter() - began
            print(f"{study.history.n_finished:>6} trials, {seconds:7.1f} s, {memory:6.0f} MiB", flush=True)

    with ExitStack() as stack:
        client = client_of(stack, 1, 2, processes=False)
        study = Study(SPACE, "rs", seed=0)
        study.run(FunctionEvaluator(nothing), n_trials=n, n_jobs=8, executor=client, callbacks=[say])


def asleep(method: str, n_workers: int, shortest: float, longest: float) -> None:
    ends: list[float] = []
    lengths: list[float] = []

    def note(study: Study, observation: Observation) -> None:
        ends.append(time.perf_counter())
        lengths.append(observation.seconds)

    with ExitStack() as stack:
        client = client_of(stack, 1, n_workers, processes=False)
        evaluator, study = FunctionEvaluator(sleeping(shortest, longest)), Study(SPACE, method, seed=0)
        study.run(evaluator, n_trials=n_workers, executor=client)  # processes start, and all have imported
        began, n = time.perf_counter(), n_workers * (PER_WORKER + 1)
        study.run(evaluator, n_trials=n, executor=client, callbacks=[note])
    # a worker that ends after the last trial began has nothing more to do
    last = max(end - length for end, length in zip(ends, lengths, strict=True))
    worked = sum(min(end, last) - max(end - length, began) for end, length in zip(ends, lengths, strict=True))
    print(f"{method}, {n_workers} workers, trials of {shortest:g} to {longest:g} s: ", end="")
    print(f"{100 * worked / (n_workers * (last - began)):.1f} % used")


def speedup(n: int, n_steps: int) -> None:
    work, seconds, plain = Work(n_steps), {}, {}
    for n_workers in (1, 2):
        with ExitStack() as stack:
            client = client_of(stack, n_workers, 1, processes=True)
            study = Study(SPACE, "rs", seed=0)
            study.run(FunctionEvaluator(work), n_trials=n_workers, executor=client)
            began = time.perf_counter()
            study.run(FunctionEvaluator(work), n_trials=n_workers + n, executor=client)
            seconds[n_workers] = time.perf_counter() - began
        with Pool(n_workers) as pool:
            configs = [study.history.trial(k).config for k in range(n_workers + n)]
            pool.map(work, configs[n:], chunksize=1)
            began = time.perf_counter()
            pool.map(work, configs[:n], chunksize=1)
            plain[n_workers] = time.perf_counter() - began
    for name, found in (("Dask", seconds), ("plain processes", plain)):
        print(f"{name}, {n} trials: {found[1]:.1f} s with one worker, {found[2]:.1f} s with two, ", end="")
        print(f"{found[1] / found[2]:.2f} times as fast")


def main() -> None:
    step, *more = sys.argv[1:] or ["short"]
    if step == "speedup":
        n, millions = [*more, *["30", "50"][len(more) :]]
        speedup(int(n), int(millions) * 1_000_000)
    elif step == "sleeping":
        method, n_workers, shortest, longest = [*more, *["rs", "32", "0.5", "2"][len(more) :]]
        asleep(method, int(n_workers), float(shortest), float(longest))
    else:
        short(int(more[0]) if more else 10_000)


if __name__ == "__main__":
    main()
