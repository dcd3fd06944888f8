"""Draw new splits for every trial, and correct for how difficult its rows are: does it help.

On pools (`comitia bench pool SET --space sklearn-cash --method rs --method bayes --n-trials 35 --folds 5 --shuffles 5
--loss log-loss --most-train-rows 500`), where nothing is trained: {fixed, reshuffled, reshuffled and corrected} x {raw
minimum, posterior mean}, by log loss and by error, with a hold-out (one fold of five) and with five folds, where the
correction changes nothing. Beside them the thesis' own: `gp`, `gp-pm`, `gp-r`, `gp-pm-r`. A search is run once, and
both selections choose from it.

- `python benchmarks/studies/reshuffling.py run POOLS ROWS.csv` runs what is missing, one row at a time;
- `... report experiments/rows/reshuffling-pools.csv` prints the tables.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["run", "report"])
    parser.add_argument("places", type=Path, nargs="+", help="run POOLS ROWS.csv, or report ROWS.csv")
    parser.add_argument("--repetitions", type=int, default=N_REPETITIONS)
    args = parser.parse_args()
    if args.step == "run":
        pools, output = args.places
        run_missing(pools, output, args.repetitions)
    else:
        report(pd.read_csv(args.places[0]))


if __name__ == "__main__":
    main()
