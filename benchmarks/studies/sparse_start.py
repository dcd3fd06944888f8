"""Where a search starts on the sparse problem of Glasmachers and Igel 2008, which their paper does not say.

- `python benchmarks/studies/sparse_start.py run ROWS.csv` searches from several values of C and gamma, the same for all
  columns, with the data and the budget of `experiments/uncertainty-sparse-100k.toml`, and writes the test error of the
  start itself and of what is found after 1,000, 10,000 and 100,000 evaluations;
- `... report ROWS.csv` prints medians;
- `... subsets` prints, from libsvm's start, the mean error on 300 random fifths of the rows, which is what a search
  minimises, beside the test error: of the start and of what `uh-cma` finds.

The first adds a row at a time and resumes.
"""

from __future__ import annotations

import argparse
import csv
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.svm import SVC

from comitia import Space, Study
from comitia.arrays import AnyArray, Array
from comitia.bench.cells.arenas import TableArena
from comitia.bench.plan.experiment_file import read_experiment
from comitia.bench.plan.plan import Cell
from comitia.bench.problems.finding import find_problem
from comitia.bench.problems.problems import Draw
from comitia.bench.problems.synthetic import Synthetic
from comitia.learners.learner_space import log_real, space_of
from comitia.methods import get_method
from comitia.seams import Member
from comitia.space import Config

EXPERIMENT = Path(__file__).parents[2] / "experiments" / "uncertainty-sparse-100k.toml"
STARTS = ((1.0, 0.05), (1.0, 0.1), (10.0, 0.01), (1000.0, 0.001), (1e5, 1e-5), (1.0, 1.0))
"""C and gamma: libsvm's default for 20 columns, two good ones of a grid, two that are nearly linear, and 1."""
METHODS = ("uh-cma", "cma-cv", "cma-5x", "cma-1x")
BUDGETS = (1_000, 10_000, 100_000)
N_COLUMNS, N_SUBSETS = 20, 300
COLUMNS = ("method", "C", "gamma", "repetition", "start", *map(str, BUDGETS))
Key = tuple[str, float, float, int]
"""Method, C, gamma, repetition."""


def prepared(key: Key) -> tuple[TableArena, Study, Draw]:
    """Return the data of a repetition, and a study that starts at these values."""
    name, C, gamma, repetition = key
    experiment = replace(read_experiment(EXPERIMENT), repetitions=repetition + 1)
    method = get_method(name)
    [cell] = [c for c in experiment.cells() if (c.method, c.repetition) == (name, repetition)]
    assert isinstance(cell, Cell)
    problem = find_problem(cell.problem, None)
    assert isinstance(problem, Synthetic)
    arena = TableArena(experiment, cell, problem, method)
    names = ["C", *(f"gamma_{i}" for i in range(N_COLUMNS))]
    middles = [C, *[gamma] * N_COLUMNS]
    # searches start in the middle
    space = Space(space_of(*(log_real(n, 1e-8 * m, 1e8 * m) for n, m in zip(names, middles, strict=True))))
    return arena, Study(space, method, seed=cell.seed), problem.draw(experiment.split, repetition)


def start_of(study: Study) -> Config:
    return study.space.decode([[0.5] * len(study.space)])[0]


def run(key: Key) -> tuple[object, ...]:
    """Search from a start; return test errors."""
    arena, study, _ = prepared(key)
    found = [arena.test([Member(start_of(study), 1.0, None)], study.seeds).loss]
    for budget in BUDGETS:
        study.run(arena.evaluator, n_evaluations=budget)
        found.append(arena.test(study.members(), study.seeds).loss)
    return *key, *(f"{error:.5g}" for error in found)


def subset_error(config: Config, X: Array, y: AnyArray) -> float:
    """Return the mean error on random fifths of the rows, of SVMs fitted to the rest."""
    scaled, rng, errors = X * np.sqrt([config[f"gamma_{i}"] for i in range(N_COLUMNS)]), np.random.default_rng(1), []
    for _ in range(N_SUBSETS):
        order = rng.permutation(len(y))
        held, rest = order[: len(y) // 5], order[len(y) // 5 :]
        model = SVC(C=config["C"], gamma=1.0).fit(scaled[rest], y[rest])
        errors.append((model.predict(scaled[held]) != y[held]).mean())
    return float(np.mean(errors))


def report_subsets(repetitions: int) -> None:
    """Print errors on subsets and on the test rows."""
    print("| repetition | subsets: start | found | test: start | found |\n|---|---|---|---|---|")
    for repetition in range(repetitions):
        arena, study, rows = prepared(("uh-cma", *STARTS[0], repetition))
        study.run(arena.evaluator, n_evaluations=BUDGETS[-1])
        configs = [start_of(study), study.members()[0].config]
        on_subsets = [subset_error(config, rows.X_train, rows.y_train) for config in configs]
        on_test = [arena.test([Member(config, 1.0, None)], study.seeds).loss for config in configs]
        print(f"| {repetition} | " + " | ".join(f"{error:.3f}" for error in on_subsets + on_test) + " |", flush=True)


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to a file."""
    done: set[Key] = set()
    if args.rows.exists():
        done = set(pd.read_csv(args.rows)[list(COLUMNS[:4])].itertuples(index=False, name=None))
    starts = [start for start in STARTS if args.starts is None or start[1] in args.starts]
    keys = [(m, *s, r) for r, m, s in product(range(args.repetitions), args.methods, starts)]
    with args.rows.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(args.jobs) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for future in as_completed([pool.submit(run, key) for key in keys if key not in done]):
            writer.writerow(future.result())
            file.flush()


def report(rows: pd.DataFrame) -> None:
    """Print median test errors, that of the end with a 90 % bootstrap interval."""
    head = ["method", "C", "gamma", "trials", "start", *(f"after {n:,}" for n in BUDGETS), "90 % interval"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for (method, C, gamma), some in rows.groupby(["method", "C", "gamma"], sort=False):
        medians = " | ".join(f"{some[column].median():.3f}" for column in ("start", *map(str, BUDGETS)))
        ends = np.random.default_rng(0).choice(some[str(BUDGETS[-1])].to_numpy(), (4_000, len(some)))
        low, high = np.quantile(np.median(ends, axis=1), (0.05, 0.95))
        print(f"| `{method}` | {C:g} | {gamma:g} | {len(some)} | {medians} | {low:.3f} to {high:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report", "subsets"])
    parser.add_argument("rows", type=Path, nargs="?")
    parser.add_argument("--methods", nargs="+", default=[*METHODS])
    parser.add_argument("--starts", nargs="+", type=float, metavar="GAMMA", help="only the starts with these widths")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.step == "subsets":
        report_subsets(args.repetitions)
    elif args.step == "report":
        report(pd.read_csv(args.rows).sort_values(["method", "gamma", "C"]))
    else:
        run_missing(args)


if __name__ == "__main__":
    main()
