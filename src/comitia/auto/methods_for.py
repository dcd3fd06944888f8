"""Which method a fit searches by: what was asked for, as it is for searches that begin with defaults."""

import logging
from dataclasses import replace
from pathlib import Path

from comitia.auto.presets import PRESETS, Preset
from comitia.errors import ChoiceError
from comitia.evaluation.resampling import CV, make_resampling
from comitia.evaluation.scoring import Scoring, Task
from comitia.methods import METHODS, Method, get_method
from comitia.methods.options import split_name, with_options
from comitia.methods.own import AUTO_ABSOLUTE, AUTO_COMMITTEE, with_lazy_folds
from comitia.seams import Store
from comitia.study.record import StudyRecord
from comitia.study.store import looked_into

log = logging.getLogger("comitia")

OF_SIZES = frozenset(
    (
        "d2_absolute_error_score",
        "neg_mean_absolute_error",
        "neg_mean_absolute_percentage_error",
        "neg_median_absolute_error",
    )
)
"""Metrics of the sizes of errors, not of their squares."""
COMMITTEES = ("committee", "committee-lazy", "committee-per-second", "committee-cooled")
"""Methods for which the first trial and the metric matter."""


def method_for(method: Method, scoring: Scoring) -> Method:
    """Return a committee of the registry for a search that begins with a default, and for the metric; others as is."""
    name, options = split_name(method.name)
    if name not in COMMITTEES or not _is_of_registry(method, METHODS[name]):
        return method
    auto = AUTO_ABSOLUTE if scoring.name in OF_SIZES else AUTO_COMMITTEE
    chosen = replace(METHODS[name], goal=auto.goal, selection=auto.selection)
    if method.lazy is not None:
        chosen = with_lazy_folds(auto)
    return with_options(chosen, options, get_method) if options else chosen


def _is_of_registry(method: Method, found: Method) -> bool:
    """Tell whether a method is what its name stands for, and not another of the same name."""
    if method.name == found.name:
        return method == found
    found = get_method(method.name)
    return (method.goal, method.selection, method.lazy) == (found.goal, found.selection, found.lazy)


def within(method: Method, seconds: float | None, storage: str | Path | Store | None) -> Method:
    """Return a method that cools costs down with the budget that it has, or had when the stored study was begun."""
    name, options = split_name(method.name)
    if not name.endswith("-cooled") or "seconds" in options:
        return method
    recorded = _recorded(storage)
    if recorded is not None and split_name(recorded)[0] == name:
        return get_method(recorded)
    if seconds is None:
        return method
    options["seconds"] = max(1, round(seconds))
    return with_options(METHODS[name], dict(sorted(options.items())), get_method)


def _recorded(storage: str | Path | Store | None) -> str | None:
    """Return the name of the method of a study that is there already."""
    with looked_into(storage) as store:
        header = None if store is None else StudyRecord(store).header()
    return None if header is None else header.method


def default_method(task: Task, cv: CV, *, is_grouped: bool, preset: Preset | None = None) -> Method:
    """Return the method that chooses a committee, or one that chooses a single model where no committee can be."""
    method = get_method((preset or PRESETS["balanced"]).method)
    try:
        is_classes = task == "classification"
        method.check_resampling(make_resampling(cv, stratify=is_classes, grouped=is_grouped, reshuffled=False))
    except ChoiceError as error:
        log.info("bayes instead of a committee: %s", error)
        return METHODS["bayes"]
    return method
