"""Lazy folds against complete ones: test loss and the share of folds that are fitted.

- `python benchmarks/studies/lazy.py seconds DATASETS ROWS.csv --jobs 2` runs the Auto classes for 20 s with `committee`
  and `committee-lazy`, two splits of each set, one thread each, so many runs at a time. Only idle cores give a fair
  comparison, so the rows have the speed of the machine before each run: seconds of a fixed piece of work;
- `... fits POOLS ROWS.csv` compares them, and `bayes` with `bayes-lazy`, at equal numbers of fits, which load does not
  change, on pools (see `reshuffling.py`), where nothing is trained;
- `... report ROWS.csv` prints the mean relative test loss with a 90 % interval over sets, and the share of folds.

The first two add a row at a time and resume.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, mean_squared_error
from sklearn.model_selection import train_test_split

from comitia import AutoClassifier, AutoRegressor, Workers
from comitia.bench.cells.pool_cells import PoolArena
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.problems import FixedTable
from comitia.bench.problems.tabulated import Tabulated, read_pool
from comitia.history import History
from comitia.methods import get_method
from comitia.study.study import Study

SETS = (
    "annealing", "balance_scale", "blood_transfusion", "breast_cancer", "car", "cardiotocography_10", "ecoli",
    "german_credit", "ionosphere", "pc4", "pima", "segment", "sonar", "spambase", "steel_plates", "tic_tac_toe",
    "vowel", "wine_quality_red", "yeast", "auto_mpg", "housing", "stock", "abalone_rings", "kin8nm",
)  # fmt: skip
N_SPLITS = 2
SECONDS = 20.0
FITS = (60, 120)
PAIRS = {"committee-lazy": "committee", "bayes-lazy": "bayes"}
COLUMNS = (
    "set", "method", "budget", "repetition", "test_loss", "test_error", "n_trials", "n_rejected", "n_fits", "n_folds",
    "speed",
)  # fmt: skip
"""The test loss is the log loss, or the squared error; `n_fits` of folds, of `n_folds` if every trial had all."""
Cell = tuple[str, str, float, int]
"""Set, method, budget, repetition."""


def speed() -> float:
    """Return the seconds of a fixed piece of work: how loaded the machine is."""
    began, matrix = time.perf_counter(), np.random.default_rng(0).standard_normal((300, 300))
    for _ in range(30):
        matrix = np.tanh(matrix @ matrix / 300)
    return time.perf_counter() - began


def counts(history: History, k: int) -> tuple[int, int, int, int]:
    """Return trials, those that were rejected, fits, and fits if every trial had all of its folds."""
    whole = [o for o in history.observations() if o.status in ("ok", "rejected")]
    return len(whole), history.n_rejected, sum(o.n_evaluations for o in whole), k * len(whole)


def run_seconds(cell: Cell, data: Path) -> tuple[object, ...]:
    """Fit an Auto class for some seconds, and judge it on a third of the rows."""
    warnings.simplefilter("ignore")
    name, method, seconds, split = cell
    table = find_table(name, data, "This study")
    assert isinstance(table, FixedTable)
    is_classes = table.task == "classification"
    rows = train_test_split(np.arange(len(table.y)), test_size=1 / 3, random_state=split)
    X, X_test = (table.raw.iloc[some] for some in rows)
    y, y_test = (table.y[some] for some in rows)
    before = speed()
    kind = AutoClassifier if is_classes else AutoRegressor
    with Workers(1) as workers:
        model = kind(method=method, time_limit=seconds, executor=workers, random_state=split, estimate=False)
        model.fit(X, y)
    predicted = model.predict(X_test)
    if is_classes:
        known = np.isin(y_test, model.classes_)
        loss = log_loss(y_test[known], model.predict_proba(X_test)[known], labels=model.classes_)
        error = float(np.mean(predicted != y_test))
    else:
        loss, error = mean_squared_error(y_test, predicted), np.nan
    k = max((len(o.losses) for o in model.study_.history.observations()), default=0)
    return (*cell, loss, error, *counts(model.study_.history, k), before)


@lru_cache
def pool_of(path: Path) -> Tabulated:
    """Read a pool once."""
    return read_pool(path)


def run_fits(cell: Cell, pools: Path) -> tuple[object, ...]:
    """Search a pool within some fits, and look the test up."""
    warnings.simplefilter("ignore")
    set_name, name, fits, repetition = cell
    pool = pool_of(pools / f"{set_name}.parquet")
    method = get_method(name)
    arena = PoolArena(pool, method, loss="log-loss")
    study = Study(arena.space, arena.adapted(method), seed=repetition)
    study.run(arena.evaluator, n_evaluations=int(fits))
    tester = PoolArena(pool, get_method("committee"), loss="zero-one")
    score = tester.test(study.members(), study.seeds)
    k = len(pool.partitions[0].entries[0].losses)
    return (*cell, score.log_loss, score.loss, *counts(study.history, k), speed())


def cells(sets: list[str], methods: list[str], budgets: list[float], n: int) -> Iterator[Cell]:
    """Yield what is to be run, a whole repetition after the other; what is compared runs one after the other."""
    for repetition, budget, name, method in product(range(n), budgets, sets, methods):
        yield name, method, budget, repetition


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to a file."""
    source, output = args.places
    done: set[Cell] = set()
    if output.exists():
        done = set(pd.read_csv(output)[["set", "method", "budget", "repetition"]].itertuples(index=False, name=None))
    in_seconds = args.step == "seconds"
    sets = [*SETS] if in_seconds else sorted(path.stem for path in source.glob("*.parquet"))
    methods = ["committee", "committee-lazy"] if in_seconds else [*PAIRS.values(), *PAIRS]
    budgets = [args.seconds] if in_seconds else [*map(float, FITS)]
    left = [c for c in cells(args.sets or sets, methods, budgets, args.repetitions) if c not in done]
    with output.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(args.jobs) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        run = run_seconds if in_seconds else run_fits
        for future in as_completed([pool.submit(run, cell, source) for cell in left]):
            writer.writerow([f"{entry:.8g}" if isinstance(entry, float) else entry for entry in future.result()])
            file.flush()


