"""Does the estimate hold? Small tables are drawn from large ones, searched, and what is returned meets all other rows.

Tables of 50, 100, 300 and 1,000 rows, five draws from each of 21 sets of at least 4,000 rows. The steps:

- `python benchmarks/studies/estimates.py search FOLDER --data DATASETS` searches, 25 trials each, and keeps the
  studies;
- `... judge FOLDER --data DATASETS` chooses from them as `fit` does now, fits that on all rows of the small table,
  scores it on all others (at most 10,000), and works out the estimate. Nothing is searched: it can be repeated after a
  change.
- `... nested FOLDER --data DATASETS` repeats whole searches on five parts of the rows, for six sets, and prints that
  estimate beside the usual one.
- `... report FOLDER` prints bias, coverage and width, and how often a search ended worse than it began. So does
  `... report experiments/rows/estimates.csv`, which is what was judged so far.

The first three resume. Beside the committee, the default configuration (the first trial) and the trial with the least
validation loss are scored, too.
"""

from __future__ import annotations

import argparse
import copy
import json
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.base import clone

from comitia import AutoClassifier, AutoRegressor, Serial
from comitia.arrays import AnyArray
from comitia.auto.estimate import Estimate, Estimating
from comitia.auto.noise import Told
from comitia.auto.validation import validated
from comitia.bench.problems.finding import find_table
from comitia.bench.problems.problems import FixedTable
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import make_scoring
from comitia.learners.default import default_space
from comitia.seams import Member

CLASSES = (
    "adult", "banana", "bank_marketing", "magic", "musk_2", "optical_digits", "page_blocks", "ringnorm", "spambase",
    "thyroid_ann", "waveform_noise", "wine_quality_white",
)  # fmt: skip
NUMBERS = (
    "abalone_rings", "ailerons", "bank32nh", "cal_housing", "cpu_act", "elevators", "kin8nm", "pole", "puma32h",
)  # fmt: skip
OF_NESTED = ("banana", "bank_marketing", "waveform_noise", "cal_housing", "cpu_act", "kin8nm")
N_NESTED_ROWS = 300
SIZES = (50, 100, 300, 1_000)
N_DRAWS = 5
N_TRIALS = 25
MOST_TEST_ROWS = 10_000
N_FRESH = 200
"""Test sets as large as the small table, for the width of an interval that costs new rows."""
OF_SHARES = ("accuracy", "roc_auc", "r2")
"""Metrics whose bias is in points; of others it is a part of the true loss."""


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
        order = np.random.default_rng([self.n_rows, self.draw]).permutation(len(table.y))
        train, test = np.sort(order[: self.n_rows]), np.sort(order[self.n_rows :][:MOST_TEST_ROWS])
        return table.raw.iloc[train], table.y[train], table.raw.iloc[test], table.y[test]

    def fitted(self, folder: Path, X: Any, y: AnyArray) -> Any:
        """Return the estimator after 25 trials; those that are recorded are not run again."""
        kind: Any = AutoClassifier if self.is_classes else AutoRegressor
        storage = folder / f"{self.file}.db"
        return kind(n_trials=N_TRIALS, executor=Serial(), random_state=self.draw, storage=storage).fit(X, y)


def search(cell: Cell, folder: Path, data: Path) -> None:
    """Search on a small table and keep the study."""
    warnings.simplefilter("ignore")
    X, y, _, _ = cell.rows(data)
    cell.fitted(folder, X, y).study_.close()
    (folder / f"{cell.file}.done").touch()


# ---- judging --------------------------------------------------------------------------------------------------------


def scores_of(model: Any, X: Any, y: AnyArray) -> dict[str, Callable[[Any], float]]:
    """Return, for each metric, a function from rows of the test to the score on them."""
    if not hasattr(model, "classes_"):
        predicted = model.predict(X)
        return {
            "rmse": lambda some: -float(np.sqrt(np.mean((y[some] - predicted[some]) ** 2))),
            "r2": lambda some: float(metrics.r2_score(y[some], predicted[some])),
        }
    known, p, labels = model.classes_, model.predict_proba(X), model.predict(X)
    # a class that no row of the small table had costs an error; it has no probability, and no part in the log loss
    codes = np.where(np.isin(y, known), np.searchsorted(known, y).clip(max=len(known) - 1), -1)
    eps = np.finfo(np.float64).eps
    log_p = np.where(codes >= 0, np.log(np.clip(p[np.arange(len(y)), codes], eps, 1)), np.nan)
    found: dict[str, Callable[[Any], float]] = {
        "accuracy": lambda some: float(np.mean(labels[some] == y[some])),
        "log_loss": lambda some: float(np.nanmean(log_p[some])),
    }
    if len(known) == 2 and (codes >= 0).all():
        found["roc_auc"] = lambda some: float(metrics.roc_auc_score(codes[some], p[some, 1]))
    return found


