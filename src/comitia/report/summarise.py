"""`summary_of`: a fitted model, a model folder or a study as one plain document, which the page draws.

The document holds everything that the page shows and nothing else. Sections that there is nothing to say in are None,
and what is wrong with a study is a text in `problem`: there is always a document, also of a file that is damaged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from numpy.typing import ArrayLike

from comitia.arrays import Json, Table
from comitia.auto.after_fit import Results
from comitia.auto.folder import MODEL, OPTIONS, STUDY, load
from comitia.auto.search_cv import SearchCV
from comitia.errors import ChoiceError, ComitiaError
from comitia.report.columns import columns_section
from comitia.report.diagnostics import diagnostics_section
from comitia.report.headline import headline_section
from comitia.report.members import committee_section, path_section, predict_seconds, weights_of
from comitia.report.plain import Scale, plain
from comitia.report.reproduce import Origin, reproduce_section
from comitia.report.searched import (
    branching,
    choices_section,
    failures_section,
    leaderboard_section,
    scores_section,
)
from comitia.report.space_views import importance_section, posterior_section, space_section
from comitia.report.trials import Recorded, Trials, problem_of, read_trials, trials_of
from comitia.seeds import Seeds
from comitia.space import Space
from comitia.study.record import Header
from comitia.study.study import Study

FORMAT = 1
Source = Results | SearchCV | Study | Path | str
"""What can be shown: a fitted estimator, a study, a model folder or a study's file."""


@dataclass(frozen=True, eq=False)
class Found:
    """What is known of a source."""

    trials: Trials
    scale: Scale
    space: Space | None = None
    study: Study | None = None
    """None where only the file was read."""
    model: Results | None = None
    header: Header | None = None
    options: Json | None = None
    """Options of `comitia fit`."""
    name: str = ""
    """Where it was read from."""
    problem: str | None = None

    @property
    def seeds(self) -> Seeds:
        """What the study drew its numbers by; those of seed 0 where that is not known."""
        return self.study.seeds if self.study is not None else Seeds(self.header.seed if self.header else 0)


def summary_of(
    source: Source,
    *,
    X: Table | ArrayLike | None = None,
    y: ArrayLike | None = None,
    trusted: Sequence[str] = (),
    quick: bool = False,
) -> Json:
    """Return everything that the page shows, as what JSON can hold.

    `X, y` are labelled rows for a model, of which columns are shuffled to see which matter; `trusted` are types of your
    own that a model folder may hold. With `quick` only what is known from the trials alone, which are read from the
    file: for a study that is running.
    """
    found = found_in(source, quick=quick, trusted=trusted)
    document = quick_document(found)
    if not quick:
        document |= plain(_of_space(found, branching(found.space)))
        if found.model is not None:
            document |= plain(_of_returned(found.model, found.trials, X, y))
    return document


def quick_document(found: Found) -> Json:
    """Return what is known from the trials alone."""
    branch = branching(found.space)
    document = {
        "format": FORMAT,
        "version": version("comitia"),
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": _title(found),
        "lead": _lead(found),
        "name": found.name,
        "problem": found.problem,
        "headline": headline_section(found.trials, found.scale, found.model, is_recorded=found.header is not None),
        "scores": scores_section(found.trials, found.scale, branch),
        "choices": choices_section(found.trials, found.scale, branch),
        "failures": failures_section(found.trials, branch),
        "space": space_section(found.trials, found.scale, found.space, branch),
        "reproduce": None
        if found.header is None and found.study is None
        else reproduce_section(Origin(found.model, found.study, found.header, found.options)),
        **_leaderboard(found, branch),
    }
    made: Json = plain(document)
    return made


def _leaderboard(found: Found, branch: str | None) -> Json:
    weights = None if found.model is None else weights_of(found.model)
    predicting = None
    if found.model is not None and weights is not None:
        predicting = predict_seconds(found.model.study_.history, list(weights))
    return {"leaderboard": leaderboard_section(found.trials, found.scale, branch, weights, predicting)}


def _of_space(found: Found, branch: str | None) -> Json:
    """Return what models of the trials say of the space."""
    known = found.trials, found.scale, found.space, found.trials.X, found.seeds
    if found.space is None or found.trials.X.shape[1] != len(found.space):
        return {}
    return {"importance": importance_section(*known, branch), "posterior": posterior_section(*known)}


