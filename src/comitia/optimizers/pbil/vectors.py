"""The probability vectors of a space: what each chooses from, and which hyperparameters share one."""

from dataclasses import dataclass
from typing import TypeGuard

import ConfigSpace as CS
import numpy as np

from comitia.arrays import Array, Indices
from comitia.errors import ChoiceError, check_int
from comitia.space import Space
from comitia.space.hyperparameters import Choice, Hyperparameter

MIDDLE = 0.5
"""Coordinate of what a component leaves open; `Space.impute` puts inactive hyperparameters there too."""


@dataclass(frozen=True)
class Vector:
    """What one probability vector chooses from."""

    name: str
    labels: tuple[str, ...]
    """What each component stands for."""
    cells: Array
    """Coordinates that each component sets, (n_components, width)."""
    start: Array
    """Probabilities of the first generation, (n_components,)."""
    draws: tuple[tuple[int, ...], ...]
    """The columns that each draw sets: one draw per hyperparameter, several where hyperparameters share the vector."""

    def components(self, X: Array) -> Indices:
        """Return the component nearest to each row of imputed coordinates, for each draw, (n, n_draws)."""
        distances = [((X[:, None, columns] - self.cells) ** 2).sum(axis=2) for columns in self.draws]
        return np.stack([d.argmin(axis=1) for d in distances], axis=1)


def make_vectors(space: Space, bins: int, most: int | None, *, flat: bool) -> tuple[Vector, ...]:
    """Return the vectors of a space: one for each hyperparameter, shared and joint ones where it says so."""
    only_open = values_that_only_open_a_choice(space) if flat else {}
    second_choices = {child for children in only_open.values() for child in children.values()}
    groups: dict[str, list[int]] = {}
    cells_of: dict[int, Array] = {}
    for index, (name, hyperparameter) in enumerate(space.configspace.items()):
        if index in second_choices:  # part of the first choice's vector
            continue
        meta = hyperparameter.meta or {}
        groups.setdefault(meta.get("vector", name), []).append(index)
        own = meta.get("components")
        if own is not None:
            check_int(f"the meta of {name!r}", "components", own)
        cells_of[index] = _cells(space.columns[index], own, bins, most)
    found = []
    for name, columns in groups.items():
        first, cells = space.columns[columns[0]], cells_of[columns[0]]
        if columns[0] in only_open:
            found.append(_joint(space, columns[0], only_open[columns[0]]))
            continue
        if any(not np.array_equal(cells_of[c], cells) for c in columns):
            raise ChoiceError(
                f"Hyperparameters that share the vector {name!r} must have the same number of values. Got "
                f"{', '.join(repr(space.names[c]) for c in columns)}. Give one of them another vector."
            )
        labels = tuple(str(value) for value in first.values(cells))
        found.append(Vector(name, labels, cells[:, None], _start(first, len(cells)), tuple((c,) for c in columns)))
    return tuple(found)


def _cells(column: Hyperparameter, own: int | None, bins: int, most: int | None) -> Array:
    """Return the coordinates of a column's components: all values of a choice, cells of a number.

    Parameters
    ----------
    own : int or None
        How many components the hyperparameter itself asks for.
    """
    if isinstance(column, Choice):
        return column.grid(int(column.size))
    wanted = own or bins
    n = min(wanted, most or wanted)
    if column.size <= n or n == own:
        return column.grid(n)  # every value of an integer, or from one end to the other
    centres = (np.arange(n) + 0.5) / n
    return np.unique(column.snap(column.warp(centres)))


def _start(column: Hyperparameter, n: int) -> Array:
    weights = column.weights if isinstance(column, Choice) and column.weights is not None else np.ones(n)
    return np.asarray(weights, dtype=np.float64) / np.sum(weights)


def _joint(space: Space, first: int, second_of: dict[int, int]) -> Vector:
    """Return the vector in which the values of a first choice and of its second choices compete.

    Parameters
    ----------
    first : int
        Column of the first choice.
    second_of : dict
        Columns of the second choices, by the index of the value that opens each. The second one's values stand in the
        vector instead of it.
    """
    columns = (first, *second_of.values())
    cells, labels = [], []
    for index, coordinate in enumerate(space.columns[first].grid(1)):
        second = second_of.get(index)
        options = [MIDDLE] if second is None else space.columns[second].grid(1).tolist()
        for option in options:
            row = np.full(len(columns), MIDDLE)
            row[0] = coordinate
            if second is not None:
                row[columns.index(second)] = option
            cells.append(row)
            shown = space.columns[first if second is None else second]
            labels.append(str(shown.values(np.array([coordinate if second is None else option]))[0]))
    return Vector(space.names[first], tuple(labels), np.array(cells), np.full(len(cells), 1 / len(cells)), (columns,))


def values_that_only_open_a_choice(space: Space) -> dict[int, dict[int, int]]:
    """Return, for each first choice, which of its values do nothing but open a second choice, and which one.

    A first choice depends on nothing. "No ensemble" only opens the choice of a classifier; "bagging" opens its own
    tuning too. Columns by number, values by index: `{first: {value: second}}`.
    """
    index = {name: i for i, name in enumerate(space.names)}
    conditions = space.configspace.conditions
    conditional = {condition.child.name for condition in conditions}
    found: dict[int, dict[int, int]] = {}
    for name, first in index.items():
        column = space.columns[first]
        if name in conditional or not _is_plain_choice(column):
            continue
        for value, option in enumerate(column.options):
            opened_by_value = [c for c in conditions if _is_opened_by(c, name, option)]
            if len(opened_by_value) == 1 and type(opened_by_value[0]) is CS.EqualsCondition:
                second = index[opened_by_value[0].child.name]
                if _is_plain_choice(space.columns[second]):
                    found.setdefault(first, {})[value] = second
    return found


def _is_plain_choice(column: Hyperparameter) -> TypeGuard[Choice]:
    """Tell whether values have neither order nor weights, so that those of two choices can stand side by side."""
    return isinstance(column, Choice) and not column.ordered and column.weights is None


def _is_opened_by(condition: object, parent: str, option: object) -> bool:
    """Tell whether a condition, or a part of it, holds where a parent has this value."""
    if isinstance(condition, CS.AndConjunction | CS.OrConjunction):
        return any(_is_opened_by(part, parent, option) for part in condition.components)
    if condition.parent.name != parent:  # type: ignore[attr-defined]
        return False
    if isinstance(condition, CS.InCondition):
        return option in condition.values
    return not isinstance(condition, CS.EqualsCondition) or bool(condition.value == option)
