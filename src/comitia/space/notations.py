"""How one hyperparameter may be written: a list, a tuple, a SciPy distribution, Optuna's or skopt's own objects.

Optuna and skopt are not imported: their objects are known by the name of their class and by what they hold.
"""

import math
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Protocol, TypeGuard, runtime_checkable

import ConfigSpace as CS
import numpy as np
from ConfigSpace.hyperparameters import Hyperparameter as ConfigSpaceHyperparameter
from scipy import stats
from scipy.stats.distributions import rv_frozen

from comitia.errors import SpaceError
from comitia.space.config import Value
from comitia.space.hyperparameters import Definition

SCALES = {"uniform": False, "log-uniform": True, "log": True}
"""The third part of a tuple, as skopt has it, and whether it stands for a logarithmic range."""
MOST_STEPS = 10_000
"""Values that a range with a step may have: each is kept by itself."""


@runtime_checkable
class _Stepped(Protocol):
    """A range of Optuna: `FloatDistribution`, `IntDistribution`; its high end belongs to it."""

    low: float
    high: float
    log: bool
    step: float | None


@runtime_checkable
class _Prior(Protocol):
    """A range of skopt: `Real`, `Integer`; its high end belongs to it."""

    low: float
    high: float
    prior: str


@runtime_checkable
class _Choices(Protocol):
    """A choice of Optuna: `CategoricalDistribution`."""

    choices: Sequence[Value]


@runtime_checkable
class _Categories(Protocol):
    """A choice of skopt: `Categorical`; its prior is None or the probability of each."""

    categories: Sequence[Value]
    prior: Sequence[float] | None


def make_hyperparameter(name: str, values: Value) -> Definition:
    """Return the hyperparameter that a user means, whichever way it is written."""
    if not isinstance(name, str) or not name:
        raise SpaceError(f"A hyperparameter's name must be a non-empty str. Got {name!r} instead.")
    if isinstance(values, stats.rv_continuous | stats.rv_discrete):
        raise SpaceError(
            f"The distribution of {name!r} must have its arguments. Got {values.name!r} without any. "
            f"Call it, for example {values.name}(0, 1)."
        )
    if isinstance(values, rv_frozen):
        return _from_distribution(name, values)
    if isinstance(values, tuple):
        return _from_tuple(name, values)
    if (found := _from_other_tools(name, values)) is not None:
        return found
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise SpaceError(
            f"The values of {name!r} must be a list, a range such as (0.0, 1.0) or a SciPy distribution. "
            f"Got {values!r} instead. For a single value write [{values!r}]."
        )
    options = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not options:
        raise SpaceError(f"The hyperparameter {name!r} must have at least one value. Got an empty list.")
    return _from_list(name, options)


# ---- ranges ---------------------------------------------------------------------------------------------------------


