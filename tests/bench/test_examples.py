"""The losses of single test rows: kept in rows, and counted by the Poisson-binomial test of Lacoste et al. 2014."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from comitia.arrays import Array
from comitia.bench.plan.experiment_file import make_experiment
from comitia.bench.plan.plan import Cell
from comitia.bench.report.examples import example_counts, final_losses, losses_by_iteration
from comitia.bench.report.layouts.win_frequency import probability_better, win_frequency
from comitia.bench.report.results import Results
from comitia.bench.rows.packing import packed, unpacked
from comitia.bench.rows.row import COLUMNS, Row, Score
from comitia.errors import ExperimentError

PROTOCOL = {"name": "e", "budget": {"n_trials": 2}, "average_last": 2}
# losses of five test rows at two iterations, by dataset and method
LOSSES = {
    ("one", "esmbo"): ([0, 0, 0, 0, 1], [0, 0, 0, 0, 1]),
    ("one", "smbo"): ([1, 1, 1, 0, 0], [1, 1, 1, 0, 0]),  # esmbo wins 3 and loses 1
    ("two", "esmbo"): ([0, 1, 0, 0, 0], [1, 0, 0, 0, 0]),  # at the end .5, .5, 0, 0, 0
    ("two", "smbo"): ([0, 1, 0, 1, 1], [0, 1, 0, 1, 1]),  # 0, 1, 0, 1, 1: esmbo wins 3 and loses 1
    ("three", "esmbo"): ([1, 1, 0, 0, 0], [1, 1, 0, 0, 0]),
    ("three", "smbo"): ([0, 0, 0, 0, 0], [0, 0, 0, 0, 0]),  # esmbo wins 0 and loses 2
}


def results_of(*, repetitions: int = 1, left_out: tuple[str, str, int] | None = None) -> Results:
    rows = []
    for (problem, method), by_iteration in LOSSES.items():
        for repetition in range(repetitions):
            for i, values in enumerate(by_iteration):
                losses: Array = np.array(values, dtype=np.float64)
                is_kept = (problem, method, repetition) != left_out
                row = Row(iteration=i + 1, loss="zero-one", dataset=problem)
                row = row.tested(Score(float(losses.mean()), losses=losses), keep_losses=is_kept)
                rows.append({**asdict(Cell(problem, "svm", "hold-out", method, repetition)), **asdict(row)})
    return Results(pd.DataFrame(rows).reindex(columns=list(COLUMNS)), PROTOCOL)


def test_losses_come_back_from_their_text() -> None:
    rng = np.random.default_rng(0)
    errors = (rng.random(1001) < 0.2).astype(float)
    np.testing.assert_array_equal(unpacked(packed(errors)), errors)
    assert len(packed(errors)) < 250
    numbers = rng.exponential(1e4, size=77)
    np.testing.assert_allclose(unpacked(packed(numbers)), numbers, rtol=1e-6)


def test_a_row_has_the_losses_of_test_rows_only_where_they_are_kept() -> None:
    score = Score(0.5, losses=np.array([0.0, 1.0]))
    assert Row(iteration=1).tested(score).test_losses is None
    assert unpacked(Row(iteration=1).tested(score, keep_losses=True).test_losses or "").tolist() == [0.0, 1.0]
    assert Row(iteration=1).tested(Score(0.5), keep_losses=True).test_losses is None


def test_the_poisson_binomial_test_by_hand() -> None:
    """A dataset with w wins and l losses of test examples is won with Pr(Beta(w + 1, l + 1) > 1/2)."""
    results = results_of()
    [paired] = map(results.paired, results.settings)
    examples = final_losses(results, paired)
    assert examples is not None
    j, k = paired.methods.index("esmbo"), paired.methods.index("smbo")
    wins, losses = example_counts(examples, paired, "esmbo", "smbo")
    assert dict(zip(paired.problems, zip(wins, losses, strict=True), strict=True)) == {
        "one": (3, 1),
        "two": (3, 1),
        "three": (0, 2),
    }
    p, q = 13 / 16, 1 / 8  # of Beta(4, 2) and Beta(1, 3)
    assert stats.beta(4, 2).sf(0.5) == pytest.approx(p)
    two_of_three = p * p * (1 - q) + 2 * p * (1 - p) * q + p * p * q
    assert probability_better(paired, examples, j, k) == pytest.approx(two_of_three)
    [table] = win_frequency(results)
    assert any("counts test examples" in note for note in table.notes)
    assert table.rows[0][0].text == "ESMBO"
    assert table.rows[0][2].text.startswith("0.67 ·")  # two_of_three is .70


def test_more_repetitions_do_not_make_the_test_surer() -> None:
    once, often = results_of(), results_of(repetitions=4)
    found = []
    for results in (once, often):
        [paired] = map(results.paired, results.settings)
        found.append(probability_better(paired, final_losses(results, paired), 0, 1))
    assert found[0] == found[1]


def test_repetitions_are_counted_where_a_cell_lacks_the_losses() -> None:
    results = results_of(repetitions=5, left_out=("one", "smbo", 4))
    [paired] = map(results.paired, results.settings)
    assert final_losses(results, paired) is None
    [table] = win_frequency(results)
    assert any("counts repetitions" in note for note in table.notes)


def test_losses_are_given_by_iteration() -> None:
    results = results_of()
    [paired] = map(results.paired, results.settings)
    found = dict(losses_by_iteration(results, paired))
    assert list(found) == [1, 2]
    assert found[1]["two", "esmbo", 0].tolist() == [0, 1, 0, 0, 0]


def test_keeping_losses_is_part_of_the_protocol_only_where_it_is_on() -> None:
    content = {"problems": ["a"], "spaces": ["svm"], "methods": ["rs"], "repetitions": 1, "budget": {"n_trials": 3}}
    assert "keep_test_losses" not in make_experiment(content, "e").protocol()
    assert make_experiment({**content, "keep_test_losses": True}, "e").protocol()["keep_test_losses"]
    with pytest.raises(ExperimentError, match="true or false"):
        make_experiment({**content, "keep_test_losses": 1}, "e")
