"""Columns of numbers on a scale that outliers do not set, bent at quantiles, or multiplied with each other."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from comitia.arrays import AnyArray, Array

MOST_FACTORS = 30
"""Columns that are multiplied with each other: 30 have 465 products."""
FARTHEST = 3.0
"""Where clipped values end, in interquartile ranges."""


class RobustScale(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Centre by the median, scale by the interquartile range, and clip smoothly: `z / sqrt(1 + (z / 3)^2)`.

    Holzmüller et al. 2024 prepare columns for their perceptrons so. A column with half of its values alike is scaled by
    its range, a constant one is 0.
    """

    def fit(self, X: Array, y: AnyArray | None = None) -> RobustScale:
        low, self.centre_, high = np.quantile(X, [0.25, 0.5, 0.75], axis=0)
        spread = np.where(high > low, high - low, (X.max(axis=0) - X.min(axis=0)) / 2)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Array) -> Array:
        z = (X - self.centre_) / self.scale_
        return np.asarray(z / np.sqrt(1 + (z / FARTHEST) ** 2))


class Hinges(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add `max(0, x - k)` for some quantiles k of each column: a line becomes a line that bends there.

    Parameters
    ----------
    n_knots : int
        Quantiles of each column; equal ones count once.
    """

    def __init__(self, n_knots: int = 5) -> None:
        self.n_knots = n_knots

    def fit(self, X: Array, y: AnyArray | None = None) -> Hinges:
        shares = np.arange(1, self.n_knots + 1) / (self.n_knots + 1)
        knots = [(j, k) for j, column in enumerate(np.quantile(X, shares, axis=0).T) for k in np.unique(column)]
        self.columns_ = np.array([j for j, _ in knots], dtype=np.intp)
        self.knots_ = np.array([k for _, k in knots])
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Array) -> Array:
        return np.hstack([X, np.maximum(X[:, self.columns_] - self.knots_, 0.0)])


class Products(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Add the squares and the products of columns that are standardised already.

    Of more than `most_factors` columns those are multiplied that go with the target most: whose correlation with it, or
    with being of some class, is the largest.
    """

    def __init__(self, is_classes: bool = True, most_factors: int = MOST_FACTORS) -> None:
        self.is_classes = is_classes
        self.most_factors = most_factors

    def fit(self, X: Array, y: AnyArray | None = None) -> Products:
        self.n_features_in_ = X.shape[1]
        self.factors_ = np.arange(X.shape[1])
        if X.shape[1] > self.most_factors:
            self.factors_ = np.sort(np.argsort(-self._strength(X, np.asarray(y)), kind="stable")[: self.most_factors])
        return self

    def _strength(self, X: Array, y: AnyArray) -> Array:
        """Return the largest correlation of each column, (n_columns,)."""
        targets = y == np.unique(y)[:, None] if self.is_classes else y[None]
        centred = np.asarray(targets, dtype=np.float64) - np.mean(targets, axis=1, keepdims=True)
        sizes = np.sqrt((centred**2).sum(axis=1, keepdims=True))
        return np.asarray(np.abs(centred / np.where(sizes > 0, sizes, 1.0) @ X).max(axis=0))

    def transform(self, X: Array) -> Array:
        factors = X[:, self.factors_]
        left, right = np.triu_indices(len(self.factors_))
        return np.hstack([X, factors[:, left] * factors[:, right]])
