"""Draw the README's picture and write its table from the recorded rows: what `make figures` runs.

The rows are those of `experiments/rows/efficiency-*.parquet`: the same problems, splits and seeds for every search. A
problem on which some search lost more than a quarter of its trials to failures is left out, because tools treat
failures differently; it joins the picture once it has been run again without them. The same rows give the same
files: the SVG has no date and no random identifiers.

python benchmarks/studies/figures.py [ROOT]
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from regions import names_of, refreshed

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.figures import svg
from comitia.bench.report.results import Results
from comitia.bench.rows.rows import read_rows

AT = (50, 100, 200)
N_TRIALS = 200
MOST_FAILED = 0.25
"""Share of a search's trials that may fail before a problem is left out. Random search loses a tenth on `ecoli`."""
GREY = "#7d8590"
"""Readable on white and on black, as are the colours below."""
NAMES = {
    "bayes": ("comitia bayes", "#e5534b"),
    "gp-cond-ls": ("comitia gp-cond-ls", "#c69026"),
    "optuna-tpe": ("Optuna TPE", "#4184e4"),
    "smac": ("SMAC3", "#46954a"),
    "smac-rf": ("comitia smac-rf", "#986ee2"),
    "rs": ("random search", GREY),
}


def read_values(path: Path) -> tuple[list[str], list[str], Array]:
    """Return the problems that are kept, those left out, and the best value of each of `NAMES` after each trial.

    Values are means over repetitions, an (n_problems, n_methods, N_TRIALS) array: the validation loss on tables of
    data, the value without noise on functions.
    """
    frame, protocol = read_rows(path)
    frame = frame[frame["method"].isin(NAMES)]
    failed = (frame["status"] != "ok").groupby([frame["problem"], frame["method"]]).mean().groupby("problem").max()
    left_out = [str(name) for name in failed.index[failed > MOST_FAILED]]
    results = Results(frame[~frame["problem"].isin(left_out)], protocol)
    [setting] = results.settings
    paired = results.paired(setting)
    measure = "test_loss" if (results.rows["loss"] == "value").all() else "validation_loss"
    values = results.curves(paired, "iteration", np.arange(1.0, N_TRIALS + 1), measure)
    # rounded, so that the same numbers in another order are the same mean
    return paired.problems, left_out, values[:, [paired.methods.index(name) for name in NAMES]].round(12)


def rank_curves(values: Array) -> Array:
    """Return the mean rank of each method after each trial, an (n_methods, N_TRIALS) array."""
    return np.stack([st.mean_ranks(values[:, :, t]) for t in range(N_TRIALS)], axis=1)


def draw(ranks: Array, n_problems: int) -> Figure:
    """Draw mean ranks by trial, each line named at its end."""
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    figure.patch.set_alpha(0.0)
    axes = figure.subplots()
    axes.patch.set_alpha(0.0)
    trials = np.arange(1, N_TRIALS + 1)
    ends = spread(ranks[:, -1], gap=0.27)
    for (name, colour), curve, end in zip(NAMES.values(), ranks, ends, strict=True):
        axes.plot(trials[4:], curve[4:], color=colour, lw=2.6 if name == "comitia bayes" else 1.5)
        axes.annotate(name, (N_TRIALS, end), (6, 0), textcoords="offset points", color=colour, va="center")
    axes.invert_yaxis()
    axes.set_xlim(5, N_TRIALS)
    axes.set_title(f"Mean rank of six searches on {n_problems} problems (1 is best)", color=GREY, loc="left", size=11)
    axes.set_xlabel("trials", color=GREY)
    axes.set_ylabel("mean rank", color=GREY)
    axes.set_xticks([5, *AT, 150])
    axes.tick_params(colors=GREY)
    axes.grid(axis="y", color=GREY, alpha=0.25, lw=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    return figure


def spread(heights: Array, gap: float) -> Array:
    """Return heights that are at least `gap` apart, in the same order."""
    order = np.argsort(heights)
    moved = heights.copy()
    for _ in range(50):
        for low, high in pairwise(order):
            lack = gap - (moved[high] - moved[low])
            if lack > 0:
                moved[low] -= lack / 2
                moved[high] += lack / 2
    return moved


def table_of(ranks: Array, n_problems: int) -> str:
    """Return the ranks as a table in Markdown, the best after all trials first, and how far apart is apart."""
    lines = ["| mean rank after | " + " | ".join(f"{n} trials" for n in AT) + " |", "|---|" + "---|" * len(AT)]
    names = [name.replace("comitia ", "comitia `") + "`" * name.startswith("comitia") for name, _ in NAMES.values()]
    for j in np.argsort(ranks[:, -1], kind="stable"):
        lines.append(f"| {names[j]} | " + " | ".join(f"{ranks[j, n - 1]:.2f}" for n in AT) + " |")
    cd = st.critical_distance(len(ranks), n_problems)
    caption = f"{n_problems} problems; ranks that differ by less than {cd:.2f} may differ by chance (Nemenyi, 5 %)."
    return "\n".join([*lines, "", caption])


def with_table(text: str, table: str) -> str:
    """Return a document with its table replaced."""
    assert names_of(text) == ["efficiency"], "The README must have one generated part, its table."
    return refreshed(text, lambda _: table)


def efficiency(root: Path) -> tuple[list[str], Array]:
    """Return the problems that were left out and the values of all others."""
    parts = [read_values(path) for path in sorted((root / "experiments" / "rows").glob("efficiency-*.parquet"))]
    return [name for _, left_out, _ in parts for name in left_out], np.concatenate([values for _, _, values in parts])


def main(root: Path) -> None:
    left_out, values = efficiency(root)
    ranks = rank_curves(values)
    picture = root / "docs" / "img" / "efficiency.svg"
    picture.write_text(svg(draw(ranks, len(values))))
    readme = root / "README.md"
    readme.write_text(with_table(readme.read_text(), table_of(ranks, len(values))))
    print(f"{picture} and the table of {readme}: {len(values)} problems; left out: {', '.join(left_out) or 'none'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]))
