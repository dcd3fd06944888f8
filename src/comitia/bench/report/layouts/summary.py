"""Medians, win rates and ranks, settings side by side: Lévesque 2018, Tables 3.1 and 3.5."""

from collections.abc import Iterator

import numpy as np

from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.typesetting import Table, Text, comparable, number, shown, size_note, spelled
from comitia.bench.report.results import Results


def summary(results: Results) -> Iterator[Table]:
    """Median error with its quartile range, win rate and rank, settings side by side; best last."""
    parts = list(comparable(results))
    if not parts:
        return
    settings = [paired.setting for paired in parts]
    header = ["Method"]
    numbers: dict[str, list[str]] = {}
    order: dict[str, float] = {}
    every = list(dict.fromkeys(method for paired in parts for method in paired.methods))
    for paired in parts:
        label = paired.setting.label(settings)
        header += [f"{label} {name}".strip() for name in ("Med (Q3-Q1)", "Winrate", "Rank")]
        errors, ranks = shown(results, paired.comparable), st.mean_ranks(paired.errors)
        rates = 100 * st.win_rates(paired.errors)
        for j, method in enumerate(paired.methods):
            q1, median, q3 = np.quantile(errors[:, j], [0.25, 0.5, 0.75])
            entry = [f"{number(results, median)} ({number(results, q3 - q1)})", f"{rates[j]:.2f}", f"{ranks[j]:.2f}"]
            numbers.setdefault(method, []).extend(entry)
            order[method] = float(ranks[j])  # of the last setting that has it
        for method in every:
            if method not in paired.methods:
                numbers.setdefault(method, []).extend(["-"] * 3)
    rows = [[Text(spelled(m)), *map(Text, numbers[m])] for m in sorted(every, key=lambda m: -order[m])]
    notes = [size_note(paired, settings) for paired in parts]
    last = settings[-1].label(settings)
    yield Table(
        "Summary of performance metrics at the final iteration",
        header,
        rows,
        [*notes, f"Sorted by {last} rank.".replace("  ", " ")],
    )
