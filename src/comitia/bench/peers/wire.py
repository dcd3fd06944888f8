"""Spaces and configurations as plain JSON, for scripts that do not know comitia.

A configuration on the wire maps the names of active hyperparameters to numbers: the value of a real or an integer, the
index of a choice, and for a SciPy distribution its probability. For a tool that needs a fixed space it is *flat*: it
has inactive hyperparameters too, as the tool gave them. `scripts/protocol.py` is the other end.
"""

import math
import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from comitia.arrays import Array, Json
from comitia.errors import SpaceError
from comitia.space import Space
from comitia.space.conditions import Combination, Rule, compile_condition, compile_forbidden, in_order_of_dependence
from comitia.space.hyperparameters import Choice, Hyperparameter, Integer, Real

Wire = dict[str, float | int]
TOLERANCE = 1e-9
"""How far outside its range, relative to the range, a real may come back: peers compute in logarithms."""
_TESTS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_NAMES = {test: test.__name__ for test in _TESTS}


def describe(space: Space) -> Json:
    """Return the space as JSON: hyperparameters with parents before children, conditions, forbidden clauses."""
    columns = space.columns
    index = {name: i for i, name in enumerate(space.names)}
    rules = {index[c.child.name]: compile_condition(c, columns) for c in space.configspace.conditions}
    order = in_order_of_dependence(len(space), rules)
    defaults = space.defaults
    return {
        "hyperparameters": [_hyperparameter(columns[i], float(defaults[i])) for i in order],
        "conditions": {space.names[i]: _rule(rule, space.names) for i, rule in rules.items()},
        "forbidden": [_rule(compile_forbidden(c, columns), space.names) for c in space.configspace.forbidden_clauses],
    }


def to_wire(space: Space, X: ArrayLike, *, flat: bool = False) -> list[Wire]:
    """Return the configurations of some coordinates as they are sent."""
    X = np.asarray(X, dtype=np.float64).reshape(-1, len(space))
    numbers = [_numbers(column, X[:, j]) for j, column in enumerate(space.columns)]
    shown = np.ones(X.shape, dtype=bool) if flat else space.active(X)
    return [
        {name: values[i] for name, values, is_on in zip(space.names, numbers, on, strict=True) if is_on}
        for i, on in enumerate(shown.tolist())
    ]


def from_wire(space: Space, configs: Sequence[Json], *, flat: bool = False) -> Array:
    """Return the coordinates of configurations that came back, (n, d).

    Raises
    ------
    SpaceError, UnknownName
        If one is not of the space.
    """
    columns = dict(zip(space.names, space.columns, strict=True))
    valued = [
        {name: _value(columns[name], number) if name in columns else number for name, number in config.items()}
        for config in configs
    ]
    if not flat:
        return space.encode(valued)
    if short := [config for config in valued if config.keys() != columns.keys()]:
        raise SpaceError(
            f"A flat configuration must have all of {', '.join(columns)}. Got {', '.join(short[0])} instead."
        )
    X = np.array([[columns[name].coordinate(config[name]) for name in space.names] for config in valued])
    X = X.reshape(-1, len(space))
    space.encode(space.decode(X))  # refuses what is forbidden
    return X


def _hyperparameter(column: Hyperparameter, default: float) -> Json:
    """Describe one column; normal and beta distributions are reduced to their ranges."""
    [number] = _numbers(column, np.array([default]))
    common = {"name": column.name, "default": number, "log": False, "ordered": True}
    match column:
        case Real(quantiles=None):
            return common | {"type": "real", "lower": column.lower, "upper": column.upper, "log": column.log}
        case Real():
            return common | {"type": "real", "lower": 0.0, "upper": 1.0}
        case Integer():
            return common | {"type": "integer", "lower": column.lower, "upper": column.upper, "log": column.log}
    assert isinstance(column, Choice)
    labels = [repr(option) for option in column.options]
    choice = {"type": "choice", "lower": 0, "upper": len(labels) - 1, "labels": labels, "ordered": column.ordered}
    return common | choice


def _rule(rule: Rule, names: Sequence[str]) -> Json:
    if isinstance(rule, Combination):
        return {"all" if rule.every else "any": [_rule(part, names) for part in rule.parts]}
    test = {"test": _NAMES.get(rule.compare, "in"), "name": names[rule.column]}
    if rule.other is not None:
        return test | {"other": names[rule.other]}
    return test | {"value": np.asarray(rule.operand).tolist()}


def _numbers(column: Hyperparameter, x: Array) -> list[float | int]:
    if isinstance(column, Real):
        return [float(number) for number in (x if column.quantiles is not None else column.numbers(x))]
    return [int(number) for number in column.numbers(x).tolist()]


def _value(column: Hyperparameter, number: object) -> object:
    """Return the value behind a number of the wire; what is not one is left for `encode` to refuse."""
    if not isinstance(number, int | float) or not math.isfinite(number):
        return number
    if isinstance(column, Choice):
        return column.options[int(number)] if number in range(len(column.options)) else number
    if not isinstance(column, Real):
        return number
    if column.quantiles is not None:
        return column.values(np.array([float(number)]))[0]
    slack = TOLERANCE * (column.upper - column.lower)
    inside = column.lower - slack <= number <= column.upper + slack
    return min(max(float(number), column.lower), column.upper) if inside else number
