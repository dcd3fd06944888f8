"""Spaces as dictionaries, one or a list of them, and as JSON; `notations` reads what is written for one name."""

import json
from collections.abc import Mapping, Sequence

import ConfigSpace as CS

from comitia.arrays import Json
from comitia.errors import SpaceError
from comitia.space.config import Value
from comitia.space.hyperparameters import Definition
from comitia.space.notations import make_hyperparameter


def configspace_from_dict(distributions: Mapping[str, Value]) -> CS.ConfigurationSpace:
    """Turn `{"C": (1e-3, 1e3, "log"), "kernel": ["rbf", "linear"]}` into a `ConfigurationSpace`.

    A tuple is a range, a list a choice, whatever it holds. Of SciPy's distributions `uniform`, `loguniform` and
    `randint` become reals and integers; any other continuous one is encoded by its own quantiles.
    """
    space = CS.ConfigurationSpace()
    for name, values in distributions.items():
        space.add(make_hyperparameter(name, values))
    return space


def configspace_from_dicts(alternatives: Sequence[Mapping[str, Value]]) -> CS.ConfigurationSpace:
    """Turn scikit-learn's list of dictionaries, of which each trial is drawn from one, into a conditional space.

    One hyperparameter must tell them apart: a list of values in each of them, with none in two. It decides which
    others are active. As in scikit-learn every dictionary is as likely as the others.
    """
    if len(alternatives) == 1 and isinstance(alternatives[0], Mapping):
        return configspace_from_dict(alternatives[0])
    if not alternatives or not all(isinstance(one, Mapping) and one for one in alternatives):
        raise SpaceError(f"A space must be a dict, or a list of non-empty dicts. Got {alternatives!r} instead.")
    key = _telling_apart(alternatives)
    n_values = [len(one[key]) for one in alternatives]
    values = [value for one in alternatives for value in one[key]]
    parent = make_hyperparameter(key, values)
    assert isinstance(parent, CS.CategoricalHyperparameter)
    if len(set(n_values)) > 1:
        weights = [1.0 / n for n in n_values for _ in range(n)]
        parent = CS.CategoricalHyperparameter(key, parent.choices, weights=weights, meta=parent.meta)
    space = CS.ConfigurationSpace()
    space.add(parent)
    ends = [sum(n_values[: i + 1]) for i in range(len(n_values))]
    labels = [list(parent.choices[end - n : end]) for end, n in zip(ends, n_values, strict=True)]
    for name in dict.fromkeys(name for one in alternatives for name in one if name != key):
        child = _common(name, [one[name] for one in alternatives if name in one])
        space.add(child)
        if not all(name in one for one in alternatives):
            active = [label for one, own in zip(alternatives, labels, strict=True) if name in one for label in own]
            space.add(CS.InCondition(child, parent, active))
    return space


def _telling_apart(alternatives: Sequence[Mapping[str, Value]]) -> str:
    """Return the first hyperparameter by whose value one knows which dictionary a configuration is from."""
    for name in alternatives[0]:
        if all(isinstance(one.get(name), list) and one[name] for one in alternatives):
            texts = [{repr(value) for value in one[name]} for one in alternatives]
            if sum(map(len, texts)) == len(set().union(*texts)):
                return name
    raise SpaceError(
        "A list of dicts needs one hyperparameter that tells them apart: a list in each of them, with no value in two. "
        "Got none. Add one, such as {'kernel': ['rbf'], ...} and {'kernel': ['linear'], ...}, or write the space with "
        "ConfigSpace."
    )


def _common(name: str, definitions: Sequence[Value]) -> Definition:
    """Return a hyperparameter that several dictionaries have; it must be the same in all of them."""
    first, *others = [make_hyperparameter(name, values) for values in definitions]
    if any(other != first for other in others):
        raise SpaceError(
            f"A hyperparameter must have the same values in every dict of a list. Got {name!r} with "
            f"{' and '.join(map(repr, definitions))}. Give it another name in one of them, or the same values."
        )
    return first


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
