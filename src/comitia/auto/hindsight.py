"""What a fit would have returned earlier, or without one of its members, judged by what trials kept of their answers.

Nothing is trained: everything here is known after the fit, and also of a model that was loaded.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from comitia.arrays import Array
from comitia.auto.estimate import Estimating
from comitia.auto.noise import Told
from comitia.auto.validation import merged, validated
from comitia.committees.combine import one_hot
from comitia.committees.pool import by_row, whole_predictions
from comitia.committees.tempering import tempered
from comitia.errors import NothingFound
from comitia.evaluation.judged import Given
from comitia.evaluation.scoring import Scoring
from comitia.history import History
from comitia.seams import Member
from comitia.study.study import Study

N_DECISIONS = 10
"""One partition of the rows for each moment: a curve is not read to the last digit."""
N_MOMENTS = 12


@dataclass(frozen=True)
class Moment:
    """What would have been returned after so many trials."""

    n_trials: int
    optimistic: float
    """Its score on the rows that chose it."""
    estimate: float
    """What to expect of it on new rows."""


@dataclass(frozen=True, eq=False)
class Hindsight:
    """A finished study, what was returned of it, and how that is judged."""

    study: Study
    members: Sequence[Member]
    given: Given
    scoring: Scoring
    sample_weight: Array | None
    """How much each row of the table counts; all alike if None: (n_rows,)."""
    order: Sequence[int] | None
    tunes: bool
    tempers: bool = False
    """Whether the probabilities of all members together are tempered."""

    @property
    def trials(self) -> list[Member]:
        """One member for each trial that is a part of what was returned; none where one was never tried."""
        return merged(self.study.history, self.members)

    def score(self, members: Sequence[Member]) -> float:
        """Return the score of some members together on validation rows; NaN where it is not known."""
        return self._score(self.study.history, members)

    def score_without(self, trial: int) -> float:
        """Return the score on validation rows of all members but one, whose weight goes to the others."""
        others = [member for member in self.trials if member.trial != trial]
        total = sum(member.weight for member in others)
        if not others or total <= 0:
            return float("nan")
        return self.score([replace(member, weight=member.weight / total) for member in others])

    def errors(self) -> Array | None:
        """Return how wrong each member is about each validation row, (n_members, n_rows); None where it is not known.

        For numbers the residual, for classes what the true one lacks of a probability of 1.
        """
        truth = self.study.history.truth
        kept = [whole_predictions(self.study.history, m.trial) for m in self.trials if m.trial is not None]
        known = [one for one in kept if one is not None]
        if truth is None or not known or len(known) < len(self.trials):
            return None
        rows = np.unique(known[0].rows)
        if not all(np.array_equal(np.unique(one.rows), rows) for one in known):
            return None
        found = []
        for member, one in zip(self.trials, known, strict=True):
            values = by_row(one.rows, np.asarray(one.values), truth.n_classes)
            if not truth.n_classes:
                found.append(values - truth.y[rows])
                continue
            p = one_hot(values, truth.n_classes) if values.ndim == 1 else tempered(values, member.temperature)
            found.append(1.0 - p[np.arange(len(rows)), truth.y[rows].astype(np.intp)])
        return np.asarray(found, dtype=np.float64)

    def path(self, seconds: float = 6.0) -> list[Moment]:
        """Return what would have been returned after more and more trials, for `seconds` of a processor."""
        history = self.study.history
        began = time.process_time()
        found: list[Moment] = []
        for n in moments(history.n_finished):
            spent = time.process_time() - began
            if found and spent * (1 + n / found[-1].n_trials) > seconds:
                break
            moment = self._after(n)
            if moment is not None:
                found.append(moment)
        return found

    def _score(self, history: History, members: Sequence[Member]) -> float:
        told = validated(
            history,
            members,
            self.given,
            self.scoring,
            self.sample_weight,
            order=self.order,
            tunes=self.tunes,
            tempers=self.tempers,
        )
        return float("nan") if told is None else told.predictions.score(self.scoring, self.given)

    def _after(self, n: int) -> Moment | None:
        """Return what would have been returned after n trials; None where nothing, or it cannot be judged."""
        earlier = copy.copy(self.study)
        earlier.history = first_trials(self.study.history, n)
        try:
            members = earlier.members()
        except NothingFound:
            return None
        told = validated(
            earlier.history,
            members,
            self.given,
            self.scoring,
            self.sample_weight,
            order=self.order,
            tunes=self.tunes,
            tempers=self.tempers,
        )
        if told is None:
            return None
        estimating = Estimating(
            earlier,
            Told(told.predictions, self.given, self.scoring),
            sample_weight=self.sample_weight,
            order=self.order,
            tunes=self.tunes,
            tempers=self.tempers,
            n_decisions=N_DECISIONS,
        )
        optimistic, expected = told.predictions.score(self.scoring, self.given), estimating.expected()
        return Moment(n, optimistic, expected) if np.isfinite([optimistic, expected]).all() else None


def moments(n: int) -> list[int]:
    """Return up to a dozen numbers of trials, from 1 to n: closer to each other at the beginning."""
    return [int(m) for m in np.unique(np.geomspace(1, max(n, 1), N_MOMENTS).round())]


def first_trials(history: History, n: int) -> History:
    """Return the history of the first n trials."""
    earlier = History(history.X.shape[1], history.predictions, space=history.space, truth=history.truth)
    for number in range(min(n, len(history))):
        earlier.append(history.trial(number))
        observation = history.observation(number)
        if observation is not None:
            earlier.finish(observation)
    return earlier
