"""The pool: what every trial's models said about the same rows, read from the history once.

`Pool` grows with the history and is a cache of it. A trial takes part if it succeeded, its predictions were kept, and
they speak of all the rows that the others speak of; a row that was judged several times counts with its mean, or the
most frequent class.
"""

from dataclasses import replace

import numpy as np

from comitia.arrays import AnyArray, Array, Indices
from comitia.committees.losses import (
    LOG_LOSS,
    SINGLE_LOG_LOSS,
    SINGLE_ZERO_ONE,
    SQUARED_ERROR,
    ZERO_ONE,
    AverageLoss,
    CommitteeLoss,
    KeptPart,
)
from comitia.committees.tempering import temperature_of, tempered
from comitia.committees.votes import Rows, Tally, empty, make_rows
from comitia.history import History, Predictions, Truth

OWN_LOSSES = "losses"
"""What is kept is the loss that each row was judged by."""
MOST_ERROR = 1e150
"""Errors of numbers beyond count as this: their squares are still numbers."""


class Pool:
    """The models of a history, in the order in which they were read.

    `generation` says how often it has begun again, with other trials or other rows.
    """

    def __init__(self, keeper: KeptPart | None) -> None:
        self._keeper = keeper
        self._n_superseded = 0
        self.generation = 0
        self._start()

    def _start(self) -> None:
        self.generation += 1
        self.rows: Rows | None = None
        self._row_numbers: Indices = np.empty(0, dtype=np.intp)
        self._leader = -1  # the trial whose rows they are
        self._seen: set[int] = set()
        self._n = 0
        self._numbers = np.empty(16, dtype=np.intp)
        self._seconds = np.empty(16)
        self._temperatures = np.ones(16)
        self._answers: AnyArray | None = None

    def __len__(self) -> int:
        return self._n

    @property
    def numbers(self) -> Indices:
        """Trials of the models, (n_models,)."""
        return self._numbers[: self._n]

    @property
    def answers(self) -> AnyArray:
        """What is kept of their predictions, (n_models, ...)."""
        assert self._answers is not None
        return self._answers[: self._n]

    @property
    def row_numbers(self) -> Indices:
        """Which rows of the user's table they speak of, ascending."""
        return self._row_numbers

    @property
    def seconds(self) -> Array:
        """Seconds that each takes to predict 1,000 rows, (n_models,); NaN where they were not measured."""
        return self._seconds[: self._n]

    @property
    def temperatures(self) -> Array:
        """What each one's probabilities were tempered by, (n_models,); 1 where the loss does not ask for it."""
        return self._temperatures[: self._n]

    def place_of(self, number: int) -> int:
        """Return where the model of a trial is."""
        return int(np.flatnonzero(self.numbers == number)[0])

    def update(self, history: History) -> None:
        """Read the trials that have finished since."""
        n_superseded = int(np.count_nonzero(history.is_superseded))
        if n_superseded != self._n_superseded:  # a longer trial replaces one that is here
            self._n_superseded = n_superseded
            self._start()
        if len(self._seen) != history.n_finished:
            self._read_all(history)

    def _read_all(self, history: History) -> None:
        for number in history.finished.tolist():
            if number not in self._seen:
                self._seen.add(number)
                if not history.is_superseded[number]:
                    self._read(history, number)

    def _read(self, history: History, number: int) -> None:
        if not np.isfinite(history.losses[number]):
            return  # a trial that was rejected has predictions, too, but not of all rows
        found = whole_predictions(history, number)
        if found is not None and self._keeper is None:
            found = with_losses(found, history.truth)
        if found is None or (self._keeper is None and found.losses is None):
            return
        own_rows = np.unique(found.rows)
        if not np.array_equal(own_rows, self._row_numbers):
            # the trial with the most rows leads, the first of equals: whatever the order they are read in
            if (len(own_rows), -number) > (len(self._row_numbers), -self._leader):
                self._start()
                self._row_numbers, self._leader, self.rows = own_rows, number, rows_of(history, own_rows)
                self._read_all(history)
            return
        self._leader = min(self._leader, number)
        self._append(number, found)

    def _append(self, number: int, found: Predictions) -> None:
        kept, temperature = self._kept(found)
        if self._answers is None:
            self._answers = np.empty((16, *kept.shape), dtype=kept.dtype)
        if self._n == len(self._answers):
            # half as much again: a pool is most of a committee's memory
            more = max(16, self._n // 2)
            self._answers = np.concatenate([self._answers, np.empty((more, *kept.shape), dtype=kept.dtype)])
            self._numbers = np.concatenate([self._numbers, np.empty(more, dtype=np.intp)])
            self._seconds = np.concatenate([self._seconds, np.empty(more)])
            self._temperatures = np.concatenate([self._temperatures, np.ones(more)])
        self._answers[self._n] = kept
        self._numbers[self._n] = number
        self._temperatures[self._n] = temperature
        self._seconds[self._n] = np.nan if found.seconds is None else 1e3 * found.seconds.sum() / len(found.rows)
        self._n += 1

    def _kept(self, found: Predictions) -> tuple[AnyArray, float]:
        """Return what is kept of predictions, and the temperature of their probabilities."""
        assert self.rows is not None
        if self._keeper is None:
            assert found.losses is not None
            losses = by_row(found.rows, found.losses, 0)
            # errors of numbers may be on any scale, also on one that single precision does not reach
            return (losses.astype(np.float32) if self.rows.n_classes else losses), 1.0
        n_classes = self.rows.n_classes
        values = by_row(found.rows, np.asarray(found.values), n_classes)
        temperature = 1.0
        if isinstance(self._keeper, AverageLoss) and self._keeper.tempers and values.ndim == 2:
            temperature = temperature_of(values, self.rows.y, self.rows.weights)
            values = tempered(values, temperature)
        return self._keeper.keep(values, self.rows.y, n_classes), temperature


def pool_of(history: History, keeper: KeptPart | None) -> Pool:
    """Return the pool of a history, up to date; without a keeper it holds the losses that rows were judged by.

    There is one for each part that is kept: a goal and a selection share it.
    """
    pool = history.remember((Pool, OWN_LOSSES if keeper is None else keeper.kept), lambda: Pool(keeper))
    pool.update(history)
    return pool


def loss_for(history: History, wanted: CommitteeLoss | None) -> CommitteeLoss | None:
    """Return the loss that fits what the history keeps; None while it keeps nothing.

    Numbers have no votes: their loss is the squared error unless another one of numbers is wanted. If nothing is wanted
    it is the log loss where probabilities were kept and the zero-one loss of a vote where classes were.
    """
    if history.truth is None:
        return None
    if history.truth.n_classes == 0:
        return wanted if isinstance(wanted, AverageLoss) and wanted.is_of_numbers else SQUARED_ERROR
    if wanted is not None:
        return wanted
    for number in history.finished.tolist():
        found = history.predictions(number) if np.isfinite(history.losses[number]) else None
        if found is not None:
            return LOG_LOSS if found.values.ndim == 2 else ZERO_ONE
    return None


def no_members(pool: Pool, loss: CommitteeLoss) -> Tally:
    """Return the committee without members over a pool's rows."""
    assert pool.rows is not None
    return empty(loss, pool.rows)


def whole_predictions(history: History, number: int) -> Predictions | None:
    """Return a trial's predictions with those of the trials that it continues."""
    parts = []
    following: int | None = number
    while following is not None:
        part = history.predictions(following)
        if part is None:
            return None
        parts.append(part)
        following = history.trial(following).continues
    if len(parts) == 1:
        return parts[0]
    losses = [part.losses for part in parts if part.losses is not None]
    seconds = [part.seconds for part in parts if part.seconds is not None]
    return Predictions(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.folds for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate(losses) if len(losses) == len(parts) else None,
        seconds=np.concatenate(seconds) if len(seconds) == len(parts) else None,
    )


def with_losses(found: Predictions, truth: Truth | None) -> Predictions:
    """Return predictions with the loss of each row, also where a scorer judged whole folds.

    Then it is the log loss of probabilities, the zero-one loss of classes, the squared error of numbers.
    """
    if found.losses is not None or truth is None:
        return found
    values, y = np.asarray(found.values), truth.y[found.rows]
    if truth.n_classes == 0:
        # not in standard deviations of y as in a committee: a trial may have judged some rows more often than others
        return replace(found, losses=np.clip(values - y, -MOST_ERROR, MOST_ERROR) ** 2)
    single = SINGLE_LOG_LOSS if values.ndim == 2 else SINGLE_ZERO_ONE
    return replace(found, losses=single.keep(values, y, truth.n_classes).astype(np.float64))


def rows_of(history: History, numbers: Indices) -> Rows:
    """Return the truth of some rows of the user's table."""
    truth = history.truth
    if truth is None:
        return make_rows(np.zeros(len(numbers)), 0)
    weights = None if truth.weights is None else truth.weights[numbers]
    return make_rows(truth.y[numbers], truth.n_classes, weights)


def by_row(rows: Indices, values: AnyArray, n_classes: int) -> AnyArray:
    """Sort values by row and unite those of one row: (n, ...) -> (n_different_rows, ...).

    Several numbers or probabilities become their mean, several class codes the most frequent, the lowest of equals.
    """
    order = np.argsort(rows, kind="stable")
    first = np.flatnonzero(np.diff(rows[order], prepend=-1))
    values = values[order]
    if len(first) == len(rows):
        return values
    counts = np.diff(first, append=len(rows))
    if values.ndim == 1 and n_classes > 0:
        votes = np.add.reduceat(values[:, None] == np.arange(n_classes), first, axis=0, dtype=np.intp)
        return np.asarray(votes.argmax(axis=1).astype(values.dtype))
    sums = np.add.reduceat(values, first, axis=0)
    return np.asarray(sums / counts.reshape(-1, *[1] * (values.ndim - 1)))
