"""Methods with options in their names: `eo-sqm[slots=7]` is `eo-sqm` with seven slots instead of twelve.

The name says all that there is to say, so that a row of results, a study file or a command line needs nothing else.
"""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import NamedTuple, TypeVar

from comitia.committees.bootstraps import Bootstraps
from comitia.committees.greedy import Greedy
from comitia.committees.slots import SlotRules
from comitia.errors import ChoiceError, UnknownName
from comitia.methods.method import Method
from comitia.optimizers import Bayes
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.seams import Optimizer
from comitia.space import Space

NAME = re.compile(r"(?P<name>[^\[\]]+)\[(?P<options>[^\[\]]*)\]")
Choice = TypeVar("Choice")
Part = TypeVar("Part")
Value = int | str


class Option(NamedTuple):
    """One field of one part of a method's goal or selection."""

    part: type
    field: str
    summary: str


OPTIONS: dict[str, Option] = {
    "slots": Option(SlotRules, "n_slots", "models in the committee of ensemble optimisation"),
    "inside": Option(SlotRules, "inside", "what a member scores there: nothing, again or out"),
    "bootstraps": Option(Bootstraps, "n", "bootstraps of agnostic Bayes"),
    "steps": Option(Greedy, "n_steps", "steps of the greedy choice"),
    "warm": Option(Greedy, "n_warm", "best models that a greedy committee begins with"),
    "bags": Option(Greedy, "n_bags", "parts of the pool that the greedy choice is repeated on"),
    "members": Option(Greedy, "most_members", "different models of a greedy committee"),
}
"""What can be set in a goal or a selection."""
WHOLE = ("search", "select", "inactive", "seconds")
"""And beside: `search=spearmint` takes the optimizer of another method, `select=bo-post` its selection;
`inactive=default` lets a Gaussian process see inactive hyperparameters at their defaults; `seconds=120` is the budget
of cost cooling, of all workers together."""


def split_name(name: str) -> tuple[str, dict[str, Value]]:
    """Take a name apart, `eo-sqm[slots=7]`, into that of a method and its options."""
    match = NAME.fullmatch(name.strip())
    if match is None:
        return name, {}
    found: dict[str, Value] = {}
    for part in match["options"].split(","):
        key, _, text = (piece.strip() for piece in part.partition("="))
        found[key] = int(text) if text.isdigit() else text
    return match["name"].strip(), found


def with_options(method: Method, options: dict[str, Value], find: Callable[[str], Method]) -> Method:
    """Return a method with options; its name has them in alphabetical order. `find` looks up another method.

    Raises
    ------
    UnknownName
        If there is no such option; with the near match.
    ChoiceError
        If an option is not one of this method, or its value makes no sense.
    """
    changed = method
    for key, value in options.items():
        match key:
            case "search":
                after = replace(changed, optimizer=find(str(value)).optimizer)
            case "select":
                other = find(str(value))
                aside = other.has_selection_split
                after = replace(changed, selection=other.selection, has_selection_split=aside)
            case "inactive":
                after = _imputing(changed, value)
            case "seconds":
                after = _cooling(changed, value)
            case _ if key in OPTIONS:
                after = _with_option(changed, OPTIONS[key], value)
            case _:
                raise UnknownName("option of a method", key, [*OPTIONS, *WHOLE])
        if after is changed:
            raise ChoiceError(f"The option {key!r} must be one that {method.name!r} has. It has none of that name.")
        changed = after
    text = ",".join(f"{key}={options[key]}" for key in sorted(options))
    summary = f"`{method.name}` with {text}."
    spelling = f"{method.spelling or method.name}[{text}]"
    return replace(changed, name=f"{method.name}[{text}]", summary=summary, spelling=spelling, aliases=())


def for_budget(method: Method, n_trials: int | None) -> Method:
    """Return the method as it is where the number of trials is known from the beginning.

    Then agnostic Bayes works on half as many bootstraps in turn, as Lacoste et al. 2014, §4 and Alg. 2 have it.
    """
    if n_trials is None:
        return method
    half = max(1, n_trials // 2)

    def settled(bootstraps: Bootstraps) -> Bootstraps:
        return bootstraps if bootstraps.n is not None else replace(bootstraps, n=half)

    return _with_parts(method, Bootstraps, settled)


def _with_option(method: Method, option: Option, value: Value) -> Method:
    def change(part: object) -> object:
        return replace(part, **{option.field: value})  # type: ignore[type-var]  # a dataclass: see `OPTIONS`

    return _with_parts(method, option.part, change)


def _with_parts(method: Method, kind: type[Part], change: Callable[[Part], Part]) -> Method:
    """Return a method with every part of one kind in its goal and its selection changed; itself if it has none."""
    goal, selection = _changed(method.goal, kind, change), _changed(method.selection, kind, change)
    if goal is method.goal and selection is method.selection:
        return method
    return replace(method, goal=goal, selection=selection)


def _changed(choice: Choice, kind: type[Part], change: Callable[[Part], Part]) -> Choice:
    if isinstance(choice, kind):
        return change(choice)  # type: ignore[return-value]  # of the same kind
    if not is_dataclass(choice) or isinstance(choice, type):
        return choice
    parts = {part.name: vars(choice)[part.name] for part in fields(choice)}
    after = {name: _changed(value, kind, change) for name, value in parts.items()}
    new = {name: value for name, value in after.items() if value is not parts[name]}
    return replace(choice, **new) if new else choice


def _imputing(method: Method, value: Value) -> Method:
    """Return a method whose Gaussian process sees inactive hyperparameters at their middle or their default."""
    maker = method.optimizer
    if not isinstance(maker, partial) or maker.func is not Bayes:
        return method
    surrogate = maker.keywords.get("surrogate", GaussianProcess)
    if (surrogate.func if isinstance(surrogate, partial) else surrogate) is not GaussianProcess:
        return method
    if value not in ("middle", "default"):
        raise ChoiceError(f"'inactive' must be middle or default. Got {value!r} instead.")
    optimizer: Callable[[Space], Optimizer] = partial(maker, surrogate=partial(surrogate, inactive=value))
    return replace(method, optimizer=optimizer)


def _cooling(method: Method, value: Value) -> Method:
    """Return a method that cools costs down within so many seconds."""
    maker = method.optimizer
    if not isinstance(maker, partial) or "cooling_seconds" not in maker.keywords:
        return method
    if not isinstance(value, int) or value < 1:
        raise ChoiceError(f"'seconds' must be a whole number >= 1. Got {value!r} instead.")
    optimizer: Callable[[Space], Optimizer] = partial(maker, cooling_seconds=float(value))
    return replace(method, optimizer=optimizer)
