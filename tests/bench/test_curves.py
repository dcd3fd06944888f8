"""Pictures of how searches get on: validation beside test, and who is probably better."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from comitia.bench.report.curves import (
    by_iteration,
    curve_figures,
    probabilities_by_repetition,
    reference_of,
)
from comitia.bench.report.results import Paired, Results
from tests.bench.test_examples import results_of as results_with_examples
from tests.bench.test_report import PROTOCOL, some_rows


def one_setting(frame: pd.DataFrame) -> tuple[Results, Paired]:
    results = Results(frame[frame["validation"] == "hold-out"], PROTOCOL)
    return results, results.paired(results.settings[0])


def test_validation_stands_beside_test_and_ranks_below_losses() -> None:
    frame = some_rows(3, 2, 5)
    results, paired = one_setting(frame.assign(returned_loss=frame["test_loss"] + 0.1))
    grid = np.arange(1.0, 6.0)
    measured = {"validation": "returned_loss", "test": "test_loss"}
    traces = {name: results.traces(paired, "iteration", grid, measure) for name, measure in measured.items()}
    figure = by_iteration(results, paired, grid, traces)
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == [
        "mean validation error",
        "mean test error",
        "mean rank by validation loss",
        "mean rank by test loss",
    ]
    validation, test = (np.array([line.get_ydata() for line in axes.lines]) for axes in figure.axes[:2])
    np.testing.assert_allclose(validation, test + 0.1)
    np.testing.assert_allclose(test[:, -1], paired.errors.mean(axis=0))


def test_the_caption_says_which_validation_is_drawn() -> None:
    frame = some_rows(3, 2, 5)
    for lost, said in ((None, "would be returned"), ("returned_loss", "smallest validation loss")):
        results, paired = one_setting(frame if lost is None else frame.assign(**{lost: np.nan}))
        captions = {name: caption for name, caption, _ in curve_figures(results, paired)}
        assert said in captions["by-iteration"]
    results, paired = one_setting(frame.assign(returned_loss=np.nan, validation_loss=np.nan))
    name, caption, figure = next(curve_figures(results, paired))
    assert (name, caption) == ("by-iteration", "Test loss and rank by iteration.")
    assert len(figure.axes) == 2


def test_one_dataset_has_the_spread_of_its_repetitions_and_no_probability() -> None:
    results, paired = one_setting(some_rows(1, 4, 5))
    figures = {name: figure for name, _, figure in curve_figures(results, paired)}
    assert set(figures) == {"by-iteration", "by-seconds"}
    assert len(figures["by-iteration"].axes[0].collections) == len(paired.methods)


def test_probabilities_from_repetitions_by_hand() -> None:
    """Two datasets, three repetitions: the reference wins all of one and one of the other at the second point."""
    reference, other = np.zeros((3, 2)), np.ones((3, 2))
    first = np.stack([reference, other], axis=1)
    second = np.stack([np.array([[0, 0], [0, 1], [0, 1.0]]), np.full((3, 2), 0.5)], axis=1)
    p = probabilities_by_repetition([first, second], 0)
    won = stats.beta(4, 1).sf(0.5)  # 3 wins, no loss
    lost = stats.beta(2, 3).sf(0.5)  # 1 win, 2 losses
    assert p[:, 0] == pytest.approx(0.5)  # itself
    assert p[0, 1] == pytest.approx(won * won + 0.5 * 2 * won * (1 - won))
    assert p[1, 1] == pytest.approx(won * lost + 0.5 * (won * (1 - lost) + lost * (1 - won)))


def test_probabilities_are_from_test_examples_where_rows_have_them() -> None:
    results = results_with_examples()
    [paired] = map(results.paired, results.settings)
    [(_, caption, figure)] = [made for made in curve_figures(results, paired) if made[0] == "better-by-iteration"]
    assert "counting test examples" in caption
    [axes] = figure.axes
    [line] = [line for line in axes.lines if line.get_label() == "SMBO"]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert x.tolist() == [1, 2]
    # at both iterations esmbo has 3 wins and 1 loss, 2 and 0 (then 3 and 1), 0 and 2
    p, q, r = (stats.beta(a, b).sf(0.5) for a, b in ((4, 2), (3, 1), (1, 3)))
    assert y[0] == pytest.approx(p * q * (1 - r) + p * (1 - q) * r + (1 - p) * q * r + p * q * r)


def test_others_are_compared_with_esmbo_or_else_with_the_best() -> None:
    results = results_with_examples()
    [paired] = map(results.paired, results.settings)
    assert paired.methods[reference_of(paired)] == "esmbo"
    _, paired = one_setting(some_rows(3, 2, 5))
    assert paired.methods[reference_of(paired)] == "gp-r"
