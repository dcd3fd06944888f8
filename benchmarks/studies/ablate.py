"""What one decision is worth: the Auto classes for 20 s with a change and without, one thread each, on thirty sets.

- `python benchmarks/studies/ablate.py run ROWS.csv --variants best include+catboost --data DATA --jobs 2` fits the
  baseline and each variant on two thirds of a set and judges it on the rest, all variants of a set one after the other.
  Rows are added as they come; running again fills gaps. Only idle cores give a fair comparison: rows have the speed of
  the machine (see `lazy.py`);
- `... report ROWS.csv` prints, for each variant, the mean relative loss against the baseline with a 90 % interval over
  sets, wins and losses, trials, and the share of the limit that was used.

A variant is a name of `VARIANTS`, or says its change: `include+catboost`, `exclude+mlp`, `method=bayes-cooled`,
`preset=best`, `NAME=VALUE` for any parameter; several changes are joined by `/`, such as
`method=committee-cooled/include+catboost`.
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from lazy import speed
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from comitia import AutoClassifier, AutoRegressor, Workers
from comitia.bench.problems.finding import data_folder, find_table
from comitia.bench.problems.problems import FixedTable
from comitia.evaluation.scoring import Task
from comitia.execution.kept import kept_starter
from comitia.execution.starters import THREAD_VARIABLES
from comitia.learners.default import LEARNERS

BASELINE = "baseline"
MIX = "exclude+random-forest/include+hist-boosting/include+extra-trees-linear"
"""What 21 small tables said of learners (docs/lab/portfolio.md), for twenty seconds on others."""
CAT = "exclude+random-forest/include+catboost"
WIDE = f"{CAT}/include+extra-trees-linear/include+linear-wide/include+gp-regression"
VARIANTS = {
    BASELINE: "",
    "lazy": "method=committee-lazy",
    "per-second": "method=committee-per-second",
    "cooled": "method=committee-cooled",
    "boosters": "include+catboost/include+xgboost",
    "best": "preset=best",
    "hold-out": "cv=0.2",
    "no-forest": "exclude+random-forest",
    "mix": MIX,
    "mix-wide": f"{MIX}/include+linear-wide",
    "mix-cat": f"{MIX}/include+catboost",
    "mix-light": f"{MIX}/include+lightgbm-extra",
    "mix-cooled": f"{MIX}/method=committee-cooled",
    "cat": CAT,
    "wide": WIDE,
    "wider": f"{WIDE}/include+hist-boosting/include+lightgbm-extra",
}
"""By name; a new one is one line."""
CLASSIFICATION = (
    "annealing", "balance_scale", "blood_transfusion", "breast_cancer", "car", "cardiotocography_10", "ecoli",
    "german_credit", "ionosphere", "optical_digits", "page_blocks", "pc4", "pima", "segment", "sonar", "spambase",
    "steel_plates", "vowel", "wine_quality_red", "yeast",
)  # fmt: skip
REGRESSION = (
    "abalone_rings", "ailerons", "auto_mpg", "bank32nh", "cpu_act", "housing", "kin8nm", "machine_cpu", "stock",
    "triazines",
)  # fmt: skip
SECONDS = 20.0
COLUMNS = (
    "set", "split", "variant", "seconds", "change", "loss", "error", "n_trials", "n_failed", "n_members",
    "fit_seconds", "speed", "failure",
)  # fmt: skip
"""The loss is the log loss, or the root of the mean squared error; the change is what the variant stood for."""
KEY = ["set", "split", "variant", "seconds"]
Ran = TypeVar("Ran")
MEASURES = {"loss": "log loss, or RMSE", "error": "error"}


class Cell(NamedTuple):
    """One fit."""

    name: str
    split: int
    variant: str
    seconds: float


def change_of(variant: str) -> str:
    """Return what a variant changes: by its name, or as it is spelled."""
    return VARIANTS.get(variant, variant)


def parameters(change: str, task: Task, n_rows: int) -> dict[str, Any]:
    """Return the parameters of the Auto classes that a change stands for."""
    found: dict[str, Any] = {}
    for part in filter(None, change.split("/")):
        name, equals, text = part.partition("=")
        if equals:
            found[name] = _value(text)
            continue
        name, plus, learner = part.partition("+")
        if not plus or name not in ("include", "exclude"):
            raise SystemExit(f"A change must be NAME=VALUE, include+LEARNER or exclude+LEARNER. Got {part!r}.")
        names = found.setdefault(name, _default_learners(task, n_rows) if name == "include" else [])
        if task in LEARNERS[learner].tasks:  # a change may be for one task alone
            names.append(learner)
    return found


def _value(text: str) -> Any:
    """Read a number, a list, True, False or None; anything else is a string."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _default_learners(task: Task, n_rows: int) -> list[str]:
    """Return what is searched where nothing is included."""
    return [name for name, learner in LEARNERS.items() if learner.suits(task, n_rows)]


