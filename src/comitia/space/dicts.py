"""scikit-learn's way to write a space: a dictionary of lists and SciPy distributions."""

import json
import re
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable, Mapping

import ConfigSpace as CS
import numpy as np
from scipy import stats
from scipy.stats.distributions import rv_frozen

from comitia.arrays import Json
from comitia.errors import SpaceError
from comitia.space.config import Value
from comitia.space.hyperparameters import Definition


def configspace_from_dict(distributions: Mapping[str, Value]) -> CS.ConfigurationSpace:
    """Turn `{"C": loguniform(1e-3, 1e3), "kernel": ["rbf", "linear"]}` into a `ConfigurationSpace`.

    `uniform`, `loguniform` and `randint` become reals and integers; any other continuous distribution is encoded by
    its own quantiles. Lists become categoricals, whatever they hold.
    """
    space = CS.ConfigurationSpace()
    for name, values in distributions.items():
        if not isinstance(name, str) or not name:
            raise SpaceError(f"A hyperparameter's name must be a non-empty str. Got {name!r} instead.")
        space.add(_hyperparameter(name, values))
    return space


def _hyperparameter(name: str, values: Value) -> Definition:
    if isinstance(values, stats.rv_continuous | stats.rv_discrete):
        raise SpaceError(
            f"The distribution of {name!r} must have its arguments. Got {values.name!r} without any. "
            f"Call it, for example {values.name}(0, 1)."
        )
    if isinstance(values, rv_frozen):
        return _from_distribution(name, values)
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise SpaceError(
            f"The values of {name!r} must be a list or a SciPy distribution. Got {values!r} instead. "
            f"For a single value write [{values!r}]."
        )
    options = [value.item() if isinstance(value, np.generic) else value for value in values]
    if not options:
        raise SpaceError(f"The hyperparameter {name!r} must have at least one value. Got an empty list.")
    return _from_list(name, options)


def _from_list(name: str, options: list[Value]) -> Definition:
    if any(isinstance(option, float) and option != option for option in options):
        raise SpaceError(f"The values of {name!r} must not be NaN. Got one. Use None for a missing value.")
    if all(isinstance(option, str | int | float) for option in options):
        if len(set(map(repr, options))) < len(options):
            raise SpaceError(f"The values of {name!r} must be different. Got {options!r} instead.")
        if len({str(option) for option in options}) == len(options) == len(set(options)):
            return CS.CategoricalHyperparameter(name, options)
    # without addresses in memory, so that the same space is the same in another process
    labels = [re.sub(r" at 0x[0-9a-fA-F]+", "", repr(option)) for option in options]
    counts = Counter(labels)
    labels = [label if counts[label] == 1 else f"{label} #{number}" for number, label in enumerate(labels)]
    if all(_is_literal(option) for option in options):
        return CS.CategoricalHyperparameter(name, labels, meta={"literals": True})
    return CS.CategoricalHyperparameter(name, labels, meta={"labels": True, "objects": options})


def _is_literal(option: Value) -> bool:
    """Tell whether a value can be read back from its representation: None, tuples and such."""
    try:
        return bool(literal_eval(repr(option)) == option)
    except (ValueError, SyntaxError, TypeError):
        return False


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


def json_dict(space: CS.ConfigurationSpace) -> Json:
    """Return ConfigSpace's own JSON dictionary, without what cannot be written or changes between versions."""
    serialised = space.to_serialized_dict()
    serialised.pop("python_module_version", None)
    for hyperparameter in serialised["hyperparameters"]:
        meta = hyperparameter.get("meta")
        if meta and "objects" in meta:
            hyperparameter["meta"] = {key: value for key, value in meta.items() if key != "objects"}
    plain: Json = json.loads(json.dumps(serialised, default=repr))
    return plain


def configspace_from_json(text: str) -> CS.ConfigurationSpace:
    """Read what `json_dict` wrote, or a file of ConfigSpace's own `to_json`."""
    try:
        read = json.loads(text)
        for hyperparameter in read["hyperparameters"]:
            for key in ("choices", "sequence", "default_value", "value"):
                if key in hyperparameter:
                    hyperparameter[key] = _tuples(hyperparameter[key], top=key in ("choices", "sequence"))
        return CS.ConfigurationSpace.from_serialized_dict(read)
    except Exception as error:
        raise SpaceError(
            "A space in JSON must be what Space.to_json or ConfigSpace's to_json writes. "
            f"Got something that cannot be read: {type(error).__name__}: {error}"
        ) from error


def _tuples(value: Value, top: bool = False) -> Value:
    """Turn lists, which is what JSON makes of tuples, back into tuples; `top` keeps the outermost a list."""
    if not isinstance(value, list):
        return value
    inner = [_tuples(item) for item in value]
    return inner if top else tuple(inner)
