"""Mean errors with standard deviations: Lévesque 2018, Tables B.1, B.2 and, with the validation errors, 4.7."""

from collections.abc import Iterator

from comitia.bench.report.layouts.typesetting import Table, Text, comparable, number, shown, size_note, spelled, titled
from comitia.bench.report.results import VALIDATION, Paired, Results


def errors_sd(results: Results) -> Iterator[Table]:
    """Mean test loss of every method on every dataset, then the validation loss, standard deviations in parentheses."""
    for paired in comparable(results):
        yield _table(results, paired, "test_loss", "test")
        if paired.validation_measure is not None:
            yield _table(results, paired, paired.validation_measure, "validation")


def _table(results: Results, paired: Paired, measure: str, name: str) -> Table:
    means = paired.means(measure)
    rows = []
    for i, problem in enumerate(paired.problems):
        entries = []
        for j in range(len(paired.methods)):
            values = shown(results, paired.values[measure][i][:, j])
            sd = number(results, values.std(ddof=1)) if len(values) > 1 else "-"
            mean = number(results, float(shown(results, means[i, j])))
            entries.append(Text(f"{mean} ({sd})", bold=bool(means[i, j] == means[i].min())))
        rows.append([Text(problem), *entries])
    what = f"Average {name} error in per cent" if results.is_error_rate else f"Average {name} loss"
    notes = [
        f"Mean over {paired.repetitions_text} repetitions, in parentheses the sample standard deviation "
        "over them. Bold: best."
    ]
    notes += [f"Validation is {VALIDATION[measure]}."] if measure in VALIDATION else []
    notes.append(size_note(paired, results.settings))
    return Table(
        titled(f"{what} (standard deviation)", paired, results),
        ["Dataset", *map(spelled, paired.methods)],
        rows,
        notes,
    )
