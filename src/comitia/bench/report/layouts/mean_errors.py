"""Mean errors on every dataset: Lévesque 2018, Tables 4.4, 4.6, 5.2; Lévesque et al. 2017, Table I."""

from collections.abc import Iterator

import numpy as np

from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import ALPHA, Table, Text, comparable, number, shown, spelled, titled
from comitia.bench.report.results import Paired, Results
from comitia.errors import ComitiaError


def errors(results: Results) -> Iterator[Table]:
    """Mean test error of every method on every dataset, with mean ranks."""
    for paired in comparable(results):
        losses = shown(results, paired.errors)
        ranks = st.mean_ranks(paired.errors)
        best = paired.errors.argmin(axis=1)
        order = np.argsort(-ranks, kind="stable")
        rows = []
        for j in order:
            entries = []
            for i, values in enumerate(paired.values["test_loss"]):
                is_best = paired.errors[i, j] == paired.errors[i, best[i]]
                is_worse = not is_best and st.wilcoxon(values[:, j], values[:, best[i]]) < ALPHA
                entries.append(Text(number(results, losses[i, j]), bold=is_best, underlined=is_worse))
            rows.append([Text(spelled(paired.methods[j])), *entries, Text(f"{ranks[j]:.2f}")])
        few = "" if paired.n_repetitions[1] >= 6 else " Fewer than six repetitions cannot be significant."
        title = "Average test error in per cent" if results.is_error_rate else "Average test loss"
        yield Table(
            titled(title, paired, results),
            ["Method", *paired.problems, "rank"],
            rows,
            [
                f"Mean over {paired.repetitions_text} repetitions. Bold: best; underlined: worse than the best, "
                f"p < {ALPHA} in a Wilcoxon signed-rank test over repetitions.{few}",
                _friedman_note(paired),
            ],
        )


def _friedman_note(paired: Paired) -> str:
    """Say whether any methods differ at all."""
    if len(paired.methods) < 3 or len(paired.problems) < 2:
        return "Too few methods or datasets for a Friedman test."
    try:
        found = st.friedman(paired.errors)
    except ComitiaError as error:
        return str(error)
    cd = st.critical_distance(len(paired.methods), len(paired.problems))
    return f"Friedman p = {found.p:.2g}; Nemenyi's critical distance is {cd:.3f}."
