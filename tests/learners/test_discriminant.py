"""Discriminants: the Gaussians of scipy, the limits of the paper, weights, and classes of too few rows."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from comitia.learners.discriminant import Discriminant

X, Y = load_iris(return_X_y=True)


def test_without_shrinkage_a_pooled_discriminant_is_linear_discriminant_analysis() -> None:
    ours, theirs = Discriminant(1.0).fit(X, Y), LinearDiscriminantAnalysis(solver="lsqr").fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)


def test_without_pooling_classes_are_gaussians_with_covariances_of_their_own() -> None:
    densities = [
        multivariate_normal(X[k == Y].mean(axis=0), np.cov(X[k == Y].T, bias=True)).pdf(X) / 3 for k in range(3)
    ]
    expected = np.column_stack(densities) / np.sum(densities, axis=0)[:, None]
    np.testing.assert_allclose(Discriminant(0.0).fit(X, Y).predict_proba(X), expected, atol=1e-6)


def test_full_shrinkage_leaves_balls() -> None:
    model = Discriminant(1.0, 1.0).fit(X, Y)
    nearest = ((X[:, None] - model.means_) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), nearest)


def test_a_weight_counts_as_so_many_rows() -> None:
    twice = np.r_[np.arange(len(X)), np.flatnonzero(Y == 2)]
    weighted = Discriminant(0.3, 0.1).fit(X, Y, sample_weight=np.where(Y == 2, 2.0, 1.0))
    np.testing.assert_allclose(
        weighted.predict_proba(X), Discriminant(0.3, 0.1).fit(X[twice], Y[twice]).predict_proba(X)
    )


@pytest.mark.parametrize("pooling", [0.0, 0.5, 1.0])
def test_single_rows_copies_and_constants_are_no_obstacle(pooling: float) -> None:
    rows = np.r_[0:5, 50:52, 100]
    wide = np.column_stack([X, X, np.ones(len(X)), np.zeros((len(X), 20))])
    model = Discriminant(pooling, 1e-4).fit(wide[rows], Y[rows])
    assert np.isfinite(model.predict_proba(wide)).all()
    assert set(model.predict(wide[rows])) <= {0, 1, 2}
