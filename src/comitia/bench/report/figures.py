"""Pictures of results: critical differences, ranks by size, choices of learners; curves are in `curves.py`.

Every function draws into a matplotlib figure of its own and returns it; `svg` turns one into text.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from comitia.bench.report import statistics as st
from comitia.bench.report.curves import curve_figures
from comitia.bench.report.drawing import draw_line, new_figure, styled
from comitia.bench.report.layouts.typesetting import spelled
from comitia.bench.report.results import Paired, Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_SIZES = 4
"""Groups of dataset sizes (Lévesque 2018, Fig. 3.4)."""
MOST_PROBLEMS = 24
"""Datasets in a figure with one panel for each."""


def make_figures(results: Results) -> Iterator[tuple[str, str, Figure]]:
    """Yield a name, a caption and a figure for everything that these results can show."""
    for setting in results.settings:
        paired = results.paired(setting)
        if len(paired.methods) < 2 or not paired.problems:
            continue
        label = setting.label(results.settings)
        tag = "".join(c if c.isalnum() else "-" for c in f"-{label}") if label else ""
        of = f" ({label})" if label else ""
        if len(paired.methods) > 2 and len(paired.problems) > 1:
            yield f"critical-difference{tag}", f"Mean ranks and critical difference{of} (Nemenyi).", cd_diagram(paired)
        if results.rows["iteration"].max() > 1:
            for name, caption, figure in curve_figures(results, paired, of):
                yield f"{name}{tag}", caption, figure
        if len(paired.problems) >= 2 * N_SIZES:
            yield f"rank-by-size{tag}", f"Mean rank by dataset size{of}.", ranks_by_size(results, paired)
        if (results.final["learner"].fillna("") != "").any():
            yield f"learners{tag}", f"Choices of the best method{of}.", learner_choices(results, paired)
            yield f"solutions{tag}", f"Best solutions by dataset{of}.", best_solutions(results, paired)


def svg(figure: Figure) -> str:
    """Return a figure as SVG text without a header."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "comitia"}):  # text as text, the same each time
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def cd_diagram(paired: Paired) -> Figure:
    """Draw mean ranks on a line, best on the right, and a bar over methods that do not differ (Demšar 2006)."""
    ranks = st.mean_ranks(paired.errors)
    n = len(ranks)
    n_left = (n + 1) // 2
    cd = st.critical_distance(n, len(paired.problems))
    groups = st.cliques(ranks, cd)
    figure = new_figure(8, 0.9 + 0.28 * n_left + 0.12 * len(groups))
    axes = figure.add_subplot()
    axes.axis("off")
    axes.set_xlim(n + 1.6, -0.6)
    axes.set_ylim(-(0.5 + 0.12 * len(groups) + 0.28 * n_left), 0.6)
    axes.plot([1, n], [0, 0], color="black", lw=1)
    for tick in range(1, n + 1):
        axes.plot([tick, tick], [0, 0.06], color="black", lw=1)
        axes.text(tick, 0.09, str(tick), ha="center", va="bottom", fontsize=8)
    axes.plot([n, n - cd] if cd < n - 1 else [n, 1], [0.42, 0.42], color="black", lw=2)
    axes.text(n - min(cd, n - 1) / 2, 0.45, f"CD = {cd:.2f}", ha="center", va="bottom", fontsize=8)
    for level, group in enumerate(groups):
        y = -0.1 - 0.12 * level
        low, high = ranks[list(group)].min(), ranks[list(group)].max()
        axes.plot([low - 0.04, high + 0.04], [y, y], color="black", lw=3, solid_capstyle="butt")
    first = -0.2 - 0.12 * len(groups)
    for position, j in enumerate(np.argsort(ranks)):
        is_right = position < n - n_left  # better ranks on the right
        row = position if is_right else n - 1 - position
        y, x = first - 0.28 * row, (0.4 if is_right else n + 0.6)
        axes.plot([ranks[j], ranks[j], x], [0, y, y], color="grey", lw=0.8)
        name, rank = spelled(paired.methods[j]), f"{ranks[j]:.2f}"
        if is_right:
            axes.text(x - 0.05, y, f"{rank}  {name}", ha="left", va="center", fontsize=9)
        else:
            axes.text(x + 0.05, y, f"{name}  {rank}", ha="right", va="center", fontsize=9)
    return figure


