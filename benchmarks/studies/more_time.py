"""Does more time ever hurt? The Auto classes with 10 to 240 s, on ten sets of 200 to 1,600 rows, three splits.

- `python benchmarks/studies/more_time.py run DATASETS ROWS.csv --jobs 2` searches once for 240 s, one thread, and reads
  what shorter budgets would have returned from the same run: the trials that had ended by then, chosen from and fitted
  again within what is left. That is what a shorter run does, unless a trial would have been killed by its limit; then
  the shorter run is really made. Only idle cores give fair seconds: rows have the speed of the machine (see `lazy.py`);
- `... report ROWS.csv` prints the loss at each budget, and one-sided paired tests that a step made it greater.

The first adds the rows of a run at a time and resumes.
"""

from __future__ import annotations

import argparse
import copy
import csv
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lazy import speed
from scipy.stats import wilcoxon
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from comitia import AutoClassifier, AutoRegressor, Workers
from comitia.auto.base import TRIAL_SHARE
from comitia.auto.folds import default_folds
from comitia.auto.hindsight import first_trials
from comitia.auto.refit import fit_again
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.problems import FixedTable
from comitia.history import Observation
from comitia.study.budget import Budget
from comitia.study.study import Study

SETS = (
    "sonar", "ionosphere", "blood_transfusion", "pima", "german_credit", "yeast", "wine_quality_red", "auto_mpg",
    "housing", "stock",
)  # fmt: skip
BUDGETS = (10.0, 30.0, 60.0, 120.0, 240.0)
N_SPLITS = 3
SEARCH_SHARE = 0.8
"""Of a limit, after which a search ended when the rows were made; today's leave as much as its members need."""
COLUMNS = ("set", "split", "seconds", "loss", "error", "n_trials", "n_members", "is_read", "speed")
"""The loss is the log loss, or the root of the mean squared error; `is_read`: from the longest run's history."""
MEASURES = {"loss": "log loss, or RMSE", "error": "error"}


@dataclass
class Clock:
    """Remembers when trials ended, in seconds since the fit began."""

    began: float = field(default_factory=time.monotonic)
    ended: list[float] = field(default_factory=list)

    def __call__(self, study: Study, observation: Observation) -> None:
        self.ended.append(time.monotonic() - self.began)


@dataclass(frozen=True)
class Task:
    """One split of a set."""

    name: str
    split: int
    data: Path

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Run it, and yield a row for each budget."""
        table = find_table(self.name, self.data, "This study")
        assert isinstance(table, FixedTable)
        rows = train_test_split(np.arange(len(table.y)), test_size=1 / 3, random_state=self.split)
        X, X_test = (table.raw.iloc[some] for some in rows)
        y, y_test = (table.y[some] for some in rows)
        kind: Any = AutoClassifier if table.task == "classification" else AutoRegressor
        before, clock = speed(), Clock()
        with Workers(1) as workers:
            longest = kind(
                time_limit=BUDGETS[-1], executor=workers, random_state=self.split, estimate=False, callbacks=[clock]
            ).fit(X, y)
            for seconds in BUDGETS:
                model, is_read = longest, seconds == BUDGETS[-1]
                if not is_read:
                    n = int(np.sum(np.array(clock.ended) <= SEARCH_SHARE * seconds))
                    slowest = max((o.seconds for o in longest.study_.history.observations()[:n]), default=np.inf)
                    is_read = slowest < TRIAL_SHARE * seconds
                    if is_read:
                        model = earlier(longest, n, seconds, workers, X, y)
                    else:
                        model = kind(time_limit=seconds, executor=workers, random_state=self.split, estimate=False)
                        model.fit(X, y)
                n_trials = model.study_.history.n_finished
                found = losses(model, X_test, y_test)
                yield self.name, self.split, seconds, *found, n_trials, len(model.members_), is_read, before


def earlier(longest: Any, n: int, seconds: float, workers: Workers, X: pd.DataFrame, y: Any) -> Any:
    """Return what a fit would have returned of its first n trials, with the time that was left then to fit it."""
    model = copy.copy(longest)
    model.study_ = copy.copy(longest.study_)
    model.study_.history = first_trials(longest.study_.history, n)
    table = longest.cleaner_.transform(X)
    target = np.searchsorted(longest.classes_, y) if hasattr(longest, "classes_") else np.asarray(y, dtype=float)
    cv = default_folds(target, longest._task, None, has_selection_split=False)
    auto = longest._auto_fit(table, target, cv, None, None, X)
    meter = Budget((1 - SEARCH_SHARE) * seconds).start()
    refitted = fit_again(model.study_, auto.evaluator, "full", workers, meter)
    model.members_ = refitted.members or [auto.fallback()]
    found = auto.validated(model.study_, model.members_, tunes=longest._tunes_decisions)
    model.ensemble_ = auto.ensemble(model.study_, model.members_, found)
    return model


def losses(model: Any, X: pd.DataFrame, y: Any) -> tuple[float, float]:
    """Return the log loss and the error on new rows, or the root of the mean squared error and nothing."""
    predicted = model.predict(X)
    if not hasattr(model, "classes_"):
        return float(np.sqrt(np.mean((predicted - y) ** 2))), np.nan
    known = np.isin(y, model.classes_)
    loss = log_loss(y[known], model.predict_proba(X)[known], labels=model.classes_)
    return float(loss), float(np.mean(predicted != y))


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to a file."""
    source, output = args.places
    done: set[tuple[str, int]] = set()
    if output.exists():
        done = set(pd.read_csv(output)[["set", "split"]].itertuples(index=False, name=None))
    tasks = [
        Task(name, split, source) for split, name in product(range(args.splits), SETS) if (name, split) not in done
    ]
    with output.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(args.jobs) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for future in as_completed([pool.submit(run, task) for task in tasks]):
            for row in future.result():
                writer.writerow([f"{entry:.8g}" if isinstance(entry, float) else entry for entry in row])
            file.flush()


