"""How each measure goes with the number of classes: Xavier-Júnior et al. 2020, Table 11."""

from collections.abc import Iterator

import numpy as np

from comitia.bench.report import statistics as st
from comitia.bench.report.layouts.measures import named_measures
from comitia.bench.report.layouts.typesetting import Table, Text, comparable, size_note, spelled, titled
from comitia.bench.report.results import Results


def classes(results: Results) -> Iterator[Table]:
    """Pearson's correlation over datasets of the number of classes with each measure, by method.

    None where the number of classes is not known (older rows), or the same everywhere.
    """
    for paired in comparable(results):
        n_classes = results.final.groupby("dataset")["n_classes"].first().loc[paired.problems].to_numpy(float)
        if np.isnan(n_classes).any() or len(set(n_classes)) < 2:
            continue
        named = [(name, values) for name, values, _ in named_measures(results, paired)]
        rows = []
        for j, method in enumerate(paired.methods):
            found = [st.pearson(n_classes, values[:, j]) for _, values in named]
            rows.append([Text(spelled(method)), *(Text("-" if np.isnan(r) else f"{r:.4f}") for r in found)])
        yield Table(
            titled("Pearson correlation between the number of classes and each measure", paired, results),
            ["Pearson", *(name for name, _ in named)],
            rows,
            [
                "Classes that occur in a dataset; 0 where numbers are predicted. A dash: the measure is the same "
                "everywhere.",
                size_note(paired, results.settings),
            ],
        )
