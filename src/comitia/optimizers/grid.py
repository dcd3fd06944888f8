"""Axis-aligned grid search (Lévesque 2018, §3.3: 10 x 10 in the logarithm)."""

from collections.abc import Sequence
from dataclasses import dataclass

from comitia.arrays import Indices
from comitia.errors import check_int
from comitia.history import History
from comitia.seams import Ask, Needs, Values
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

    needs = Needs(own_points=True)

    def __init__(self, space: Space, levels: int = 10) -> None:
        check_int("Grid", "levels", levels)
        self._space = space
        self._points = space.grid(levels)

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        """Return the next points; those that were enqueued by hand are not asked again."""
        walk = history.remember((self, seeds), lambda: Walk(seeds("grid").permutation(len(self._points))))
        found: list[Ask] = []
        for position in range(walk.n_asked, len(walk.order)):
            if len(found) == n:
                break
            x = self._points[walk.order[position]]
            if not history.was_asked(self._space.decode(x[None])[0]):
                found.append(Ask(x))
            elif not found:
                walk.n_asked = position + 1
        return found


@dataclass
class Walk:
    """How far a study has come through the points of a grid."""

    order: Indices
    n_asked: int = 0
    """Points from the first on that were all asked."""
