"""How often methods beat each other, and their expected ranks: Lacoste et al. 2014, Tables 2 and 3."""

from collections.abc import Iterator

import numpy as np

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import Table, Text, comparable, spelled, titled
from comitia.bench.report.results import Paired, Results

LEAST_COUNTED = 5
"""Repetitions without which the Poisson-binomial test says nothing beyond the sign test."""
SYMBOLS = ("", "◦", "•", "●")


def win_frequency(results: Results) -> Iterator[Table]:
    """Win frequencies of each pair and expected ranks, one table per setting."""
    for paired in comparable(results):
        frequency = st.win_frequency(paired.errors)
        ranks = st.mean_ranks(paired.errors)
        order = np.argsort(ranks, kind="stable")
        rows = []
        for i, j in enumerate(order):
            entries = [_frequency(paired, frequency, j, k, is_redundant=c <= i) for c, k in enumerate(order)]
            rows.append([Text(spelled(paired.methods[j])), *entries, Text(f"{ranks[j]:.2f}")])
        yield Table(
            titled("Pairwise win frequency", paired, results),
            ["", *(spelled(paired.methods[j]) for j in order), "E[rank]"],
            rows,
            [
                "How often the row is better than the column. First mark: Poisson-binomial test, second: sign test; "
                "· not significant, ◦ lightly, • significant, ● highly.",
                "The Poisson-binomial test counts repetitions, where Lacoste et al. 2014 count test examples, and is "
                f"left out below {LEAST_COUNTED} of them.",
                f"Test losses are averaged over the last {results.protocol.get('average_last', 1)} iterations.",
            ],
        )


def _frequency(paired: Paired, frequency: Array, j: int, k: int, *, is_redundant: bool) -> Text:
    if j == k:
        return Text("0.50", grey=True)
    first = [values[:, j] for values in paired.values["test_loss"]]
    second = [values[:, k] for values in paired.values["test_loss"]]
    if frequency[j, k] < frequency[k, j]:
        first, second, better, worse = second, first, k, j
    else:
        better, worse = j, k
    has_counts = paired.n_repetitions[0] >= LEAST_COUNTED
    mark = pb_mark(st.pb_test(*st.paired_counts(first, second))) if has_counts else ""
    p = st.sign_test(paired.errors[:, better], paired.errors[:, worse])
    return Text(f"{frequency[j, k]:.2f} {mark or '·'}{sign_mark(p) or '·'}", grey=is_redundant)


def pb_mark(probability: float) -> str:
    """Return the symbol for Pr(A better than B): lightly (> .8), significant (> .9), highly (> .95).

    Lacoste et al. 2014, Table 1, has two black dots that differ in looks only; here they are a small and a large one.

    Examples
    --------
    >>> [pb_mark(p) for p in (0.8, 0.85, 0.92, 0.99)]
    ['', '◦', '•', '●']
    """
    return SYMBOLS[sum(probability > level for level in (0.8, 0.9, 0.95))]


def sign_mark(p: float) -> str:
    """Return the symbol for the p value of a sign test: lightly (< .1), significant (< .05), highly (< .01).

    Examples
    --------
    >>> [sign_mark(p) for p in (0.1, 0.07, 0.02, 0.001)]
    ['', '◦', '•', '●']
    """
    return SYMBOLS[sum(p < level for level in (0.1, 0.05, 0.01))]
