"""What fits cost: seconds of a processor of every learner's default on real tables of many shapes, and a law for them.

- `python benchmarks/studies/costs.py run ROWS.csv --data DATASETS` fits the default of every learner to growing parts
  of some tables and predicts a quarter of the rows; one that takes more than a minute is given no more rows;
- `... report ROWS.csv` prints the table of `comitia.learners.default.costs`: by least squares on logarithms, the
  seconds for 1,000 rows of 20 columns (and of 2 classes), and the powers of rows, columns and classes.

Seconds are those of a processor, so that other work beside hardly counts.
"""

import argparse
import csv
import os
import resource
import time
import warnings
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pandas as pd
from portfolio import Split, load

from comitia import Seeds, TableEvaluator
from comitia.bench.problems.finding import data_folder
from comitia.errors import ExperimentError
from comitia.learners.default import LEARNERS, default_space

SETS = (
    "german_credit", "yeast", "car", "stock", "spambase", "cpu_act", "madelon", "letter", "musk_2", "ailerons",
    "cal_housing", "adult", "bank_marketing", "shuttle", "pole", "plant_margin", "chess_krvk", "kin8nm",
)  # fmt: skip
ROWS = (400, 1_600, 6_400, 25_600)
"""Rows of fits; of a set with fewer, all."""
LIMIT = 60
COLUMNS = ("set", "learner", "task", "n_rows", "n_columns", "n_codes", "n_classes", "seconds")
ANSWERED = 0.25
"""Rows that are predicted, beside those of the fit."""


def fit_seconds(name: str, split: Split, n: int) -> float:
    """Return the seconds of a fit to n rows, and of its answers for a quarter as many."""
    space = default_space(split.columns, split.task, n, include=[name])
    config = space.space.decode(space.space.encode([space.first[0]]))[0]
    loss = "log-loss" if split.n_classes else "squared-error"
    evaluator = TableEvaluator(space.build, split.X, split.y, task=split.task, loss=loss, cv=2, keep="probabilities")
    rows = np.random.default_rng(0).permutation(len(split.y))[:n]
    clock = time.process_time()
    model = evaluator.fit(config, rows, Seeds(0))
    evaluator.answer(model, split.X[rows[: int(ANSWERED * n)]], True)
    return time.process_time() - clock


def _aside(sender: Connection, name: str, split: Split, n: int, limit: int) -> None:
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + limit, used + limit + 5))
    warnings.simplefilter("ignore")
    sender.send(fit_seconds(name, split, n))


def measured(name: str, split: Split, n: int, limit: int) -> float | None:
    """Measure in a process of its own; None if it took too long or failed."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_aside, args=(sender, name, split, n, limit), daemon=True)
    process.start()
    sender.close()
    try:
        return float(receiver.recv())
    except EOFError:
        return None
    finally:
        process.join()


def run(path: Path, data: Path, sets: Sequence[str], limit: int) -> None:
    """Measure everything, a set after the other."""
    import catboost  # noqa: F401 - an import is no part of a fit
    import lightgbm  # noqa: F401

    done = set() if not path.exists() else set(pd.read_csv(path)["set"])
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not done:
            writer.writeheader()
        for name in [one for one in sets if one not in done]:
            split = load(name, data, 60_000)
            sizes = sorted({min(n, len(split.y)) for n in ROWS})
            for learner in [one for one in LEARNERS.values() if one.is_installed and split.task in one.tasks]:
                for n in sizes:
                    seconds = measured(learner.name, split, n, limit)
                    if seconds is None:
                        break
                    writer.writerow(
                        {
                            "set": name, "learner": learner.name, "task": split.task, "n_rows": n,
                            "n_columns": split.columns.n_columns, "n_codes": len(split.columns.codes),
                            "n_classes": split.n_classes, "seconds": f"{seconds:.5g}",
                        }
                    )  # fmt: skip
                    file.flush()
                    if seconds > limit / 6:
                        break


def report(rows: pd.DataFrame) -> None:
    """Print a line for each learner, and by which factor its fits are off (the standard deviation)."""
    for name, some in rows.groupby("learner", sort=False):
        z = np.log(np.maximum(some["seconds"], 1e-3))
        shape = np.column_stack(
            [
                np.log(some["n_rows"] / 1_000),
                np.log(some["n_columns"] / 20),
                np.log(np.maximum(some["n_classes"], 2) / 2),
            ]
        )
        X = np.column_stack([np.ones(len(z)), shape])
        precision = X.T @ X + np.diag([0.0, 1.0, 1.0, 1.0])  # few shapes: powers are drawn to the prior's
        prior = np.array([0.0, 1.0, 0.7, 0.3])
        law = np.linalg.solve(precision, X.T @ z + np.diag([0.0, 1.0, 1.0, 1.0]) @ prior)
        off = float(np.exp(np.std(z - X @ law)))
        numbers = ", ".join(f"{one:.2g}" for one in (np.exp(law[0]), *law[1:]))
        print(f'    "{name}": ({numbers}),  # {len(z)} fits, off by {off:.2f}')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report"])
    parser.add_argument("rows", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS, help="only these")
    parser.add_argument("--limit", type=int, default=LIMIT, help="seconds of a fit")
    args = parser.parse_args()
    if args.step == "report":
        report(pd.read_csv(args.rows))
        return
    data = data_folder(args.data)
    if data is None:
        raise ExperimentError("A folder of tables must be given. Got none. Name it by --data or COMITIA_DATA.")
    run(args.rows, data, args.sets, args.limit)


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    main()
