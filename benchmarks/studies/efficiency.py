"""Read the rows of the efficiency experiments: mean ranks after 50, 100 and 200 trials, and trials to reach SMAC3.

Then what a suggestion took, beside that of `bayes`: the mean of twenty trials up to each number. To be compared in rows
of one run alone: those in `experiments/rows` were put together from several, beside which other things ran.

comitia bench run experiments/efficiency-function.toml       (and -cash, -hpo; they resume)
python benchmarks/studies/efficiency.py experiments/rows/efficiency-*.parquet
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from comitia.bench.report import statistics as st
from comitia.bench.report.results import Paired, Results
from comitia.bench.rows.rows import read_rows

Array = NDArray[np.float64]
AT = (50, 100, 200)
SPENT = "optimizer_seconds"


def main(paths: list[str]) -> None:
    everything: list[tuple[list[str], Array]] = []  # methods and their values, of each file
    for path in paths:
        frame, protocol = read_rows(Path(path))
        n_cells = frame[["method", "problem", "repetition"]].drop_duplicates()["method"].value_counts()
        usual = n_cells.index[2 * n_cells >= n_cells.max()]
        # a method that is too slow for all repetitions must not take them from the others: it has a table of its own
        for methods in [usual, n_cells.index] if len(usual) < len(n_cells) else [usual]:
            results = Results(frame[frame["method"].isin(methods)], protocol)
            for setting in results.settings:
                paired = results.paired(setting)
                values = show(results, paired, Path(path).stem)
                show_seconds(results, paired)
                if methods is usual:
                    everything.append((paired.methods, values))
    if len(everything) > 1:
        common = [method for method in everything[0][0] if all(method in methods for methods, _ in everything)]
        parts = [values[:, [methods.index(method) for method in common]] for methods, values in everything]
        show_ranks(common, np.concatenate(parts), "all of them")


def show(results: Results, paired: Paired, name: str) -> Array:
    """Print ranks and trials to reach SMAC3; return the values after each trial.  # (n_problems, n_methods, 200)."""
    # tables of data: how well the search did its job is the validation loss; black boxes: the value without noise
    is_value = bool((results.rows["loss"] == "value").all())
    measure = "test_loss" if is_value else "validation_loss"
    grid = np.arange(1.0, 201.0)
    # rounded, so that the same numbers in another order are the same mean
    values = results.curves(paired, "iteration", grid, measure).round(12)
    low, high = paired.n_repetitions
    show_ranks(paired.methods, values, f"{name}: {low} to {high} repetitions, {measure}")
    if "smac" in paired.methods:
        print("problems: " + ", ".join(paired.problems))
        for method in ("bayes", "gp-cond-ls"):
            if method in paired.methods:
                j, k = paired.methods.index(method), paired.methods.index("smac")
                reached = trials_to_reach(values, j, k)
                text = ", ".join("never" if np.isinf(n) else f"{n:.0f}" for n in reached)
                # error rates can be averaged over problems, values of black boxes cannot
                mean = trials_to_reach(values.mean(axis=0)[None], j, k)[0] if results.is_error_rate else np.nan
                also = f"; mean of all problems {mean:.0f}" if np.isfinite(mean) else ""
                print(f"{method} needs for smac's value at 200: {text}; median {np.median(reached):.0f}{also}")
    return np.asarray(values)


def show_ranks(methods: list[str], values: Array, what: str) -> None:
    """Print mean ranks and median values, the best rank after 200 trials first."""
    ranks = {n: st.mean_ranks(values[:, :, n - 1]) for n in AT}
    print(f"\n{what}, {len(values)} problems")
    print("method        " + "".join(f"{f'{name} at {n}':>14}" for name in ("rank", "value") for n in AT))
    for j in np.argsort(ranks[200]):
        medians = "".join(f"{np.median(values[:, j, n - 1]):14.5g}" for n in AT)
        print(f"{methods[j]:14}" + "".join(f"{ranks[n][j]:14.2f}" for n in AT) + medians)


def show_seconds(results: Results, paired: Paired) -> None:
    """Print what a suggestion took, and its ratio to that of `bayes`."""
    found = {}
    for method in paired.methods:
        rows = results.rows[results.rows["method"] == method]
        total = rows.pivot(index="iteration", columns=["space", "validation", "problem", "repetition"], values=SPENT)
        found[method] = {n: 1000 * float(np.nanmean(total.diff().loc[n - 19 : n])) for n in AT}
    base = found.get("bayes")
    for method, times in sorted(found.items(), key=lambda item: item[1][200]):
        ratios = "" if base is None else "".join(f"{times[n] / base[n]:11.2f}" for n in AT)
        print(f"{method:14}" + "".join(f"{times[n]:10.1f} ms" for n in AT) + ratios)


def trials_to_reach(values: Array, j: int, reference: int) -> list[float]:
    """Return the first trial at which a method's mean is as good as the reference's at 200, for each problem."""
    found = []
    for problem in values:
        good = np.flatnonzero(problem[j] <= problem[reference, -1])
        found.append(float(good[0] + 1) if len(good) else np.inf)
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
