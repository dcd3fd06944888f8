"""The parts of the reference that are written from the code: methods, spaces, learners, the command line.

They are plain Markdown, so that they read as well where the code is hosted as in the site; `pages.py` writes them.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import partial
from typing import TypeAlias, get_args, get_type_hints

import ConfigSpace as CS
import typer
from typer.models import ArgumentInfo, OptionInfo

from comitia.cli.app import app
from comitia.learners import SPACES
from comitia.learners.default import LEARNERS
from comitia.learners.default.learner import Learner
from comitia.methods import METHODS, Method
from comitia.space.hyperparameters import Definition

Function: TypeAlias = Callable[..., object]


def rows_of(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown."""
    lines = [list(head), *map(list, rows)]
    texts = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "---|" * len(lines[0]), *texts[1:]])


def methods_table() -> str:
    """Return one line per method of the registry."""
    head = ("method", "what it does", "needs", "from")
    return rows_of(head, ((f"`{m.name}`", m.summary, _needs_of(m), _papers_of(m)) for m in METHODS.values()))


def _needs_of(method: Method) -> str:
    found = []
    if method.compares_rows:
        found.append("predictions")
    if method.has_selection_split:
        found.append("rows set aside")
    if method.is_reshuffled:
        found.append("new splits for each trial")
    return ", ".join(found)


def _papers_of(method: Method) -> str:
    return "; ".join(paper.citation for paper in method.papers) or "comitia"


def spaces_table() -> str:
    """Return one line per ready-made space."""
    rows = ((f"`{s.name}`", s.task, s.summary, s.paper) for s in SPACES.values())
    return rows_of(("space", "task", "what it has", "from"), rows)


def learners_table(*, is_default: bool) -> str:
    """Return one line per hyperparameter of the learners of the default space, or of the others."""
    rows = []
    for learner in (one for one in LEARNERS.values() if bool(one.default_for) == is_default):
        for place, parameter in enumerate(learner.hyperparameters()):
            default = learner.default[parameter.name]
            name = f"`{learner.name}`{_limits_of(learner)}" if place == 0 else ""
            rows.append((name, f"`{parameter.name}`", _range_of(parameter), f"{default}"))
    return rows_of(("learner", "hyperparameter", "range", "tried first"), rows)


def _limits_of(learner: Learner) -> str:
    """Say in brackets where a learner cannot be used, or is left out."""
    limits = [] if learner.most_rows is None else [f"up to {learner.most_rows:,} rows"]
    limits += [f"{learner.tasks[0]} alone"] if len(learner.tasks) == 1 else []
    limits += [] if learner.package is None else ["extra `boosters`"]
    return f" ({', '.join(limits)})" if limits else ""


def _range_of(parameter: Definition) -> str:
    if isinstance(parameter, CS.CategoricalHyperparameter):
        return ", ".join(map(str, parameter.choices))
    assert isinstance(parameter, CS.UniformFloatHyperparameter | CS.UniformIntegerHyperparameter)
    scale = ", log" if parameter.log else ""
    return f"{parameter.lower:g} to {parameter.upper:g}{scale}"


# ---- the command line ------------------------------------------------------------------------------------------------


def commands_text() -> str:
    """Return every command with its arguments and options, as its function declares them."""
    return "\n\n".join(_command_text(name, function) for name, function in _commands("comitia", app))


def _commands(name: str, group: typer.Typer) -> Iterator[tuple[str, Function]]:
    for command in group.registered_commands:
        assert command.callback is not None
        yield f"{name} {command.name or command.callback.__name__}", command.callback
    for below in group.registered_groups:
        assert below.typer_instance is not None
        yield from _commands(f"{name} {below.name}", below.typer_instance)


def _command_text(name: str, function: Function) -> str:
    text, _, examples = inspect.cleandoc(function.__doc__ or "").partition("**Example")
    rows, arguments = [], []
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        kind, *declared = get_args(hints[parameter.name]) or (hints[parameter.name],)
        for info in declared:
            if isinstance(info, ArgumentInfo):
                arguments.append(parameter.name.upper())
                rows.append((f"`{arguments[-1]}`", _help_of(info, kind), ""))
            elif isinstance(info, OptionInfo):
                rows.append((_names_of(info, parameter.name, kind), _help_of(info, kind), _default_of(parameter)))
    lines = re.findall(r"^ {4}(\S.*)$", examples, re.MULTILINE)
    usage = [" ".join([name, *arguments, "[OPTIONS]"]), *(["", *lines] if lines else [])]
    parts = [f"## {name}", text.strip(), "\n".join(["```text", *usage, "```"])]
    return "\n\n".join([*parts, rows_of(("", "meaning", "if not given"), rows)] if rows else parts)


def _names_of(info: OptionInfo, name: str, kind: object) -> str:
    plain = f"--{name.replace('_', '-')}"
    first = [info.default] if isinstance(info.default, str) else []  # where Typer keeps it within `Annotated`
    named = [*first, *(info.param_decls or [])]
    names = named or ([plain, plain.replace("--", "--no-", 1)] if kind is bool else [plain])
    return ", ".join(f"`{one}`" for one in names)


def _help_of(info: ArgumentInfo | OptionInfo, kind: object) -> str:
    names = ", ".join(f"`{one}`" for one in kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else ""
    return f"{info.help} One of {names}." if names else str(info.help or "")


def _default_of(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return "must be given"
    return "" if parameter.default in (None, False) else f"`{parameter.default}`"


REFERENCE: dict[str, Callable[[], str]] = {
    "methods": methods_table,
    "spaces": spaces_table,
    "learners": partial(learners_table, is_default=True),
    "more learners": partial(learners_table, is_default=False),
    "commands": commands_text,
}
"""What writes each part, by its name."""
