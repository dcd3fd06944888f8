"""Losses against scikit-learn's own."""

from typing import Any

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from comitia.errors import ChoiceError, UnknownName
from comitia.evaluation.scoring import make_loss, make_scorer

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
        rows = make_loss(name).rows(truth, answer)  # type: ignore[union-attr]
        assert rows.shape == (50,)
        assert np.average(rows, weights=weights) == pytest.approx(expected)


def test_names_are_found_without_regard_to_case_and_near_ones_are_told() -> None:
    assert make_loss("Log-Loss").name == "log-loss"
    with pytest.raises(UnknownName, match="'roc_auc'"):
        make_loss("roc-auc")
    with pytest.raises(UnknownName, match="'zero-one'"):
        make_loss("zeroone")
    with pytest.raises(ChoiceError, match="callable"):
        make_scorer(3)


def test_a_scorer_takes_weights_where_it_can() -> None:
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    weights = RNG.random(150)
    assert make_scorer("accuracy")(model, X, y, weights) == pytest.approx(
        metrics.accuracy_score(y, model.predict(X), sample_weight=weights)
    )
    assert make_scorer(lambda m, X, y: 3)(model, X, y, weights) == 3
