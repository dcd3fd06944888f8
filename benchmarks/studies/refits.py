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
import csv
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from ablate import CLASSIFICATION, REGRESSION, losses, warm_up
from sklearn.model_selection import train_test_split

from comitia import AutoClassifier, AutoRegressor, Workers
from comitia.arrays import Estimator
from comitia.auto.refit import Job, Refit
from comitia.bench.problems.finding import data_folder, find_table
from comitia.bench.problems.problems import FixedTable
from comitia.committees import Ensemble
from comitia.execution.kept import kept_starter
from comitia.execution.starters import THREAD_VARIABLES

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


def run_cell(name: str, split: int, n_trials: int, data: Path | None) -> list[tuple[object, ...]]:
    """Search once, and judge what is handed over in each way."""
    warnings.simplefilter("ignore")
    table = find_table(name, data, "This study")
    assert isinstance(table, FixedTable)
    rows = train_test_split(np.arange(len(table.y)), test_size=1 / 3, random_state=split)
    X, X_test = (table.raw.iloc[some] for some in rows)
    y, y_test = (table.y[some] for some in rows)
    is_classes = table.task == "classification"
    kind: Any = AutoClassifier if is_classes else AutoRegressor
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
            models.append([_fitted(refit, job) for job in jobs])
        found[kind] = models, time.perf_counter() - began
    return found


def _fitted(refit: Refit, job: Job) -> Estimator:
    return refit(job)


def _ensemble(model: Any, models: Sequence[Sequence[Estimator]]) -> Ensemble:
    """Return the committee with these models of its members, those of a member with equal weights."""
    pairs = [(member, one, len(of_member)) for member, of_member in zip(model.members_, models, strict=True)
             for one in of_member]  # fmt: skip
    ensemble: Ensemble = model.ensemble_
    return replace(
        ensemble,
        models=[one for _, one, _ in pairs],
        weights=[member.weight / n for member, _, n in pairs],
        temperatures=[member.temperature for member, _, _ in pairs],
    )


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to a file."""
    done: set[tuple[object, ...]] = set()
    if args.rows.exists():
        done = set(pd.read_csv(args.rows)[KEY].itertuples(index=False, name=None))
    cells = [(name, split) for split in range(args.splits) for name in args.sets]
    left = [cell for cell in cells if cell not in done]
    folder = data_folder(args.data)
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    pool = ProcessPoolExecutor(args.jobs, mp_context=get_context("spawn"), initializer=warm_up)
    with args.rows.open("a", newline="", encoding="utf-8") as file, pool:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for future in as_completed([pool.submit(run_cell, *cell, args.trials, folder) for cell in left]):
            for row in future.result():
                writer.writerow([f"{entry:.8g}" if isinstance(entry, float) else entry for entry in row])
            file.flush()


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
    this, that = both[measure][way], both[measure]["full"]
    change = (2 * (this - that) / (this + that)).fillna(0.0).groupby("set").mean()
    drawn = np.random.default_rng(0).choice(change.to_numpy(), (10_000, len(change))).mean(axis=1)
    low, high = np.quantile(drawn, [0.05, 0.95])
    times = [f"{(both[one][way] / both[one]['full']).median():.1f} x" for one in values[1:]]
    return (
        f"| {way} | {len(change)} | {100 * change.mean():+.2f} % ({100 * low:+.2f} to {100 * high:+.2f}) "
        f"| {np.sum(change < 0)}-{np.sum(change > 0)} | {' | '.join(times)} |"
    )


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
