"""Everything that is needed to get the same again: the command or the call, versions, seed, method, machine."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from comitia.arrays import Json
from comitia.auto.after_fit import Results
from comitia.errors import ComitiaError
from comitia.methods import get_method
from comitia.study.record import Header, versions
from comitia.study.study import Study

NOT_OPTIONS = ("train", "target", "checksum")
"""Of `fit.json`: what is no option of the command line, or stands first in it."""
RENAMED = {"metrics": "also"}
NOT_SHOWN = ("verbose", "callbacks", "storage", "executor")
"""Parameters that do not change what is found."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Where what is shown comes from; what is not known is None."""

    model: Results | None
    study: Study | None
    header: Header | None
    options: Mapping[str, object] | None


def reproduce_section(origin: Origin) -> Json:
    """Return what somebody needs who wants the same result."""
    study, header = origin.study, origin.header
    method = study.method.name if study is not None else header.method if header is not None else None
    seed = study.seeds.seed if study is not None else header.seed if header is not None else None
    facts: list[tuple[str, object]] = [
        ("Method", method and f"{method}: {_summary(method)}"),
        ("Seed", seed),
        ("Machine", f"{platform.system()} {platform.machine()}, {platform.python_implementation()}"),
    ]
    if origin.options and origin.options.get("checksum"):
        facts.append(("Table", f"{origin.options.get('train')} (checksum {origin.options['checksum']})"))
    if study is not None and study.stop_reason:
        facts.append(("The search ended", study.stop_reason))
    return {
        "facts": [{"name": name, "value": str(value)} for name, value in facts if value is not None],
        "versions": _versions(header),
        "command": _command(origin.options) if origin.options else None,
        "code": None if origin.model is None or origin.options else _code(origin.model),
        "parameters": [] if origin.model is None else _parameters(origin.model),
        "is_exact": _is_exact(origin),
    }


def _summary(method: str) -> str:
    try:
        return get_method(method).summary
    except ComitiaError:
        return "a method of your own"


def _versions(header: Header | None) -> list[Json]:
    """Return versions here, and those that the study was begun with where they are others."""
    here = versions()
    begun = {} if header is None else header.versions
    return [{"name": name, "version": here[name], "begun": begun.get(name, here[name])} for name in here]


def _command(options: Mapping[str, object]) -> str:
    """Return the command line that gives the same options."""
    parts = ["comitia", "fit", str(options.get("train", "")), "--target", str(options.get("target", ""))]
    for name, value in options.items():
        if name in NOT_OPTIONS or value is None or value == "" or value == []:
            continue
        option = f"--{RENAMED.get(name, name).replace('_', '-')}"
        for item in value if isinstance(value, list) else [value]:
            parts += [option, str(item)]
    return " ".join(shlex.quote(part) for part in parts)


def _parameters(model: Results) -> list[Json]:
    """Return the parameters that are not the defaults."""
    defaults = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    names = [name for name in given if name not in NOT_SHOWN and repr(given[name]) != repr(defaults.get(name))]
    return [{"name": name, "value": repr(given[name])} for name in names]


def _code(model: Results) -> str:
    arguments = ", ".join(f"{one['name']}={one['value']}" for one in _parameters(model))
    name = type(model).__name__
    return f"from comitia import {name}\n\nmodel = {name}({arguments}).fit(X, y)"


def _is_exact(origin: Origin) -> bool:
    """Tell whether the same call gives the same result: a seed, trials as the limit, one worker."""
    if origin.model is not None:
        given = origin.model.get_params(deep=False)
        return given["random_state"] is not None and given["n_jobs"] == 1 and given["time_limit"] is None
    return False
