"""Columns of numbers on a scale that outliers do not set, and bent at quantiles."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from comitia.arrays import AnyArray, Array

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