def _from_tuple(name: str, values: tuple[Value, ...]) -> Definition:
    """Read `(low, high)` or `(low, high, "log")`: two ints are a range of ints, any float makes it one of reals."""
    low, high, *scale = values if len(values) in (2, 3) else (None, None)
    if not _is_number(low) or not _is_number(high) or (scale and not _is_scale(scale[0])):
        raise SpaceError(
            f"A tuple is a range: (low, high) or (low, high, 'log') with two numbers. Got {values!r} for {name!r}. "
            f"For a choice write a list: {list(values)!r}."
        )
    is_log = bool(scale) and SCALES[scale[0]]
    if isinstance(low, Integral) and isinstance(high, Integral):
        return _integers(name, int(low), int(high), is_log=is_log)
    return _reals(name, float(low), float(high), is_log=is_log)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _is_scale(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and value in SCALES


def _reals(name: str, low: float, high: float, *, is_log: bool) -> Definition:
    _check_ends(name, low, high, is_log=is_log)
    return _from_distribution(name, stats.loguniform(low, high) if is_log else stats.uniform(low, high - low))


def _integers(name: str, low: int, high: int, *, is_log: bool) -> Definition:
    """Return the ints from low to high, both included."""
    if low == high:
        return CS.CategoricalHyperparameter(name, [low])
    _check_ends(name, low, high, is_log=is_log)
    return CS.UniformIntegerHyperparameter(name, low, high, log=is_log)


def _check_ends(name: str, low: float, high: float, *, is_log: bool) -> None:
    if not (low < high and math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        raise SpaceError(
            f"The range of {name!r} must go from a smaller to a larger finite number. Got {low!r} to {high!r}. "
            "For single values write a list."
        )
    if is_log and low <= 0:
        raise SpaceError(
            f"The logarithmic range of {name!r} must begin above 0. Got {low!r} to {high!r}. "
            "Leave the 'log' out, or begin at a small positive number."
        )


# ---- other tools ----------------------------------------------------------------------------------------------------


def _from_other_tools(name: str, values: Value) -> Definition | None:
    """Read an object of ConfigSpace, Optuna or skopt with its own meaning; None if it is none."""
    if isinstance(values, ConfigSpaceHyperparameter):
        if values.name != name:
            raise SpaceError(
                f"A hyperparameter of ConfigSpace must be listed under its own name, {values.name!r}. Got {name!r}."
            )
        return values
    kinds = {cls.__name__ for cls in type(values).__mro__}
    if "FloatDistribution" in kinds and isinstance(values, _Stepped):
        if values.step is not None:
            return _steps(name, float(values.low), float(values.high), float(values.step))
        if values.low == values.high:
            return CS.CategoricalHyperparameter(name, [float(values.low)])
        return _reals(name, float(values.low), float(values.high), is_log=values.log)
    if "IntDistribution" in kinds and isinstance(values, _Stepped):
        if values.step not in (None, 1):
            return _steps(name, int(values.low), int(values.high), int(values.step or 1))
        return _integers(name, int(values.low), int(values.high), is_log=values.log)
    if "CategoricalDistribution" in kinds and isinstance(values, _Choices):
        return _from_list(name, list(values.choices))
    if kinds & {"Real", "Integer"} and isinstance(values, _Prior):
        if not _is_scale(values.prior):
            raise SpaceError(
                f"The prior of {name!r} must be 'uniform' or 'log-uniform'. Got {values.prior!r}. "
                "Write it as a SciPy distribution."
            )
        if "Integer" in kinds:
            return _integers(name, int(values.low), int(values.high), is_log=SCALES[values.prior])
        return _reals(name, float(values.low), float(values.high), is_log=SCALES[values.prior])
    if "Categorical" in kinds and isinstance(values, _Categories):
        prior = values.prior
        return _from_list(name, list(values.categories), None if prior is None else [float(p) for p in prior])
    return None


def _steps(name: str, low: float, high: float, step: float) -> Definition:
    """Return low, low + step, ... as values in an order: that is what a step means."""
    n = round((high - low) / step * 1e9) // 10**9 + 1 if step > 0 else 0
    if not 1 <= n <= MOST_STEPS:
        raise SpaceError(
            f"The range of {name!r} must have 1 to {MOST_STEPS:,} steps. Got {low!r} to {high!r} by {step!r}. "
            "Leave the step out."
        )
    # ten digits, as reals have everywhere: 0.30000000000000004 is 0.3
    values = [low + i * step if isinstance(step, int) else float(f"{low + i * step:.10g}") for i in range(n)]
    return CS.CategoricalHyperparameter(name, values) if n == 1 else CS.OrdinalHyperparameter(name, values)


# ---- choices --------------------------------------------------------------------------------------------------------


def _from_list(name: str, options: list[Value], weights: list[float] | None = None) -> Definition:
    if any(isinstance(option, float) and option != option for option in options):
        raise SpaceError(f"The values of {name!r} must not be NaN. Got one. Use None for a missing value.")
    if all(isinstance(option, str | int | float) for option in options):
        if len(set(map(repr, options))) < len(options):
            raise SpaceError(f"The values of {name!r} must be different. Got {options!r} instead.")
        if len({str(option) for option in options}) == len(options) == len(set(options)):
            return CS.CategoricalHyperparameter(name, options, weights=weights)
    # without addresses in memory, so that the same space is the same in another process
    labels = [re.sub(r" at 0x[0-9a-fA-F]+", "", repr(option)) for option in options]
    counts = Counter(labels)
    labels = [label if counts[label] == 1 else f"{label} #{number}" for number, label in enumerate(labels)]
    meta: dict[Hashable, Value] = {"labels": True, "objects": options}
    if all(_is_literal(option) for option in options):
        meta = {"literals": True}
    return CS.CategoricalHyperparameter(name, labels, weights=weights, meta=meta)


def _is_literal(option: Value) -> bool:
    """Tell whether a value can be read back from its representation: None, tuples and such."""
    try:
        return bool(literal_eval(repr(option)) == option)
    except (ValueError, SyntaxError, TypeError):
        return False


# ---- distributions --------------------------------------------------------------------------------------------------


def _from_distribution(name: str, frozen: rv_frozen) -> Definition:
    kind = frozen.dist.name
    lower, upper = frozen.support()
    middle = frozen.ppf(np.array([0.25, 0.75]))
    if not np.isfinite(middle).all() or (kind != "randint" and not lower < upper):
        raise SpaceError(
            f"The distribution of {name!r} must have a proper range. Got {kind} with the support [{lower}, {upper}]. "
            "Check its arguments; uniform takes (start, width)."
        )
    if kind == "randint":
        if lower == upper:
            return CS.CategoricalHyperparameter(name, [int(lower)])
        return CS.UniformIntegerHyperparameter(name, int(lower), int(upper))
    if isinstance(frozen.dist, stats.rv_discrete):
        raise SpaceError(
            f"The discrete distribution of {name!r} must be 'randint'. Got {kind!r} instead. "
            "Write its values as a list."
        )
    # ConfigSpace rounds the ends of a range to nine decimals: beyond that the quantiles keep them exact
    is_exact = np.isfinite([lower, upper]).all() and round(lower, 9) == lower and round(upper, 9) == upper
    if kind == "uniform" and is_exact:
        return CS.UniformFloatHyperparameter(name, float(lower), float(upper))
    if kind in ("loguniform", "reciprocal") and is_exact and lower > 0:
        return CS.UniformFloatHyperparameter(name, float(lower), float(upper), log=True)
    recipe = {
        "name": kind,
        "args": [float(a) for a in frozen.args],
        "kwds": {k: float(v) for k, v in frozen.kwds.items()},
    }
    return CS.UniformFloatHyperparameter(name, 0.0, 1.0, meta={"scipy": recipe})
