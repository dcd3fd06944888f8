"""What to try first: a portfolio of configurations derived from many tables, and what each learner is worth.

- `python benchmarks/studies/portfolio.py run ROWS.csv --pool FOLDER --data DATASETS --jobs 2` evaluates every
  configuration of `portfolio_entries.py` on every set: at most 5,000 rows, of which a third is for the test, 3 folds of
  the others. What is measured goes to the rows as it comes, what models said of rows that they had not seen to the
  folder (some hundred megabytes). It resumes. Seconds are those of a processor, so that other work beside does not
  count; a configuration that takes more than the limit on a set has failed there;
- `... derive ROWS.csv --pool FOLDER` prints the order that a portfolio has, as data of the default space;
- `... report ROWS.csv --pool FOLDER` prints, by leaving out one set at a time, what a portfolio is worth against the
  defaults of the learners, what each learner is worth, and how a committee is best chosen.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import time
import traceback
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from portfolio_entries import SETS, Entry, entries
from portfolio_orders import derive
from portfolio_pools import read_pools
from portfolio_report import PARTS

from comitia import Seeds, TableEvaluator, Trial
from comitia.arrays import AnyArray, Table
from comitia.bench.plan.plan import HoldOutTest
from comitia.bench.problems.finding import data_folder, find_table
from comitia.bench.problems.problems import FixedTable
from comitia.errors import ExperimentError
from comitia.learners.default import LEARNERS, default_space
from comitia.tables.cleaner import Columns, TableCleaner

MOST_ROWS = 5_000
"""Of a set, test rows included; beyond them the test has up to `MOST_TEST_ROWS`."""
MOST_TEST_ROWS = 3_000
N_FOLDS = 3
COLUMNS = (
    "set", "task", "entry", "status", "validation_loss", "test_loss", "test_error", "seconds", "fit_seconds",
    "predict_seconds", "n_rows", "n_columns", "n_codes", "n_classes", "message",
)  # fmt: skip
"""Losses are log losses, or squared errors in variances of the training rows' numbers; `test_error` is the error rate,
or the root of the loss. Seconds of processor time: of the 3 folds together, of the fit on all training rows, and to
predict 1,000 rows."""


@dataclass(frozen=True, eq=False)
class Split:
    """A set as it is searched and judged."""

    name: str
    task: Any
    X: Table
    y: AnyArray
    X_test: Table
    y_test: AnyArray
    columns: Columns
    n_classes: int


def load(name: str, data: Path, most_rows: int = MOST_ROWS) -> Split:
    """Return a set, its training rows cleaned as in a fit; test rows of classes that are nowhere else are left out."""
    problem = find_table(name, data, "This study")
    assert isinstance(problem, FixedTable)
    n = len(problem.y)
    share = max(1 / 3, 1 - 2 * most_rows / 3 / n)
    draw = problem.draw(HoldOutTest(share), 0)
    rng = np.random.default_rng(0)
    some = rng.permutation(len(draw.y_train))[: 2 * most_rows // 3]
    cleaner = TableCleaner().fit(draw.raw_train.iloc[some])
    X, y = cleaner.transform(draw.raw_train.iloc[some]), draw.y_train[some]
    is_kept = np.isin(draw.y_test, y) if problem.task == "classification" else np.ones(len(draw.y_test), dtype=bool)
    kept = rng.permutation(np.flatnonzero(is_kept))[:MOST_TEST_ROWS]
    X_test, y_test = cleaner.transform(draw.raw_test.iloc[kept]), draw.y_test[kept]
    n_classes = 0
    if problem.task == "classification":
        known = np.unique(y)
        y, y_test, n_classes = np.searchsorted(known, y), np.searchsorted(known, y_test), len(known)
    return Split(name, problem.task, X, y, X_test, y_test, cleaner.columns_, n_classes)


def suits(entry: Entry, split: Split) -> bool:
    """Tell whether a configuration can be tried on a set."""
    learner = LEARNERS[entry.learner]
    is_there = learner.package is None or find_spec(learner.package) is not None
    return is_there and len(split.y) <= (learner.most_rows or len(split.y))


# ---- one configuration on one set -----------------------------------------------------------------------------------


def processor_seconds() -> float:
    """Return what this process and those that it waited for have used."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def evaluate(entry: Entry, split: Split, path: Path) -> dict[str, object]:
    """Fit and judge a configuration as a trial does; keep what it says out of fold and of the test rows."""
    space = default_space(split.columns, split.task, len(split.y), include=[entry.learner])
    x = space.space.encode([entry.config])
    [config] = space.space.decode(x)
    loss = "log-loss" if split.n_classes else "squared-error"
    evaluator = TableEvaluator(
        space.build, split.X, split.y, task=split.task, loss=loss, cv=N_FOLDS, keep="probabilities"
    )
    seeds, clock = Seeds(0), processor_seconds()
    observation, told = evaluator(Trial(0, 0, tuple(x[0].tolist()), config), seeds)
    seconds, clock = processor_seconds() - clock, processor_seconds()
    if told is None:
        return {"status": observation.status, "seconds": seconds, "message": observation.error}
    model = evaluator.fit(config, np.arange(len(split.y)), seeds)
    fit_seconds, clock = processor_seconds() - clock, processor_seconds()
    answers = evaluator.answer(model, split.X_test, True)
    predict_seconds = 1e3 * (processor_seconds() - clock) / len(split.y_test)
    order = np.argsort(told.rows)
    out_of_fold = np.asarray(told.values)[order].astype(np.float32)
    np.savez_compressed(path, out_of_fold=out_of_fold, test=answers.astype(np.float32), folds=told.folds[order])
    test_loss, test_error = losses(answers, split)
    return {
        "status": "ok", "validation_loss": observation.loss / _unit(split), "test_loss": test_loss,
        "test_error": test_error, "seconds": seconds, "fit_seconds": fit_seconds, "predict_seconds": predict_seconds,
    }  # fmt: skip


