"""Suggestions keep their distance from trials that are pending.

A model that is sure of an optimum sees its best place there again and again, whatever the pending trials will find. So
what a belief promises is multiplied by `1 - exp(-d^2 / 2 r^2)` for every pending trial at distance d: a local penalty,
as in González et al. 2016. Its width r is a share of the distance within which the pending trial has `N_NEAR` finished
ones: it shrinks as a search closes in, so that nothing keeps it from an optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from comitia.arrays import Array
from comitia.seams import Belief, SmoothBelief
from comitia.space import Space

SHARE = 0.25
"""Of that distance, for the expected improvement; benchmarks/studies/batches.py measures it."""
N_NEAR = 8
WIDEST = 0.05
"""The largest r, in the encoded range: where a branch has few trials, others are far away."""
SQUARES = (1e-12, 1e3)
"""Squared distances count as at least and at most so many r^2: at a pending trial the penalty is large, not infinite,
and far away an exponential does not overflow."""
FAR = 40.0
"""Half squares beyond which a factor is 1, as exactly as numbers can be."""
NARROWEST = 1e-9
"""The smallest r: a finite number, where a configuration is asked again and again."""


@dataclass(frozen=True, eq=False)
class Apart:
    """A belief that promises little near pending trials; see `Belief`."""

    inner: Belief
    space: Space
    tried: Array
    """Imputed rows of finished trials, (m, d)."""
    pending: Array
    """Imputed rows, (n, d)."""
    widths: Array
    """r of each pending trial, (n,)."""
    share: float

    def score(self, X: Array) -> Array:
        return self.inner.score(X) + self._log_factors(self._half_squares(self.space.impute(X)))

    def mean(self, X: Array) -> Array:
        return self.inner.mean(X)

    def believe(self, X: Array) -> Apart:
        rows = self.space.impute(X)
        widths = np.concatenate([self.widths, self._widths(rows)])
        return replace(self, inner=self.inner.believe(X), pending=np.concatenate([self.pending, rows]), widths=widths)

    def _widths(self, rows: Array) -> Array:
        """Return r of further pending trials, (n,)."""
        if not len(self.tried):
            return np.full(len(rows), WIDEST)
        near = np.sort(self._squares(rows, self.tried), axis=1)[:, min(N_NEAR, len(self.tried)) - 1]
        return np.clip(self.share * np.sqrt(near), NARROWEST, WIDEST)

    def _squares(self, A: Array, B: Array) -> Array:
        """Return squared distances of rows, (n, m). Categories are 0 or 1 apart.

        Rows of different branches differ in a category at least, so they are far apart.
        """
        found = np.zeros((len(A), len(B)))
        for j, is_categorical in enumerate(self.space.is_categorical):
            away = A[:, j, None] - B[None, :, j]
            found += away != 0.0 if is_categorical else away * away
        return found

    def _half_squares(self, rows: Array) -> Array:
        """Return d^2 / 2 r^2 of rows and pending trials, (n, m)."""
        return np.clip(self._squares(rows, self.pending) / self.widths**2, *SQUARES) / 2.0

    def _log_factors(self, half_squares: Array) -> Array:
        """Return the logarithm of the product of all factors at each row, (n,); only what is near counts."""
        found, is_near = np.zeros(half_squares.shape), half_squares < FAR
        found[is_near] = np.log(-np.expm1(-half_squares[is_near]))
        return np.asarray(found.sum(axis=1))

    def penalty(self, X: Array) -> tuple[Array, Array]:
        """Return the logarithm of the factor at each row, (n,), and its gradient, (n, d)."""
        rows = self.space.impute(X)
        half_squares, gradient = self._half_squares(rows), np.zeros(rows.shape)
        here, there = np.nonzero(half_squares < FAR)
        steep = 1.0 / (np.expm1(half_squares[here, there]) * self.widths[there] ** 2)
        away = np.where(self.space.is_categorical, 0.0, rows[here] - self.pending[there])
        np.add.at(gradient, here, away * steep[:, None])
        return self._log_factors(half_squares), gradient


@dataclass(frozen=True, eq=False)
class SmoothApart(Apart):
    """The same of a belief with gradients; see `SmoothBelief`."""

    inner: SmoothBelief

    def score_gradient(self, X: Array) -> tuple[Array, Array]:
        (value, gradient), (less, its_gradient) = self.inner.score_gradient(X), self.penalty(X)
        return value + less, gradient + its_gradient

    def mean_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.inner.mean_gradient(X)


def apart(belief: Belief, space: Space, tried: Array, share: float = SHARE) -> Apart:
    """Return a belief that keeps suggestions away from whatever it is told to believe from now on."""
    nothing = space.impute(tried), np.empty((0, len(space))), np.empty(0), share
    return SmoothApart(belief, space, *nothing) if isinstance(belief, SmoothBelief) else Apart(belief, space, *nothing)
