"""Measures of classification by dataset: Xavier-Júnior et al. 2020, Tables 7 to 10."""

from collections.abc import Iterator

import numpy as np

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import ALPHA, Table, Text, comparable, spelled, titled
from comitia.bench.report.results import Paired, Results


def measures(results: Results) -> Iterator[Table]:
    """Error, precision, recall, F-measure and log loss by dataset, with wins and average ranks."""
    for paired in comparable(results):
        for name, values, sign in named_measures(results, paired):
            yield _by_dataset(name, values, sign, paired, results)


def named_measures(results: Results, paired: Paired) -> list[tuple[str, Array, int]]:
    """Return the measures that every method has: name, values (n_problems, n_methods), and 1 where less is better."""
    precision, recall = paired.means("test_precision"), paired.means("test_recall")
    total = precision + recall
    f = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    what = "Error rate" if results.is_error_rate else "Loss"
    named = [(what, paired.errors, 1), ("Average precision", precision, -1), ("Average recall", recall, -1)]
    named += [("Average F-measure", f, -1), ("Log loss", paired.means("test_log_loss"), 1)]
    return [entry for entry in named if not np.isnan(entry[1]).any()]


def _by_dataset(name: str, values: Array, sign: int, paired: Paired, results: Results) -> Table:
    costs = sign * values
    is_best = costs == costs.min(axis=1, keepdims=True)
    rows = [
        [Text(problem), *(Text(f"{v:.4f}", bold=bool(b)) for v, b in zip(values[i], is_best[i], strict=True))]
        for i, problem in enumerate(paired.problems)
    ]
    n_wins = is_best.sum(axis=0)
    rows.append([Text("Number of wins"), *(Text(f"{n}/{len(values)}") for n in n_wins)])
    rows.append([Text("Average rank"), *(Text(f"{rank:.2f}") for rank in st.mean_ranks(costs))])
    notes = [f"Mean over {paired.repetitions_text} runs for each dataset."]
    if len(paired.methods) > 2 and len(paired.problems) > 1:
        notes.append(f"Friedman p = {st.friedman(costs).p:.4f}. " + _nemenyi_note(costs, paired.methods))
    return Table(
        titled(f"{name} on the test set", paired, results), ["Dataset", *map(spelled, paired.methods)], rows, notes
    )


def _nemenyi_note(costs: Array, methods: list[str]) -> str:
    p, ranks = st.nemenyi(costs), st.mean_ranks(costs)
    pairs = [
        f"{spelled(methods[i])} better than {spelled(methods[j])} (p = {p[i, j]:.4f})"
        for i in range(len(methods))
        for j in range(len(methods))
        if ranks[i] < ranks[j] and p[i, j] < ALPHA
    ]
    return "Nemenyi: " + ("; ".join(pairs) if pairs else "no pair differs") + "."
