"""One hyperparameter as a column of [0, 1]: how values and coordinates turn into each other.

Two rules cover every kind. A real maps its range, or the logarithm of it, linearly onto [0, 1]. A hyperparameter
with `k` values gives each of them its own bin and its coordinate is the middle of that bin: equal bins for
categories, ordinals and integers (coordinate `(i + 1/2) / k`), bins that are equal in the logarithm from `v - 1/2` to
`v + 1/2` for log integers. So uniform points of [0, 1] become uniform values, and rounding is "to the nearest".

Reals carry ten significant digits: then `decode(encode(config)) == config` holds exactly, and people can read them.
"""

import math
from ast import literal_eval
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import ConfigSpace as CS
import numpy as np
from scipy import stats
from scipy.stats.distributions import rv_frozen

from comitia.arrays import Array, Json
from comitia.errors import SpaceError
from comitia.space.config import Value

Definition: TypeAlias = CS.hyperparameters.Hyperparameter[Any, Any]
"""A hyperparameter as ConfigSpace has it."""
Shaped: TypeAlias = (
    CS.BetaFloatHyperparameter
    | CS.BetaIntegerHyperparameter
    | CS.NormalFloatHyperparameter
    | CS.NormalIntegerHyperparameter
)

SIGNIFICANT_DIGITS = 10
TAIL = 1e-9
"""The probability that is cut off at either end of a distribution: most have infinite ends."""
STEP = 0.1
"""Step of a real towards a neighbour, in the encoded range; Lévesque 2018, §5.3.2, names no size for it."""


class Hyperparameter(Protocol):
    """A column of the encoded space."""

    @property
    def name(self) -> str:
        """The hyperparameter's name."""

    @property
    def size(self) -> float:
        """Number of values; infinite for a real."""

    @property
    def is_categorical(self) -> bool:
        """Whether values have no order: distance 0 if equal, 1 if not."""

    def warp(self, u: Array) -> Array:
        """Turn uniform numbers into coordinates that follow the hyperparameter's own distribution."""

    def snap(self, x: Array) -> Array:
        """Move coordinates to those of the nearest valid values."""

    def numbers(self, x: Array) -> Array:
        """Return what conditions compare: the value of a number, the index of a choice."""

    def number(self, value: Value) -> float:
        """Return the number that conditions compare for one value; NaN where it has none."""

    def values(self, x: Array) -> list[Value]:
        """Return the values at coordinates."""

    def coordinate(self, value: Value) -> float:
        """Return the coordinate of a value; raise `SpaceError` if it is outside."""

    def neighbours(self, x: Array, step: float) -> list[Array]:
        """Return arrays of the shape of `x`, one per kind of step; NaN where there is no such neighbour."""

    def grid(self, levels: int) -> Array:
        """Return up to `levels` coordinates that cover the range, all of them if there are fewer."""