def report(rows: pd.DataFrame) -> None:
    """Print one line for each comparison."""
    print(
        "| budget | lazy | sets | relative test loss (90 % interval) | relative error | better-worse | folds | trials |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for budget, (lazy, whole) in product(sorted(rows["budget"].unique()), PAIRS.items()):
        some = rows[rows["budget"] == budget].set_index(["set", "repetition", "method"])
        if not {lazy, whole} <= set(some.index.get_level_values("method")):
            continue
        both = some.unstack("method").dropna(subset=[("test_loss", lazy), ("test_loss", whole)])
        ratio = both["test_loss"][lazy] / both["test_loss"][whole]
        change = np.expm1(np.log(ratio).groupby("set").mean())
        drawn = np.random.default_rng(0).choice(change.to_numpy(), (10_000, len(change))).mean(axis=1)
        low, high = np.quantile(drawn, [0.05, 0.95])
        error = (both["test_error"][lazy] - both["test_error"][whole]).groupby("set").mean()
        share = both["n_fits"][lazy].sum() / both["n_folds"][lazy].sum()
        print(
            f"| {budget:g} | `{lazy}` | {len(change)} "
            f"| {100 * change.mean():+.2f} % ({100 * low:+.2f} to {100 * high:+.2f}) "
            f"| {100 * error.mean():+.2f} points | {np.sum(change < 0)}-{np.sum(change > 0)} | {100 * share:.0f} % "
            f"| {both['n_trials'][lazy].mean():.1f} for {both['n_trials'][whole].mean():.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["seconds", "fits", "report"])
    parser.add_argument("places", type=Path, nargs="+", help="DATASETS or POOLS, and ROWS.csv; or ROWS.csv to report")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--repetitions", type=int, default=N_SPLITS, help="splits of a set, or seeds on a pool")
    parser.add_argument("--sets", nargs="+", help="only these")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one thread each")
    args = parser.parse_args()
    if args.step == "report":
        report(pd.read_csv(args.places[0]))
    else:
        run_missing(args)


if __name__ == "__main__":
    main()
