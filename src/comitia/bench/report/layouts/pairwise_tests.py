"""Tests of every two methods: Lévesque 2018, Tables 4.3, 4.5, 5.3; Lévesque et al. 2017, Table II."""

from collections.abc import Iterator

import numpy as np

from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import ALPHA, Table, Text, comparable, spelled, titled
from comitia.bench.report.results import Results


def wilcoxon(results: Results) -> Iterator[Table]:
    """Pairwise Wilcoxon tests over datasets; parentheses where the row is worse."""
    for paired in comparable(results):
        ranks = st.mean_ranks(paired.errors)
        order = np.argsort(-ranks, kind="stable")
        p = st.wilcoxon_matrix(paired.comparable)
        rows = []
        for i, j in enumerate(order):
            entries = []
            for k in order:
                text = "-" if j == k else f"({p[j, k]:.2f})" if ranks[j] > ranks[k] else f"{p[j, k]:.2f}"
                entries.append(Text(text, bold=j != k and p[j, k] <= ALPHA))
            rows.append([Text(f"{i + 1} - {spelled(paired.methods[j])}"), *entries])
        yield Table(
            titled("Pairwise Wilcoxon signed-rank tests", paired, results),
            ["", *(str(i + 1) for i in range(len(order)))],
            rows,
            [f"p values over {len(paired.problems)} datasets; bold: p <= {ALPHA}; parentheses: the row is worse."],
        )
