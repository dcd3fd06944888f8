"""Whether `fit` keeps its time limit: 20 runs, 100 to 50,000 rows, learners that never end among the others.

Prints each run, the share of the limit that was used, and whether something that predicts came back within the limit +
2 % + 1 s. `--quick` does the five shortest.
"""

import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification

from comitia import AutoClassifier


class Sleeper(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Never ends."""

    def fit(self, X: Any, y: Any) -> None:
        time.sleep(100_000)


class Glutton(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Allocates without end."""

    def fit(self, X: Any, y: Any) -> None:
        held = []
        while True:
            held.append(b"x" * 20_000_000)
            time.sleep(0.01)


ALL = ["linear", "lightgbm", "extra-trees", "random-forest", "mlp", "knn"]
RUNS = [
    *((5, rows, 1 + i % 2) for i, rows in enumerate([100, 300, 1000, 3000, 10_000, 20_000, 50_000, 100, 5000, 50_000])),
    *((20, rows, 1 + i % 2) for i, rows in enumerate([100, 1000, 5000, 10_000, 20_000, 50_000, 50_000])),
    *((60, rows, 2) for rows in [1000, 10_000, 50_000]),
]


def main() -> None:
    runs = RUNS[:5] if "--quick" in sys.argv else RUNS
    n_kept = 0
    for number, (limit, rows, n_jobs) in enumerate(runs):
        X, y = make_classification(rows, 30, n_informative=10, n_classes=3, random_state=number)
        model = AutoClassifier(
            time_limit=limit,
            include=[*ALL, Sleeper(), Glutton()],
            n_jobs=n_jobs,
            trial_memory_limit=3e9,
            random_state=number,
        )
        began = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        seconds = time.monotonic() - began
        accuracy = np.mean(model.predict(X[:1000]) == y[:1000])
        is_kept = seconds <= limit * 1.02 + 1
        n_kept += is_kept
        learner = model.best_params_.get("learner", "FALLBACK")
        statuses = model.leaderboard()["status"].value_counts().to_dict()
        print(
            f"limit {limit:3d} s, {rows:6,} rows, {n_jobs} workers: {seconds:5.1f} s, {100 * seconds / limit:3.0f} %, "
            f"{'kept' if is_kept else 'OVER'}; "
            f"{learner}, accuracy {accuracy:.2f}; {statuses}",
            flush=True,
        )
    print(f"{n_kept} of {len(runs)} kept the limit + 2 % + 1 s")


if __name__ == "__main__":
    main()