def alone(model: Any, number: int, X: Any, y: AnyArray) -> Any:
    """Return the same estimator with the model of one trial, fitted on all rows, in place of its committee."""
    space = default_space(model.cleaner_.columns_, model._task, len(y))
    learner = space.build(model.study_.history.trial(number).config, 0)
    learner.fit(model.cleaner_.transform(X), np.searchsorted(model.classes_, y) if hasattr(model, "classes_") else y)
    single = copy.copy(model)
    single.ensemble_ = replace(model.ensemble_, models=[learner], weights=[1.0], temperatures=[1.0], rule=None)
    return single


def estimate_of(model: Any, metric: str, y: AnyArray) -> Estimate | None:
    """Return the estimate in another metric than the one that was fitted for; the committee is the same."""
    study, classes = model.study_, getattr(model, "classes_", None)
    given, scoring = Given(y, classes), make_scoring(metric, model._task)
    order = model.ensemble_.order
    members = [Member(m.config, m.weight, m.trial, m.temperature) for m in model.members_]
    found = validated(study.history, members, given, scoring, order=order, tunes=False)
    default = validated(
        study.history, [Member(study.history.trial(0).config, 1.0, 0)], given, scoring, order=order, tunes=False
    )
    if found is None:
        return None
    return Estimating(
        study,
        Told(found.predictions, given, scoring),
        None if default is None else Told(default.predictions, given, scoring),
        order=order,
        n_folds=len(np.unique(found.predictions.folds)),
    ).estimate()


