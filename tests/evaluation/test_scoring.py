"""Losses against scikit-learn's own."""

from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from comitia.errors import ChoiceError, UnknownName
from comitia.evaluation.scoring import ROW_LOSSES, RowLoss, make_loss, make_scorer, make_scoring

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("weights", [None, RNG.random(50)], ids=["plain", "weighted"])
def test_row_losses_average_to_scikit_learns(weights: Any) -> None:
    y = RNG.integers(0, 3, 50)
    labels = RNG.integers(0, 3, 50)
    p = RNG.dirichlet(np.ones(3), 50)
    p[0] = [1, 0, 0]
    numbers, predicted = RNG.normal(size=(2, 50))
    pairs = [
        ("zero-one", y, labels, metrics.zero_one_loss(y, labels, sample_weight=weights)),
        ("log-loss", y, p, metrics.log_loss(y, p, sample_weight=weights)),
        ("squared-error", numbers, predicted, metrics.mean_squared_error(numbers, predicted, sample_weight=weights)),
        ("absolute-error", numbers, predicted, metrics.mean_absolute_error(numbers, predicted, sample_weight=weights)),
    ]
    for name, truth, answer, expected in pairs:
        rows = ROW_LOSSES[name].rows(truth, answer)
        assert rows.shape == (50,)
        assert np.average(rows, weights=weights) == pytest.approx(expected)


def test_names_are_found_without_regard_to_case_and_near_ones_are_told() -> None:
    assert make_loss("Log-Loss").name == "log-loss"
    with pytest.raises(UnknownName, match="'roc_auc'"):
        make_loss("roc-auc")
    with pytest.raises(UnknownName, match="'zero-one'"):
        make_loss("zeroone")
    with pytest.raises(ChoiceError, match="callable"):
        make_scorer(3)  # type: ignore[arg-type]


def test_a_scorer_takes_weights_where_it_can() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    weights = RNG.random(150)
    assert make_scorer("accuracy")(model, X, y, weights) == pytest.approx(
        metrics.accuracy_score(y, model.predict(X), sample_weight=weights)
    )
    assert make_scorer(lambda m, X, y: 3)(model, X, y, weights) == 3


def test_a_task_has_a_default() -> None:
    assert make_scoring(None, "classification").name == "accuracy"
    assert make_scoring(None, "regression").name == "r2"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("zero-one", "accuracy"),
        ("Log-Loss", "neg_log_loss"),
        ("rmse", "neg_root_mean_squared_error"),
        ("auc", "roc_auc"),
    ],
)
def test_short_names_mean_scorers(given: str, meant: str) -> None:
    assert make_scoring(given, "classification").scorer.name == meant


@pytest.mark.parametrize("name", ["accuracy", "neg_log_loss", "balanced_accuracy"])
def test_the_score_of_a_loss_is_the_scorers(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    scoring = make_scoring(name, "classification")
    if isinstance(scoring.loss, RowLoss):
        answer = model.predict_proba(X) if scoring.loss.needs_probabilities else model.predict(X)
        loss = float(scoring.loss.rows(y, answer).mean())
    else:
        loss = -scoring.loss(model, X, y)
    assert scoring.score(loss) == pytest.approx(make_scorer(name)(model, X, y))


def test_a_function_of_the_users_has_no_rows() -> None:
    scoring = make_scoring(lambda model, X, y: 0.5, "regression")
    assert (scoring.name, scoring.row_loss, scoring.scorer.asks_for) == ("a function", None, ())
    assert scoring.loss is scoring.scorer


def test_metrics_of_order_are_known() -> None:
    names = [name for name in ("roc_auc", "average_precision", "neg_log_loss", "f1") if make_scorer(name).is_of_order]
    assert names == ["roc_auc", "average_precision"]
