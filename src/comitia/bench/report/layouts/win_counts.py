"""Wins minus losses of every two methods: Lévesque 2018, Tables 3.2 to 3.4."""

from collections.abc import Iterator

import numpy as np

from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import ALPHA, Table, Text, comparable, marked, spelled, titled
from comitia.bench.report.results import Results


def wins(results: Results) -> Iterator[Table]:
    """Wins minus losses by dataset; bold and underlined where a Wilcoxon test is significant."""
    for paired in comparable(results):
        order = np.argsort(-st.mean_ranks(paired.errors), kind="stable")
        counts = st.win_loss_counts(paired.errors)[np.ix_(order, order)]
        p = st.wilcoxon_matrix(paired.comparable)[np.ix_(order, order)]
        rows = []
        for i, j in enumerate(order):
            entries = [marked(f"{counts[i, k]}", i != k and p[i, k] < ALPHA) for k in range(len(order))]
            rows.append([Text(f"({i + 1}) {spelled(paired.methods[j])}"), *entries])
        yield Table(
            titled("Win/loss counts by dataset", paired, results),
            ["Method", *(str(i + 1) for i in range(len(order)))],
            rows,
            [f"Bold: p < {ALPHA} in a Wilcoxon signed-rank test over datasets. Sorted by mean rank, best last."],
        )
