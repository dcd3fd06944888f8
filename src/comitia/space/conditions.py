"""Which hyperparameters are active, which configurations are forbidden, which are comparable.

Everything works on the *numbers* of a column (the value of a number, the index of a choice), whole arrays at once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import ConfigSpace as CS
import numpy as np
from numpy.typing import NDArray

from comitia.arrays import Array, Mask
from comitia.errors import SpaceError
from comitia.space.hyperparameters import Choice, Hyperparameter

Compare: TypeAlias = Callable[..., Mask]
"""`compare(numbers, operand)`, of whole columns."""
Key: TypeAlias = tuple[Hashable, ...]


@dataclass(frozen=True)
class Comparison:
    """A comparison of one hyperparameter with a number, or of two with each other."""

    column: int
    compare: Compare
    operand: Array | float = np.nan
    other: int | None = None

    def holds(self, numbers: Array, active: Mask) -> Mask:
        """Return in which rows it holds; never where a hyperparameter that it compares is inactive."""
        left = numbers[:, self.column]
        holds = active[:, self.column]
        if self.other is None:
            return np.asarray(holds & self.compare(left, self.operand))
        return np.asarray(holds & active[:, self.other] & self.compare(left, numbers[:, self.other]))

    @property
    def key(self) -> Key:
        """Equal for rules that say the same."""
        return self.column, self.compare, np.asarray(self.operand).tobytes(), self.other


@dataclass(frozen=True)
class Combination:
    """All (`and`) or any (`or`) of several comparisons."""

    parts: tuple[Comparison | Combination, ...]
    every: bool

    def holds(self, numbers: Array, active: Mask) -> Mask:
        reduce = np.logical_and.reduce if self.every else np.logical_or.reduce
        return np.asarray(reduce([part.holds(numbers, active) for part in self.parts]))

    @property
    def key(self) -> Key:
        """Equal for rules that say the same."""
        return self.every, *(part.key for part in self.parts)


Rule = Comparison | Combination


def columns_of(rule: Rule) -> set[int]:
    """Return the columns that a rule looks at."""
    if isinstance(rule, Comparison):
        return {rule.column} if rule.other is None else {rule.column, rule.other}
    return set().union(*(columns_of(part) for part in rule.parts))


_CONDITIONS: dict[type, Compare] = {
    CS.EqualsCondition: operator.eq,
    CS.NotEqualsCondition: operator.ne,
    CS.LessThanCondition: operator.lt,
    CS.GreaterThanCondition: operator.gt,
}
_CLAUSES: dict[type, Compare] = {
    CS.ForbiddenEqualsClause: operator.eq,
    CS.ForbiddenLessThanClause: operator.lt,
    CS.ForbiddenLessThanEqualsClause: operator.le,
    CS.ForbiddenGreaterThanClause: operator.gt,
    CS.ForbiddenGreaterThanEqualsClause: operator.ge,
}
_RELATIONS: dict[type, Compare] = {
    CS.ForbiddenEqualsRelation: operator.eq,
    CS.ForbiddenLessThanRelation: operator.lt,
    CS.ForbiddenLessThanEqualsRelation: operator.le,
    CS.ForbiddenGreaterThanRelation: operator.gt,
    CS.ForbiddenGreaterThanEqualsRelation: operator.ge,
}


def compile_condition(condition: CS.conditions.ConditionLike, columns: Sequence[Hyperparameter]) -> Rule:
    """Translate a ConfigSpace condition, nested ones included."""
    if isinstance(condition, CS.conditions.Conjunction):
        parts = tuple(compile_condition(part, columns) for part in condition.components)
        return Combination(parts, every=isinstance(condition, CS.AndConjunction))
    index = _index(columns, condition.parent.name)
    column = columns[index]
    if isinstance(condition, CS.InCondition):
        return Comparison(index, np.isin, np.array([column.number(value) for value in condition.values]))
    return Comparison(index, _CONDITIONS[type(condition)], column.number(condition.value))


def compile_forbidden(clause: CS.forbidden.ForbiddenLike, columns: Sequence[Hyperparameter]) -> Rule:
    """Translate a ConfigSpace forbidden clause, relation or conjunction."""
    if isinstance(clause, CS.forbidden.ForbiddenConjunction):
        parts = tuple(compile_forbidden(part, columns) for part in clause.components)
        return Combination(parts, every=isinstance(clause, CS.ForbiddenAndConjunction))
    if isinstance(clause, CS.forbidden.ForbiddenRelation):
        return _compile_relation(clause, columns)
    index = _index(columns, clause.hyperparameter.name)
    column = columns[index]
    if isinstance(clause, CS.ForbiddenInClause):
        return Comparison(index, np.isin, np.array([column.number(value) for value in clause.values]))
    return Comparison(index, _CLAUSES[type(clause)], column.number(clause.value))  # type: ignore[attr-defined]


def _compile_relation(clause: CS.forbidden.ForbiddenRelation, columns: Sequence[Hyperparameter]) -> Rule:
    """Translate a relation between two hyperparameters; choices are compared by value, not by index."""
    left, right = _index(columns, clause.left.name), _index(columns, clause.right.name)
    compare = _RELATIONS[type(clause)]
    a, b = columns[left], columns[right]
    if not isinstance(a, Choice) and not isinstance(b, Choice):
        return Comparison(left, compare, other=right)
    if not isinstance(a, Choice) or not isinstance(b, Choice):
        raise SpaceError(
            f"A forbidden relation must compare two numbers or two choices. Got {a.name!r} and {b.name!r} instead. "
            "Write it as forbidden clauses."
        )
    pairs = [
        Combination((Comparison(left, operator.eq, float(i)), Comparison(right, operator.eq, float(j))), every=True)
        for i, p in enumerate(a.options)
        for j, q in enumerate(b.options)
        if compare(p, q)
    ]
    never = Comparison(left, operator.eq, np.nan)
    return Combination((never, *pairs), every=False)


def _index(columns: Sequence[Hyperparameter], name: str) -> int:
    return next(index for index, column in enumerate(columns) if column.name == name)


def in_order_of_dependence(n: int, rules: dict[int, Rule]) -> list[int]:
    """Sort columns so that parents come before children; raise on a cycle."""
    order: list[int] = []
    waiting = set(range(n))
    while waiting:
        ready = [i for i in sorted(waiting) if i not in rules or not (columns_of(rules[i]) & waiting)]
        if not ready:
            raise SpaceError(
                "The conditions of a space must not form a cycle. Got a cycle among hyperparameters "
                f"number {sorted(waiting)}. Remove one of their conditions."
            )
        order += ready
        waiting -= set(ready)
    return order


def activity(numbers: Array, order: Sequence[int], rules: dict[int, Rule]) -> Mask:
    """Return which hyperparameters are active in each row, an (n, d) array.

    Where one object is the rule of several columns, it is looked at once.
    """
    active = np.ones(numbers.shape, dtype=bool)
    known: dict[int, Mask] = {}
    for index in order:
        if index in rules:
            rule = rules[index]
            if id(rule) not in known:
                known[id(rule)] = rule.holds(numbers, active)
            active[:, index] = known[id(rule)]
    return active


def shared(rules: dict[int, Rule]) -> dict[int, Rule]:
    """Return the same rules, one object for those that say the same: that of all children of one choice."""
    objects: dict[Key, Rule] = {}
    return {index: objects.setdefault(rule.key, rule) for index, rule in rules.items()}


class Branches:
    """Label rows by their branch: rows are comparable if and only if their labels are equal.

    (Lévesque et al. 2017, eq. 8.)

    A branch is the values of all active categorical parents, and which children are active where a parent is
    compared by range. Labels are a fixed function of the row, so those of two calls can be compared.
    """

    def __init__(self, columns: Sequence[Hyperparameter], rules: dict[int, Rule]) -> None:
        parents = set().union(*(columns_of(rule) for rule in rules.values())) if rules else set()
        self._parents = sorted(p for p in parents if columns[p].is_categorical)
        ranged = parents - set(self._parents)
        self._children = sorted(c for c, rule in rules.items() if columns_of(rule) & ranged)
        radices = [int(columns[p].size) + 1 for p in self._parents] + [2] * len(self._children)
        total = 1
        factors = []
        for radix in radices:
            factors.append(total)
            total *= radix
        if total < 2**62:
            self._factors = np.array(factors, dtype=np.uint64)
        else:  # too many branches to number: a 64-bit hash of the digits instead
            self._factors = np.random.default_rng(0).integers(2**63, size=len(radices), dtype=np.uint64) | np.uint64(1)

    def __call__(self, numbers: Array, active: Mask) -> NDArray[np.int64]:
        """Return one label per row."""
        digits = np.concatenate(
            [np.where(active[:, self._parents], numbers[:, self._parents] + 1, 0), active[:, self._children]], axis=1
        ).astype(np.uint64)
        labels: NDArray[np.uint64] = (digits * self._factors).sum(axis=1, dtype=np.uint64)
        return labels.astype(np.int64)