@dataclass(frozen=True)
class Real:
    """A real in [lower, upper], linear or logarithmic, or the quantiles of a distribution."""

    name: str
    lower: float
    upper: float
    log: bool = False
    shape: rv_frozen | None = field(default=None, repr=False)
    """Distribution of the coordinate (ConfigSpace's normal and beta); None is uniform."""
    quantiles: rv_frozen | None = field(default=None, repr=False)
    """A distribution whose probabilities are the coordinates: any SciPy distribution of a user's dict."""
    size: float = math.inf
    is_categorical: bool = False

    def warp(self, u: Array) -> Array:
        return u if self.shape is None else np.clip(self.shape.ppf(u), 0.0, 1.0)

    def snap(self, x: Array) -> Array:
        return np.clip(x, 0.0, 1.0)

    def numbers(self, x: Array) -> Array:
        x = np.clip(x, 0.0, 1.0)
        if self.quantiles is not None:
            return _significant(np.asarray(self.quantiles.ppf(np.clip(x, TAIL, 1 - TAIL)), dtype=np.float64))
        if self.log:
            low, high = math.log(self.lower), math.log(self.upper)
            values = np.exp(low + x * (high - low))
        else:
            values = self.lower + x * (self.upper - self.lower)
        return np.clip(_significant(values), self.lower, self.upper)

    def number(self, value: Value) -> float:
        return float(value)

    def values(self, x: Array) -> list[Value]:
        return [_rounded(value, self.lower, self.upper) for value in self.numbers(x).tolist()]

    def coordinate(self, value: Value) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not self.lower <= number <= self.upper:
            raise _outside(self.name, f"a number in [{self.lower:g}, {self.upper:g}]", value)
        if self.quantiles is not None:
            probability = float(self.quantiles.cdf(np.asarray(number)))
            if not TAIL <= probability <= 1 - TAIL:
                raise _outside(self.name, f"within all but {TAIL:g} of its distribution on either side", value)
            return probability
        if self.log:
            span = math.log(self.upper) - math.log(self.lower)
            return min(max((math.log(number) - math.log(self.lower)) / span, 0.0), 1.0)
        return (number - self.lower) / (self.upper - self.lower)

    def neighbours(self, x: Array, step: float) -> list[Array]:
        """Take a step either way; one that would leave the range stops at its end."""
        moved = [np.clip(x + direction * step, 0.0, 1.0) for direction in (-1, 1)]
        return [np.where(y == x, np.nan, y) for y in moved]

    def grid(self, levels: int) -> Array:
        return np.linspace(0.0, 1.0, levels) if levels > 1 else np.array([0.5])


class Reals:
    """Many reals at once: with a few rows, calls of numpy take most of the time of `Real.values`."""

    def __init__(self, columns: Sequence[Real]) -> None:
        self._lower = np.array([column.lower for column in columns])
        self._upper = np.array([column.upper for column in columns])
        self._is_log = np.array([column.log for column in columns], dtype=bool)
        ends = [(math.log(c.lower), math.log(c.upper)) if c.log else (c.lower, c.upper) for c in columns]
        self._low = np.array([low for low, _ in ends])
        self._span = np.array([high - low for low, high in ends])

    def values(self, X: Array) -> list[list[float]]:
        """Return the values at coordinates, one list per row."""
        values = self._low + np.clip(X, 0.0, 1.0) * self._span
        np.exp(values, out=values, where=self._is_log)
        values = np.clip(_significant(values), self._lower, self._upper)
        ends = list(zip(self._lower.tolist(), self._upper.tolist(), strict=True))
        return [[_rounded(value, *end) for value, end in zip(row, ends, strict=True)] for row in values.tolist()]


