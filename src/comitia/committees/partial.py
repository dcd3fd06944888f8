"""Trials that were rejected after some folds: what a committee with them would lose, from the rows that they have.

Such a trial is never a member, but a search learns from it. Beside the committee as it is, on the same rows, it is as
good or as bad as beside it on all rows, up to noise: its value is the committee's loss on all rows and what the trial
changes on its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from comitia.arrays import AnyArray, Array, Indices
from comitia.committees.losses import AverageLoss, unit_of
from comitia.committees.pool import Pool, by_row
from comitia.committees.tempering import temperature_of, tempered
from comitia.committees.votes import Averages, Rows
from comitia.history import History, Predictions


@dataclass(frozen=True, eq=False)
class Part:
    """What is kept of the predictions of some rows."""

    places: Indices
    """Of the rows among those of a pool, ascending: (n,)."""
    kept: AnyArray
    """As the pool keeps it, (..., n)."""
    n_folds: int


def part_of(found: Predictions, loss: AverageLoss, rows: Rows, row_numbers: Indices) -> Part | None:
    """Return what a loss keeps of predictions of some of the rows; None if there are none among them.

    A temperature is that of these rows.
    """
    own = np.unique(found.rows)
    places = np.searchsorted(row_numbers, own)
    is_known = row_numbers[np.minimum(places, len(row_numbers) - 1)] == own
    if not is_known.any():
        return None
    values = by_row(found.rows, np.asarray(found.values), rows.n_classes)[is_known]
    places = places[is_known]
    y = rows.y[places]
    if loss.tempers and values.ndim == 2:
        values = tempered(values, temperature_of(values, y, rows.weights[places]))
    kept = loss.keep(values, y, rows.n_classes)
    if loss.is_of_numbers:  # residuals are in units of the rows that are given
        kept = kept * np.float32(unit_of(y) / unit_of(rows.y))
    return Part(places, kept, len(np.unique(found.folds)))


class Parts:
    """What a loss keeps of the trials of a history that were rejected, in groups that have the same rows."""

    def __init__(self, loss: AverageLoss) -> None:
        self._loss = loss
        self._generation = -1
        self._start()

    def _start(self) -> None:
        self._seen: set[int] = set()
        self._groups: dict[bytes, tuple[Part, list[int], list[AnyArray]]] = {}

    def update(self, history: History, pool: Pool) -> None:
        """Read the trials that were rejected since."""
        if pool.generation != self._generation:
            self._generation = pool.generation
            self._start()
        if pool.rows is None or len(self._seen) == history.n_rejected:
            return
        for number in history.finished.tolist():
            observation = history.observation(number)
            if number in self._seen or observation is None or observation.status != "rejected":
                continue
            self._seen.add(number)
            found = history.predictions(number)
            part = None if found is None else part_of(found, self._loss, pool.rows, pool.row_numbers)
            if part is not None:
                _, numbers, kept = self._groups.setdefault(part.places.tobytes(), (part, [], []))
                numbers.append(number)
                kept.append(part.kept)

    def losses_beside(self, rest: Averages, before: int) -> tuple[Indices, Array, Array]:
        """Return the trials before one, the committee's loss with each beside others, and how uncertain that is.

        The variance is that of what a row changes, divided by the trial's rows less that by all, times 1 + 1 / (k - 1).
        """
        numbers, losses, noise = [np.empty(0, dtype=np.intp)], [np.empty(0)], [np.empty(0)]
        if rest.total is not None:
            everywhere, all_rows = float(rest.loss()), len(rest.rows.y)
            without = rest.row_losses()
            for part, trials, kept in self._groups.values():
                some = [i for i, trial in enumerate(trials) if trial < before]
                if not some:
                    continue
                together = np.stack([kept[i] for i in some]) + rest.total[..., part.places]
                changes = self._loss.rows(together / (rest.size + 1)) - without[part.places]  # (n_some, n)
                w = rest.rows.weights[part.places]
                w = w / w.sum() if w.sum() > 0 else np.full(len(w), 1.0 / len(w))
                means = changes @ w
                variance = (changes - means[:, None]) ** 2 @ w
                n, k = len(w), max(all_rows * part.n_folds / len(w), 2.0)
                numbers.append(np.array([trials[i] for i in some], dtype=np.intp))
                losses.append(everywhere + means)
                noise.append(variance * max(1.0 / n - 1.0 / all_rows, 0.0) * (1.0 + 1.0 / (k - 1.0)))
        return np.concatenate(numbers), np.concatenate(losses), np.concatenate(noise)


def parts_of(history: History, loss: AverageLoss, pool: Pool) -> Parts:
    """Return the rejected trials of a history beside its pool, up to date."""
    parts = history.remember((Parts, loss.kept), lambda: Parts(loss))
    parts.update(history, pool)
    return parts