def _of_returned(model: Results, trials: Trials, X: Table | ArrayLike | None, y: ArrayLike | None) -> Json:
    """Return what is known of a model, beside its trials."""
    hindsight = model.hindsight()
    return {
        "committee": committee_section(model, hindsight),
        "path": path_section(model, hindsight, trials),
        "diagnostics": diagnostics_section(model.validation_predictions_, vars(model).get("pos_label_")),
        "columns": columns_section(model, X, y),
        "data": model.data_summary_,
    }


def found_in(source: Source, *, quick: bool = False, trusted: Sequence[str] = ()) -> Found:
    """Return what is known of a fitted estimator, a study, a model folder or a study's file."""
    if isinstance(source, str | Path):
        path = Path(source)
        return _of_folder(path, trusted, quick=quick) if path.is_dir() else _of_file(path, {})
    if isinstance(source, Study):
        return Found(trials_of(source), _scale_of(source.direction), source.history.space, source)
    if isinstance(source, SearchCV):
        study: Study = source.study_
        return Found(
            trials_of(study), replace(_scale_of(study.direction, "score"), is_of_rows=True), study.history.space, study
        )
    if isinstance(source, Results):
        return _of_model(source)
    raise ChoiceError(
        "A report is of a fitted AutoClassifier or AutoRegressor, a Study, a model folder or a study's file. "
        f"Got {type(source).__name__} instead."
    )


def _of_model(model: Results, name: str = "", options: Json | None = None) -> Found:
    study, scale = model.study_, Scale(model.metric, model.score_of_loss(0.0), -1, is_of_rows=True)
    return Found(trials_of(study), scale, study.history.space, study, model, options=options, name=name)


def _of_folder(path: Path, trusted: Sequence[str], *, quick: bool) -> Found:
    options = _options(path)
    if quick or not (path / MODEL).is_file():
        return _of_file(path / STUDY, options, path.name)
    try:
        return _of_model(load(path, trusted=trusted), path.name, options)
    except ComitiaError as error:
        found = _of_file(path / STUDY, options, path.name)
        return Found(**{**vars(found), "problem": f"The model cannot be loaded. {problem_of(error)}"})


def _of_file(path: Path, options: Json, name: str = "") -> Found:
    return _of_recorded(read_trials(path), options, name or path.name)


def found_by(path: Path, read: Recorded) -> Found:
    """Return what is known by what was read of a study's file, which may be one of a model folder."""
    is_of_folder = path.name == STUDY
    return _of_recorded(
        read, _options(path.parent) if is_of_folder else {}, (path.parent if is_of_folder else path).name
    )


def _of_recorded(read: Recorded, options: Json, name: str) -> Found:
    space = None
    problem = read.problem
    if read.header is not None:
        try:
            space = Space.from_json(read.header.space)
        except (ComitiaError, ValueError, LookupError) as error:
            problem = problem or f"The space of the study cannot be read: {error}"
    direction = "minimize" if read.header is None else read.header.direction
    scale = _scale_of(direction) if read.metric is None else Scale(*read.metric, -1, is_of_rows=True)
    return Found(read.trials, scale, space, header=read.header, options=options, name=name, problem=problem)


def _options(folder: Path) -> Json:
    """Return the options that a fit of the command line left; empty where there are none."""
    try:
        found = json.loads((folder / OPTIONS).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _scale_of(direction: str, name: str | None = None) -> Scale:
    return Scale(name or "value", 0.0, -1) if direction == "maximize" else Scale(name or "loss", 0.0, 1)


def _title(found: Found) -> str:
    data = (None if found.model is None else found.model.data_summary_) or {}
    target = (found.options or {}).get("target") or data.get("target_name")
    if target:
        return f"Predicting {target}"
    if found.model is not None:
        return "A classifier" if "classes_" in vars(found.model) else "A regressor"
    return "A study"


def _lead(found: Found) -> str:
    """Return one sentence on what this page is about."""
    data = None if found.model is None else found.model.data_summary_
    table = "" if data is None else f" from a table of {data['n_rows']:,} rows and {data['n_columns']:,} columns"
    if found.model is not None:
        return f"What {type(found.model).__name__} found{table}, how good it will be on new rows, and why."
    if found.options:
        return "A fit that has not ended, or was interrupted: what its trials have found so far."
    return "What was tried, and what came of it."
