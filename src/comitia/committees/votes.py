"""Committees as sums: what adding each model of a pool would do, in one pass over the pool.

A committee's members are summed once; the loss with one model more is then arithmetic on that sum. For votes it is a
table of what each row would cost after a vote for each class, which the models of the pool look up. Numbers of trials
do not occur here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from comitia.arrays import AnyArray, Array
from comitia.committees.losses import SQUARED_MARGIN, AverageLoss, CommitteeLoss, VoteLoss

CHUNK = 2**18
"""Numbers of the pool that are worked on at a time: they stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that all models were judged on."""

    y: AnyArray
    """Class codes or numbers: (n,)."""
    n_classes: int
    """0 for numbers."""
    weights: Array
    """They sum to 1: (n,)."""


def make_rows(y: AnyArray, n_classes: int, weights: Array | None = None) -> Rows:
    """Return rows with weights that sum to 1; all alike where none are given, or nothing but zeros."""
    n = len(y)
    if weights is None or weights.sum() <= 0:
        return Rows(y, n_classes, np.full(n, 1.0 / max(n, 1)))
    return Rows(y, n_classes, weights / weights.sum())


@dataclass(frozen=True, eq=False)
class Votes:
    """A committee that votes.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.committees.losses import ZERO_ONE
    >>> from comitia.committees.votes import Votes, make_rows
    >>> y, pool = np.array([0, 1, 1]), np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]])
    >>> two = Votes.empty(ZERO_ONE, make_rows(y, 2)).plus(pool[:2])
    >>> float(two.loss().round(2)), two.losses_with(pool).round(2).tolist()
    (0.67, [0.33, 0.33, 0.0])
    """

    measure: VoteLoss
    rows: Rows
    counts: NDArray[np.int32]
    """Votes for each class: (n, n_classes)."""
    size: int

    @classmethod
    def empty(cls, measure: VoteLoss, rows: Rows) -> Votes:
        """Return a committee without members."""
        return cls(measure, rows, np.zeros((len(rows.y), rows.n_classes), dtype=np.int32), 0)

    def plus(self, answers: Iterable[AnyArray], times: int = 1) -> Votes:
        """Return the committee with more members, each (n,); -1 times takes them out again."""
        counts, size = self.counts.copy(), self.size
        everywhere = np.arange(len(counts))
        for codes in answers:
            counts[everywhere, codes] += times
            size += times
        return replace(self, counts=counts, size=size)

    def loss(self) -> Array:
        """Return the committee's own loss; without members it is 1."""
        if self.size == 0:
            return np.asarray(1.0)
        right, others = self._right_and_others()
        return self.measure(right, others.max(axis=1), self.size, self.rows.weights)

    def losses_with(self, answers: AnyArray) -> Array:
        """Return the losses with each model of a pool added: (n_models, n) codes -> (n_models,)."""
        n, n_classes = self.counts.shape
        right, others = self._right_and_others()
        everywhere = np.arange(n)
        # after one vote for class c: the true class gains it, or c may become the strongest rival
        rival = np.maximum(others.max(axis=1)[:, None], others + 1.0)  # (n, n_classes)
        rival[everywhere, self.rows.y] = others.max(axis=1)
        rights = np.repeat(right[:, None], n_classes, axis=1)
        rights[everywhere, self.rows.y] += 1.0
        tables = [
            (term(rights, rival, self.size + 1) * self.rows.weights[:, None]).ravel() for term in self.measure.terms
        ]
        first = everywhere * n_classes
        means = np.empty((len(answers), len(tables)))
        for some in chunks(len(answers), n):
            places = np.add(answers[some], first, dtype=np.intp)
            for j, table in enumerate(tables):
                means[some, j] = table.take(places).sum(axis=1)
        return self.measure.combine(means)

    def smooth(self) -> Votes:
        """Return the same committee judged by the squared margin, which seldom finds two models equal."""
        return replace(self, measure=SQUARED_MARGIN)

    def _right_and_others(self) -> tuple[Array, Array]:
        """Return the votes for the true class, and all votes with -inf in its place."""
        others = self.counts.astype(np.float64)
        everywhere = np.arange(len(others))
        right = others[everywhere, self.rows.y]
        others[everywhere, self.rows.y] = -np.inf
        return right, others


@dataclass(frozen=True, eq=False)
class Averages:
    """A committee that averages probabilities or numbers."""

    measure: AverageLoss
    rows: Rows
    total: Array | None = None
    """Sum of what is kept of its members; None without members: (..., n)."""
    size: int = 0

    def plus(self, answers: Iterable[AnyArray], times: int = 1) -> Averages:
        """Return the committee with more members, each (..., n); -1 times takes them out again."""
        total, size = self.total, self.size
        for kept in answers:
            total = (0.0 if total is None else total) + times * kept.astype(np.float64)
            size += times
        return replace(self, total=total, size=size)

    def loss(self) -> Array:
        """Return the committee's own loss; without members it is infinite."""
        if self.size == 0:
            return np.asarray(np.inf)
        return np.asarray(self.row_losses() @ self.rows.weights)

    def row_losses(self) -> Array:
        """Return the loss of each row of a committee that has members, (n,)."""
        assert self.total is not None
        return np.asarray(self.measure.rows(self.total / self.size))

    def losses_with(self, answers: AnyArray) -> Array:
        """Return the losses with each model of a pool added: (n_models, ..., n) -> (n_models,)."""
        found = np.empty(len(answers))
        share = np.float32(1.0 / (self.size + 1))
        total = None if self.total is None else self.total.astype(np.float32)
        for some in chunks(len(answers), int(np.prod(answers.shape[1:]))):
            mean = answers[some].copy() if total is None else answers[some] + total
            mean *= share
            # summed row by row, not by a matrix product, whose last digits depend on the other models
            found[some] = (self.measure.rows(mean) * self.rows.weights).sum(axis=1)
        return found

    def smooth(self) -> Averages:
        """Return itself: averages are smooth."""
        return self


Tally = Votes | Averages


def empty(measure: CommitteeLoss, rows: Rows) -> Tally:
    """Return a committee without members that is judged by a loss."""
    return Votes.empty(measure, rows) if isinstance(measure, VoteLoss) else Averages(measure, rows)


def chunks(n_models: int, n_numbers: int) -> Iterator[slice]:
    """Cut a pool of models with so many numbers each into pieces of about `CHUNK`."""
    step = max(1, CHUNK // max(n_numbers, 1))
    for first in range(0, n_models, step):
        yield slice(first, first + step)
