"""Expected improvement per second (Snoek et al. 2012): a second model learns how long a trial takes.

With cost cooling (Lee et al. 2020, "Cost-aware Bayesian Optimization") seconds count less and less: EI / c(x)^alpha,
where alpha is the share of the budget that is left. What is cheap is tried early, what is good in any case at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from comitia.arrays import Array
from comitia.history import History
from comitia.seams import Belief

LEAST_SECONDS = 1e-3


@dataclass(frozen=True, eq=False)
class PerSecond:
    """A belief that promises improvement for each second that a trial is expected to take; see `Belief`."""

    inner: Belief
    clock: Belief
    """Of the logarithm of seconds, standardised."""
    spread: float
    """Its standard deviation."""
    exponent: float = 1.0
    """Alpha: how much seconds count, from 0 to 1."""

    def score(self, X: Array) -> Array:
        """Return log EI less alpha times the expected logarithm of seconds, up to a constant."""
        return self.inner.score(X) - self.exponent * self.spread * self.clock.mean(X)

    def mean(self, X: Array) -> Array:
        return self.inner.mean(X)

    def believe(self, X: Array) -> PerSecond:
        return replace(self, inner=self.inner.believe(X))


def log_seconds(history: History) -> Array:
    """Return the logarithm of the seconds that each finished trial took, (n_finished,)."""
    return np.log([max(observation.seconds, LEAST_SECONDS) for observation in history.observations()])


def share_left(history: History, seconds: float) -> float:
    """Return which share of a budget of seconds the finished trials have left: what a replay finds, too."""
    spent = sum(observation.seconds for observation in history.observations())
    return max(0.0, 1.0 - spent / seconds)
