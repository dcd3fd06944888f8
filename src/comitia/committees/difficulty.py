"""Row-difficulty correction: trials that were judged on different rows become comparable.

Competent models find the same rows hard, so which rows a trial was judged on explains much of its score. A trial's loss
on a row is taken apart into what belongs to the trial and what belongs to the row::

    loss[i, r] = a_i + d_r + e
    minimise  sum over judged (i, r)  u_i w_r (loss[i, r] - a_i - d_r)^2  +  sum over r  w_r d_r^2

Incompetent models say little about which rows are hard: u_i falls with the variance of a trial's residuals, from 1 for
the calmest quarter. Without it the log loss of trees, which is huge on single rows, adds more noise than it explains.
The ridge on d leaves the level to a, and is one more observation of an ordinary row. Given a, each d_r is a mean; what
is left is one linear system in a, solved by conjugate gradients: a few products with the table of who judged what. Rows
that were judged by the same trials are one column of it, so folds that all trials share cost next to nothing. Where all
trials were judged on all rows a_i is the mean loss.

What is kept of a history is a cache of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.committees.pool import by_row, whole_predictions
from comitia.history import History

RIDGE = 1.0
"""In observations of a row."""
CALM = 0.25
"""Trials whose residuals vary less than those of so large a part of all count fully."""
LEAST_PRECISION = 1e-3
ROUNDS = 2
"""How often it is looked at which trials are calm."""
CLOSE = 1e-10
"""Conjugate gradients stop when the residual has shrunk to this part."""
MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Corrected:
    """What belongs to the trials themselves."""

    numbers: Indices
    """The trials, ascending: (n,)."""
    values: Array
    """a_i, in units of the loss: (n,)."""
    noise: Array
    """How much the value would vary with the rows: the variance of e over rows, divided by the trial's rows less that
    by all of them, as the latter is common to all trials; times 1 + 1 / (k - 1), as the folds' models vary, too
    (Nadeau and Bengio 2003). 0 for a trial that was judged on all rows: (n,)."""


class RowLosses:
    """The loss of every trial on every row that it was judged on, in a table that grows with the history."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._n_superseded = 0
        self._past: tuple[object, Corrected] | None = None  # cache: the same past is asked for again and again
        self._start()

    def _start(self) -> None:
        self._seen.clear()
        self._numbers: list[int] = []
        self._n_folds: list[int] = []
        self._rows = np.empty(0, dtype=np.intp)  # of the user's table, ascending
        self._losses = np.empty((0, 0))  # NaN where a trial did not judge a row: (n, n_rows)

    def update(self, history: History) -> None:
        """Read the trials that have finished since; a longer trial replaces the one that it continues."""
        n_superseded = int(np.count_nonzero(history.is_superseded))
        if n_superseded != self._n_superseded:
            self._n_superseded = n_superseded
            self._start()
        if len(self._seen) == history.n_finished:
            return
        for number in history.finished.tolist():
            if number not in self._seen:
                self._seen.add(number)
                if not history.is_superseded[number]:
                    self._read(history, number)

    def _read(self, history: History, number: int) -> None:
        found = whole_predictions(history, number)
        if found is None or found.losses is None:
            return
        rows, losses = np.unique(found.rows), by_row(found.rows, found.losses, 0)
        if len(new := np.setdiff1d(rows, self._rows)):
            both = np.union1d(self._rows, new)
            wider = np.full((len(self._losses), len(both)), np.nan)
            wider[:, np.searchsorted(both, self._rows)] = self._losses
            self._rows, self._losses = both, wider
        n = len(self._numbers)
        if n == len(self._losses):
            self._losses = np.concatenate([self._losses, np.full((max(16, n // 2), len(self._rows)), np.nan)])
        self._losses[n] = np.nan
        self._losses[n, np.searchsorted(self._rows, rows)] = losses
        self._numbers.append(number)
        self._n_folds.append(len(np.unique(found.folds)))

    def corrected_first(self, history: History, n: int) -> Corrected:
        """Return what belonged to the first n finished trials themselves before the others were there."""
        finished = history.finished[:n]
        key = finished.tobytes(), self._n_superseded
        if self._past is None or self._past[0] != key:
            self._past = key, self.corrected(history, int(finished[-1]) + 1)
        return self._past[1]

    def corrected(self, history: History, before: int | None = None) -> Corrected:
        """Return what belongs to the trials themselves, of those before one or of all."""
        numbers = np.array(self._numbers, dtype=np.intp)
        some = np.arange(len(numbers)) if before is None else np.flatnonzero(numbers < before)
        some = some[np.argsort(numbers[some])]
        if not len(some):
            return Corrected(numbers[some], np.empty(0), np.empty(0))
        losses = self._losses[some]
        is_judged = ~np.isnan(losses)
        any_judged = is_judged.any(axis=0)
        losses, is_judged = losses[:, any_judged], is_judged[:, any_judged]
        weights = None if history.truth is None else history.truth.weights
        w = np.ones(len(self._rows)) if weights is None else weights[self._rows]
        w = w[any_judged]
        w = w / w.mean() if w.sum() > 0 else np.ones(len(w))
        values, variance = corrected_means(np.where(is_judged, losses, 0.0), is_judged, w)
        n_folds = np.array(self._n_folds, dtype=np.float64)[some]
        return Corrected(numbers[some], values, _noise(variance, is_judged, n_folds))


def corrected_means(losses: Array, is_judged: Mask, weights: Array) -> tuple[Array, Array]:
    """Return a and the variance of the residuals, given losses (0 where not judged): (n, n_rows) -> (n,), (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.committees.difficulty import corrected_means
    >>> is_hard = np.arange(20) >= 10
    >>> is_judged = np.ones((11, 20), dtype=bool)
    >>> is_judged[9], is_judged[10] = ~is_hard, is_hard  # two equals, of which one has the easy rows
    >>> losses = np.where(is_judged, np.append(np.linspace(0.1, 0.3, 9), [0.2, 0.2])[:, None] + is_hard, 0.0)
    >>> (losses.sum(axis=1) / is_judged.sum(axis=1)).round(1)[9:].tolist()
    [0.2, 1.2]
    >>> corrected_means(losses, is_judged, np.ones(20))[0].round(1)[9:].tolist()
    [0.6, 0.8]
    """
    table = Table(losses, is_judged, weights)
    precision = np.ones(len(losses))
    for _ in range(ROUNDS):
        variance = table.variance(*table.means(precision))
        calm = float(np.quantile(variance, CALM))
        ratio = np.divide(calm, variance, out=np.ones(len(variance)), where=variance > calm)
        precision = np.maximum(ratio, LEAST_PRECISION)
    a, d = table.means(precision)
    return a, table.variance(a, d)


class Table:
    """Losses of trials on rows, ready to be taken apart; everything is a product of a matrix with a vector."""

    def __init__(self, losses: Array, is_judged: Mask, weights: Array) -> None:
        self._losses, self._weights = losses, weights
        self._judged = is_judged.astype(np.float64)
        first, block = _blocks(is_judged)
        self._in_block = self._judged[:, first]  # (n, n_blocks)
        self._size = np.bincount(block, weights, minlength=len(first))
        order = np.argsort(block, kind="stable")
        starts = np.searchsorted(block[order], np.arange(len(first)))
        self._sums = np.add.reduceat(losses[:, order] * weights[order], starts, axis=1)  # (n, n_blocks)
        self._own = self._in_block @ self._size
        self._squares = np.einsum("ir,ir,r->i", losses, losses, weights)

    def means(self, precision: Array) -> tuple[Array, Array]:
        """Return a and d, given how much trials count: see the top of this page."""
        judged, sums, own = self._in_block, self._sums, self._own
        share = 1.0 / (precision @ judged + RIDGE)  # of one observation in a row's difficulty
        weight = self._size * share

        def left(a: Array) -> Array:
            """Return what a fixes of the losses' sums, once rows have their difficulties."""
            return np.asarray(precision * (own * a - judged @ (((precision * a) @ judged) * weight)))

        right = precision * (sums.sum(axis=1) - judged @ ((precision @ sums) * share))
        a = _solve(left, right, precision * own, start=sums.sum(axis=1) / own)
        # of a row: the ridge counts as an observation of 0
        d = (precision @ self._losses - (precision * a) @ self._judged) / (precision @ self._judged + RIDGE)
        return a, np.asarray(d)

    def variance(self, a: Array, d: Array) -> Array:
        """Return the mean square of each trial's residuals, (n,)."""
        w = self._weights
        of_trial = self._squares - 2.0 * a * self._sums.sum(axis=1) + a**2 * self._own
        of_both = self._losses @ (w * d) - a * (self._judged @ (w * d))
        found = of_trial - 2.0 * of_both + self._judged @ (w * d**2)
        return np.asarray(np.maximum(found, 0.0) / self._own)


def _blocks(is_judged: Mask) -> tuple[Indices, Indices]:
    """Return one row of each block that the same trials judged, and the block of each row."""
    packed = np.ascontiguousarray(np.packbits(is_judged, axis=0).T)  # (n_rows, n_bytes)
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, block = np.unique(keys, return_index=True, return_inverse=True)
    return first, block


def _solve(left: Callable[[Array], Array], right: Array, scale: Array, start: Array) -> Array:
    """Return the solution of a positive definite system by conjugate gradients, scaled by its diagonal."""
    x = start
    residual = right - left(x)
    least = CLOSE * float(np.sqrt(right**2 / scale).sum() + np.finfo(np.float64).tiny)
    direction = residual / scale
    size = float(residual @ direction)
    for _ in range(MOST_STEPS):
        if not size > least**2:
            break
        change = left(direction)
        step = size / float(direction @ change)
        x = x + step * direction
        residual = residual - step * change
        scaled = residual / scale
        new = float(residual @ scaled)
        direction, size = scaled + (new / size) * direction, new
    return x


def _noise(variance: Array, is_judged: Mask, n_folds: Array) -> Array:
    """Return the variance of each value beside that of a trial which was judged on all rows: (n,) -> (n,)."""
    n, n_rows = is_judged.sum(axis=1), is_judged.shape[1]
    k = np.maximum(n_rows * n_folds / n, 2.0)  # folds that a trial would have in all
    return np.asarray(variance * np.maximum(1.0 / n - 1.0 / n_rows, 0.0) * (1.0 + 1.0 / (k - 1.0)))


def row_losses_of(history: History) -> RowLosses:
    """Return the row losses of a history, up to date; goals and selections share them."""
    found = history.remember(RowLosses, RowLosses)
    found.update(history)
    return found
