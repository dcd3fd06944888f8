"""Read an experiment from a TOML file, strictly: an unknown key or a value that makes no sense is an error."""

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from comitia.arrays import Json
from comitia.bench.peers.registry import is_system
from comitia.bench.plan.plan import Experiment, HoldOutTest, NetworkRecipe, Validation, brings_its_own_space
from comitia.bench.report.layouts.registry import LAYOUTS
from comitia.errors import ExperimentError, UnknownName, check_int
from comitia.evaluation.scoring import make_loss
from comitia.study.budget import Budget

_TYPES: dict[str, tuple[type, str]] = {
    "title": (str, "a text"),
    "paper": (str, "a text"),
    "loss": (str, "a name"),
    "refit": (bool, "true or false"),
    "keep_test_losses": (bool, "true or false"),
    "selection_split": (float, "a fraction in (0, 1)"),
}
_INTEGERS = ("test_every", "rows_every", "jobs", "average_last", "repetitions")
_LISTS = ("problems", "methods", "spaces", "tables")
_KEYS: dict[str, tuple[str, ...]] = {
    "": (*_TYPES, *_INTEGERS, *_LISTS, "budget", "split", "networks", "validation", "method_cv"),
    "budget": ("n_trials", "n_evaluations", "time_limit"),
    "networks": ("epochs", "batch", "filters"),
    "split": ("test", "folds", "most_train_rows", "own"),
    "validation": ("name", "cv", "stratified", "methods"),
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


def make_experiment(content: Json, name: str) -> Experiment:
    """Check the content of a TOML file and make an experiment of it."""
    _check_keys(content, "")
    parts: Json = {key: content[key] for key in (*_TYPES, *_INTEGERS) if key in content}
    for key in _INTEGERS:
        if key in parts:
            check_int("an experiment", key, parts[key])
    parts |= {key: _names(key, content[key]) for key in _LISTS if key in content}
    for key in ("problems", "methods", "repetitions"):
        if key not in parts:
            raise ExperimentError(f"An experiment must have {key!r}. {name!r} has none. Add it.")
    for table in parts.get("tables", ()):
        if table not in LAYOUTS:
            raise UnknownName("table", table, LAYOUTS)
    if not _section(content, "budget"):
        raise ExperimentError(f"An experiment must have a [budget]. {name!r} has none. Add n_trials or time_limit.")
    parts["budget"] = Budget(**_section(content, "budget"))
    parts["split"] = _split(_section(content, "split"))
    if "networks" in content:
        parts["networks"] = _networks(_section(content, "networks"))
    if "validation" in content:
        parts["validations"] = tuple(_validations(content["validation"]))
    if not isinstance(content.get("method_cv", {}), dict):
        raise ExperimentError(f"'method_cv' must be a section, [method_cv]. Got {content['method_cv']!r} instead.")
    parts["method_cv"] = {name: checked_cv(cv) for name, cv in content.get("method_cv", {}).items()}
    needs_space = not all(map(is_system, parts["methods"])) and not all(map(brings_its_own_space, parts["problems"]))
    if "spaces" not in parts and needs_space:
        raise ExperimentError(f"An experiment on tables must have 'spaces'. {name!r} has none. See comitia spaces.")
    for key, (kind, wanted) in _TYPES.items():
        if key in parts and not isinstance(parts[key], kind):
            raise ExperimentError(f"{key!r} must be {wanted}. Got {parts[key]!r} instead.")
    if "loss" in parts:
        make_loss(parts["loss"])
    experiment = Experiment(name, **parts)
    _check_together(experiment)
    return experiment


def _check_together(experiment: Experiment) -> None:
    """Refuse parts that do not fit each other."""
    if not 0 < experiment.selection_split < 1:
        raise ExperimentError(f"'selection_split' must be a fraction in (0, 1). Got {experiment.selection_split}.")
    if experiment.test_every % experiment.rows_every and experiment.rows_every > 1:
        raise ExperimentError(
            f"'test_every' must be a multiple of 'rows_every': a test is part of a row. Got {experiment.test_every} "
            f"and {experiment.rows_every}. Use {experiment.rows_every} or twice as much for both."
        )
    are_images = [name.startswith("images:") for name in experiment.problems]
    if any(are_images) != (experiment.networks is not None) or any(are_images) != all(are_images):
        raise ExperimentError("An experiment on images must have [networks], and no other problems; others have none.")
    cvs = [*(validation.cv for validation in experiment.validations), *experiment.method_cv.values()]
    if not experiment.refit and max(cvs) >= 1:
        raise ExperimentError("'refit = false' keeps the model of the training part, so every cv must be a fraction.")
    names = [validation.name for validation in experiment.validations]
    if len(set(names)) < len(names):
        raise ExperimentError(f"Validations must have different names. Got {names}. Name them.")
    for where, named in (
        ("[method_cv]", [*experiment.method_cv]),
        ("[[validation]]", [method for validation in experiment.validations for method in validation.methods]),
    ):
        for method in named:
            if method not in experiment.methods:
                raise UnknownName(f"method in {where}", method, experiment.methods)
    for problem in experiment.split.own:
        if problem not in experiment.problems:
            raise UnknownName("problem in 'own' of [split]", problem, experiment.problems)
    n_trials = experiment.budget.n_trials
    if n_trials is not None and experiment.average_last > n_trials:
        raise ExperimentError(f"'average_last' must be at most the {n_trials} trials. Got {experiment.average_last}.")


def _check_keys(content: Json, section: str) -> None:
    for key in content:
        if key not in _KEYS[section]:
            raise UnknownName(f"key of an experiment{f' in [{section}]' if section else ''}", key, _KEYS[section])


def _section(content: Json, name: str) -> Json:
    section = content.get(name, {})
    if not isinstance(section, dict):
        raise ExperimentError(f"{name!r} must be a section, [{name}]. Got {section!r} instead.")
    _check_keys(section, name)
    return section


def _split(section: Json) -> HoldOutTest:
    split = HoldOutTest(**section)
    if split.test is not None and split.folds is not None:
        raise ExperimentError("[split] must have either 'test' or 'folds'. Got both. Remove one.")
    if split.test is not None and not (isinstance(split.test, float) and 0 < split.test < 1):
        raise ExperimentError(f"'test' must be a fraction in (0, 1). Got {split.test!r} instead.")
    if not isinstance(split.own, dict):
        raise ExperimentError(f"'own' must name tables and numbers of rows, as {{adult = 32561}}. Got {split.own!r}.")
    for key, value in [*section.items(), *split.own.items()]:
        if key not in ("test", "own"):
            check_int("[split]", key, value, least=2)
    return split if split.test or split.folds else replace(split, test=1 / 3)


def _networks(section: Json) -> NetworkRecipe:
    for key in ("epochs", "batch"):
        if key in section:
            check_int("[networks]", key, section[key])
    filters = section.get("filters", list(NetworkRecipe.filters))
    if not isinstance(filters, list) or len(filters) != 3:
        raise ExperimentError(f"'filters' must be three numbers, one per convolution. Got {filters!r} instead.")
    for n in filters:
        check_int("[networks]", "filters", n)
    return NetworkRecipe(**{**section, "filters": tuple(filters)})


def _validations(content: object) -> Iterator[Validation]:
    if not isinstance(content, list) or not content:
        raise ExperimentError("Validations must be sections, [[validation]], each with 'name' and 'cv'.")
    for section in content:
        if not isinstance(section, dict):
            raise ExperimentError(f"A validation must be a section with 'name' and 'cv'. Got {section!r} instead.")
        _check_keys(section, "validation")
        cv = checked_cv(section.get("cv", 5))
        stratified = section.get("stratified", True)
        if not isinstance(stratified, bool):
            raise ExperimentError(f"'stratified' must be true or false. Got {stratified!r} instead.")
        methods = tuple(_names("methods", section["methods"])) if "methods" in section else ()
        yield Validation(str(section.get("name", "hold-out" if cv < 1 else f"{cv}-fold")), cv, stratified, methods)


def checked_cv(cv: object) -> float | int:
    """Refuse what is neither a fraction nor a number of folds."""
    if isinstance(cv, float) and 0 < cv < 1:
        return cv
    if isinstance(cv, int) and not isinstance(cv, bool) and cv >= 2:
        return cv
    raise ExperimentError(f"'cv' must be a fraction in (0, 1) or a number of folds >= 2. Got {cv!r} instead.")


def _names(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise ExperimentError(f"{key!r} must be a list of names. Got {value!r} instead.")
    if len(set(value)) < len(value):
        raise ExperimentError(f"{key!r} must name each only once. Got {value!r}. Remove what is there twice.")
    return tuple(value)
