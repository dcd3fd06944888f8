"""How long a trial will take, from what the study itself has seen, so that none begins that cannot end.

Seconds of one fit are a linear function of a branch's coordinates, on a log scale: Bayesian linear regression with a
prior that lets the most expensive end of a range cost about ten times its cheapest end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from comitia.arrays import Array
from comitia.history import History, Observation, Trial
from comitia.space import Config

LEAST_SECONDS = 1e-3
NOISE = 0.3
"""Standard deviation of the logarithm of the seconds of fits that cost the same."""
SLOPE = 2.0
"""Standard deviation of how much that logarithm changes over the range of a hyperparameter."""
DOUBT = 0.5
"""Part of what a branch that was never tried is expected to take: a trial that takes too long is given up after one
fit, and a learner that is never tried is never a member."""
TOLD = ("ok", "rejected", "timeout")
"""What says how long a trial takes; one that was killed took at least that long."""
Fits = Callable[[Trial], int]
"""How many fits a trial will take."""
Typical = Callable[[Config], float]
"""What a fit of a configuration usually costs, beside that of others; in any unit."""


class Pace(Protocol):
    """What is known of time in a run, beyond its limit. `n_slots` trials may be under way at a time."""

    def seconds_left(self, history: History, n_slots: int) -> float:
        """Return for how long trials may still run."""

    def ends(self, history: History, trial: Trial, n_slots: int) -> bool:
        """Tell whether a trial, if it begins now, is expected to end by then."""

    def instead(self, history: History, n_slots: int) -> Config | None:
        """Return a configuration that would end, where what was suggested would not; None for none."""

    def idle(self, n_free: int) -> None:
        """Hear that no more trials begin, and how many slots are free; others may go on."""


def seconds_of_fit(observation: Observation, n_fits: Fits) -> float:
    """Return the seconds of one fit of a trial; of one that was killed at least so many."""
    if observation.status == "timeout":  # given up after some fits, or killed, nobody knows in which
        return observation.seconds / max(len(observation.losses) or n_fits(observation.trial), 1)
    return observation.seconds / max(observation.n_evaluations, 1)


def expected_seconds(history: History, trial: Trial, n_fits: Fits, typical: Typical | None = None) -> float:
    """Return how many seconds a trial is expected to take; 0 if nothing is known.

    What the trials of its own branch took decides. A branch that was never tried is expected to take what is typical
    of it, times what the others took of what is typical of them, in the geometric mean of each, and half of the least
    of these: what was never tried is worth a risk. With the mean over branches the forest that was best on 3,700 rows
    of ten classes was left out, because a linear model had taken six times as long as usual.
    """
    known = [one for one in history.observations() if one.status in TOLD]
    if not known:
        return 0.0
    z = np.log([max(seconds_of_fit(one, n_fits), LEAST_SECONDS) for one in known])
    rows = np.vstack([trial.x, history.X[[one.number for one in known]]])
    labels = np.zeros(len(rows), dtype=np.int64)
    if history.space is not None:
        rows, labels = history.space.imputed_branches(rows, to="middle")
    is_alike = labels[1:] == labels[0]
    if is_alike.any():
        return math.exp(_line(rows[1:][is_alike], z[is_alike], rows[0])) * n_fits(trial)
    is_ok = np.array([one.is_ok for one in known])
    if not is_ok.any():
        return 0.0
    usual = np.zeros(len(rows))
    if typical is not None:
        usual = np.log([typical(trial.config), *(typical(one.config) for one in known)])
    beyond = [float(np.mean((z - usual[1:])[is_ok & (labels[1:] == one)])) for one in np.unique(labels[1:][is_ok])]
    return DOUBT * math.exp(min(beyond) + float(usual[0])) * n_fits(trial)


def _line(X: Array, z: Array, x: Array) -> float:
    """Return what a line through (X, z) says of x."""
    centre = X.mean(axis=0)
    precision = (X - centre).T @ (X - centre) + (NOISE / SLOPE) ** 2 * np.eye(len(x))
    slopes = np.linalg.solve(precision, (X - centre).T @ (z - z.mean()))
    return float(z.mean() + (x - centre) @ slopes)
