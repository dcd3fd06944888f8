"""Memory, time and score of fits on large tables, beside those of another version of the sources if one is given.

    python benchmarks/timings/bench_large.py                             (200,000 x 50 in 120 s, 100,000 x 50 in 10 s)
    python benchmarks/timings/bench_large.py 100000x50:60 --jobs 2 --before ../older/src
    python benchmarks/timings/bench_large.py table.parquet:60 --without hold-out --without fewer-rows

Each line: rows and columns, the limit, seconds of the wall and of processors (all processes), peak memory of all
processes together, number of finished trials, of failed ones, of members, and the accuracy on 20,000 further rows
beside that of the most frequent class. Memory is the proportional set size where the system tells it (a page that k
processes share counts 1/k in each), and in brackets resident memory, where shared pages count in each. With `--before`
every table is fitted by both, and memory is also a ratio; `--without` leaves out what large tables have of their own.

A file has its target in the column `target`: classes, or, with more than 50 different fractions, numbers, which are
judged by R^2. A fifth of its rows, 20,000 at most, are set aside. The table of a given size: nine tenths numbers, of
which some are copies with noise, a tenth categories of 3 to 300 levels, 5 % of the cells of numbers missing, three
classes by products and waves of few columns, so that no learner finds all of it.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

SOURCES = Path(__file__).resolve().parents[2] / "src"
CELLS = ("200000x50:120", "100000x50:10")
N_TEST = 20_000
MOST_CLASSES = 50
WITHOUT = {
    "hold-out": ("comitia.auto.folds", "HOLD_OUT_FROM"),
    "fewer-rows": ("comitia.auto.large", "LARGE_FROM"),
    "single": ("comitia.tables.precision", "SINGLE_FROM"),
    "shared": ("comitia.execution.packed", "LEAST_BYTES"),
}
"""What can be left out: constants that say from which size on something holds."""
TICK_SECONDS = 0.05


def table(n_rows: int, n_columns: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of numbers and categories with gaps, and its classes."""
    rng = np.random.default_rng(seed)
    weights = np.random.default_rng(1)  # the same for all seeds
    n_codes = n_columns // 10
    numbers = rng.normal(size=(n_rows, n_columns - n_codes))
    n_copies = numbers.shape[1] // 3
    numbers[:, -n_copies:] = numbers[:, :n_copies] + 0.5 * rng.normal(size=(n_rows, n_copies))
    score = numbers[:, 0] * numbers[:, 1] + np.sin(3 * numbers[:, 2]) + 0.7 * numbers[:, 3] + rng.normal(size=n_rows)
    frame = {}
    for j in range(n_codes):
        n_levels = int(weights.integers(3, 300))
        codes = rng.integers(n_levels, size=n_rows)
        score += (0.5 * weights.normal(size=n_levels))[codes] if j < 3 else 0.0
        frame[f"c{j}"] = pd.Series(np.array([f"level {k}" for k in range(n_levels)], dtype=object)[codes])
    numbers[rng.random(numbers.shape) < 0.05] = np.nan
    frame |= {f"x{j}": pd.Series(column) for j, column in enumerate(numbers.T)}
    return pd.DataFrame(frame), np.digitize(score, [-1.0, 1.5])


