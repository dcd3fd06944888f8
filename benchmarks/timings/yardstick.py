"""What timings are printed beside: one default random forest on 1,000 rows, fitted here and now."""

import statistics
import time
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestClassifier


def seconds_of(action: Callable[[], object], repetitions: int = 5) -> float:
    """Return the median of several timings."""
    times = []
    for _ in range(repetitions):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def forest_seconds() -> float:
    """Fit the yardstick: 1,000 rows, 20 columns, 100 trees, one thread; median of 5."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000) > 1).astype(int)
    return seconds_of(lambda: RandomForestClassifier(random_state=0).fit(X, y))


def report(what: str, seconds: float, forest: float, target: float | None = None) -> None:
    """Print one timing, its ratio to the yardstick, and its target where there is one."""
    aim = "" if target is None else f"   target {1000 * target:g} ms: {'met' if seconds <= target else 'MISSED'}"
    print(f"{what:<58} {1000 * seconds:9.3f} ms = {seconds / forest:8.5f} forests{aim}", flush=True)
