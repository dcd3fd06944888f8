"""How fast the machine is just now: the seconds of a fixed fit, beside which other seconds are read."""

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


def forest_seconds(repetitions: int = 5) -> float:
    """Fit the yardstick: 1,000 rows, 20 columns, 100 trees, one thread; the median of some fits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 20))
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1000) > 1).astype(int)
    return seconds_of(lambda: RandomForestClassifier(random_state=0).fit(X, y), repetitions)
