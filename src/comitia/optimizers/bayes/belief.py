"""What a model believes of a space: the seam between models and the maximisers of their acquisition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from comitia.arrays import Array
from comitia.seeds import Seeds
from comitia.space import Space


class Belief(Protocol):
    """What is believed after some observations. Rows are coordinates as they are asked, inactive ones included."""

    def score(self, X: Array) -> Array:
        """Return how much each row promises, greater is better.  # (n,)."""

    def mean(self, X: Array) -> Array:
        """Return the value expected at each row, in the model's own units.  # (n,)."""

    def believe(self, X: Array) -> Belief:
        """Return what would be believed if each row were found to be as expected: how pending trials count."""


class SmoothBelief(Belief, Protocol):
    """A belief whose promise has a gradient."""

    def score_gradient(self, X: Array) -> tuple[Array, Array]:
        """Return how much each row promises and how that changes with each coordinate.  # (n,), (n, d)."""

    def mean_gradient(self, X: Array) -> tuple[Array, Array]:
        """Return the value expected at each row and its gradient.  # (n,), (n, d)."""


class Surrogate(Protocol):
    """A model of the values over a space. Built as `SomeSurrogate(space)`."""

    def belief(self, X: Array, y: Array, number: int, seeds: Seeds) -> Belief:
        """Return what is believed after `y` was observed at the rows of `X`, before trial `number` is asked.

        A fresh object given the same arguments answers as one that lived through what came before.
        """


Past = Callable[[int], Array]
"""`past(n)`: the values that the first n rows had when there were no others.  # (n,)"""


class PatientSurrogate(Surrogate, Protocol):
    """A surrogate that need not be tuned anew whenever the values move."""

    def belief(self, X: Array, y: Array, number: int, seeds: Seeds, past: Past | None = None) -> Belief:
        """See `Surrogate`; it is tuned on the `past` of some of the rows in place of `y`."""


class Maximiser(Protocol):
    """Looks for the rows that a belief promises most of."""

    def __call__(self, belief: Belief, space: Space, tried: Array, rng: np.random.Generator) -> Array:
        """Return candidates, the best first; `tried` are the best rows so far, the best first.  # (n, d)."""
