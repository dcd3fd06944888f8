"""Suggestions keep their distance from trials that are pending.

To believe that a pending trial will be found as expected is not enough. Near a known optimum the best place to look
remains the same place: to look twice promises nearly as much as to look anywhere else. So what a belief promises is
multiplied by `1 - exp(-d^2 / 2 r^2)` for every pending trial at distance d: a local penalty, as in González et al.
2016, of a fixed width.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from comitia.arrays import Array
from comitia.seams import Belief, SmoothBelief
from comitia.space import Space

RADIUS = 0.02
"""r, in the encoded range. Pairs of a batch are then seldom nearer than a hundredth of the range."""
SQUARES = (1e-12, 1e3)
"""Squared distances count as at least and at most so many r^2: at a pending trial the penalty is large, not infinite,
and far away an exponential does not overflow."""


@dataclass(frozen=True, eq=False)
class Apart:
    """A belief that promises little near pending trials; see `Belief`."""

    inner: Belief
    space: Space
    pending: Array
    """Imputed rows, (n, d)."""

    def score(self, X: Array) -> Array:
        return self.inner.score(X) + self.penalty(X)[0]

    def mean(self, X: Array) -> Array:
        return self.inner.mean(X)

    def believe(self, X: Array) -> Apart:
        pending = np.concatenate([self.pending, self.space.impute(X)])
        return replace(self, inner=self.inner.believe(X), pending=pending)

    def penalty(self, X: Array) -> tuple[Array, Array]:
        """Return the logarithm of the factor at each row, (n,), and its gradient, (n, d). Categories are 0 or 1 apart.

        Rows of different branches differ in a category at least, so they are far apart.
        """
        rows, is_number = self.space.impute(X), ~self.space.is_categorical
        value, gradient = np.zeros(len(rows)), np.zeros(rows.shape)
        for row in self.pending:
            away = np.where(is_number, rows - row, 0.0)
            differ = (rows[:, ~is_number] != row[~is_number]).sum(axis=1)
            half_square = np.clip(((away**2).sum(axis=1) + differ) / RADIUS**2, *SQUARES) / 2.0
            value += np.log(-np.expm1(-half_square))
            gradient += away / (np.expm1(half_square) * RADIUS**2)[:, None]
        return value, gradient


@dataclass(frozen=True, eq=False)
class SmoothApart(Apart):
    """The same of a belief with gradients; see `SmoothBelief`."""

    inner: SmoothBelief

    def score_gradient(self, X: Array) -> tuple[Array, Array]:
        (value, gradient), (less, its_gradient) = self.inner.score_gradient(X), self.penalty(X)
        return value + less, gradient + its_gradient

    def mean_gradient(self, X: Array) -> tuple[Array, Array]:
        return self.inner.mean_gradient(X)


def apart(belief: Belief, space: Space) -> Apart:
    """Return a belief that keeps suggestions away from whatever it is told to believe from now on."""
    nothing = np.empty((0, len(space)))
    return SmoothApart(belief, space, nothing) if isinstance(belief, SmoothBelief) else Apart(belief, space, nothing)