@dataclass(frozen=True)
class Integer:
    """An integer in {lower, ..., upper}, linear or logarithmic."""

    name: str
    lower: int
    upper: int
    log: bool = False
    shape: rv_frozen | None = field(default=None, repr=False)
    is_categorical: bool = False

    @property
    def size(self) -> float:
        return self.upper - self.lower + 1

    def warp(self, u: Array) -> Array:
        return u if self.shape is None else np.clip(self.shape.ppf(u), 0.0, 1.0)

    def _log_edges(self) -> tuple[float, float]:
        return math.log(self.lower - 0.5), math.log(self.upper + 0.5)

    def numbers(self, x: Array) -> Array:
        x = np.clip(x, 0.0, 1.0)
        if self.log:
            low, high = self._log_edges()
            values = np.rint(np.exp(low + x * (high - low)))
        else:
            values = self.lower + np.floor(x * self.size)
        return np.clip(values, self.lower, self.upper)

    def _coordinates(self, numbers: Array) -> Array:
        if self.log:
            low, high = self._log_edges()
            return np.asarray((np.log(numbers) - low) / (high - low))
        return np.asarray((numbers - self.lower + 0.5) / self.size)

    def snap(self, x: Array) -> Array:
        return self._coordinates(self.numbers(x))

    def number(self, value: Value) -> float:
        return float(value)

    def values(self, x: Array) -> list[Value]:
        return [int(value) for value in self.numbers(x).tolist()]

    def coordinate(self, value: Value) -> float:
        try:
            is_whole = float(value) == int(value)
        except (TypeError, ValueError, OverflowError):
            is_whole = False
        if not is_whole or not self.lower <= int(value) <= self.upper:
            raise _outside(self.name, f"an int in {{{self.lower}, ..., {self.upper}}}", value)
        return float(self._coordinates(np.asarray(float(value))))

    def neighbours(self, x: Array, step: float) -> list[Array]:
        """Return the integers before and after, whatever the step of reals."""
        numbers = self.numbers(x)
        found = []
        for direction in (-1, 1):
            moved = numbers + direction
            inside = (moved >= self.lower) & (moved <= self.upper)
            found.append(np.where(inside, self._coordinates(np.where(inside, moved, numbers)), np.nan))
        return found

    def grid(self, levels: int) -> Array:
        if self.size <= levels:
            return self._coordinates(np.arange(self.lower, self.upper + 1, dtype=np.float64))
        return np.unique(self.snap(np.linspace(0.0, 1.0, levels) if levels > 1 else np.array([0.5])))


@dataclass(frozen=True)
class Choice:
    """A categorical (no order), an ordinal (ordered) or a constant (one value)."""

    name: str
    options: tuple[Value, ...]
    ordered: bool = False
    weights: tuple[float, ...] | None = None
    labels: tuple[Value, ...] | None = None
    """What ConfigSpace has in place of the options, in conditions too, where it cannot hold them."""

    @property
    def is_categorical(self) -> bool:
        return not self.ordered

    @property
    def size(self) -> float:
        return len(self.options)

    def warp(self, u: Array) -> Array:
        if self.weights is None:
            return u
        ends = np.cumsum(self.weights) / np.sum(self.weights)
        index = np.minimum(np.searchsorted(ends, u, side="right"), len(self.options) - 1)
        return np.asarray((index + 0.5) / len(self.options))

    def numbers(self, x: Array) -> Array:
        k = len(self.options)
        return np.minimum(np.maximum(np.floor(x * k), 0.0), k - 1.0)  # `clip` takes three times as long for few rows

    def snap(self, x: Array) -> Array:
        return np.asarray((self.numbers(x) + 0.5) / len(self.options))

    def number(self, value: Value) -> float:
        known = self.options if self.labels is None else self.labels
        return float(known.index(value)) if value in known else math.nan

    def values(self, x: Array) -> list[Value]:
        return [self.options[index] for index in self.numbers(x).astype(int).tolist()]

    def coordinate(self, value: Value) -> float:
        exact = [i for i, option in enumerate(self.options) if type(option) is type(value) and _same(option, value)]
        for index in [*exact, *(i for i, option in enumerate(self.options) if _same(option, value))]:
            return (index + 0.5) / len(self.options)
        raise _outside(self.name, "one of " + ", ".join(map(repr, self.options)), value)

    def neighbours(self, x: Array, step: float) -> list[Array]:
        """Return every other value, or for an ordinal the values before and after."""
        k = len(self.options)
        index = self.numbers(x)
        moves = (-1, 1) if self.ordered else range(1, k)
        found = []
        for move in moves:
            moved = index + move
            moved = np.where((moved >= 0) & (moved < k), moved, np.nan) if self.ordered else moved % k
            found.append((moved + 0.5) / k)
        return found

    def grid(self, levels: int) -> Array:
        """Return all coordinates: a choice is never thinned out."""
        k = len(self.options)
        return np.asarray((np.arange(k) + 0.5) / k)


def _significant(values: Array) -> Array:
    """Round to the digits that values carry, so that conditions see what configurations say."""
    size = np.abs(values)
    exponents = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    scale = 10.0 ** np.clip(SIGNIFICANT_DIGITS - 1 - exponents, -290, 290)
    return np.asarray(np.rint(values * scale) / scale)


