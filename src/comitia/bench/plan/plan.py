"""An experiment is a TOML file: problems, spaces, methods, repetitions, a budget, and one scale that shrinks it.

This file reads, checks, shrinks and lists; `run.py` runs.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from comitia.errors import ExperimentError, UnknownName
from comitia.evaluation.scoring import make_loss
from comitia.study.budget import Budget

TABLES = ("summary", "wins", "errors", "wilcoxon", "win-frequency", "quartiles", "measures")
"""Layouts of the papers that a report can have; see `bench/tables.py`."""
OWN_SPACE = "own"
"""The space of a problem that brings its own: a black box or a pool."""
LEAST_TRIALS = 10
"""A budget is not scaled below this."""


@dataclass(frozen=True)
class Validation:
    """How a trial is judged: `cv` is a hold-out fraction or a number of folds."""

    name: str
    cv: float | int
    stratified: bool = True
    """Keep the proportions of the classes; U draws its subsets without regard to them."""


@dataclass(frozen=True)
class Split:
    """How the test rows are set aside, and how many rows a model may be trained on."""

    test: float | None = None
    """Fraction of the rows for the test."""
    folds: int | None = None
    """Instead of a fraction: repetition r tests on fold `r % folds` of shuffle `r // folds` (P's nested validation)."""
    most_train_rows: int | None = None
    """Every fit, the last one included, sees at most this many rows."""


@dataclass(frozen=True)
class Cell:
    """One study of an experiment: what makes a row of results unique, beside its iteration."""

    problem: str
    space: str
    validation: str
    method: str
    repetition: int


@dataclass(frozen=True)
class Experiment:
    """What is compared, on what, how often and within which budget."""

    name: str
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    repetitions: int
    budget: Budget
    spaces: tuple[str, ...] = (OWN_SPACE,)
    validations: tuple[Validation, ...] = (Validation("5-fold", 5),)
    split: Split = field(default_factory=Split)
    title: str = ""
    paper: str = ""
    loss: str | None = None
    refit: bool = True
    """Fit what is returned on all rows but the test's; else keep the model of the training part (hold-out only)."""
    selection_split: float = 0.2
    """Fraction for the methods that set rows aside for the final selection."""
    test_every: int = 1
    """Iterations between two tests of what would be returned; the last is always tested."""
    rows_every: int = 1
    """Iterations between two rows; the last always has one."""
    jobs: int = 1
    """Cores that one cell may use; more than one only for whole systems."""
    average_last: int = 1
    """Iterations at the end whose test losses the tables average (L: 15)."""
    tables: tuple[str, ...] = ("summary", "wins", "errors", "wilcoxon")
    method_cv: Mapping[str, float | int] = field(default_factory=dict)
    """Methods that are judged in another way than the validation says (U: CMA-CV by fixed folds)."""
    scale: float = 1.0

    def cells(self, missing: Collection[str] = ()) -> list[Cell]:
        """List the cells but those of missing methods and spaces.

        Repetition by repetition, so that a run that is cut short has a bit of everything.
        """
        return [
            Cell(problem, space, validation.name, method, repetition)
            for repetition in range(self.repetitions)
            for problem in self.problems
            for space in ((OWN_SPACE,) if brings_its_own_space(problem) else self.spaces)
            for validation in self.validations
            for method in self.methods
            if method not in missing and space not in missing
        ]

    def validation_of(self, cell: Cell) -> Validation:
        """Return how the trials of a cell are judged."""
        found = next(validation for validation in self.validations if validation.name == cell.validation)
        return replace(found, cv=self.method_cv.get(cell.method, found.cv))

    def protocol(self) -> dict[str, Any]:
        """Return what must be the same for two cells to be compared: rows of another protocol are not mixed in.

        Problems, methods, spaces and repetitions are not part of it: more of them may be added later.
        """
        parts = asdict(self)
        names = ("name", "title", "paper", "loss", "refit", "selection_split", "test_every", "jobs")
        return {
            **{name: parts[name] for name in names},
            "split": parts["split"],
            "budget": parts["budget"],
            "validations": {v.name: v.cv if v.stratified else [v.cv, "not stratified"] for v in self.validations},
            "method_cv": dict(self.method_cv),
            "average_last": self.average_last,
            "tables": list(self.tables),
            "scale": self.scale,
        }

    def scaled(self, scale: float, sizes: Mapping[str, int] | None = None) -> Experiment:
        """Shrink problems, repetitions and budget together, each to its share rounded up.

        The problems with the fewest rows are kept where sizes are known: a scaled run is a quick look, and it says so.
        """
        if not 0 < scale <= 1:
            raise ExperimentError(f"The scale must be a number in (0, 1]. Got {scale!r} instead.")
        if scale == 1:
            return self
        order = sorted(self.problems, key=lambda name: (sizes or {}).get(name, math.inf))
        kept = set(order[: _share(len(order), scale)])
        budget = Budget(
            None if self.budget.time_limit is None else self.budget.time_limit * scale,
            _least(self.budget.n_trials, scale),
            _least(self.budget.n_evaluations, scale),
        )
        return replace(
            self,
            problems=tuple(name for name in self.problems if name in kept),
            repetitions=_share(self.repetitions, scale),
            budget=budget,
            average_last=_share(self.average_last, scale),
            scale=scale,
        )

    def only(self, *, problems: Collection[str] = (), methods: Collection[str] = ()) -> Experiment:
        """Keep some problems and methods by name."""
        for what, wanted, known in (("problem", problems, self.problems), ("method", methods, self.methods)):
            for name in wanted:
                if name not in known:
                    raise UnknownName(f"{what} of the experiment", name, known)
        return replace(
            self,
            problems=tuple(p for p in self.problems if not problems or p in problems),
            methods=tuple(m for m in self.methods if not methods or m in methods),
        )


def brings_its_own_space(problem: str) -> bool:
    """Tell whether a problem has a space of its own: black boxes and pools."""
    return problem.split(":")[0] in ("pool", "function", "coco", "hpo")


def _share(n: int, scale: float) -> int:
    return max(1, math.ceil(n * scale - 1e-9))


def _least(n: int | None, scale: float) -> int | None:
    return None if n is None else max(_share(n, scale), min(n, LEAST_TRIALS))


# ---- reading ------------------------------------------------------------------------------------------------------

_TOP = ("title", "paper", "problems", "spaces", "methods", "repetitions", "loss", "refit", "selection_split")
_KEYS: dict[str, tuple[str, ...]] = {
    "": (
        *_TOP,
        "test_every",
        "rows_every",
        "jobs",
        "average_last",
        "tables",
        "budget",
        "split",
        "validation",
        "method_cv",
    ),
    "budget": ("n_trials", "n_evaluations", "time_limit"),
    "split": ("test", "folds", "most_train_rows"),
    "validation": ("name", "cv", "stratified"),
}


def read_experiment(path: Path) -> Experiment:
    """Read a TOML file.

    Raises
    ------
    ExperimentError
        If it cannot be read, a key is unknown (with the near match) or a value makes no sense.
    """
    if not path.is_file():
        raise ExperimentError(f"An experiment must be a TOML file. There is no {str(path)!r}.")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExperimentError(f"{str(path)!r} must be TOML. It could not be read: {error}.") from error
    return make_experiment(content, path.stem)


def make_experiment(content: dict[str, Any], name: str) -> Experiment:
    """Check the content of a TOML file and make an experiment of it."""
    _check_keys(content, "")
    parts: dict[str, Any] = {key: content[key] for key in _TOP if key in content}
    for key in ("test_every", "rows_every", "jobs", "average_last", "repetitions"):
        if key in content:
            parts[key] = _positive(key, content[key])
    for key in ("problems", "methods", "spaces", "tables"):
        if key in content:
            parts[key] = _names(key, content[key])
    for key in ("problems", "methods", "repetitions"):
        if key not in parts:
            raise ExperimentError(f"An experiment must have {key!r}. {name!r} has none. Add it.")
    for table in parts.get("tables", ()):
        if table not in TABLES:
            raise UnknownName("table", table, TABLES)
    if not _section(content, "budget"):
        raise ExperimentError(f"An experiment must have a [budget]. {name!r} has none. Add n_trials or time_limit.")
    parts["budget"] = Budget(**_section(content, "budget"))
    parts["split"] = _split(_section(content, "split"))
    if "validation" in content:
        parts["validations"] = tuple(_validations(content["validation"]))
    if not isinstance(content.get("method_cv", {}), dict):
        raise ExperimentError(f"'method_cv' must be a section, [method_cv]. Got {content['method_cv']!r} instead.")
    parts["method_cv"] = {name: _checked_cv(cv) for name, cv in content.get("method_cv", {}).items()}
    if "spaces" not in parts and not all(map(brings_its_own_space, parts["problems"])):
        raise ExperimentError(f"An experiment on tables must have 'spaces'. {name!r} has none. See comitia spaces.")
    _check_types(parts)
    experiment = Experiment(name, **parts)
    _check_together(experiment)
    return experiment


def _check_types(parts: Mapping[str, Any]) -> None:
    kinds: dict[str, tuple[type, str]] = {
        "title": (str, "a text"),
        "paper": (str, "a text"),
        "loss": (str, "a name"),
        "refit": (bool, "true or false"),
        "selection_split": (float, "a fraction in (0, 1)"),
    }
    for key, (kind, wanted) in kinds.items():
        if key in parts and not isinstance(parts[key], kind):
            raise ExperimentError(f"{key!r} must be {wanted}. Got {parts[key]!r} instead.")
    if "loss" in parts:
        make_loss(parts["loss"])


def _check_together(experiment: Experiment) -> None:
    """Refuse parts that do not fit each other."""
    if not 0 < experiment.selection_split < 1:
        raise ExperimentError(f"'selection_split' must be a fraction in (0, 1). Got {experiment.selection_split}.")
    if experiment.test_every % experiment.rows_every and experiment.rows_every > 1:
        raise ExperimentError(
            f"'test_every' must be a multiple of 'rows_every': a test is part of a row. Got {experiment.test_every} "
            f"and {experiment.rows_every}. Use {experiment.rows_every} or twice as much for both."
        )
    if not experiment.refit and any(
        cv >= 1 for cv in [v.cv for v in experiment.validations] + [*experiment.method_cv.values()]
    ):
        raise ExperimentError("'refit = false' keeps the model of the training part, so every cv must be a fraction.")
    names = [validation.name for validation in experiment.validations]
    if len(set(names)) < len(names):
        raise ExperimentError(f"Validations must have different names. Got {names}. Name them.")
    for method in experiment.method_cv:
        if method not in experiment.methods:
            raise UnknownName("method in [method_cv]", method, experiment.methods)
    n_trials = experiment.budget.n_trials
    if n_trials is not None and experiment.average_last > n_trials:
        raise ExperimentError(f"'average_last' must be at most the {n_trials} trials. Got {experiment.average_last}.")


def _check_keys(content: Mapping[str, Any], section: str) -> None:
    for key in content:
        if key not in _KEYS[section]:
            raise UnknownName(f"key of an experiment{f' in [{section}]' if section else ''}", key, _KEYS[section])


def _section(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    section = content.get(name, {})
    if not isinstance(section, dict):
        raise ExperimentError(f"{name!r} must be a section, [{name}]. Got {section!r} instead.")
    _check_keys(section, name)
    return section


def _split(section: dict[str, Any]) -> Split:
    split = Split(**section)
    if split.test is not None and split.folds is not None:
        raise ExperimentError("[split] must have either 'test' or 'folds'. Got both. Remove one.")
    if split.test is not None and not (isinstance(split.test, float) and 0 < split.test < 1):
        raise ExperimentError(f"'test' must be a fraction in (0, 1). Got {split.test!r} instead.")
    for key in ("folds", "most_train_rows"):
        if getattr(split, key) is not None:
            _positive(key, getattr(split, key), least=2)
    return split if split.test or split.folds else replace(split, test=1 / 3)


def _validations(content: Any) -> Iterator[Validation]:
    if not isinstance(content, list) or not content:
        raise ExperimentError("Validations must be sections, [[validation]], each with 'name' and 'cv'.")
    for section in content:
        if not isinstance(section, dict):
            raise ExperimentError(f"A validation must be a section with 'name' and 'cv'. Got {section!r} instead.")
        _check_keys(section, "validation")
        cv = _checked_cv(section.get("cv", 5))
        stratified = section.get("stratified", True)
        if not isinstance(stratified, bool):
            raise ExperimentError(f"'stratified' must be true or false. Got {stratified!r} instead.")
        yield Validation(str(section.get("name", "hold-out" if cv < 1 else f"{cv}-fold")), cv, stratified)


def _checked_cv(cv: Any) -> float | int:
    is_fraction = isinstance(cv, float) and 0 < cv < 1
    is_folds = isinstance(cv, int) and not isinstance(cv, bool) and cv >= 2
    if not is_fraction and not is_folds:
        raise ExperimentError(f"'cv' must be a fraction in (0, 1) or a number of folds >= 2. Got {cv!r} instead.")
    return float(cv) if is_fraction else int(cv)


def _positive(key: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ExperimentError(f"{key!r} must be a whole number >= {least}. Got {value!r} instead.")
    return value


def _names(key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise ExperimentError(f"{key!r} must be a list of names. Got {value!r} instead.")
    if len(set(value)) < len(value):
        raise ExperimentError(f"{key!r} must name each once. Got some twice: {value!r}.")
    return tuple(value)
