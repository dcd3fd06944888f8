"""Uncertainty handling of UH-CMA-ES: how many evaluations one fitness value must be the mean of.

Glasmachers and Igel 2008, §2. Some offspring are evaluated twice. If that changes their ranks by more than a tolerated
amount, noise decides the selection, and later fitness values are averaged over more evaluations; else over fewer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.errors import ChoiceError
from comitia.history import History


@dataclass(frozen=True)
class UncertaintyHandling:
    """The scheme of Glasmachers and Igel 2008 and its constants.

    Parameters
    ----------
    theta : float
        How much noise is tolerated: rank changes up to the `50 theta` percentile of the possible ones (the paper: 0.2).
    alpha : float
        Factor of the number of evaluations; the paper names none, this is that of Hansen et al. (2009).
    most : int
        Evaluations that a fitness value may be the mean of; the paper names no limit.
    """

    theta: float = 0.2
    alpha: float = 1.5
    most: int = 1000

    def __post_init__(self) -> None:
        if not 0 <= self.theta <= 1 or not self.alpha > 1 or not self.most >= 1:
            raise ChoiceError(
                "UncertaintyHandling must have theta in [0, 1], alpha > 1 and most >= 1. "
                f"Got theta={self.theta}, alpha={self.alpha}, most={self.most}."
            )

    def n_reevaluated(self, population: int, rng: np.random.Generator) -> int:
        """Return how many offspring to evaluate again: `max(lambda / 10, 2)` on average, not more than there are."""
        wanted = max(population / 10, 2.0)
        return min(int(wanted) + int(rng.random() < wanted % 1), population)

    def next_averages(self, evaluations: Sequence[Sequence[float]], averages: float) -> float:
        """Return the next number of evaluations, before rounding.

        Parameters
        ----------
        evaluations : sequence of sequences of float
            Fitness values of each individual: two where it was re-evaluated, none where there was nothing to evaluate.
        averages : float
        """
        pairs = [(found[0], found[-1], len(found) > 1) for found in evaluations if found]
        if not any(is_again for _, _, is_again in pairs):
            return averages
        old, new, is_again = map(np.array, zip(*pairs, strict=True))
        s = uncertainty(old, new, is_again, self.theta)
        return min(max(averages * self.alpha if s > 0 else averages / self.alpha, 1.0), float(self.most))


def uncertainty(old: Array, new: Array, is_reevaluated: Mask, theta: float = 0.2) -> float:
    """Return the uncertainty level `s`; positive means that there is too much noise.

    `s` is the mean over re-evaluated individuals of
    `2 D - lim(rank(new) - [new > old]) - lim(rank(old) - [old > new])` with `D = |rank(new) - rank(old)| - 1`.

    Ranks are those in one joint ranking of the 2 lambda old and new values. Equal values share their mean rank, and no
    change of rank is `D = 0` (without ties it is at least that), so that a plateau is no noise.

    Parameters
    ----------
    old, new : arrays (lambda,)
        Fitness values; `new` is `old` where an individual was evaluated once. Infinite for failures.
    is_reevaluated : array of bool (lambda,)
    theta : float
    """
    n = len(old)
    both = np.concatenate([old, new])
    is_less, is_equal = both[None] < both[:, None], both[None] == both[:, None]
    rank = is_less.sum(axis=1) + (is_equal.sum(axis=1) + 1) / 2
    rank_old, rank_new = rank[:n], rank[n:]
    change = np.maximum(np.abs(rank_new - rank_old) - 1, 0)
    terms = [
        2 * change[i]
        - rank_change_limit(float(rank_new[i] - (new[i] > old[i])), n, theta)
        - rank_change_limit(float(rank_old[i] - (old[i] > new[i])), n, theta)
        for i in np.flatnonzero(is_reevaluated)
    ]
    return float(np.mean(terms))


@lru_cache(maxsize=4096)
def rank_change_limit(rank: float, population: int, theta: float) -> float:
    """Return the `50 theta` percentile of the rank changes `|1 - r|, ..., |2 lambda - 1 - r|` that are possible.

    The paper does not say how percentiles interpolate; linearly, as numpy does, one place in a population of six is
    tolerated, which is also the least limit of Hansen's own program.
    """
    possible = np.abs(np.arange(1, 2 * population) - rank)
    return float(np.percentile(possible, 50 * theta))


def averages(history: History) -> Indices:
    """Return the number of evaluations per fitness value, for each generation of a study, (n_batches,).

    Glasmachers and Igel 2008, Fig. 2. A generation is a batch of trials; so is one that was enqueued.
    """
    found: dict[int, int] = {}
    for number in range(len(history)):
        trial = history.trial(number)
        found.setdefault(trial.batch, trial.repeats)
    return np.array(list(found.values()), dtype=np.intp)
