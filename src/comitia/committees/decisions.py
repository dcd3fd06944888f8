"""What a committee decides for, given its probabilities or the mean of its numbers.

The most probable class is the right decision for accuracy, and for few other metrics: balanced accuracy wants each
class divided by its frequency, F1 a threshold of half the F1 that can be reached. A rule is one weight for each class,
found on rows that the members were not trained on; probabilities stay as they are. Numbers have one, too: the mean of
the members is right for squared errors, but not for absolute or relative ones, nor for a quantile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from comitia.arrays import AnyArray, Array, Indices
from comitia.committees.combine import argmax_in_order

Score = Callable[[Indices], float]
"""How good decisions for all rows are: codes of classes (n,) -> greater is better."""

POWERS = np.linspace(-0.5, 1.6, 22)
"""Powers of the inverse frequency of classes that are tried as weights."""
LOG_ODDS = np.linspace(-5.0, 5.0, 41)
"""Logarithms of odds that are tried as the threshold of two classes."""
FACTORS = (0.5, 0.7, 1.4, 2.0)
"""By which the weight of one of many classes is changed at a time."""
SCALES = np.linspace(0.7, 1.3, 13)
QUANTILES = np.linspace(0.04, 0.96, 24)
"""Factors of numbers, and quantiles of what is then left, that are tried for a `LinearRule`."""
CLEARLY = 0.02
"""Share of the scores' range by which a rule must be better to be taken instead of a simpler one."""


@dataclass(frozen=True)
class DecisionRule:
    """The class whose probability times its weight is greatest."""

    weights: tuple[float, ...]
    """One for each class; all alike is the most probable class."""

    def __call__(self, p: AnyArray, order: Sequence[int] | None = None) -> Indices:
        """Return the code of the class of each row, of equals the first in an order: (n, n_classes) -> (n,)."""
        return argmax_in_order(p * np.asarray(self.weights), order)

    @property
    def is_argmax(self) -> bool:
        return len(set(self.weights)) == 1

    @property
    def threshold(self) -> float | None:
        """The probability from which the second of two classes is decided for; None for more classes."""
        if len(self.weights) != 2:
            return None
        return self.weights[0] / (self.weights[0] + self.weights[1])


@dataclass(frozen=True)
class LinearRule:
    """What is predicted in place of a number: a metric such as the absolute error wants another than the mean."""

    shift: float = 0.0
    scale: float = 1.0

    def __call__(self, values: Array) -> Array:
        """Return the corrected numbers, (n,) -> (n,)."""
        return np.asarray(self.shift + self.scale * values)


Rule = DecisionRule | LinearRule


def argmax_rule(n_classes: int) -> DecisionRule:
    """Return the rule that decides for the most probable class."""
    return DecisionRule((1.0,) * n_classes)


def threshold_rule(threshold: float) -> DecisionRule:
    """Return the rule that decides for the second of two classes from a probability on."""
    return DecisionRule((threshold, 1.0 - threshold))


def tuned_rule(p: Array, priors: Array, score: Score) -> DecisionRule:
    """Return the rule with the best score on some rows; `priors` are the frequencies of the classes.

    First a power of the inverse frequencies: one number, which hardly fits noise, and which is right for metrics that
    care for rare classes. Any threshold, or a weight for each class, only where that is clearly better, as for a cost
    of the user's. Scores of neighbours count, because they are noisy.
    """
    safe = np.maximum(priors, 1.0 / (10 * len(p)))
    family = safe[None, :] ** -POWERS[:, None]
    powers = np.array([score(argmax_in_order(p * weights)) for weights in family])
    best, value = _best(powers, np.abs(POWERS))
    weights = family[best]
    if p.shape[1] == 2:
        thresholds = 1.0 / (1.0 + np.exp(-LOG_ODDS))
        scores = np.array([score((p[:, 1] > t).astype(np.intp)) for t in thresholds])
        place, freer = _best(scores, np.abs(LOG_ODDS))
        if freer - value > CLEARLY * np.ptp(_finite([*scores, *powers])):
            weights = np.array([thresholds[place], 1.0 - thresholds[place]])
    else:
        weights = _one_by_one(p, weights, score, CLEARLY * float(np.ptp(_finite(powers))))
    return DecisionRule(tuple((weights / weights.max()).tolist()))


def _best(scores: Array, distances: Array, reach: int = 2) -> tuple[int, float]:
    """Return the place of the best mean over neighbours, of equals the one that changes least, and that mean."""
    padded = np.pad(scores, reach, mode="edge")
    smooth = np.mean([padded[i : i + len(scores)] for i in range(2 * reach + 1)], axis=0)
    equals = np.flatnonzero(smooth >= smooth.max() - 1e-12)
    place = int(equals[np.argmin(distances[equals])])
    return place, float(smooth[place])


def _finite(scores: AnyArray | list[float]) -> Array:
    found = np.asarray(scores)[np.isfinite(scores)]
    return found if len(found) else np.zeros(1)


def _one_by_one(p: Array, weights: Array, score: Score, least: float) -> Array:
    """Change the weight of one class at a time where that is clearly better."""
    found = score(argmax_in_order(p * weights))
    for k in range(p.shape[1]):
        for factor in FACTORS:
            changed = weights.copy()
            changed[k] *= factor
            now = score(argmax_in_order(p * changed))
            if now > found + least:
                weights, found = changed, now
    return weights


def tuned_line(values: Array, y: Array, score: Callable[[Array], float]) -> LinearRule:
    """Return the line through predicted numbers with the best score on some rows; the numbers as they are of equals."""
    best, found = LinearRule(), score(values)
    for scale in SCALES:
        for shift in np.quantile(y - scale * values, QUANTILES).tolist():
            rule = LinearRule(shift, float(scale))
            now = score(rule(values))
            if now > found:
                best, found = rule, now
    return best
