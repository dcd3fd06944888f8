"""Scores of a linear model as columns: of models that have not seen the row, of classes that are missing in a fold."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from comitia.learners.linear_scores import LinearScores

RNG = np.random.default_rng(0)


def test_rows_of_the_fit_are_scored_by_models_that_have_not_seen_them() -> None:
    """The nearest row to each is itself, and the target is noise: known, its score would be its target."""
    X, y = RNG.normal(size=(200, 3)), RNG.normal(size=200)
    scores = LinearScores(KNeighborsRegressor(1), "regression")
    told = scores.fit_transform(X, y)
    assert told.shape == (200, 4)
    assert (told[:, :3] == X).all()
    assert not (told[:, 3] == y).any()
    assert (scores.transform(X)[:, 3] == y).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_have_a_column_each_but_the_first(n_classes: int) -> None:
    X = RNG.normal(size=(90, 2))
    y = np.array(["a", "b", "c"])[np.arange(90) % n_classes]
    told = np.asarray(LinearScores(LogisticRegression()).fit_transform(X, y))
    assert told.shape == (90, 2 + n_classes - 1)
    assert (told[:, 2:] >= 0).all()
    assert (told[:, 2:].sum(axis=1) <= 1 + 1e-9).all()


def test_a_class_of_one_row_has_a_column_too() -> None:
    X, y = RNG.normal(size=(40, 2)), np.r_[np.zeros(20), np.ones(19), [2]]
    assert LinearScores(KNeighborsClassifier(3)).fit_transform(X, y).shape == (40, 4)
    assert LinearScores(KNeighborsClassifier(1)).fit_transform(X[:2], np.array([0, 1])).shape == (2, 3)


def test_a_tree_with_scores_needs_one_split_for_a_difference_of_two_columns() -> None:
    X = RNG.normal(size=(400, 2))
    y = np.sign(X[:, 0] - X[:, 1])
    scores = LinearScores(LinearRegression(), "regression")
    told = scores.fit_transform(X[:300], y[:300])
    stump = DecisionTreeRegressor(max_depth=1)
    assert stump.fit(X[:300], y[:300]).score(X[300:], y[300:]) < 0.5
    assert stump.fit(told, y[:300]).score(scores.transform(X[300:]), y[300:]) > 0.8