def ranks_by_size(results: Results, paired: Paired) -> Figure:
    """Draw mean ranks in groups of datasets of about the same number of rows."""
    sizes = results.final.groupby("dataset")["n_rows"].first().loc[paired.problems].to_numpy(float)
    groups = [g for g in np.array_split(np.argsort(sizes, kind="stable"), N_SIZES) if len(g)]
    ranks = np.array([st.mean_ranks(paired.errors[group]) for group in groups])
    figure = new_figure(7, 3.4)
    axes = styled(figure.add_subplot(), x="rows for training and validation", y="mean rank")
    for j, method in enumerate(paired.methods):
        draw_line(axes, np.arange(float(len(groups))), ranks[:, j], j, method, marker="o")
    labels = [f"{sizes[g].min():.0f}-{sizes[g].max():.0f}\n({len(g)} sets)" for g in groups]
    axes.set_xticks(range(len(groups)), labels)
    figure.legend(loc="outside right center", fontsize=8, frameon=False)
    return figure


def _choices(results: Results, paired: Paired) -> tuple[str, pd.DataFrame]:
    """Return the best method and how often it chose each learner on each dataset."""
    method = paired.methods[int(st.mean_ranks(paired.errors).argmin())]
    part = results.cells_of(paired)
    part = part[part["method"] == method]
    chosen = part.assign(learner=part["learner"].fillna("")).groupby(["dataset", "learner"]).size()
    counts = chosen.unstack(fill_value=0)
    return method, counts.reindex(paired.problems, fill_value=0)


def learner_choices(results: Results, paired: Paired) -> Figure:
    """Draw the shares of learners over all datasets and for each (Lévesque 2018, Fig. 5.8 and 5.9)."""
    method, counts = _choices(results, paired)
    figure = new_figure(max(8, 2.5 + 0.32 * len(counts)), 3.6)
    left, right = figure.subplots(1, 2, width_ratios=[1, max(2.0, len(counts) / 6)])
    total = counts.sum().sort_values()
    colours = {name: f"C{j % 10}" for j, name in enumerate(counts.columns)}
    styled(left, x=f"choices of {spelled(method)}").barh(total.index, total, color=[colours[n] for n in total.index])
    bottom = np.zeros(len(counts))
    for name in counts.columns:
        share = counts[name].to_numpy() / np.maximum(counts.sum(axis=1).to_numpy(), 1)
        right.bar(range(len(counts)), share, bottom=bottom, color=colours[name], label=name)
        bottom += share
    styled(right, y="share").set_xticks(range(len(counts)), counts.index, rotation=90, fontsize=7)
    return figure


def best_solutions(results: Results, paired: Paired) -> Figure:
    """Draw, in one panel for each dataset, how often each learner was returned (Xavier-Júnior et al. 2020, Fig. 4)."""
    _, counts = _choices(results, paired)
    counts = counts.head(MOST_PROBLEMS)
    n_columns = min(6, len(counts))
    n_rows = -(-len(counts) // n_columns)
    figure = new_figure(1.7 * n_columns, 1.4 * n_rows + 0.3)
    panels = figure.subplots(n_rows, n_columns, squeeze=False)
    for panel in panels.flat:
        panel.axis("off")
    for panel, (problem, row) in zip(panels.flat, counts.iterrows(), strict=False):
        chosen = row[row > 0].sort_values(ascending=False)
        panel.axis("on")
        bars = styled(panel).bar(range(len(chosen)), chosen, color="C0")
        panel.bar_label(bars, fontsize=6)
        panel.set_title(str(problem), fontsize=7)
        panel.set_xticks(range(len(chosen)), [str(name) for name in chosen.index], fontsize=6, rotation=60)
        panel.set_yticks([])
    return figure
