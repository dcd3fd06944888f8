"""What parallel workers cost a search: regret with 1, 4, 8 and 32 of them, after the same number of trials.

- `python benchmarks/studies/parallel.py run ROWS.csv` simulates workers (see `crews.py`) on conditional functions and
  on recorded tuning runs (extra `blackbox`): trials of random length, 130 of them, ten seeds. `bayes` beside `bayes`
  with what it believed of pending trials before (that they find their mean, with noise, and no distance from them),
  SMAC3 and Optuna 5, whose TPE takes pending trials for bad ones (`make peer NAME=smac`, `NAME=optuna`);
- `... report ROWS.csv` prints median regrets, and after how many trials eight workers have the sequential search's
  median regret of trial 100.

The first adds a row at a time and resumes. A regret is that of the best configuration tried so far, by its value
without noise; on tables it is the distance to the least such value that any search here has seen. It is not that of the
trial with the least loss: on tables noise decides which one that is, and where a loss of 0 was drawn once, as on `car`
within ten trials, it is never beaten, whatever a search finds afterwards. With one worker nothing is ever pending, so
that both beliefs are the same search: `bayes` stands for both.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from crews import simulate, uniform_lengths
from synthetic import Function

from comitia import Study
from comitia.arrays import Array
from comitia.bench.peers.sampler import method_of
from comitia.bench.problems.black_boxes import make_black_box
from comitia.gp.kernels import Labels
from comitia.gp.posterior import Posterior
from comitia.history import History
from comitia.methods import Method, get_method
from comitia.optimizers.bayes.bayes import Bayes
from comitia.optimizers.bayes.gaussian_process import GaussianProcess, ProcessBelief
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Config, Space

N_TRIALS = 130
AT = 100
SIZES = (1, 4, 8, 32)
N_SEEDS = 10
PROBLEMS = (
    "function:synthetic", "function:conditional", "hpo:hpobench/car", "hpo:hpobench/vehicle",
    "hpo:hpolib/naval_propulsion",
)  # fmt: skip
OWN = ("bayes", "bayes-noisy-mean")
PEERS = ("optuna-tpe", "smac")
SHOWN = (25, 50, 100, 130)
LENGTHS = (0.5, 2.0)
Cell = tuple[str, str, int, int]
"""Problem, method, workers, seed."""


# ---- what was believed before ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NoisyMean(ProcessBelief):
    """A belief in which pending trials find their mean with as much noise as any other."""

    def believe(self, X: Array) -> NoisyMean:
        rows, labels = self.view(X)
        best = np.minimum(self.best, self.posterior.mean_var(rows, labels)[0].min(axis=1, keepdims=True))
        return replace(self, posterior=_with_noise(self.posterior, rows, labels), best=best)


def _with_noise(posterior: Posterior, X: Array, labels: Labels) -> Posterior:
    """Return the posterior if each row were observed, with noise, to have its mean."""
    for row, label in zip(X, labels, strict=True):
        _, noise, _ = posterior.variances
        grown = posterior.believe(row[None], np.array([label]))
        old, new = posterior.factors.get(int(label)), grown.factors[int(label)]
        m = 0 if old is None else len(old.X)
        # the last row of the inverse factor is that of a variance without noise: 1 / root of what is left
        left = 1.0 / new.W[:, m, m] ** 2
        W = new.W.copy()
        W[:, m] *= np.sqrt(left / (left + noise))[:, None]
        u = (W.transpose(0, 2, 1) @ W.sum(axis=2)[:, :, None])[:, :, 0]
        before = 0.0 if old is None else old.u.sum(axis=1)
        factors = {**posterior.factors, int(label): replace(new, W=W, u=u)}
        posterior = replace(posterior, factors=factors, p=posterior.p + u.sum(axis=1) - before)
    return posterior


class NoisyProcess(GaussianProcess):
    """A Gaussian process with that belief."""

    def belief(self, X: Array, values: Values, number: int, seeds: Seeds) -> NoisyMean:
        found = super().belief(X, values, number, seeds)
        return NoisyMean(found.view, found.posterior, found.best, found.acquisition)


def noisy_mean() -> Method:
    """Return `bayes` as it was: no distance from pending trials, which have noise."""
    method = get_method("bayes")
    make = method.optimizer
    assert isinstance(make, partial)
    assert make.func is Bayes
    surrogate = make.keywords["surrogate"]
    assert isinstance(surrogate, partial)
    before = partial(NoisyProcess, *surrogate.args, **surrogate.keywords)
    return replace(
        method,
        name="bayes-noisy-mean",
        optimizer=partial(Bayes, **{**make.keywords, "surrogate": before, "share": 0.0}),
    )


# ---- running --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """A function, and its value without noise."""

    space: Space
    function: Callable[[Config], float]
    truth: Callable[[Config], float]


def problem_of(name: str, seed: int) -> Problem:
    """Return a problem; the synthetic function is another for each seed."""
    if name == "function:synthetic":
        function = Function(seed)
        return Problem(function.space, function, function.regret)
    found = make_black_box(name)
    return Problem(found.space, found.function, found.truth)


def make_method(name: str) -> Method:
    if name == "bayes-noisy-mean":
        return noisy_mean()
    return get_method(name) if name in OWN else method_of(name, n_trials=N_TRIALS)


def run(cell: Cell) -> tuple[object, ...]:
    """Simulate a study; return the best true value of all configurations after each trial that ended."""
    name, method, n_workers, seed = cell
    problem = problem_of(name, seed)
    study = Study(problem.space, make_method(method), seed=seed)
    lengths = uniform_lengths(*LENGTHS, seed)
    crew = simulate(study, problem.function, n_workers, N_TRIALS, lengths, driver_counts=False)
    ended = sorted(crew.spans, key=lambda number: crew.spans[number][1])
    return *cell, *(f"{value:.8g}" for value in best_so_far(study.history, ended, problem.truth))


def best_so_far(history: History, order: list[int], truth: Callable[[Config], float]) -> list[float]:
    """Return the least true value after each of the trials in the order of their ends."""
    observations = [history.observation(number) for number in order]
    values = np.array([np.inf if o is None or not o.is_ok else truth(o.config) for o in observations])
    found: list[float] = np.minimum.accumulate(values).tolist()
    return found


def run_missing(args: argparse.Namespace) -> None:
    """Run what is missing, and add it to a file."""
    output: Path = args.rows
    columns = ["problem", "method", "workers", "seed", *(str(n) for n in range(1, N_TRIALS + 1))]
    done: set[Cell] = set()
    if output.exists():
        done = set(pd.read_csv(output)[columns[:4]].itertuples(index=False, name=None))
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    cells = [(p, m, w, s) for m, s, w, p in product(args.methods, seeds, args.workers, args.problems)]
    cells = [cell for cell in cells if cell[1:3] != ("bayes-noisy-mean", 1)]
    with output.open("a", newline="", encoding="utf-8") as file, ProcessPoolExecutor(args.jobs) as pool:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(columns)
        for future in as_completed([pool.submit(run, cell) for cell in cells if cell not in done]):
            writer.writerow(future.result())
            file.flush()


# ---- reporting ------------------------------------------------------------------------------------------------------


def report(rows: pd.DataFrame) -> None:
    """Print median regrets, and how many trials parallel workers need."""
    curves = rows.set_index(["problem", "method", "workers", "seed"]).sort_index()
    curves.columns = curves.columns.astype(int)
    is_table = curves.index.get_level_values("problem").str.startswith("hpo:")
    least = curves.min(axis=1).groupby("problem").transform("min")
    curves = curves.sub(np.where(is_table, least, 0.0), axis=0)
    seeds = curves.groupby(["problem", "method", "workers"]).size().to_dict()
    targets = curves.groupby(["problem", "method", "workers"])[AT].median().to_dict()
    print(f"{min(seeds.values())} to {max(seeds.values())} seeds\n")
    print(
        "| problem | method | workers | "
        + " | ".join(f"@{n}" for n in SHOWN)
        + f" | trials to the regret @{AT} of one | seeds |"
    )
    print("|---|---|---|" + "---|" * (len(SHOWN) + 2))
    for (problem, method), some in curves.groupby(["problem", "method"], sort=False):
        medians = some.groupby("workers").median()
        alone = "bayes" if method == "bayes-noisy-mean" else method
        target = targets[problem, alone, 1]
        for workers, median in medians.iterrows():
            reached = median.index[median <= target]
            needed = f"{reached[0]}" if len(reached) else f"more than {N_TRIALS}"
            shown = " | ".join(f"{median[n]:.4g}" for n in SHOWN)
            n = seeds[problem, method, workers]
            print(f"| {problem} | `{method}` | {workers} | {shown} | {needed} | {n} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report"])
    parser.add_argument("rows", type=Path)
    parser.add_argument("--methods", nargs="+", default=[*OWN, *PEERS])
    parser.add_argument("--problems", nargs="+", default=[*PROBLEMS])
    parser.add_argument("--workers", nargs="+", type=int, default=[*SIZES])
    parser.add_argument("--seeds", type=int, default=N_SEEDS)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if args.step == "report":
        report(pd.read_csv(args.rows))
    else:
        run_missing(args)


if __name__ == "__main__":
    main()
