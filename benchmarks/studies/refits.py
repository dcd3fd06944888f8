"""What should be handed over of a committee: its members fitted again once, several times, or the models of folds.

- `python benchmarks/studies/refits.py run ROWS.csv --data DATA --jobs 2` searches each set by `--trials` trials on five
  folds (two thirds of the rows), then fits the same committee again in each way, and judges each on the other third.
  Rows are added as they come; running again fills gaps;
- `... report ROWS.csv` prints, for each way, the mean relative loss against "full" with a 90 % interval over sets, wins
  and losses, and how many times as long fitting and predicting take.

"full" fits each member once on all rows. "seeds" does so three times, each from other random numbers, "folds" fits a
model for each fold, on four fifths of the rows, and "both" has "full" and "folds", the fits of a member with equal
weights. All are told the number of trees that the folds of the trial found.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from ablate import CLASSIFICATION, REGRESSION, add_rows, compared, losses, missing, split_set

from comitia import AutoClassifier, Workers
from comitia.arrays import Estimator
from comitia.auto.refit import Refit
from comitia.bench.problems.finding import data_folder
from comitia.committees import Ensemble
from comitia.execution.kept import kept_starter

N_SEEDS = 3
PARTS: Mapping[str, Sequence[str]] = {
    "full": ("full",),
    "seeds": ("full", "seeds"),
    "folds": ("folds",),
    "both": ("full", "folds"),
}
"""The fits that each way consists of; a new one is one line."""
N_ROWS = 10_000
"""Predicting is timed for so many rows."""
COLUMNS = ("set", "split", "way", "loss", "error", "n_models", "fit_seconds", "predict_seconds", "n_trials")
KEY = ["set", "split"]


def run_cell(cell: tuple[str, int], n_trials: int, data: Path | None) -> list[tuple[object, ...]]:
    """Search once, and judge what is handed over in each way."""
    warnings.simplefilter("ignore")
    name, split = cell
    kind, (X, X_test, y, y_test) = split_set(name, split, data)
    is_classes = kind is AutoClassifier
    scoring = "neg_log_loss" if is_classes else "neg_root_mean_squared_error"
    with Workers(1, starter=kept_starter, trial_time_limit=30.0) as workers:
        options = {"scoring": scoring, "cv": 5, "random_state": split, "executor": workers, "estimate": False}
        model = kind(n_trials=n_trials, **options).fit(X, y)
    fits = _fits(model, X, np.searchsorted(model.classes_, y) if is_classes else y)
    found: list[tuple[object, ...]] = []
    more = X_test.iloc[np.resize(np.arange(len(X_test)), N_ROWS)]
    for way, parts in PARTS.items():
        models = [[one for part in parts for one in fits[part][0][i]] for i in range(len(model.members_))]
        model.ensemble_ = _ensemble(model, models)
        began = time.perf_counter()
        model.predict(more)
        seconds = time.perf_counter() - began
        counts = sum(map(len, models)), sum(fits[part][1] for part in parts)
        found.append((name, split, way, *losses(model, X_test, y_test), *counts, seconds, n_trials))
    return found


def _fits(model: Any, X: pd.DataFrame, target: Any) -> dict[str, tuple[list[list[Estimator]], float]]:
    """Return the models of each member, and the seconds of all, for each kind of fit."""
    auto = model._auto_fit(model.cleaner_.transform(X), target, 5, None, None, None)
    history, seeds = model.study_.history, model.study_.seeds
    refit = Refit(auto.evaluator, seeds)
    found: dict[str, tuple[list[list[Estimator]], float]] = {}
    for kind in ("full", "folds", "seeds"):
        began = time.perf_counter()
        models = []
        for member in model.members_:
            jobs = refit.jobs(member, history, "folds" if kind == "folds" else "full")
            if kind == "seeds":
                jobs = [replace(job, keys=(k,)) for job in jobs for k in range(1, N_SEEDS)]
            models.append([refit(job) for job in jobs])
        found[kind] = models, time.perf_counter() - began
    return found


def _ensemble(model: Any, models: Sequence[Sequence[Estimator]]) -> Ensemble:
    """Return the committee with these models of its members, those of a member with equal weights."""
    ensemble: Ensemble = model.ensemble_
    numbers = [len(of_member) for of_member in models]
    return replace(
        ensemble,
        models=[one for of_member in models for one in of_member],
        weights=[member.weight / n for member, n in zip(model.members_, numbers, strict=True) for _ in range(n)],
        temperatures=[m.temperature for m, n in zip(model.members_, numbers, strict=True) for _ in range(n)],
    )


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to a file."""
    cells = [(name, split) for split in range(args.splits) for name in args.sets]
    run = partial(run_cell, n_trials=args.trials, data=data_folder(args.data))
    for rows in missing(args.rows, KEY, cells, run, args.jobs):
        add_rows(args.rows, COLUMNS, rows)


def report(rows: pd.DataFrame) -> None:
    """Print a line for each way."""
    for measure, name in {"loss": "log loss, or RMSE", "error": "error"}.items():
        print(f"{name}, {rows['n_trials'].iloc[0]} trials")
        print("| way | sets | against full (90 % interval over sets) | wins-losses | models | fitting | predicting |")
        print("|---|---|---|---|---|---|---|")
        for way in [one for one in PARTS if one != "full"]:
            print(_line(rows, way, measure))
        print()


def _line(rows: pd.DataFrame, way: str, measure: str) -> str:
    values = [measure, "n_models", "fit_seconds", "predict_seconds"]
    both = rows.pivot(index=KEY, columns="way", values=values).dropna(subset=[(measure, way), (measure, "full")])
    times = [f"{(both[one][way] / both[one]['full']).median():.1f} x" for one in values[1:]]
    return f"| {way} {compared(both[measure][way], both[measure]['full'])} | {' | '.join(times)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report"])
    parser.add_argument("rows", type=Path, help="a CSV file, such as experiments/rows/refits.csv")
    parser.add_argument("--data", type=Path, help="folder of tables; COMITIA_DATA if not given")
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--sets", nargs="+", default=[*CLASSIFICATION, *REGRESSION], help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one thread each")
    args = parser.parse_args()
    if args.step == "report":
        report(pd.read_csv(args.rows))
    else:
        run_missing(args)


if __name__ == "__main__":
    main()
