"""Limits and sizes at the edge: large, wide, half-empty and crowded tables, a few seconds, and where a minute goes.

    python benchmarks/timings/bench_extremes.py [--only NAME ...] [--scale 0.1]

Each case is fitted as it comes, on all processors, in a process of its own, libraries imported before (workers import
theirs while the clock runs, but for `-again`); its memory is watched with that of its workers. A table of figures and
targets is printed, about 10 minutes in all. A case is met when the model is better than the prior on rows it has not
seen, the limit + 2 % + 1 s was kept, and its further targets are met. `--scale` shrinks rows and seconds, to try
whether it runs at all.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import lightgbm  # noqa: F401 - as a session that has worked for a while has it
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier

from comitia import AutoClassifier, Study
from comitia.auto.autofit import AutoFit
from comitia.auto.base import AutoBase
from comitia.bench.peers.memory import PeakMemory

N_TEST = 10_000
"""Rows that every model predicts."""
GIGABYTE = 1e9
LATE_SHARE, LATE_SECONDS = 0.02, 1.0
MOST_OVERHEAD, MOST_PREDICT_SECONDS = 0.05, 1.0
Made = tuple[pd.DataFrame, Any]


def numbers(n_rows: int, n_columns: int, n_classes: int = 2, seed: int = 0, clusters: int = 2) -> Made:
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=min(n_columns, max(10, int(np.ceil(np.log2(n_classes * clusters)) + 4))),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=clusters,
        class_sep=1.0 if n_classes < 10 else 2.0,
        random_state=seed,
    )
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(n_columns)]), y


def half_missing(n_rows: int) -> Made:
    X, y = numbers(n_rows, 30)
    return X.mask(np.random.default_rng(0).random(X.shape) < 0.5), y


def thousand_categories(n_rows: int) -> Made:
    rng = np.random.default_rng(0)
    X, _ = numbers(n_rows, 10)
    town = rng.integers(1000, size=n_rows)
    effects = rng.normal(size=1000)
    y = (effects[town] + X["x0"] + rng.normal(size=n_rows) > 0).astype(int)
    return X.assign(town=[f"town {number}" for number in town]), y.to_numpy()


@dataclass(frozen=True)
class Case:
    """One fit; `make(n)` returns a table of n rows, of which the last are for the test."""

    name: str
    limit: float
    n_rows: int
    make: Callable[[int], Made] = field(repr=False)
    most_bytes: float | None = None
    n_jobs: int = -1
    is_split: bool = False
    """Whether the seconds of the search's own work are measured, and have a target."""
    is_again: bool = False
    """Whether the process has fitted before, so that workers begin without imports of their own."""
    predicts: bool = False
    """Whether predicting `N_TEST` rows has a target."""


CASES = {
    case.name: case
    for case in (
        Case("3-seconds", 3.0, 1_000, lambda n: numbers(n, 20)),
        Case("3-seconds-again", 3.0, 1_000, lambda n: numbers(n, 20), is_again=True),
        Case("10-seconds", 10.0, 100_000, lambda n: numbers(n, 30)),
        Case("large", 120.0, 200_000, lambda n: numbers(n, 50), most_bytes=8 * GIGABYTE),
        Case("wide", 60.0, 60, lambda n: numbers(n, 7_000, clusters=1)),
        Case("200-classes", 60.0, 10_000, lambda n: numbers(n, 30, n_classes=200, clusters=1)),
        Case("half-missing", 60.0, 5_000, half_missing),
        Case("1000-categories", 60.0, 10_000, thousand_categories),
        Case("a-minute", 60.0, 2_000, lambda n: numbers(n, 20), n_jobs=1, is_split=True, predicts=True),
        Case("a-minute-both-cores", 60.0, 2_000, lambda n: numbers(n, 20), is_split=True, predicts=True),
    )
}


@dataclass
class Figures:
    """What came of a case."""

    seconds: float
    error: float
    prior: float
    n_trials: int
    n_members: int
    predict_seconds: float
    shares: dict[str, float]
    """Of the wall time: what the search does beside training, by its parts, in the process of the caller."""