def data_of(name: str) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]:
    """Return rows to learn from and rows to judge by, of a file or a size such as 100000x50."""
    if not name.endswith(".parquet"):
        n_rows, n_columns = map(int, name.split("x"))
        return *table(n_rows, n_columns), *table(N_TEST, n_columns, seed=2)
    frame = pd.read_parquet(name)
    order = np.random.default_rng(0).permutation(len(frame))
    n = min(N_TEST, len(frame) // 5)
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    return X.iloc[order[n:]], y[order[n:]], X.iloc[order[:n]], y[order[:n]]


def fit(name: str, seconds: float, n_jobs: int) -> dict[str, float]:
    """Fit one table in this process, and measure it with all its children."""
    from comitia import AutoClassifier, AutoRegressor

    X, y, more, truth = data_of(name)
    is_number = y.dtype.kind == "f" and len(np.unique(y)) > MOST_CLASSES
    peak = Peak()
    began = time.monotonic()
    model = (AutoRegressor if is_number else AutoClassifier)(time_limit=seconds, n_jobs=n_jobs, random_state=0)
    with peak:
        model.fit(X, y)
    wall = time.monotonic() - began
    history = model.study_.history
    return {
        "wall": wall,
        "cpu": peak.cpu_seconds,
        "pss": peak.shared_bytes,
        "rss": peak.bytes,
        "trials": history.n_finished,
        "failed": history.n_failed,
        "members": len(model.members_),
        "score": float(model.score(more, truth)),
        "estimate": model.estimate_.score if model.estimate_ is not None else float("nan"),
        "prior": 0.0 if is_number else float(np.mean(truth == pd.Series(y).mode()[0])),
    }


class Peak:
    """The most memory that this process and its descendants had together while it was watched."""

    def __init__(self) -> None:
        self.bytes = self.shared_bytes = 0
        self._seconds: dict[tuple[int, float], float] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Peak:
        self._look()
        self._before = self.cpu_seconds
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def cpu_seconds(self) -> float:
        """Seconds of processors, of those that have ended as far as they were seen."""
        return sum(self._seconds.values()) - getattr(self, "_before", 0.0)

    def _watch(self) -> None:
        while not self._ended.wait(TICK_SECONDS):
            self._look()

    def _look(self) -> None:
        resident = proportional = 0
        this = psutil.Process()
        for process in [this, *this.children(recursive=True)]:
            try:
                rss, times = process.memory_info().rss, process.cpu_times()
                resident += rss
                proportional += _proportional(process.pid, rss)
                self._seconds[process.pid, process.create_time()] = times.user + times.system
            except psutil.Error:
                continue
        self.bytes, self.shared_bytes = max(self.bytes, resident), max(self.shared_bytes, proportional)


def _proportional(pid: int, otherwise: int) -> int:
    """Return the proportional set size of a process (Linux)."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return otherwise
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))


def measured(sources: Path, cell: str, n_jobs: int, without: list[str]) -> dict[str, float]:
    """Fit in a process of its own, with these sources."""
    environment = {**os.environ, "PYTHONPATH": str(sources), "PYTHONWARNINGS": "ignore"}
    left_out = [word for name in without for word in ("--without", name)]
    command = [sys.executable, __file__, cell, "--jobs", str(n_jobs), "--child", *left_out]
    ended = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, float] = json.loads(ended.stdout.splitlines()[-1])
    return found


def line(name: str, cell: str, found: dict[str, float]) -> str:
    return (
        f"{name:7} {cell:16} wall {found['wall']:6.1f} s, cpu {found['cpu']:6.1f} s, "
        f"memory {found['pss'] / 1e9:5.2f} GB [{found['rss'] / 1e9:5.2f}], "
        f"{found['trials']:3.0f} trials, {found['failed']:2.0f} failed, {found['members']:.0f} members, "
        f"score {found['score']:.4f} (expected {found['estimate']:.4f}, prior {found['prior']:.4f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", default=CELLS, help="rows x columns : seconds, as 100000x50:60")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--before", type=Path, help="the folder src of another version")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--without", action="append", choices=sorted(WITHOUT), default=[])
    chosen = parser.parse_args()
    for cell in chosen.cells:
        if chosen.child:
            for module, constant in (WITHOUT[name] for name in chosen.without):
                setattr(importlib.import_module(module), constant, math.inf)
            name, _, seconds = cell.rpartition(":")
            print(json.dumps(fit(name, float(seconds), chosen.jobs)))
            continue
        now = measured(SOURCES, cell, chosen.jobs, chosen.without)
        if chosen.before is not None:
            before = measured(chosen.before.resolve(), cell, chosen.jobs, [])
            print(line("before", cell, before), flush=True)
        print(line("now", cell, now), flush=True)
        if chosen.before is not None:
            print(f"        memory now / before: {now['pss'] / before['pss']:.2f}", flush=True)


if __name__ == "__main__":
    main()
