"""Does the estimate hold? Small tables are drawn from large ones, searched, and what is returned meets all other rows.

`python benchmarks/studies/estimates.py fit FOLDER --data DATASETS` fits once: tables of 50, 100, 300 and 1,000 rows,
five draws from each set, a search of 25 trials each. Studies and true scores are kept in the folder, which resumes.
`... report FOLDER --data DATASETS` works out the estimate of each from its study, without training, and prints bias,
coverage and width by size.
"""

from __future__ import annotations

import argparse
import copy
import json
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import metrics

from comitia import AutoClassifier, AutoRegressor, Serial
from comitia.arrays import AnyArray
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.problems import FixedTable
from comitia.learners.default import default_space

CLASSES = (
    "adult", "banana", "bank_marketing", "magic", "musk_2", "optical_digits", "page_blocks", "ringnorm", "spambase",
    "thyroid_ann", "waveform_noise", "wine_quality_white",
)  # fmt: skip
NUMBERS = (
    "abalone_rings", "ailerons", "bank32nh", "cal_housing", "cpu_act", "elevators", "kin8nm", "pole", "puma32h",
)  # fmt: skip
SIZES = (50, 100, 300, 1_000)
N_DRAWS = 5
N_TRIALS = 25
MOST_TEST_ROWS = 10_000


@dataclass(frozen=True)
class Cell:
    """One small table."""

    name: str
    n_rows: int
    draw: int

    @property
    def is_classes(self) -> bool:
        return self.name in CLASSES

    @property
    def file(self) -> str:
        return f"{self.name}-{self.n_rows}-{self.draw}"

    def rows(self, data: Path) -> tuple[Any, AnyArray, Any, AnyArray]:
        """Return the small table and the rows that it is judged on."""
        table = find_table(self.name, data, "This study")
        assert isinstance(table, FixedTable)
        rng = np.random.default_rng([self.n_rows, self.draw])
        order = rng.permutation(len(table.y))
        train, test = np.sort(order[: self.n_rows]), np.sort(order[self.n_rows :][:MOST_TEST_ROWS])
        return table.raw.iloc[train], table.y[train], table.raw.iloc[test], table.y[test]

    def estimator(self, **options: Any) -> Any:
        kind = AutoClassifier if self.is_classes else AutoRegressor
        return kind(n_trials=N_TRIALS, executor=Serial(), random_state=self.draw, **options)


def true_scores(model: Any, X: Any, y: AnyArray, is_classes: bool) -> dict[str, float]:
    """Return the scores of a model on the test rows."""
    if not is_classes:
        predicted = model.predict(X)
        return {
            "rmse": -float(np.sqrt(np.mean((y - predicted) ** 2))),
            "mae": -float(np.mean(np.abs(y - predicted))),
            "r2": float(metrics.r2_score(y, predicted)),
        }
    known = model.classes_
    p = model.predict_proba(X)
    is_known = np.isin(y, known)  # a class that no row of the small table had costs an error, but has no probability
    codes = np.searchsorted(known, y[is_known])
    eps = np.finfo(np.float64).eps
    return {
        "accuracy": float(np.mean(model.predict(X) == y)),
        "log_loss": float(np.mean(np.log(np.clip(p[is_known][np.arange(len(codes)), codes], eps, 1)))),
        "roc_auc": float(metrics.roc_auc_score(codes, p[is_known][:, 1])) if len(known) == 2 else np.nan,
    }


def alone(model: Any, number: int, X: Any, y: AnyArray) -> Any:
    """Return the same estimator with the model of one trial, fitted on all rows, in place of its committee."""
    config = model.study_.history.trial(number).config
    space = default_space(model.cleaner_.columns_, model._task, len(y))
    learner = space.build(config, 0)
    codes = np.searchsorted(model.classes_, y) if model._task == "classification" else y
    learner.fit(model.cleaner_.transform(X), codes)
    single = copy.copy(model)
    single.ensemble_ = replace(model.ensemble_, models=[learner], weights=[1.0], temperatures=[1.0], rule=None)
    return single


def fit(cell: Cell, folder: Path, data: Path) -> None:
    """Search on a small table; keep the study and the true scores of the committee, the default and the best trial."""
    done = folder / f"{cell.file}.json"
    if done.exists():
        return
    warnings.simplefilter("ignore")
    storage = folder / f"{cell.file}.db"
    storage.unlink(missing_ok=True)
    began = time.perf_counter()
    X, y, X_test, y_test = cell.rows(data)
    model = cell.estimator(storage=storage).fit(X, y)
    found: dict[str, Any] = {"committee": true_scores(model, X_test, y_test, cell.is_classes)}
    history = model.study_.history
    best = history.best
    for role, number in (("default", 0), ("single", None if best is None else best.number)):
        if number is None or not np.isfinite(history.losses[number]):
            continue
        single = alone(model, number, X, y)
        found[role] = true_scores(single, X_test, y_test, cell.is_classes) | {"trial": int(number)}
    found["seconds"] = time.perf_counter() - began
    done.write_text(json.dumps(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["fit"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    cells = [Cell(name, n, draw) for draw, n, name in product(range(N_DRAWS), SIZES, (*CLASSES, *NUMBERS))]
    with ProcessPoolExecutor(args.jobs) as pool:
        for future in [pool.submit(fit, cell, args.folder, args.data) for cell in cells]:
            future.result()


if __name__ == "__main__":
    main()