@contextmanager
def timed(spent: dict[str, float]) -> Iterator[None]:
    """Add up the seconds of the search's own work, the outermost call of any alone."""
    is_inside = False

    def counting(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal is_inside
            if is_inside:
                return work(*args, **kwargs)
            is_inside, began = True, time.perf_counter()
            try:
                return work(*args, **kwargs)
            finally:
                is_inside = False
                spent[name] = spent.get(name, 0.0) + time.perf_counter() - began

        return call

    parts: list[tuple[type, str, str]] = [
        (Study, "propose", "optimizer"),
        (Study, "bar_for", "optimizer"),
        (Study, "record", "store"),
        (Study, "members", "committee"),
        (AutoFit, "validated", "committee"),
        (AutoBase, "_estimate", "estimate"),
    ]
    before = [vars(kind)[attribute] for kind, attribute, _ in parts]
    for kind, attribute, name in parts:
        setattr(kind, attribute, counting(name, vars(kind)[attribute]))
    try:
        yield
    finally:
        for (kind, attribute, _), work in zip(parts, before, strict=True):
            setattr(kind, attribute, work)


def run(case: Case, scale: float) -> Figures:
    """Fit a case here."""
    warnings.simplefilter("ignore")
    n_train = max(60, int(case.n_rows * scale))
    n_test = max(200, int(N_TEST * min(1.0, 10 * scale)))
    X, y = case.make(n_train + n_test)
    train, test = slice(0, n_train), slice(n_train, None)
    model = AutoClassifier(time_limit=case.limit * max(scale, 0.05), n_jobs=case.n_jobs, random_state=0)
    if case.is_again:
        AutoClassifier(n_trials=1, include=["linear"], n_jobs=case.n_jobs).fit(X[:100], y[:100])
    spent: dict[str, float] = {}
    with timed(spent):
        began = time.perf_counter()
        model.fit(X[train], y[train])
        seconds = time.perf_counter() - began
    began = time.perf_counter()
    predicted = model.predict(X[test])
    predict_seconds = time.perf_counter() - began
    prior = DummyClassifier().fit(X[train], y[train]).predict(X[test])
    return Figures(
        seconds=seconds,
        error=float(np.mean(predicted != y[test])),
        prior=float(np.mean(prior != y[test])),
        n_trials=model.study_.history.n_finished,
        n_members=len(model.members_),
        predict_seconds=predict_seconds,
        shares={name: value / seconds for name, value in spent.items()},
    )


def verdicts(case: Case, told: Figures, peak_bytes: int, scale: float) -> list[tuple[str, str, bool]]:
    """Return each figure, its target, and whether it is met."""
    limit = case.limit * max(scale, 0.05)
    most = limit * (1 + LATE_SHARE) + LATE_SECONDS
    found = [
        (f"error {told.error:.4f}", f"below that of the prior, {told.prior:.4f}", told.error < told.prior),
        (f"{told.seconds:.1f} s", f"at most {most:.1f}", told.seconds <= most),
    ]
    if case.most_bytes is not None:
        text = f"below {case.most_bytes / GIGABYTE:.0f} GB"
        found.append((f"{peak_bytes / GIGABYTE:.2f} GB", text, peak_bytes < case.most_bytes))
    if case.is_split:
        total = sum(told.shares.values())
        parts = ", ".join(f"{name} {100 * share:.1f}" for name, share in told.shares.items())
        text = f"{100 * total:.1f} % beside training ({parts})"
        found.append((text, f"at most {100 * MOST_OVERHEAD:.0f} %", total <= MOST_OVERHEAD))
    if case.predicts:
        is_quick = told.predict_seconds < MOST_PREDICT_SECONDS
        found.append((f"{told.predict_seconds:.3f} s to predict", f"below {MOST_PREDICT_SECONDS:g}", is_quick))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--here", choices=CASES, help="fit one case in this process")
    given = parser.parse_args()
    if given.here:
        print(json.dumps(asdict(run(CASES[given.here], given.scale))))
        return
    n_met = n_targets = 0
    for name in given.only:
        command = [sys.executable, __file__, "--here", name, "--scale", str(given.scale)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        with PeakMemory(process.pid) as memory:
            out, _ = process.communicate()
        if process.returncode:
            print(f"{name:<20} FAILED: it ended with {process.returncode}", flush=True)
            n_targets += 1
            continue
        told = Figures(**json.loads(out.splitlines()[-1]))
        memory_text = f"{memory.peak_bytes / GIGABYTE:.2f} GB"
        print(f"{name:<20} {told.n_trials} trials, {told.n_members} members, {memory_text}", flush=True)
        for figure, target, is_met in verdicts(CASES[name], told, memory.peak_bytes, given.scale):
            n_met, n_targets = n_met + is_met, n_targets + 1
            print(f"    {figure:<72} target {target}: {'met' if is_met else 'MISSED'}", flush=True)
    print(f"{n_met} of {n_targets} targets met")


if __name__ == "__main__":
    main()
