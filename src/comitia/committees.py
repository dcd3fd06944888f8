"""Selections that hand over a committee: chosen greedily, EO's own, agnostic Bayes.

Where no predictions were kept they hand over the best trial.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from comitia.ensembles.agnostic import Bootstraps
from comitia.ensembles.eo import SlotRules, committee_of
from comitia.ensembles.greedy import Greedy, of_least
from comitia.ensembles.losses import CommitteeLoss
from comitia.ensembles.pool import form_for, nobody, pool_of
from comitia.history import History
from comitia.seams import Member
from comitia.seeds import Seeds
from comitia.selection import Argmin


class GreedyCommittee:
    """A committee chosen greedily from all trials (T §4.1).

    Parameters
    ----------
    greedy : Greedy
    loss : CommitteeLoss, optional
        If not given: squared error for numbers, log loss where probabilities were kept, zero-one loss of a vote where
        classes were.
    wants_probabilities : bool
        Keep class probabilities instead of classes.
    """

    compares_rows = True

    def __init__(
        self,
        greedy: Greedy = Greedy(),  # noqa: B008 - frozen
        *,
        loss: CommitteeLoss | None = None,
        wants_probabilities: bool = False,
    ) -> None:
        self._greedy = greedy
        self._loss = loss
        self.wants_probabilities = wants_probabilities

    def members(self, history: History, seeds: Seeds) -> Sequence[Member]:
        """See `Selection`."""
        form = form_for(history, self._loss)
        pool = None if form is None else pool_of(history, form)
        if form is None or pool is None or not len(pool):
            return Argmin().members(history, seeds)
        order = np.argsort(pool.numbers)  # the earlier of equals is the earlier trial
        answers = pool.answers if (np.diff(order) > 0).all() else pool.answers[order]
        rng = seeds("greedy", len(history))
        counts = self._greedy(nobody(pool, form), answers, rng, pool.seconds[order])
        return weighted(history, pool.numbers[order], counts)


class SlotCommittee:
    """The committee that ensemble optimisation ends with (T Alg. 4.1)."""

    compares_rows = True

    def __init__(self, rules: SlotRules) -> None:
        self._rules = rules

    def members(self, history: History, seeds: Seeds) -> Sequence[Member]:
        """See `Selection`."""
        trials = committee_of(history, self._rules).members
        if not trials:
            return Argmin().members(history, seeds)
        return weighted(history, *np.unique(trials, return_counts=True))


class AgnosticBayes:
    """The best model of each bootstrap of the validation rows; duplicates become weights (L Alg. 2).

    Parameters
    ----------
    bootstraps : Bootstraps
    most_members : int, optional
        Keep the models that are the best of most bootstraps.
    """

    compares_rows = True

    def __init__(self, bootstraps: Bootstraps = Bootstraps(), *, most_members: int | None = None) -> None:  # noqa: B008 - frozen
        self._bootstraps = bootstraps
        self._most_members = most_members

    def members(self, history: History, seeds: Seeds) -> Sequence[Member]:
        """See `Selection`."""
        pool = self._bootstraps.pool(history)
        if not len(pool):
            return Argmin().members(history, seeds)
        order = np.argsort(pool.numbers)
        risks = self._bootstraps.risks(pool, list(range(self._bootstraps.count(history))), seeds)[order]
        best = [of_least(column)[0] for column in risks.T]  # the earlier of equals
        counts = np.bincount(best, minlength=len(pool))
        if self._most_members is not None:
            counts[np.argsort(-counts, kind="stable")[self._most_members :]] = 0
        return weighted(history, pool.numbers[order], counts)


def weighted(history: History, numbers: NDArray[np.intp], counts: NDArray[np.intp]) -> list[Member]:
    """Return the trials that were counted, with weights that sum to 1, the heaviest first."""
    order = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i] > 0]
    total = int(counts.sum())
    trials = [history.trial(int(numbers[i])) for i in order]
    return [Member(trial.config, int(counts[i]) / total, trial.number) for i, trial in zip(order, trials, strict=True)]
