"""`Discriminant`: one Gaussian per class, with the regularised covariances of Friedman 1989.

With S_k and W_k the scatter and the weight of class k, and S and W those of all classes:

    Sigma_k(a)    = ((1 - a) S_k + a S) / ((1 - a) W_k + a W)
    Sigma_k(a, g) = (1 - g) Sigma_k(a) + g tr(Sigma_k(a)) / p I

a = 1 is linear discriminant analysis, a = 0 the quadratic one.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky, solve_triangular
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import softmax

from comitia.arrays import AnyArray, Array

JITTER = 1e-9
"""Part of the mean variance that is added where columns are constant or repeat each other."""


class Discriminant(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Tell classes by Gaussians.

    Parameters
    ----------
    pooling : float
        Share of what all classes have in common, in [0, 1]: a of the paper, there called lambda.
    shrinkage : float
        How far covariances are pulled to a ball, in [0, 1]: g of the paper, there called gamma.
    """

    def __init__(self, pooling: float = 1.0, shrinkage: float = 0.0) -> None:
        self.pooling = pooling
        self.shrinkage = shrinkage

    def fit(self, X: Array, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit means and covariances."""
        X = np.asarray(X, dtype=np.float64)
        self.n_features_in_ = X.shape[1]
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        w = w * len(w) / w.sum()
        is_class = codes[:, None] == np.arange(len(self.classes_))  # (n, n_classes)
        weights = np.maximum((w[:, None] * is_class).sum(axis=0), JITTER)
        self.means_ = (w[:, None] * is_class).T @ X / weights[:, None]
        centred = np.sqrt(w)[:, None] * (X - self.means_[codes])
        scatters = [centred[one].T @ centred[one] for one in is_class.T]
        everything, total = np.sum(scatters, axis=0), weights.sum()
        least = JITTER * (np.trace(everything) / total / X.shape[1] + JITTER)
        self.factors_ = [
            cholesky(self._covariance(own, weight, everything, total, least), lower=True)
            for own, weight in zip(scatters, weights, strict=True)
        ]
        self.priors_ = weights / total
        return self

    def _covariance(self, own: Array, weight: float, everything: Array, total: float, least: float) -> Array:
        a, g, p = self.pooling, self.shrinkage, len(own)
        pooled = ((1 - a) * own + a * everything) / ((1 - a) * weight + a * total)
        return np.asarray((1 - g) * pooled + (g * np.trace(pooled) / p + least) * np.eye(p))

    def decision_function(self, X: Array) -> Array:
        """Return the log of the posterior of each class, up to a constant, (n, n_classes)."""
        X = np.asarray(X, dtype=np.float64)
        found = []
        for mean, L, prior in zip(self.means_, self.factors_, self.priors_, strict=True):
            z = solve_triangular(L, (X - mean).T, lower=True)
            found.append(np.log(prior) - np.log(np.diag(L)).sum() - 0.5 * (z * z).sum(axis=0))
        return np.column_stack(found)

    def predict_proba(self, X: Array) -> Array:
        """Return the probability of each class, (n, n_classes)."""
        return np.asarray(softmax(self.decision_function(X)))

    def predict(self, X: Array) -> AnyArray:
        """Return the most probable class of each row, (n,)."""
        return np.asarray(self.classes_[self.decision_function(X).argmax(axis=1)])
