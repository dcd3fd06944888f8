"""Pictures of how searches get on: losses and ranks by iteration and by seconds, and who is probably better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.drawing import draw_line, new_figure, styled
from comitia.bench.report.examples import example_counts, losses_by_iteration
from comitia.bench.report.layouts.typesetting import spelled
from comitia.bench.report.results import VALIDATION, Paired, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIGNIFICANT = 0.9
"""Probability that Lacoste et al. 2014, Table 1, call significant."""


def curve_figures(results: Results, paired: Paired, of: str = "") -> Iterator[tuple[str, str, Figure]]:
    """Yield a name, a caption and a figure; `of` says in captions which setting it is."""
    grid = results.grid(paired, "iteration")
    traces = {"test": results.traces(paired, "iteration", grid)}
    caption = f"Test loss and rank by iteration{of}."
    if paired.validation_measure is not None:
        traces = {"validation": results.traces(paired, "iteration", grid, paired.validation_measure), **traces}
        caption = (
            f"Validation and test loss by iteration, and ranks by each{of}. "
            f"Validation: {VALIDATION[paired.validation_measure]}."
        )
    yield "by-iteration", caption, by_iteration(results, paired, grid, traces)
    early = "; before its first result a method counts with that result"
    yield "by-seconds", f"Test loss and rank by seconds{of}{early}.", by_seconds(results, paired)
    if len(paired.problems) > 1:
        reference = reference_of(paired)
        by_example = list(probabilities_by_example(results, paired, reference))
        if len(by_example) > 1:
            what, x, p = "test examples", np.array([t for t, _ in by_example]), np.array([p for _, p in by_example])
        else:
            what, x, p = "repetitions", grid, probabilities_by_repetition(traces["test"], reference)
        caption = (
            f"Probability that {spelled(paired.methods[reference])} is better than each other method{of}: "
            f"Poisson-binomial test over datasets, counting {what}. Dotted: one half, and what is significant."
        )
        yield "better-by-iteration", caption, better_by_iteration(paired, reference, x, p)


def by_iteration(results: Results, paired: Paired, grid: Array, traces: dict[str, list[Array]]) -> Figure:
    """Draw losses above and mean ranks below, validation beside test (Lévesque 2018, Fig. 2.4, 2.5, 3.1, 5.7)."""
    figure = new_figure(4.5 * len(traces) + 1.0, 5.6)
    panels = figure.subplots(2, len(traces), squeeze=False)
    for column, (name, values) in enumerate(traces.items()):
        _losses(panels[0, column], results, paired, grid, values, name=name, x="iteration")
        _ranks(panels[1, column], paired, grid, values, name=name, x="iteration")
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside right center", fontsize=8, frameon=False)
    return figure


def by_seconds(results: Results, paired: Paired) -> Figure:
    """Draw the test loss and the mean rank against seconds."""
    grid = results.grid(paired, "seconds")
    values = results.traces(paired, "seconds", grid)
    figure = new_figure(10, 3.4)
    left, right = figure.subplots(1, 2)
    _losses(left, results, paired, grid, values, name="test", x="seconds")
    _ranks(right, paired, grid, values, name="test", x="seconds")
    left.set_xscale("log")
    right.set_xscale("log")
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", fontsize=8, frameon=False)
    return figure


def _losses(
    axes: Axes, results: Results, paired: Paired, grid: Array, traces: list[Array], *, name: str, x: str
) -> None:
    """Draw the mean over datasets; of one dataset also the standard deviation over repetitions, as in Fig. 2.5."""
    values = _curves(traces)
    # losses of regression problems and black boxes are of any size: their medians
    middle = values.mean(axis=0) if results.is_error_rate else np.median(values, axis=0)
    styled(axes, x=x, y=f"mean {name} error" if results.is_error_rate else f"median {name} loss")
    for j, method in enumerate(paired.methods):
        draw_line(axes, grid, middle[j], j, method)
        if len(traces) == 1 and len(traces[0]) > 1:
            sd = traces[0][:, j].std(axis=0, ddof=1)
            axes.fill_between(grid, middle[j] - sd, middle[j] + sd, color=f"C{j % 10}", alpha=0.15, linewidth=0)


def _ranks(axes: Axes, paired: Paired, grid: Array, traces: list[Array], *, name: str, x: str) -> None:
    values = _curves(traces)
    ranks = np.stack([st.mean_ranks(values[:, :, t]) for t in range(len(grid))], axis=1)
    styled(axes, x=x, y=f"mean rank by {name} loss")
    for j, method in enumerate(paired.methods):
        draw_line(axes, grid, ranks[j], j, method)


def _curves(traces: list[Array]) -> Array:
    """Return means over repetitions, (n_problems, n_methods, n_grid); rounded, so that equal means are equal."""
    return np.array([values.mean(axis=0) for values in traces]).round(12)


# ---- who is probably better (Lacoste et al. 2014, Fig. 1 and 2, left columns) ----------------------------------------


def reference_of(paired: Paired) -> int:
    """Return the method that the others are compared with: `esmbo` as in the paper, else the best by mean rank."""
    if {"esmbo", "smbo"} <= set(paired.methods):
        return paired.methods.index("esmbo")
    return int(st.mean_ranks(paired.errors).argmin())


def probabilities_by_example(results: Results, paired: Paired, reference: int) -> Iterator[tuple[int, list[float]]]:
    """Yield iterations, and the probability that the reference is better than each method, from test examples."""
    a = paired.methods[reference]
    for iteration, examples in losses_by_iteration(results, paired):
        yield iteration, [st.pb_test(*example_counts(examples, paired, a, b)) for b in paired.methods]


def probabilities_by_repetition(traces: list[Array], reference: int) -> Array:
    """Return the probability that the reference is better than each method, from repetitions, (n_grid, n_methods)."""
    differences = [values[:, [reference]] - values for values in traces]  # (n_repetitions, n_methods, n_grid) each
    wins = np.array([(d < 0).sum(axis=0) for d in differences])
    losses = np.array([(d > 0).sum(axis=0) for d in differences])  # (n_problems, n_methods, n_grid)
    _, n_methods, n_grid = wins.shape
    found = [[st.pb_test(wins[:, j, t], losses[:, j, t]) for j in range(n_methods)] for t in range(n_grid)]
    return np.array(found)


def better_by_iteration(paired: Paired, reference: int, x: Array, p: Array) -> Figure:
    """Draw the probability that one method is better than each of the others."""
    figure = new_figure(7, 3.4)
    axes = styled(figure.add_subplot(), x="iteration", y=f"Pr({spelled(paired.methods[reference])} is better)")
    axes.set_ylim(-0.02, 1.02)
    for level in (0.5, SIGNIFICANT):
        axes.axhline(level, color="grey", linewidth=0.8, linestyle=":")
    for j, method in enumerate(paired.methods):
        if j != reference:
            draw_line(axes, x, p[:, j], j, method)
    figure.legend(loc="outside right center", fontsize=8, frameon=False)
    return figure