def run_cell(cell: Cell, data: Path | None) -> tuple[object, ...]:
    """Fit an Auto class for some seconds, and judge it on a third of the rows."""
    warnings.simplefilter("ignore")
    change = change_of(cell.variant)
    kind, (X, X_test, y, y_test) = split_set(cell.name, cell.split, data)
    task: Task = "classification" if kind is AutoClassifier else "regression"
    options = {"time_limit": cell.seconds, "random_state": cell.split, **parameters(change, task, len(y))}
    before = speed()
    try:
        with Workers(1, starter=kept_starter, trial_time_limit=0.4 * cell.seconds) as workers:
            model = kind(executor=workers, **options).fit(X, y)
        loss, error = losses(model, X_test, y_test)
    except Exception as failure:  # a variant that fails is a result, too
        return (*cell, change, *[np.nan] * 6, before, f"{type(failure).__name__}: {failure}"[:200])
    history = model.study_.history
    counts = history.n_finished, history.n_failed, len(model.members_)
    return (*cell, change, loss, error, *counts, model.fit_seconds_, before, "")


def split_set(name: str, split: int, data: Path | None) -> tuple[Any, tuple[pd.DataFrame, pd.DataFrame, Any, Any]]:
    """Return the Auto class for a set, and its rows: X and y of two thirds, and of the rest."""
    table = find_table(name, data, "This study")
    assert isinstance(table, FixedTable)
    train, test = train_test_split(np.arange(len(table.y)), test_size=1 / 3, random_state=split)
    kind: Any = AutoClassifier if table.task == "classification" else AutoRegressor
    return kind, (table.raw.iloc[train], table.raw.iloc[test], table.y[train], table.y[test])


def losses(model: Any, X: pd.DataFrame, y: Any) -> tuple[float, float]:
    """Return the log loss and the error on new rows, or the root of the mean squared error and nothing."""
    predicted = model.predict(X)
    if not hasattr(model, "classes_"):
        return float(np.sqrt(np.mean((predicted - y) ** 2))), np.nan
    known = np.isin(y, model.classes_)
    loss = log_loss(y[known], model.predict_proba(X)[known], labels=model.classes_)
    return float(loss), float(np.mean(predicted != y))


