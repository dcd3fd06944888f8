"""How often methods beat each other, and their expected ranks: Lacoste et al. 2014, Tables 2 and 3."""

from collections.abc import Iterator

import numpy as np

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.examples import Examples, example_counts, final_losses
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
        examples = final_losses(results, paired)
        rows = []
        for i, j in enumerate(order):
            entries = [_frequency(paired, examples, frequency, j, k, is_redundant=c <= i) for c, k in enumerate(order)]
            rows.append([Text(spelled(paired.methods[j])), *entries, Text(f"{ranks[j]:.2f}")])
        yield Table(
            titled("Pairwise win frequency", paired, results),
            ["", *(spelled(paired.methods[j]) for j in order), "E[rank]"],
            rows,
            [
                "How often the row is better than the column. First mark: Poisson-binomial test, second: sign test; "
                "· not significant, ◦ lightly, • significant, ● highly.",
                _counted(paired, is_by_example=examples is not None),
                f"Test losses are averaged over the last {results.protocol.get('average_last', 1)} iterations.",
            ],
        )


def _counted(paired: Paired, *, is_by_example: bool) -> str:
    """Say what the Poisson-binomial test counts."""
    if not is_by_example:
        return (
            "The Poisson-binomial test counts repetitions, where Lacoste et al. 2014 count test examples, and is "
            f"left out below {LEAST_COUNTED} of them."
        )
    several = "" if paired.n_repetitions[1] == 1 else ", the mean over repetitions"
    return f"The Poisson-binomial test counts test examples, as Lacoste et al. 2014 do{several}."


def _frequency(
    paired: Paired, examples: Examples | None, frequency: Array, j: int, k: int, *, is_redundant: bool
) -> Text:
    if j == k:
        return Text("0.50", grey=True)
    better, worse = (k, j) if frequency[j, k] < frequency[k, j] else (j, k)
    probability = probability_better(paired, examples, better, worse)
    mark = "" if probability is None else pb_mark(probability)
    p = st.sign_test(paired.errors[:, better], paired.errors[:, worse])
    return Text(f"{frequency[j, k]:.2f} {mark or '·'}{sign_mark(p) or '·'}", grey=is_redundant)


def probability_better(paired: Paired, examples: Examples | None, j: int, k: int) -> float | None:
    """Return Pr(j better than k) of the Poisson-binomial test: from test rows where they are known, else repetitions.

    None where neither says anything.
    """
    if examples is not None:
        return st.pb_test(*example_counts(examples, paired, paired.methods[j], paired.methods[k]))
    if paired.n_repetitions[0] < LEAST_COUNTED:
        return None
    columns = ([values[:, column] for values in paired.values["test_loss"]] for column in (j, k))
    return st.pb_test(*st.paired_counts(*columns))


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
