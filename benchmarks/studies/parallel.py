"""What parallel workers cost a search: regret with 1, 4, 8 and 32 of them, after the same number of trials.

- `python benchmarks/studies/parallel.py run ROWS.csv` simulates workers (see `crews.py`) on conditional functions and
  on recorded tuning runs (extra `blackbox`): trials of random length, 130 of them, ten seeds. `bayes` beside `bayes`
  with what it believed of pending trials before (that they find their mean, with noise, and no distance from them:
  `bayes-noisy-mean`), with the distance and three tenths of that noise (`bayes-part-noise`), SMAC3 and Optuna 5, whose
  TPE takes pending trials for bad ones (`make peer NAME=smac`, `NAME=optuna`);
- `... report ROWS.csv` prints median regrets, after how many trials several workers have the sequential search's median
  regret of trial 100 on the same seeds, how often a run of 130 trials is ahead of the sequential one of 100, and how
  often ten seeds drawn of those that were run would meet the target.

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
from typing import Any

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
OWN = ("bayes", "bayes-noisy-mean", "bayes-part-noise")
PEERS = ("optuna-tpe", "smac")
SHOWN = (25, 50, 100, 130)
LENGTHS = (0.5, 2.0)
Cell = tuple[str, str, int, int]
"""Problem, method, workers, seed."""


# ---- other beliefs --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NoisyMean(ProcessBelief):
    """A belief in which pending trials find their mean with as much noise as any other, or with a part of it."""

    part: float = 1.0

    def believe(self, X: Array) -> NoisyMean:
        rows, labels = self.view(X)
        best = np.minimum(self.best, self.posterior.mean_var(rows, labels)[0].min(axis=1, keepdims=True))
        return replace(self, posterior=_with_noise(self.posterior, rows, labels, self.part), best=best)


def _with_noise(posterior: Posterior, X: Array, labels: Labels, part: float) -> Posterior:
    """Return the posterior if each row were observed, with that part of the noise, to have its mean."""
    for row, label in zip(X, labels, strict=True):
        _, noise, _ = posterior.variances
        grown = posterior.believe(row[None], np.array([label]))
        old, new = posterior.factors.get(int(label)), grown.factors[int(label)]
        m = 0 if old is None else len(old.X)
        # the last row of the inverse factor is that of a variance without noise: 1 / root of what is left
        left = 1.0 / new.W[:, m, m] ** 2
        W = new.W.copy()
        W[:, m] *= np.sqrt(left / (left + part * noise))[:, None]
        u = (W.transpose(0, 2, 1) @ W.sum(axis=2)[:, :, None])[:, :, 0]
        before = 0.0 if old is None else old.u.sum(axis=1)
        factors = {**posterior.factors, int(label): replace(new, W=W, u=u)}
        posterior = replace(posterior, factors=factors, p=posterior.p + u.sum(axis=1) - before)
    return posterior


class NoisyProcess(GaussianProcess):
    """A Gaussian process with that belief."""

    def __init__(self, *args: Any, part: float, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._part = part

    def belief(self, X: Array, values: Values, number: int, seeds: Seeds) -> NoisyMean:
        found = super().belief(X, values, number, seeds)
        return NoisyMean(found.view, found.posterior, found.best, found.acquisition, self._part)


def with_noise(name: str, part: float, **options: float) -> Method:
    """Return `bayes` with a part of the noise in pending trials."""
    method = get_method("bayes")
    make = method.optimizer
    assert isinstance(make, partial)
    assert make.func is Bayes
    surrogate = make.keywords["surrogate"]
    assert isinstance(surrogate, partial)
    noisy = partial(NoisyProcess, *surrogate.args, **surrogate.keywords, part=part)
    optimizer = partial(Bayes, **{**make.keywords, "surrogate": noisy, **options})
    return replace(method, name=name, optimizer=optimizer)


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
    if name == "bayes-noisy-mean":  # as it was: no distance from pending trials
        return with_noise(name, 1.0, share=0.0)
    if name == "bayes-part-noise":
        return with_noise(name, 0.3)
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
    cells = [cell for cell in cells if cell[1] not in OWN[1:] or cell[2] > 1]
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
    print(
        "| problem | method | workers | "
        + " | ".join(f"@{n}" for n in SHOWN)
        + f" | trials to the regret @{AT} of one | @{N_TRIALS} against one @{AT} | ten seeds meet it | seeds |"
    )
    print("|---|---|---|" + "---|" * (len(SHOWN) + 4))
    for (problem, method, workers), some in curves.groupby(["problem", "method", "workers"], sort=False):
        alone = curves.xs((problem, "bayes" if method in OWN else method, 1))
        alone = alone.loc[some.index.get_level_values("seed").intersection(alone.index), AT]
        ended = some.droplevel(["problem", "method", "workers"]).loc[alone.index, N_TRIALS]
        against = f"{(ended < alone).sum()}-{(ended > alone).sum()}"
        median = some.median()
        reached = median.index[median <= alone.median()]
        needed = f"{reached[0]}" if len(reached) else f"more than {N_TRIALS}"
        shown = " | ".join(f"{median[n]:.4g}" for n in SHOWN)
        chance = f"{chance_to_meet(ended.to_numpy(), alone.to_numpy()):.2f}"
        print(f"| {problem} | `{method}` | {workers} | {shown} | {needed} | {against} | {chance} | {len(some)} |")
    of_one = curves.xs(("bayes", 1), level=("method", "workers"))[AT].groupby("problem")
    chances = [chance_to_meet(runs.to_numpy(), runs.to_numpy()) for _, runs in of_one]
    print(f"\nOne worker against itself, {AT} trials: {', '.join(f'{chance:.2f}' for chance in chances)}")


def chance_to_meet(found: Array, wanted: Array) -> float:
    """Return how often the median of ten runs drawn of `found` is at most that of ten drawn of `wanted`."""
    rng = np.random.default_rng(0)
    medians = [np.median(runs[rng.integers(len(runs), size=(10_000, 10))], axis=1) for runs in (found, wanted)]
    return float(np.mean(medians[0] <= medians[1]))


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