def _rounded(value: float, lower: float, upper: float) -> float:
    """Return the number that people read."""
    return min(max(float(f"{value:.{SIGNIFICANT_DIGITS}g}"), lower), upper)


def _same(option: Value, value: Value) -> bool:
    """Compare by identity, then by value; `True` and `1` are different choices."""
    if option is value:
        return True
    if isinstance(option, bool) != isinstance(value, bool):
        return False
    try:
        return bool(option == value)
    except (TypeError, ValueError):  # arrays and other objects whose comparison is not a truth value
        return False


def _outside(name: str, expected: str, got: object) -> SpaceError:
    return SpaceError(f"The hyperparameter {name!r} must be {expected}. Got {got!r} instead.")


def compile_hyperparameter(h: Definition) -> Hyperparameter:
    """Translate a ConfigSpace hyperparameter."""
    name = h.name
    meta = dict(h.meta or {})
    match h:
        case CS.UniformFloatHyperparameter():
            return _quantile(name, meta["scipy"]) if "scipy" in meta else Real(name, h.lower, h.upper, h.log)
        case CS.NormalFloatHyperparameter() | CS.BetaFloatHyperparameter():
            return Real(name, h.lower, h.upper, h.log, shape=_shape(h))
        case CS.UniformIntegerHyperparameter():
            return Integer(name, int(h.lower), int(h.upper), h.log)
        case CS.NormalIntegerHyperparameter() | CS.BetaIntegerHyperparameter():
            return Integer(name, int(h.lower), int(h.upper), h.log, shape=_shape(h))
        case CS.CategoricalHyperparameter():
            weights = None if h.weights is None else tuple(h.weights)
            labels = tuple(h.choices) if meta.keys() & {"objects", "literals"} else None
            return Choice(name, _options(meta, h.choices), weights=weights, labels=labels)
        case CS.OrdinalHyperparameter():
            return Choice(name, tuple(h.sequence), ordered=True)
        case CS.Constant():
            return Choice(name, (h.value,))
    raise SpaceError(
        f"The hyperparameter {name!r} must be a ConfigSpace float, integer, categorical, ordinal or constant. "
        f"Got {type(h).__name__} instead."
    )


def _options(meta: Mapping[Hashable, Value], choices: Sequence[Value]) -> tuple[Value, ...]:
    """Return the values behind the labels that `from_dict` writes for what JSON cannot hold."""
    if "objects" in meta:
        return tuple(meta["objects"])
    if meta.get("literals"):
        return tuple(literal_eval(label) for label in choices)
    if meta.get("labels"):
        raise SpaceError(
            "The values of this hyperparameter are objects that JSON cannot hold, only their labels were kept: "
            f"{', '.join(choices)}. Build the space again in Python instead of reading it from JSON."
        )
    return tuple(choices)


def _shape(h: Shaped) -> rv_frozen:
    """Return the distribution of the coordinate of ConfigSpace's normal and beta hyperparameters."""
    if isinstance(h, CS.BetaFloatHyperparameter | CS.BetaIntegerHyperparameter):
        return stats.beta(h.alpha, h.beta)
    low, high, mean = (math.log(v) if h.log else v for v in (h.lower, h.upper, h.mu))
    loc, scale = (mean - low) / (high - low), h.sigma / (high - low)
    return stats.truncnorm((0 - loc) / scale, (1 - loc) / scale, loc=loc, scale=scale)


def _quantile(name: str, recipe: Json) -> Hyperparameter:
    """Rebuild a SciPy distribution from its name and arguments."""
    frozen = getattr(stats, recipe["name"])(*recipe["args"], **recipe["kwds"])
    lower, upper = (float(end) for end in frozen.support())
    return Real(name, lower, upper, quantiles=frozen)
