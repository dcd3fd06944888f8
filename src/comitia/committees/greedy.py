"""Greedy forward selection of a committee from a pool, with replacement (Lévesque 2018, §4.1; Caruana et al. 2004)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from comitia.arrays import Array, Indices, Mask
from comitia.committees.votes import Tally
from comitia.errors import ChoiceError, check_int

TIE = 1e-6
"""Losses whose relative difference is smaller are equal: what is averaged is kept in single precision."""
BEYOND = 2.0
"""Standard errors that are more than noise."""
LEAST = 0.1
"""Losses below this are compared relative to it: a probability near 1 has no more digits."""


@dataclass(frozen=True)
class Greedy:
    """How a committee is chosen; call it.

    At each step the model joins that leaves the smallest loss; the same model may join again, so that the shares of the
    steps are weights. A vote has many equals: then the squared margin decides, after that which one is inside already,
    is better alone, is earlier. What is returned is the best committee on the way.
    """

    n_steps: int = 50
    """How many join at most, the warm start included."""
    n_warm: int = 0
    """How many join at the start because they are the best by themselves: it keeps a committee from fitting the
    validation rows by chance."""
    n_bags: int = 0
    """Do it for so many random parts of the pool and add up the committees, if not 0."""
    bag: float = 0.5
    """Which part of the pool each sees."""
    most_members: int | None = None
    """How many different models may join."""
    per_second: float = 0.0
    """What a second of prediction (of 1,000 rows, of every different model) costs, in units of the loss; for numbers
    that is the variance of y."""

    def __post_init__(self) -> None:
        check_int("Greedy", "n_steps", self.n_steps)
        check_int("Greedy", "n_warm", self.n_warm, 0)
        check_int("Greedy", "n_bags", self.n_bags, 0)
        if self.most_members is not None:
            check_int("Greedy", "most_members", self.most_members)
        if not 0 < self.bag <= 1:
            raise ChoiceError(f"The 'bag' parameter of Greedy must be a part in (0, 1]. Got {self.bag!r} instead.")
        if not 0 <= self.per_second < math.inf:
            raise ChoiceError(
                f"The 'per_second' parameter of Greedy must be a number >= 0. Got {self.per_second!r} instead."
            )

    def __call__(
        self, no_members: Tally, answers: NDArray[np.generic], rng: np.random.Generator, seconds: Array | None = None
    ) -> Indices:
        """Return how often each of at least one model of the pool joins.

        The committee without members knows the loss and the truth; `rng` draws the bags; `seconds` to predict 1,000
        rows are those of each model.
        """
        n = len(answers)
        prices = np.zeros(n) if seconds is None else self.per_second * _known(seconds)
        alone = no_members.losses_with(answers) + prices
        if self.n_bags == 0:
            return self._select(no_members, answers, alone, prices, np.ones(n, dtype=bool))
        counts = np.zeros(n, dtype=np.intp)
        for _ in range(self.n_bags):
            is_offered = np.zeros(n, dtype=bool)
            is_offered[rng.permutation(n)[: max(1, round(self.bag * n))]] = True
            if self.most_members is not None and np.count_nonzero(counts) >= self.most_members:
                is_offered = counts > 0
            counts += self._select(no_members, answers, alone, prices, is_offered)
        return self._fewest(counts)

    def _select(
        self,
        no_members: Tally,
        answers: NDArray[np.generic],
        alone: Array,
        prices: Array,
        is_offered: Mask,
    ) -> Indices:
        order = np.lexsort((np.arange(len(alone)), np.where(is_offered, alone, np.inf)))
        n_offered = int(np.count_nonzero(is_offered))
        most = len(alone) if self.most_members is None else self.most_members
        warm = order[: min(max(self.n_warm, 1), n_offered, most, self.n_steps)]
        counts = np.zeros(len(alone), dtype=np.intp)
        counts[warm] = 1
        tally = no_members.plus(answers[warm])
        best, best_loss = counts.copy(), (float(tally.loss()) + float(prices[warm].sum()), float(tally.smooth().loss()))
        rank = np.empty(len(alone))
        rank[order] = np.arange(len(alone))
        for _ in range(self.n_steps - len(warm)):
            is_inside = counts > 0
            may_join = is_inside if np.count_nonzero(is_inside) >= most else is_offered
            more = float(prices[is_inside].sum()) + np.where(is_inside, 0.0, prices)
            totals = np.where(may_join, tally.losses_with(answers) + more, np.inf)
            equals = argmin_with_ties(totals)
            if len(equals) > 1:
                smooth = tally.smooth().losses_with(answers[equals]) + more[equals]
                equals = equals[argmin_with_ties(smooth, np.where(is_inside, -1.0, 0.0)[equals], rank[equals])]
            chosen = int(equals[0])
            counts[chosen] += 1
            tally = tally.plus(answers[[chosen]])
            loss = (float(totals[chosen]), float(tally.smooth().loss()))
            if is_less(loss, best_loss):
                best, best_loss = counts.copy(), loss
        return best

    def _fewest(self, counts: Indices) -> Indices:
        """Keep the members that joined most often."""
        if self.most_members is not None and np.count_nonzero(counts) > self.most_members:
            counts[np.argsort(-counts, kind="stable")[self.most_members :]] = 0
        return counts


def is_beyond_noise(gains: Array, weights: Array, beyond: float = BEYOND) -> bool:
    """Tell whether rows gain more in the mean than chance explains: by twice its standard error."""
    total = weights.sum()
    if not total > 0:
        return False
    mean = float(gains @ weights / total)
    variance = float((gains - mean) ** 2 @ weights / total)
    n = float(total**2 / (weights @ weights))
    return mean > beyond * math.sqrt(variance / n)


def _known(seconds: Array) -> Array:
    """Return seconds; where they were not measured, those of the median model."""
    is_known = np.isfinite(seconds)
    return np.where(is_known, seconds, np.median(seconds[is_known]) if is_known.any() else 0.0)


def argmin_with_ties(losses: Array, *then: Array, least: float = LEAST) -> Indices:
    """Return the places of the least loss; of equals those with the least of further numbers, one after another.

    NaN is as bad as infinity; see `tolerance` for `least`.
    """
    equals = np.arange(len(losses))
    for numbers in (losses, *then):
        if len(equals) == 1:
            break
        found = np.where(np.isnan(numbers[equals]), np.inf, numbers[equals])
        equals = equals[found <= found.min() + tolerance(found.min(), least)]
    return equals


def is_less(these: Sequence[float], those: Sequence[float]) -> bool:
    """Tell whether the first number that differs is smaller."""
    for this, that in zip(these, those, strict=True):
        if abs(this - that) > tolerance(that):
            return this < that
    return False


def tolerance(loss: float, least: float = LEAST) -> float:
    """Return how much larger a loss may be that counts as equal; `least` is 0 where losses may be on any scale."""
    return TIE * max(abs(loss), least)
