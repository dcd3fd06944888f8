"""Expected improvement per second (Snoek et al. 2012): a second model learns how long a trial takes."""

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

    def score(self, X: Array) -> Array:
        """Return log EI less the expected logarithm of seconds, up to a constant."""
        return self.inner.score(X) - self.spread * self.clock.mean(X)

    def mean(self, X: Array) -> Array:
        return self.inner.mean(X)

    def believe(self, X: Array) -> PerSecond:
        return replace(self, inner=self.inner.believe(X))


def log_seconds(history: History) -> Array:
    """Return the logarithm of the seconds that each finished trial took, (n_finished,)."""
    return np.log([max(observation.seconds, LEAST_SECONDS) for observation in history.observations()])
