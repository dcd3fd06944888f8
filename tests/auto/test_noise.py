"""Resamples of rows, and intervals that are made of them."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from comitia.auto.noise import Told, best_of, left_out, resamples, spread_of, stretches
from comitia.auto.validation import ValidationPredictions
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import make_scoring


def told_classes(metric: str, n: int = 60, *, wrong: int = 9, weights: Any = None, seed: int = 0) -> Told:
    rng = np.random.default_rng(seed)
    classes = np.array(["no", "yes"])
    y = rng.integers(0, 2, n)
    said = y.copy()
    said[:wrong] = 1 - said[:wrong]
    p = np.where(np.eye(2, dtype=bool)[said], 0.8, 0.2)
    predictions = ValidationPredictions(np.arange(n), np.arange(n) % 5, classes[y], classes[said], p, classes, weights)
    return Told(predictions, Given(classes[y], classes), make_scoring(metric, "classification"))


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss", "balanced_accuracy", "roc_auc", "matthews_corrcoef"])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_of_resamples_are_those_of_their_rows(metric: str, weighted: bool) -> None:
    weights = np.random.default_rng(1).random(60) if weighted else None
    told = told_classes(metric, weights=weights)
    counts = resamples(np.arange(60), 5, np.random.default_rng(2))
    expected = [told.score(np.repeat(np.arange(60), row.astype(int))) for row in counts]
    np.testing.assert_allclose(told.scores(counts), expected, atol=1e-12)


def test_groups_are_drawn_as_groups() -> None:
    units = np.repeat(np.arange(10), 3)[np.random.default_rng(0).permutation(30)]
    for counts in (
        resamples(units, 20, np.random.default_rng(0)),
        left_out(units, np.zeros(30), 20, np.random.default_rng(0)),
    ):
        assert all((counts[:, units == unit].std(axis=1) == 0).all() for unit in range(10))
    drawn = resamples(units, 20, np.random.default_rng(0))
    assert (drawn.sum(axis=1) == 30).all()


def test_each_row_is_left_out_once_by_each_partition() -> None:
    counts = left_out(np.arange(23), np.arange(23) % 2, 20, np.random.default_rng(0))
    assert counts.shape == (20, 23)
    assert ((counts[:10] == 0).sum(axis=0) == 1).all()
    assert ((counts[10:] == 0).sum(axis=0) == 1).all()
    assert not (counts[:10] == counts[10:]).all()


def test_parts_are_alike_in_what_is_predicted() -> None:
    y = np.array([0] * 40 + [1] * 20)
    counts = left_out(np.arange(60), y, 30, np.random.default_rng(0))
    positives = ((counts == 0) * y).sum(axis=1)
    assert set(positives.tolist()) == {2}
    numbers = np.random.default_rng(0).normal(size=100)
    means = [numbers[row == 0].mean() for row in left_out(np.arange(100), numbers, 10, np.random.default_rng(0))]
    assert np.std(means) < 0.15  # 0.3 by chance


def test_few_units_are_left_out_one_by_one() -> None:
    counts = left_out(np.array([0, 0, 1, 2]), np.zeros(4), 10, np.random.default_rng(0))
    assert counts.any(axis=1).all()
    assert len(counts) == 12


def test_stretches_of_time_are_neighbours() -> None:
    found = stretches(1000)
    assert (np.diff(found) >= 0).all()
    assert np.bincount(found).tolist() == [10] * 100


def test_the_interval_of_a_share_is_wilsons() -> None:
    told = told_classes("accuracy", 200, wrong=30)
    scores = told.scores(resamples(np.arange(200), 4000, np.random.default_rng(0)))
    low, high = spread_of(scores, told.scoring, 200, widening=1.0).around(0.85)
    expected = stats.binomtest(170, 200).proportion_ci(0.9, method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.003)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "f1"])
def test_rows_without_an_error_leave_doubt(metric: str) -> None:
    told = told_classes(metric, 50, wrong=0)
    if metric == "f1":
        told = Told(told.predictions, told.given, make_scoring("f1_macro", "classification"))
    scores = told.scores(resamples(np.arange(50), 100, np.random.default_rng(0)))
    low, high = spread_of(scores, told.scoring, 50, widening=1.2).around(1.0)
    assert high == pytest.approx(1.0)
    assert 0.85 < low < 0.97


@pytest.mark.parametrize("widening", [1.0, 1.3])
def test_an_interval_of_means_is_that_of_the_normal_distribution(widening: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    said = y + rng.normal(size=400)
    predictions = ValidationPredictions(np.arange(400), np.zeros(400, dtype=int), y, said)
    told = Told(predictions, Given(y), make_scoring("mse", "regression"))
    score = told.score(np.arange(400))
    found = spread_of(told.scores(resamples(np.arange(400), 5000, rng)), told.scoring, 400, widening).around(score)
    half = 1.645 * np.std((y - said) ** 2) / 20 * widening
    np.testing.assert_allclose(found, (score - half, score + half), atol=0.03)


def test_the_best_score_of_a_metric() -> None:
    names = ["accuracy", "roc_auc", "neg_log_loss"]
    assert [best_of(make_scoring(name, "classification")) for name in names] == [1.0, 1.0, 0.0]
    assert best_of(make_scoring(lambda model, X, y: 3.0, "classification")) == np.inf


def test_the_same_rows_in_another_order_are_the_same() -> None:
    told = told_classes("accuracy", 30, wrong=4)
    turned = Told(told.predictions.take(np.arange(30)[::-1]), told.given, told.scoring)
    again = turned.in_order_of(told)
    assert again.predictions.rows.tolist() == told.predictions.rows.tolist()
    assert (again.predictions.predictions == told.predictions.predictions).all()


def test_an_interval_ends_where_the_metric_does() -> None:
    for metric, least in (("roc_auc", 0.0), ("f1_macro", 0.0), ("matthews_corrcoef", -1.0), ("neg_log_loss", -np.inf)):
        scoring = make_scoring(metric, "classification")
        assert spread_of(np.array([np.nan]), scoring, 2, 1.0).around(0.5) == (least, best_of(scoring))
    low, _ = spread_of(np.linspace(0.0, 1.0, 50), make_scoring("roc_auc", "classification"), 50, 3.0).around(0.2)
    assert low == 0.0
