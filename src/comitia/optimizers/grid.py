"""Axis-aligned grid search (T §3.3: 10 x 10 in the logarithm)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from comitia.arrays import Array, Indices
from comitia.errors import ChoiceError
from comitia.history import History
from comitia.seams import Ask
from comitia.seeds import Seeds
from comitia.space import Space


class Grid:
    """Every combination of `levels` values for each active hyperparameter, in a random order.

    The order is shuffled once for the study, so that a budget below the grid's size still covers the space; the whole
    grid is the same whatever the order.

    Parameters
    ----------
    space : Space
    levels : int
        Values for each real, and for each integer that has more; choices keep all of theirs.
    """

    needs_generations = False

    def __init__(self, space: Space, levels: int = 10) -> None:
        if levels < 1:
            raise ChoiceError(f"The 'levels' parameter of Grid must be an int >= 1. Got {levels} instead.")
        self._space = space
        self._points = space.grid(levels)
        self._order: tuple[int, Indices] = (-1, np.empty(0, dtype=np.intp))
        self._known: tuple[int, History | None] = (
            0,
            None,
        )  # cache: so many points of the order were asked in that history

    def ask(self, history: History, values: Array, n: int, seeds: Seeds) -> Sequence[Ask]:
        """See `Optimizer`. Points that were enqueued by hand are not asked again."""
        if self._order[0] != seeds.seed:
            self._order = (seeds.seed, seeds("grid").permutation(len(self._points)))
            self._known = (0, None)
        known = self._known[0] if self._known[1] is history else 0
        order = self._order[1]
        found: list[Ask] = []
        for position in range(known, len(order)):
            if len(found) == n:
                break
            x = self._points[order[position]]
            if not history.was_asked(self._space.decode(x[None])[0]):
                found.append(Ask(x))
            elif not found:
                self._known = (position + 1, history)
        return found
