"""Weighted members predict as one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from comitia.committees import Ensemble

X, Y = load_iris(return_X_y=True)
MODELS = [
    GaussianNB().fit(X, Y),
    LogisticRegression(max_iter=500).fit(X, Y),
    DecisionTreeClassifier(max_depth=1).fit(X, Y),
]


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=3))
def test_weights_applied_to_predictions_equal_the_ensembles(weights: list[float]) -> None:
    shares = [weight / sum(weights) for weight in weights]
    models = MODELS[: len(shares)]
    ensemble = Ensemble(models, shares, 3)
    expected = sum(share * model.predict_proba(X) for share, model in zip(shares, models, strict=True))
    assert np.allclose(ensemble.predict_proba(X), expected)
    assert np.allclose(ensemble.predict_proba(X).sum(axis=1), 1)
    if len(models) > 1:
        assert (ensemble.predict(X) == np.asarray(expected).argmax(axis=1)).all()


def test_one_member_answers_for_itself() -> None:
    assert (Ensemble(MODELS[:1], [1.0], 3).predict(X) == MODELS[0].predict(X)).all()


def test_numbers_are_averaged() -> None:
    X, y = load_diabetes(return_X_y=True)
    models = [Ridge(0.1).fit(X, y), Ridge(10).fit(X, y)]
    expected = 0.25 * models[0].predict(X) + 0.75 * models[1].predict(X)
    assert np.allclose(Ensemble(models, [0.25, 0.75]).predict(X), expected)


@pytest.mark.parametrize("classes", [2, 3])
def test_members_without_probabilities_give_margins_or_votes(classes: int) -> None:
    rows = classes > Y
    model = RidgeClassifier().fit(X[rows], Y[rows])
    p = Ensemble([model], [1.0], classes).predict_proba(X[rows])
    assert (p.argmax(axis=1) == model.predict(X[rows])).all()
    assert np.allclose(p.sum(axis=1), 1)

    class Voter:
        classes_ = np.arange(classes)

        def predict(self, X: Any) -> Any:
            return np.ones(len(X), dtype=int)

    assert Ensemble([Voter()], [1.0], classes).predict_proba(X)[0].tolist() == [0, 1, 0][:classes]


def test_a_member_that_never_saw_a_class() -> None:
    model = GaussianNB().fit(X[Y != 1], Y[Y != 1])
    p = Ensemble([model, MODELS[0]], [0.5, 0.5], 3).predict_proba(X)
    assert np.allclose(p[:, 1], 0.5 * MODELS[0].predict_proba(X)[:, 1])
