"""Quartiles on each problem, and tests over trials: Glasmachers and Igel 2008, Table 1."""

from collections.abc import Iterator

import numpy as np

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import Table, Text, spelled, titled
from comitia.bench.report.results import Paired, Results


def quartiles(results: Results) -> Iterator[Table]:
    """Quartiles over trials and one-sided Mann-Whitney tests, one table per problem."""
    for setting in results.settings:
        paired = results.paired(setting)
        for name, values in zip(paired.problems, paired.values["test_loss"], strict=True):
            rows = []
            for j, method in enumerate(paired.methods):
                q = [Text(f"{value:.3f}") for value in np.quantile(values[:, j], [0.25, 0.5, 0.75])]
                marks = [
                    Text("—" if j == k else mann_whitney_mark(values[:, j], values[:, k]))
                    for k in range(len(paired.methods))
                ]
                rows.append([Text(f"({j + 1}) {spelled(method)}"), *q, *marks])
            yield Table(
                titled(f"Quartiles of the test error on {name}", paired, results),
                ["method", "q25", "q50", "q75", *(f"({k + 1})" for k in range(len(paired.methods)))],
                rows,
                [
                    f"Over {len(values)} trials. <, <<, <<<: the row is better at 0.05, 0.01, 0.001 in a one-sided "
                    "Mann-Whitney U test, >: worse; else the p value.",
                    *_paired_notes(paired, values),
                ],
            )


def _paired_notes(paired: Paired, values: Array) -> list[str]:
    """Say what a paired test finds: trials share their data, which a Mann-Whitney test does not use."""
    best = int(np.median(values, axis=0).argmin())
    others = [j for j in range(len(paired.methods)) if j != best]
    tests = [f"{spelled(paired.methods[j])} {st.wilcoxon(values[:, best], values[:, j]):.3f}" for j in others]
    return [f"Paired Wilcoxon of {spelled(paired.methods[best])} against: {', '.join(tests)}."] if tests else []


def mann_whitney_mark(a: Array, b: Array) -> str:
    """Return the entry for a method with the losses `a` in the column of one with `b`.

    "<", "<<", "<<<" where `a` is better with p < .05, .01, .001 in a one-sided Mann-Whitney test, ">", ">>", ">>>"
    where it is worse, otherwise the p value that `a` is better, with two decimals.

    Examples
    --------
    >>> mann_whitney_mark(np.arange(5), np.arange(5, 10)), mann_whitney_mark(np.array([1, 2, 4]), np.array([3, 5]))
    ('<<', '0.20')
    """
    better, worse = st.mann_whitney(a, b), st.mann_whitney(b, a)
    levels = (0.05, 0.01, 0.001)
    mark = "<" * sum(better < level for level in levels) or ">" * sum(worse < level for level in levels)
    return mark or f"{better:.2f}"
