"""Learners that keep their rows: nearest neighbours (WEKA's IBk) and K* (Cleary and Trigg 1995)."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist

from comitia.arrays import Array, Mask
from comitia.learners.weka.weka_classifier import Codes, WekaClassifier, normalised, one_hot

Weights = Literal["equal", "inverse", "similarity"]
TINY = 1e-9
N_HALVINGS = 30
"""Steps of bisection for K*'s scale."""
BLENDS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""What an automatic blend chooses from, in per cent."""


@dataclass(eq=False, repr=False)
class Neighbours(WekaClassifier):
    """The nearest `k` rows vote; with `validated` the best number up to `k` is found by leaving each row out.

    Weights are 1, the inverse of the distance, or 1 less the distance, which is divided by the root of the number of
    columns so that it is at most 1 between rows of the unit cube.
    """

    k: int = 1
    weights: Weights = "equal"
    validated: bool = False

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        self.rows_, self.codes_ = X, codes
        self.k_ = min(self.k, len(X))
        if self.validated and len(X) > 2:
            D = self._distances(X)
            np.fill_diagonal(D, np.inf)
            most = min(self.k, len(X) - 1)
            votes = np.cumsum(self._votes(D, most), axis=1)  # (n, k, n_classes): votes of the first 1, 2, ... k
            errors = (votes.argmax(axis=2) != codes[:, None]).sum(axis=0)
            self.k_ = int(errors.argmin()) + 1

    def _distances(self, X: Array) -> Array:
        return np.asarray(cdist(X, self.rows_) / np.sqrt(X.shape[1]))

    def _votes(self, D: Array, k: int) -> Array:
        """Return the weighted votes of the nearest `k`, the nearest first: an (n, k, n_classes) array."""
        nearest = np.argsort(D, axis=1, kind="stable")[:, :k]
        d = np.take_along_axis(D, nearest, axis=1)
        if self.weights == "inverse":
            w = 1 / (d + TINY)
        elif self.weights == "similarity":
            w = np.maximum(1 - d, TINY)
        else:
            w = np.ones_like(d)
        return one_hot(self.codes_[nearest], len(self.classes_)) * w[:, :, None]

    def _answer(self, X: Array) -> Array:
        return normalised(self._votes(self._distances(X), self.k_).sum(axis=1))


@dataclass(eq=False, repr=False)
class KStar(WekaClassifier):
    """Every row votes with `exp(-|x - row|_1 / s)`, the probability of a random walk of K*'s exponential steps.

    The scale `s` of each question makes the effective number of voters, `(sum w)^2 / sum w^2`, what the blend says:
    from 1 at 0 % to all rows at 100 %. K* finds a scale for each column; here the columns are scaled and share one.
    With `automatic` the blend is found by leaving each row out (WEKA does it by entropy).
    """

    blend: float = 20.0
    automatic: bool = False

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        self.rows_, self.codes_ = X, codes
        self.blend_ = self.blend
        if self.automatic:
            D = np.asarray(cdist(X, X, "cityblock"))
            np.fill_diagonal(D, np.inf)
            errors = [(self._votes(D, blend).argmax(axis=1) != codes).sum() for blend in BLENDS]
            self.blend_ = BLENDS[int(np.argmin(errors))]

    def _votes(self, D: Array, blend: float) -> Array:
        w = star_weights(D, blend / 100)
        return np.asarray(w @ one_hot(self.codes_, len(self.classes_)))

    def _answer(self, X: Array) -> Array:
        return normalised(self._votes(np.asarray(cdist(X, self.rows_, "cityblock")), self.blend_))


def star_weights(D: Array, blend: float) -> Array:
    """Return K*'s weights for distances: `exp(-d / s)` with the scale found by bisection.

    An infinite distance is a row that has no vote.
    """
    is_on = np.isfinite(D)
    D = D - D.min(axis=1, keepdims=True)  # the nearest has weight 1: no underflow
    n_voters = is_on.sum(axis=1)
    n_nearest = (np.where(is_on, D, np.inf) == 0).sum(axis=1)
    wanted = np.clip(1 + blend * (n_voters - 1), n_nearest, 0.999 * n_voters)
    low, high = np.full(len(D), -14.0), np.full(len(D), 14.0)  # the scale's logarithm
    unit = np.where(is_on, D, 0.0).mean(axis=1) + TINY
    scaled = np.where(is_on, D, np.inf) / unit[:, None]
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        w = np.exp(-scaled * np.exp(-middle)[:, None])
        is_small: Mask = w.sum(axis=1) ** 2 < wanted * (w**2).sum(axis=1)
        low, high = np.where(is_small, middle, low), np.where(is_small, high, middle)
    return np.asarray(np.exp(-scaled * np.exp(-high)[:, None]))
