"""Every method against the best: a layout of our own, in every report."""

from collections.abc import Iterator

import numpy as np

from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import Table, Text, comparable, size_note, spelled, titled
from comitia.bench.report.results import Results

ROPE = 0.005
"""Differences of error rates up to half a point are practically nothing; of other losses, half a per cent."""


def comparison(results: Results) -> Iterator[Table]:
    """Every method against the one with the best mean rank: how much, how sure, and what it cost."""
    for paired in comparable(results):
        ranks = st.mean_ranks(paired.errors)
        best = int(ranks.argmin())
        seconds = results.cells_of(paired).groupby("method")[["train_seconds", "optimizer_seconds"]].mean()
        rows = []
        for j in np.argsort(ranks, kind="stable"):
            method = paired.methods[j]
            own = [f"{ranks[j]:.2f}", *(f"{value:.3g}" for value in seconds.loc[method])]
            if j == best:
                rows.append([Text(spelled(method), bold=True), *map(Text, own), Text("-"), Text("-")])
                continue
            rng = np.random.default_rng(0)
            a, b = paired.errors[:, j], paired.errors[:, best]
            median, low, high = st.bootstrap_median_difference(a, b, rng=rng)
            a, b = paired.comparable[:, j], paired.comparable[:, best]
            left, same, right = st.bayesian_signed_rank(a, b, rope=ROPE, rng=rng, n_samples=5_000)
            difference = f"{100 * median:+.1f} % [{100 * low:+.1f}, {100 * high:+.1f}]"
            sure = f"{left:.2f} / {same:.2f} / {right:.2f}"
            rows.append([Text(spelled(method)), *map(Text, [*own, difference, sure])])
        rope = "half a point of error" if results.is_error_rate else "half a per cent of the larger loss"
        yield Table(
            titled(f"Against {spelled(paired.methods[best])}, which has the best mean rank", paired, results),
            ["Method", "rank", "s training", "s search", "median relative difference", "P(better / same / worse)"],
            rows,
            [
                "Relative difference of test losses over datasets with a 95 % bootstrap interval; Bayesian signed-rank "
                f"test, where up to {rope} is the same. Seconds are means per cell.",
                size_note(paired, results.settings),
            ],
        )