def warm_up() -> None:
    """Import what a first fit would import, so that no variant pays for it."""
    warnings.simplefilter("ignore")
    X, y = load_iris(return_X_y=True)
    with Workers(1, starter=kept_starter) as workers:
        AutoClassifier(n_trials=2, executor=workers, include=["linear", "lightgbm"], estimate=False).fit(X, y)


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to a file."""
    sets = {"classification": CLASSIFICATION, "regression": REGRESSION, "all": (*CLASSIFICATION, *REGRESSION)}
    names = args.sets or sets[args.task]
    variants = list(dict.fromkeys([BASELINE, *args.variants]))
    for variant in variants:
        parameters(change_of(variant), "classification", 100)  # a wrong spelling ends it here
    cells = [
        Cell(name, split, variant, args.seconds)
        for split in range(args.splits)
        for name in names
        for variant in variants
    ]
    run = partial(run_cell, data=data_folder(args.data))
    for row in missing(args.rows, KEY, cells, run, args.jobs):
        add_rows(args.rows, COLUMNS, [row])


def missing(
    rows: Path, key: Sequence[str], cells: Sequence[tuple[object, ...]], run: Callable[[Any], Ran], n_jobs: int
) -> Iterator[Ran]:
    """Run those cells that a file has no rows of, and return what comes of each as it ends."""
    done = set()
    if rows.exists():
        done = set(pd.read_csv(rows)[list(key)].itertuples(index=False, name=None))
    for name in THREAD_VARIABLES:
        os.environ[name] = "1"
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn"), initializer=warm_up) as pool:
        for future in as_completed([pool.submit(run, cell) for cell in cells if tuple(cell) not in done]):
            yield future.result()


def add_rows(path: Path, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """Add rows to a file, which gets a header if it is new."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(columns)
        for row in rows:
            writer.writerow([f"{entry:.8g}" if isinstance(entry, float) else entry for entry in row])


def report(rows: pd.DataFrame) -> None:
    """Print a line for each variant and measure."""
    rows = rows.drop_duplicates(KEY, keep="last")
    for seconds, some in rows.groupby("seconds"):
        for measure, name in MEASURES.items():
            print(f"{name}, {seconds:g} s")
            print("| variant | sets | relative (90 % interval over sets) | wins-losses | failed | trials | used |")
            print("|---|---|---|---|---|---|---|")
            for variant in [one for one in some["variant"].unique() if one != BASELINE] or [BASELINE]:
                print(_line(some, variant, measure))
            print()


def _line(rows: pd.DataFrame, variant: str, measure: str) -> str:
    """Compare a variant with the baseline on the splits that both have."""
    both = rows.pivot(index=["set", "split"], columns="variant", values=[measure, "n_trials", "fit_seconds", "seconds"])
    both = both.dropna(subset=[(measure, variant), (measure, BASELINE)])
    trials = {one: float(both["n_trials"][one].mean()) for one in (variant, BASELINE)}
    used = {one: float((both["fit_seconds"][one] / both["seconds"][one]).mean()) for one in (variant, BASELINE)}
    n_failed = int(rows.loc[rows["variant"] == variant, "loss"].isna().sum())
    return (
        f"| {variant} {compared(both[measure][variant], both[measure][BASELINE])} | {n_failed} "
        f"| {trials[variant]:.1f} for {trials[BASELINE]:.1f} "
        f"| {100 * used[variant]:.1f} % for {100 * used[BASELINE]:.1f} % |"
    )


def compared(this: pd.Series, that: pd.Series) -> str:
    """Return cells: sets, the mean relative difference with a 90 % interval over sets, and wins and losses."""
    change = (2 * (this - that) / (this + that)).fillna(0.0).groupby("set").mean()
    low = high = np.nan
    if len(change):
        drawn = np.random.default_rng(0).choice(change.to_numpy(), (10_000, len(change))).mean(axis=1)
        low, high = np.quantile(drawn, [0.05, 0.95])
    return (
        f"| {len(change)} | {100 * change.mean():+.2f} % ({100 * low:+.2f} to {100 * high:+.2f}) "
        f"| {np.sum(change < 0)}-{np.sum(change > 0)}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report"])
    parser.add_argument("rows", type=Path, help="a CSV file, such as experiments/rows/ablations.csv")
    parser.add_argument("--variants", nargs="+", default=[], metavar="VARIANT")
    parser.add_argument("--data", type=Path, help="folder of tables; COMITIA_DATA if not given")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--task", choices=["classification", "regression", "all"], default="all")
    parser.add_argument("--sets", nargs="+", help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one thread each")
    args = parser.parse_args()
    if args.step == "report":
        report(pd.read_csv(args.rows))
    else:
        run_missing(args)


if __name__ == "__main__":
    main()