def _unit(split: Split) -> float:
    return 1.0 if split.n_classes else float(np.var(split.y))


def losses(answers: AnyArray, split: Split) -> tuple[float, float]:
    """Return the test loss and the error."""
    if not split.n_classes:
        loss = float(np.mean((answers - split.y_test) ** 2)) / _unit(split)
        return loss, loss**0.5
    p = np.maximum(answers[np.arange(len(split.y_test)), split.y_test], 1e-7)
    return float(-np.log(p).mean()), float(np.mean(answers.argmax(axis=1) != split.y_test))


def _aside(sender: Connection, limit: int, entry: Entry, split: Split, path: Path) -> None:
    """Do it in a process of its own, which ends when it has used its seconds."""
    used = int(processor_seconds())
    resource.setrlimit(resource.RLIMIT_CPU, (used + limit, used + limit + 5))
    warnings.simplefilter("ignore")
    try:
        sender.send(evaluate(entry, split, path))
    except Exception as error:  # one configuration on one set
        sender.send({"status": "failed", "message": f"{error!r} {traceback.format_exc(limit=-1)}"})


def evaluate_aside(entry: Entry, split: Split, path: Path, limit: int) -> dict[str, object]:
    """Return what came of a configuration, or that it took too long."""
    context = get_context("fork")  # after the imports: a fresh interpreter takes longer than most fits
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_aside, args=(sender, limit, entry, split, path), daemon=True)
    process.start()
    sender.close()
    try:
        found: dict[str, object] = receiver.recv()
    except EOFError:
        found = {"status": "time", "seconds": float(limit)}
    process.join()
    return found


@dataclass(frozen=True)
class Run:
    """What is run on every set."""

    data: Path
    pool: Path
    limit: int
    most_rows: int
    wanted: frozenset[str]
    """Names of entries; all if empty."""


def run_set(name: str, run: Run, done: frozenset[str]) -> list[dict[str, Any]]:
    """Evaluate what is missing of a set."""
    for package in ("lightgbm", "catboost", "xgboost"):  # an import is no part of a fit
        if find_spec(package) is not None:
            import_module(package)
    split = load(name, run.data, run.most_rows)
    folder = run.pool / name
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "truth.npz", y=split.y, y_test=split.y_test, n_classes=split.n_classes)
    about = {
        "set": name, "task": split.task, "n_rows": len(split.y), "n_columns": split.columns.n_columns,
        "n_codes": len(split.columns.codes), "n_classes": split.n_classes,
    }  # fmt: skip
    found = []
    for entry in entries(split.task):
        is_wanted = not run.wanted or entry.name in run.wanted
        if is_wanted and entry.name not in done and suits(entry, split):
            path = folder / f"{entry.name.replace('/', '~')}.npz"
            told = path.with_suffix(".json")  # a set that was not finished goes on here
            if not told.exists():
                told.write_text(json.dumps(evaluate_aside(entry, split, path, run.limit)), encoding="utf-8")
            found.append({**about, "entry": entry.name, **json.loads(told.read_text(encoding="utf-8"))})
    return found


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to the rows set by set."""
    data = data_folder(args.data)
    if data is None:
        raise ExperimentError("A folder of tables must be given. Got none. Name it by --data or COMITIA_DATA.")
    done: dict[str, set[str]] = {}
    is_new = not args.rows.exists()
    if not is_new:
        for name, entry in pd.read_csv(args.rows)[["set", "entry"]].itertuples(index=False):
            done.setdefault(name, set()).add(entry)
    names = [name for name in SETS if not args.sets or name in args.sets]
    run = Run(data, args.pool, args.limit, args.most_rows, frozenset(args.entries))
    began = time.monotonic()
    with args.rows.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(args.jobs) as workers:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        if is_new:
            writer.writeheader()
        tasks = {workers.submit(run_set, name, run, frozenset(done.get(name, ()))): name for name in names}
        for future in as_completed(tasks):
            for row in future.result():
                writer.writerow({key: f"{v:.6g}" if isinstance(v, float) else v for key, v in row.items()})
            file.flush()
            used = sum(float(row.get("seconds") or 0) + float(row.get("fit_seconds") or 0) for row in future.result())
            print(f"{time.monotonic() - began:7.0f} s  {tasks[future]}: {used:.0f} s of a processor", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "derive", "report"])
    parser.add_argument("rows", type=Path, help="a CSV file")
    parser.add_argument("--pool", type=Path, default=Path("portfolio-pool"))
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--entries", nargs="*", default=[], help="only these configurations")
    parser.add_argument("--most-rows", type=int, default=MOST_ROWS, help="of a set, test rows included")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=15, help="seconds of a configuration on a set")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS, help="of the report")
    args = parser.parse_args()
    if args.step == "run":
        run_missing(args)
        return
    pools = read_pools(args.rows, args.pool)
    if args.step == "derive":
        derive(pools)
    else:
        for part in args.parts:
            PARTS[part](pools)


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    main()