def run(task: Task) -> list[tuple[object, ...]]:
    """Run one split of a set."""
    warnings.simplefilter("ignore")
    return list(task.rows())


def holm(p: list[float]) -> list[float]:
    """Return p values that stand for all of them together (Holm 1979)."""
    order = np.argsort(p)
    raised = np.maximum.accumulate([min(1.0, (len(p) - i) * p[j]) for i, j in enumerate(order)])
    found = np.empty(len(p))
    found[order] = raised
    return [float(one) for one in found]


def report(rows: pd.DataFrame) -> None:
    """Print a table for each measure: relative to the least budget, and the tests of the steps."""
    read = rows[rows["seconds"] < BUDGETS[-1]]
    n_read = int(read["is_read"].sum())
    print(f"{len(rows) // len(BUDGETS)} runs; {n_read} of {len(read)} shorter ones are read from them\n")
    for measure, name in MEASURES.items():
        losses = rows.pivot(index=["set", "split"], columns="seconds", values=measure).dropna()
        steps = [*pairwise(BUDGETS), (30.0, BUDGETS[-1])]
        changes = [_change(losses[before], losses[after]) for before, after in steps]
        p = [_p_rises(change) for change in changes]
        raised = [*holm(p[:-1]), p[-1]]
        print(
            f"| {name}: from | to | pairs | change (90 % interval over sets) | better-worse | p that it rises | Holm |"
        )
        print("|---|---|---|---|---|---|---|")
        for (before, after), change, one, all_together in zip(steps, changes, p, raised, strict=True):
            means = change.groupby("set").mean().to_numpy()
            drawn = np.random.default_rng(0).choice(means, (10_000, len(means))).mean(axis=1)
            low, high = np.quantile(drawn, [0.05, 0.95])
            print(
                f"| {before:g} s | {after:g} s | {len(change)} "
                f"| {100 * means.mean():+.2f} % ({100 * low:+.2f} to {100 * high:+.2f}) "
                f"| {np.sum(change < 0)}-{np.sum(change > 0)} | {one:.2g} | {all_together:.2g} |"
            )
        print()


def _change(before: pd.Series, after: pd.Series) -> pd.Series:
    """Return by which part losses grow; an error of 0 before and after is no change."""
    return (2 * (after - before) / (after + before)).fillna(0.0)


def _p_rises(change: pd.Series) -> float:
    """Return the p value of a one-sided signed-rank test that losses grow; splits of a set are taken together."""
    means = change.groupby("set").mean()
    return 1.0 if not np.any(means) else float(wilcoxon(means, alternative="greater").pvalue)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report"])
    parser.add_argument("places", type=Path, nargs="+", help="DATASETS and ROWS.csv; or ROWS.csv to report")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time, one thread each")
    args = parser.parse_args()
    if args.step == "report":
        report(pd.read_csv(args.places[0]))
    else:
        run_missing(args)


if __name__ == "__main__":
    main()
