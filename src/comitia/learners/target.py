"""`TransformedTarget`: a regressor for a target on another scale, which predicts on the scale of the user."""

from __future__ import annotations

import math
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, StandardScaler

from comitia.arrays import Array, Table
from comitia.evaluation.fitting import fit_parameters
from comitia.evaluation.growth import found_size, of_size

TARGETS = ("none", "log", "yeo-johnson", "ranks")
"""What may become of a target; the first is what is tried first."""
STANDARD = "standard"
"""The target less its mean, in standard deviations: no choice, but what some learners need."""
MOST_QUANTILES = 1_000


class SignedLog(BaseEstimator):  # type: ignore[misc]
    """`asinh(y / s)`, with s the median of |y|: the logarithm of large numbers of either sign, a line around 0."""

    def fit(self, Y: Array) -> SignedLog:
        sizes = np.abs(Y[Y != 0])
        self.scale_ = float(np.median(sizes)) if len(sizes) else 1.0
        return self

    def transform(self, Y: Array) -> Array:
        return np.arcsinh(Y / self.scale_)

    def inverse_transform(self, Y: Array) -> Array:
        return np.asarray(self.scale_ * np.sinh(Y))


def scale_of(by: str, n: int) -> BaseEstimator:
    """Return what transforms a column of n numbers."""
    if by == STANDARD:
        return StandardScaler()
    if by == "log":
        return SignedLog()
    if by == "yeo-johnson":
        return PowerTransformer()
    return QuantileTransformer(n_quantiles=min(n, MOST_QUANTILES), output_distribution="normal", subsample=None)


class TransformedTarget(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit a model to a transformed target; predictions are transformed back.

    A prediction stays within the targets of the fit: beyond them the way back explodes, or has no end. Not so on a
    standardised target, which is the same line in other units.

    Parameters
    ----------
    model : estimator
    by : {"log", "yeo-johnson", "ranks", "standard"}
    """

    def __init__(self, model: BaseEstimator, by: str) -> None:
        self.model = model
        self.by = by

    def fit(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the transformation, then the model."""
        column = np.asarray(y, dtype=np.float64)[:, None]
        self.scale_ = scale_of(self.by, len(column)).fit(column)
        changed = self.scale_.transform(column)[:, 0]
        self.range_ = (-np.inf, np.inf) if self.by == STANDARD else (float(changed.min()), float(changed.max()))
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.model_ = clone(self.model)
        self.model_.fit(X, changed, **fit_parameters(self.model_, weights))
        return self

    def found_size(self) -> int | None:
        """Return how large the model grew; None where it did not find that out by itself."""
        size = found_size(self.model_)
        return None if math.isnan(size) else int(size)

    def of_size(self, size: int) -> TransformedTarget:
        """Return an unfitted one whose model grows so large."""
        return TransformedTarget(of_size(self.model, size), self.by)

    def predict(self, X: Table) -> Array:
        """Return a number per row, (n,)."""
        told = np.clip(np.asarray(self.model_.predict(X), dtype=np.float64), *self.range_)
        return np.asarray(self.scale_.inverse_transform(told[:, None])[:, 0])
