"""Draw new splits for every trial, and correct for how difficult its rows are: does it help.

On pools (`comitia bench pool SET --space sklearn-cash --method rs --method bayes --n-trials 35 --folds 5 --shuffles 5
--loss log-loss --most-train-rows 500`), where nothing is trained: {fixed, reshuffled, reshuffled and corrected} x {raw
minimum, posterior mean}, by log loss and by error, with a hold-out (one fold of five) and with five folds, where the
correction changes nothing. Beside them the thesis' own: `gp`, `gp-pm`, `gp-r`, `gp-pm-r`. A search is run once, and
both selections choose from it.

- `python benchmarks/studies/reshuffling.py run POOLS ROWS.csv` runs what is missing, one row at a time;
- `... report experiments/rows/reshuffling-pools.csv` prints the tables;
- `... noise POOLS` prints how much of the noise of a hold-out's score is left after the correction.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from comitia.bench.cells.pool_cells import PoolArena
from comitia.bench.problems.tabulated import Tabulated, read_pool
from comitia.bench.report.statistics import bayesian_signed_rank, relative_differences, wilcoxon
from comitia.committees.difficulty import Table, corrected_means
from comitia.methods import get_method
from comitia.study.study import Study

N_TRIALS = 40
N_REPETITIONS = 5
SEARCHES = {
    ("bayes", "hold-out"): ("bayes", "bayes-r", "bayes-rc"),
    ("bayes", "5-fold"): ("bayes", "bayes-r"),
    ("gp", "hold-out"): ("gp", "gp-r"),
}
EXPECTED = {"bayes": "bayes-pm", "bayes-r": "bayes-pm-r", "bayes-rc": "bayes-pm-rc", "gp": "gp-pm", "gp-r": "gp-pm-r"}
"""What returns the posterior mean of the same search."""
COLUMNS = ("set", "n_rows", "loss", "judged", "method", "repetition", "test_error", "test_log_loss")
ROPE = 0.01
"""Relative differences up to this are no difference."""
Cell = tuple[str, str, str, str, int]
"""Set, loss, how trials are judged, search, repetition."""


def cells(sets: list[str], n_repetitions: int) -> Iterator[Cell]:
    """Yield what is to be run, a whole repetition after the other."""
    for repetition in range(n_repetitions):
        for (_, judged), methods in SEARCHES.items():
            for name, loss, method in product(sets, ("log-loss", "zero-one"), methods):
                yield name, loss, judged, method, repetition


def run(pool: Tabulated, cell: Cell) -> list[tuple[object, ...]]:
    """Search once; return one row for each selection."""
    name, loss, judged, search, repetition = cell
    rows: list[tuple[object, ...]] = []
    method = get_method(search)
    arena = PoolArena(pool, method, loss=loss, holds_out=judged == "hold-out")
    study = Study(arena.space, arena.adapted(method), seed=repetition).run(arena.evaluator, n_trials=N_TRIALS)
    tester = PoolArena(pool, get_method("committee"), loss="zero-one")  # it has the log loss, too
    for chosen in (search, EXPECTED[search]):
        selection = get_method(chosen).selection
        members = selection.members(study.history, method.make_optimizer(arena.space), study.seeds)
        score = tester.test(members, study.seeds)
        rows.append(
            (name, arena.n_rows, loss, judged, chosen, repetition, f"{score.loss:.8g}", f"{score.log_loss:.8g}")
        )
    return rows


def run_missing(pools: Path, output: Path, n_repetitions: int) -> None:
    """Run what is missing on the pools that are there, and add it to a file."""
    warnings.simplefilter("ignore")
    done: set[Cell] = set()
    if output.exists():
        kept = pd.read_csv(output)
        done = set(kept[["set", "loss", "judged", "method", "repetition"]].itertuples(index=False, name=None))
    paths = {path.stem: path for path in sorted(pools.glob("*.parquet"))}
    known: dict[str, Tabulated] = {}
    with output.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(COLUMNS)
        for cell in cells(list(paths), n_repetitions):
            if cell in done:
                continue
            if cell[0] not in known:
                known[cell[0]] = read_pool(paths[cell[0]])
            writer.writerows(run(known[cell[0]], cell))
            file.flush()


def report(rows: pd.DataFrame) -> None:
    """Print one table for each way to judge and each loss: every method against the fixed raw minimum, over sets."""
    for judged, loss in product(("hold-out", "5-fold"), ("log-loss", "zero-one")):
        some = rows[(rows["judged"] == judged) & (rows["loss"] == loss)]
        table = some.pivot_table(index=["set", "repetition"], columns="method", values=["test_error", "test_log_loss"])
        table = table.dropna()  # what all methods have
        if table.empty:
            continue
        means = table.groupby("set").mean()
        print(f"\nJudged by {judged}, searched by {loss}; {len(means)} sets, {len(table)} searches of each method.\n")
        tests = "better-worse | p | better, same, worse"
        print(f"| method | error | {tests} | log loss | {tests} |")
        print("|---|---|---|---|---|---|---|---|---|")
        for method in [name for name in (*EXPECTED, *EXPECTED.values()) if name in means["test_error"]]:
            cells = [compared(pd.DataFrame(means[measure]), method) for measure in ("test_error", "test_log_loss")]
            print(f"| `{method}` | {' | '.join(cells)} |")


def compared(table: pd.DataFrame, method: str) -> str:
    """Return the cells of one method and measure: its mean, and tests against `bayes` on relative differences."""
    own, first = table[method].to_numpy(), table["bayes"].to_numpy()
    if method == "bayes":
        return f"{own.mean():.4f} | | |"
    change = relative_differences(own, first)
    found = bayesian_signed_rank(change, np.zeros(len(change)), rope=ROPE, rng=np.random.default_rng(0))
    p = wilcoxon(change, np.zeros(len(change)))
    return (
        f"{own.mean():.4f} | {np.sum(own < first)}-{np.sum(own > first)} | {p:.2g} "
        f"| {found.p_left:.2f}, {found.p_rope:.2f}, {found.p_right:.2f}"
    )


def noise_left(pool: Tabulated, loss: str, rng: np.random.Generator) -> dict[str, float]:
    """Return the noise of the better half of 40 trials, each judged on one fold, as a part of that of plain means.

    Noise is what differs from the mean over all folds of all divisions, in the variance over trials.
    """
    arena = PoolArena(pool, get_method("bayes-rc"), loss=loss, holds_out=True)
    divisions = arena.partition.divisions
    known = [i for i in range(len(pool)) if all(division[i].status == "ok" for division in divisions)]
    some = rng.permutation(known)[:N_TRIALS]
    truth = np.array([np.mean([division[i].losses for division in divisions]) for i in some])
    losses = np.zeros((len(some), arena.n_rows))
    is_judged = np.zeros(losses.shape, dtype=bool)
    for row, mask, i in zip(losses, is_judged, some, strict=True):
        found = divisions[rng.integers(len(divisions))][i].predictions
        assert found is not None
        assert found.losses is not None
        fold = found.folds == rng.integers(found.folds.max() + 1)
        row[found.rows[fold]], mask[found.rows[fold]] = found.losses[fold], True
    judged = is_judged.any(axis=0)
    losses, is_judged, w = losses[:, judged], is_judged[:, judged], np.ones(np.count_nonzero(judged))
    values = {
        "plain": losses.sum(axis=1) / is_judged.sum(axis=1),
        "all trials alike": Table(losses, is_judged, w).means(np.ones(len(losses)))[0],
        "calm ones count": corrected_means(losses, is_judged, w)[0],
    }
    good = truth <= np.median(truth)
    variances = {how: float(np.var((value - truth)[good])) for how, value in values.items()}
    return {how: variance / variances["plain"] for how, variance in variances.items()}


def noise(pools: Path) -> None:
    """Print the median over sets of what is left of the noise, each the median of ten draws."""
    print("| loss | sets | all trials alike | calm ones count |\n|---|---|---|---|")
    for loss in ("log-loss", "zero-one"):
        rng, rows = np.random.default_rng(0), []
        for path in sorted(pools.glob("*.parquet")):
            pool = read_pool(path)
            rows.append(pd.DataFrame([noise_left(pool, loss, rng) for _ in range(10)]).median())
        left = pd.DataFrame(rows).median()
        print(f"| {loss} | {len(rows)} | {left['all trials alike']:.2f} | {left['calm ones count']:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report", "noise"])
    parser.add_argument("places", type=Path, nargs="+", help="run POOLS ROWS.csv, report ROWS.csv, noise POOLS")
    parser.add_argument("--repetitions", type=int, default=N_REPETITIONS)
    args = parser.parse_args()
    if args.step == "run":
        pools, output = args.places
        run_missing(pools, output, args.repetitions)
    elif args.step == "noise":
        noise(args.places[0])
    else:
        report(pd.read_csv(args.places[0]))


if __name__ == "__main__":
    main()