def judge(cell: Cell, folder: Path, data: Path) -> None:
    """Choose from a study, score that on new rows, and write what was expected beside it."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = cell.rows(data)
    model = cell.fitted(folder, X, y)
    everything = np.arange(len(y_test))
    best = model.study_.best_trial.number
    others: dict[str, dict[str, float]] = {}
    for role, number in (("default", 0), ("single", best)):
        if np.isfinite(model.study_.history.losses[number]):
            made = scores_of(alone(model, number, X, y), X_test, y_test)
            others[role] = {metric: score(everything) for metric, score in made.items()}
    rng, rows = np.random.default_rng(0), []
    for metric, score in scores_of(model, X_test, y_test).items():
        expected = estimate_of(model, metric, y)
        fresh = [score(rng.choice(len(y_test), cell.n_rows)) for _ in range(N_FRESH)]
        row = {"set": cell.name, "n_rows": cell.n_rows, "draw": cell.draw, "metric": metric, "true": score(everything)}
        row |= {role: found.get(metric, np.nan) for role, found in others.items()}
        row["fresh_width"] = float(np.ptp(np.nanquantile(fresh, [0.05, 0.95])))
        if expected is not None:
            low, high = expected.interval
            row |= {"estimate": expected.score, "low": low, "high": high, "optimistic": expected.optimistic}
            row["beats_default"] = expected.beats_default
        rows.append(row)
    (folder / f"{cell.file}.json").write_text(json.dumps(rows))


def nest(cell: Cell, folder: Path, data: Path) -> None:
    """Write the nested estimate beside the usual one and the truth; the study is that of `search`."""
    warnings.simplefilter("ignore")
    X, y, X_test, y_test = cell.rows(data)
    model = cell.fitted(folder, X, y)
    whole = clone(model).set_params(estimate="nested", storage=None).fit(X, y)
    rows: list[dict[str, Any]] = []
    for manner, expected in (("decisions", model.estimate_), ("nested", whole.estimate_)):
        row = {"set": cell.name, "metric": expected.metric, "true": model.score(X_test, y_test), "manner": manner}
        rows.append(row | {"estimate": expected.score, "low": expected.interval[0], "high": expected.interval[1]})
    (folder / f"{cell.file}.nested").write_text(json.dumps(rows))


# ---- reporting ------------------------------------------------------------------------------------------------------


def interval_over_sets(values: pd.Series, sets: pd.Series) -> tuple[float, float]:
    """Return a 90 % bootstrap interval of a mean over sets, each of which counts once."""
    means = values.groupby(sets).mean().to_numpy()
    rng = np.random.default_rng(0)
    drawn = rng.choice(means, (10_000, len(means))).mean(axis=1)
    return float(np.quantile(drawn, 0.05)), float(np.quantile(drawn, 0.95))


def _bias(rows: pd.DataFrame, column: str) -> pd.Series:
    scale = np.where(
        rows["metric"].isin(OF_SHARES), 100.0, 100.0 / rows["true"].abs().groupby(rows["set"]).transform("mean")
    )
    return (rows[column] - rows["true"]) * scale


def judged(place: Path) -> pd.DataFrame:
    """Return what was judged: of a folder, or of a file that was kept."""
    if place.is_file():
        return pd.read_csv(place)
    return pd.DataFrame([row for path in sorted(place.glob("*.json")) for row in json.loads(path.read_text())])


def report(rows: pd.DataFrame) -> None:
    """Print the tables."""
    known = rows[rows["estimate"].notna()].copy()
    known["covers"] = (known["low"] <= known["true"]) & (known["true"] <= known["high"])
    known["ratio"] = (known["high"] - known["low"]) / known["fresh_width"]
    print(f"{len(rows)} estimates wanted, {len(known)} made\n")
    print("| metric | rows | cells | bias (90 % interval) | optimistic | coverage | width / fresh |")
    print("|---|---|---|---|---|---|---|")
    for metric, some in known.groupby("metric"):
        for size, part in [*some.groupby("n_rows"), ("all", some)]:
            bias = _bias(part, "estimate")
            low, high = interval_over_sets(bias, part["set"])
            print(
                f"| {metric} | {size} | {len(part)} | {bias.mean():+.2f} ({low:+.2f} to {high:+.2f}) "
                f"| {_bias(part, 'optimistic').mean():+.2f} | {100 * part['covers'].mean():.0f} % "
                f"| {part['ratio'].median():.2f} |"
            )
    print(f"\ncoverage of all: {100 * known['covers'].mean():.1f} %\n")
    print("| metric | rows | cells | worse than the default: returned | least validation loss | gain of returned |")
    print("|---|---|---|---|---|---|")
    compared = rows[rows["default"].notna() & rows["single"].notna()]
    for metric, some in compared.groupby("metric"):
        for size, part in [*some.groupby("n_rows"), ("all", some)]:
            worse = []
            for column in ("true", "single"):
                is_worse = 100.0 * (part[column] < part["default"])
                low, high = interval_over_sets(is_worse, part["set"])
                worse.append(f"{is_worse.mean():.0f} % ({low:.0f} to {high:.0f})")
            gain = (part["true"] - part["single"]).mean() / part["single"].abs().mean()
            print(f"| {metric} | {size} | {len(part)} | {worse[0]} | {worse[1]} | {100 * gain:+.1f} % |")
    report_worse(compared[compared["metric"] != "r2"])  # RMSE says the same of the same tables


def report_worse(compared: pd.DataFrame) -> None:
    """Print how often a search ended worse than it began, over all metrics, and as a share of the same by one model."""
    worse = pd.DataFrame({c: compared[c] < compared["default"] for c in ("true", "single")}).astype(float)
    means = worse.groupby(compared["set"]).mean().to_numpy()  # (n_sets, 2)
    drawn = means[np.random.default_rng(0).integers(len(means), size=(10_000, len(means)))].mean(axis=1)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.05, 0.95])
    print("\nall metrics but R squared, worse than the default: returned, least validation loss")
    for size, part in [*worse.groupby(compared["n_rows"]), ("all", worse)]:
        print(f"{size:>5} rows: {100 * part['true'].mean():.1f} %, {100 * part['single'].mean():.1f} %")
    print(f"share: {worse['true'].mean() / worse['single'].mean():.2f} ({low:.2f} to {high:.2f}, over sets)")


def report_nested(folder: Path) -> None:
    """Print both estimates of each set."""
    rows = pd.DataFrame([row for path in sorted(folder.glob("*.nested")) for row in json.loads(path.read_text())])
    print("| set | metric | on new rows | estimate (90 % interval) | nested (90 % interval) |\n|---|---|---|---|---|")
    for name, some in rows.groupby("set"):
        by = some.set_index("manner")
        both = [f"{r.estimate:.3f} ({r.low:.3f} to {r.high:.3f})" for r in by.loc[["decisions", "nested"]].itertuples()]
        print(f"| {name} | {some['metric'].iloc[0]} | {some['true'].iloc[0]:.3f} | {both[0]} | {both[1]} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["search", "judge", "nested", "report"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="write what was judged to this file, which report reads as well")
    parser.add_argument("--again", action="store_true", help="judge cells again that have been judged")
    args = parser.parse_args()
    if args.step == "report":
        rows = judged(args.folder)
        if args.keep is not None:
            rows.to_csv(args.keep, index=False, float_format="%.10g")
        report(rows)
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    cells = [Cell(name, n, draw) for draw, n, name in product(range(N_DRAWS), SIZES, (*CLASSES, *NUMBERS))]
    ended, step = {"search": (".done", search), "judge": (".json", judge), "nested": (".nested", nest)}[args.step]
    if args.step != "search":
        cells = [cell for cell in cells if (args.folder / f"{cell.file}.done").exists()]
    if args.step == "nested":
        cells = [c for c in cells if c.name in OF_NESTED and (c.n_rows, c.draw) == (N_NESTED_ROWS, 0)]
    left = [cell for cell in cells if args.again or not (args.folder / f"{cell.file}{ended}").exists()]
    with ProcessPoolExecutor(args.jobs) as pool:
        for future in [pool.submit(step, cell, args.folder, args.data) for cell in left]:
            future.result()
    if args.step == "nested":
        report_nested(args.folder)


if __name__ == "__main__":
    main()
