"""What the commands do: read, fit, predict, list. `app` parses and prints."""

from __future__ import annotations

import hashlib
import json
import shlex
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from comitia.arrays import AnyArray
from comitia.auto.boards import FIRST, leaderboard_of
from comitia.auto.estimate import EstimateKind
from comitia.auto.estimators import AutoClassifier, AutoRegressor
from comitia.auto.folder import MODEL, OPTIONS, STUDY, check_output, load
from comitia.auto.presets import get_preset
from comitia.cli.clock import seconds_left
from comitia.errors import ChoiceError, ComitiaWarning, ModelError, TableError, UnknownName
from comitia.evaluation.checks import task_of
from comitia.evaluation.scoring import Task, make_scoring
from comitia.learners import SPACES
from comitia.methods import METHODS
from comitia.report import check_report, page_of, save_page, summary_of
from comitia.study.budget import DEFAULT_SECONDS
from comitia.study.record import StudyRecord
from comitia.study.store import make_store
from comitia.study.study import Study
from comitia.tables.reading import read_table, split_target

Auto: TypeAlias = AutoClassifier | AutoRegressor
KINDS: dict[str, type[Auto]] = {"classification": AutoClassifier, "regression": AutoRegressor}
ESTIMATES: dict[str, EstimateKind] = {"auto": "auto", "nested": "nested", "none": False}
FitData: TypeAlias = tuple[pd.DataFrame, AnyArray, AnyArray | None, AnyArray | None]
"""X, y, sample_weight and groups."""


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """How a fit was begun: options of `comitia fit`, kept beside the model so that `comitia resume` has them again."""

    train: str
    target: str
    time_limit: float | None = None
    n_trials: int | None = None
    task: str | None = None
    metric: str | None = None
    metrics: list[str] | None = None
    pos_label: str | None = None
    class_weight: str | None = None
    groups: str | None = None
    weights: str | None = None
    time_column: str | None = None
    method: str | None = None
    estimate: str = "auto"
    preset: str = "balanced"
    include: list[str] | None = None
    exclude: list[str] | None = None
    jobs: int = -1
    lag: int | None = None
    dask: str | None = None
    trial_time_limit: float | None = None
    trial_memory_limit: float | None = None
    delimiter: str | None = None
    seed: int | None = None
    checksum: str = ""
    """Of the table; empty before it was read."""

    @classmethod
    def given(cls, parameters: Mapping[str, Any]) -> FitOptions:
        """Take the parameters of the command that are options of a fit, by their names."""
        known = [field.name for field in fields(cls) if field.name in parameters]
        found: dict[str, Any] = {name: parameters[name] for name in known}
        for name, value in found.items():
            found[name] = list(value) if isinstance(value, tuple) else str(value) if isinstance(value, Enum) else value
        return cls(**found)

    def write(self, folder: Path) -> None:
        (folder / OPTIONS).write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, folder: Path) -> FitOptions:
        """Read the options of a model folder, also of one that an earlier version wrote."""
        try:
            found = json.loads((folder / OPTIONS).read_text())
            known = {field.name for field in fields(cls)}
            return cls(**{name: value for name, value in found.items() if name in known})
        except (ValueError, TypeError, AttributeError) as error:
            path = str(folder / OPTIONS)
            raise ModelError(f"{path!r} must be a {OPTIONS} of comitia. Got another file: {error}") from error


def run_fit(options: FitOptions, output: Path, *, overwrite: bool, verbose: int, began: float) -> Auto:
    """Fit by the options of the command line and save; `began` is when the time began to count."""
    table = read_table(options.train, delimiter=options.delimiter)
    X, y = _with_target(*split_target(table, options.target))
    estimator = _estimator(options, y)  # refuses wrong options before a folder is made
    data = _fit_data(options, X, y)
    check_output(output, overwrite=overwrite)
    output.mkdir(exist_ok=True)
    for name in (STUDY, OPTIONS):
        (output / name).unlink(missing_ok=True)
    source = "-" if options.train == "-" else str(Path(options.train).absolute())
    replace(options, train=source, checksum=_checksum(table)).write(output)
    try:
        return _fit_and_save(estimator, data, output, verbose, began)
    except (ChoiceError, TableError):
        if not (output / STUDY).is_file():  # refused before anything was tried: the corrected command must find a place
            (output / OPTIONS).unlink(missing_ok=True)
            if not any(output.iterdir()):
                output.rmdir()
        raise


def run_resume(
    model: Path, time_limit: float | None, n_trials: int | None, dask: str | None, *, verbose: int, began: float
) -> Auto:
    """Resume a fit; `began` is when the time began to count."""
    if not (model / OPTIONS).is_file():
        raise ModelError(
            f"{str(model)!r} must be the folder of a fit that was begun. It is not: there is no {OPTIONS}."
        )
    options = FitOptions.read(model)
    if options.train == "-":
        raise ModelError("A fit from standard input cannot be resumed: its table is not there any more. Fit again.")
    table = read_table(options.train, delimiter=options.delimiter)
    if _checksum(table) != options.checksum:
        raise TableError(f"The table must be the one the fit was begun with. {options.train!r} has changed. Fit again.")
    if time_limit is not None or n_trials is not None:
        options = replace(options, time_limit=time_limit, n_trials=n_trials)
    options = replace(options, dask=dask)  # a scheduler of the first time may be gone
    X, y = _with_target(*split_target(table, options.target))
    return _fit_and_save(_estimator(options, y), _fit_data(options, X, y), model, verbose, began)


def _fit_and_save(estimator: Auto, data: FitData, output: Path, verbose: int, began: float) -> Auto:
    limits = estimator.time_limit, estimator.n_trials
    seconds = DEFAULT_SECONDS if limits == (None, None) else estimator.time_limit
    left = None if seconds is None else seconds_left(seconds, began)
    estimator.set_params(storage=str(output / STUDY), verbose=verbose, time_limit=left)
    try:
        estimator.fit(*data)
    except KeyboardInterrupt as error:  # before the search, or the second one: the first only ends the search
        raise KeyboardInterrupt(f"Interrupted: no model is saved. {_advice(output)}") from error
    estimator.set_params(time_limit=limits[0])
    with closing(estimator.study_) as study:
        if is_interrupted(estimator) and study.history.best is None:
            raise KeyboardInterrupt(f"Interrupted before a trial had succeeded: no model is saved. {_advice(output)}")
        if is_fallback(estimator) and (output / MODEL).is_file():
            raise ModelError(
                f"A new model must do more than predict the same for every row. There was no time to fit one, so the "
                f"model that was in {str(output)!r} is still there. Give it more time. {_advice(output)}"
            )
        estimator.save(output)
    return estimator


def is_fallback(estimator: Auto) -> bool:
    """Tell whether nothing could be fitted, so that the model predicts the same for every row."""
    return all(not member.config for member in estimator.members_)


def check_interrupt(estimator: Auto, output: Path) -> None:
    """Raise the Ctrl-C that ended a search, once all is done that comes after it."""
    if is_interrupted(estimator):
        n = estimator.study_.history.n_finished
        raise KeyboardInterrupt(f"Interrupted after {n} trials; the model is made of these. {_advice(output)}")


def is_interrupted(estimator: Auto) -> bool:
    """Tell whether a Ctrl-C ended the search."""
    return estimator.study_.stop_reason == "interrupted"


def _advice(output: Path) -> str:
    return f"To continue: comitia resume {shlex.quote(str(output))}"


def _estimator(options: FitOptions, y: pd.Series) -> Auto:
    task = options.task or _task_of(y)
    if task not in KINDS:
        raise UnknownName("task", task, KINDS)
    cv = None
    if options.time_column:
        from sklearn.model_selection import TimeSeriesSplit

        cv = TimeSeriesSplit(get_preset(options.preset).n_folds or 5)
    classes: dict[str, object] = {}
    if task == "classification":
        classes = {"pos_label": _label(options.pos_label, y), "class_weight": options.class_weight}
    elif options.pos_label is not None or options.class_weight is not None:
        raise ChoiceError(
            "--pos-label and --class-weight are for classification. The target is numbers. Leave them out."
        )
    estimator = KINDS[task](
        time_limit=options.time_limit,
        n_trials=options.n_trials,
        preset=options.preset,
        method=options.method,
        scoring=options.metric,
        metrics=options.metrics or [],
        estimate=ESTIMATES[options.estimate],
        cv=cv,
        include=options.include or None,
        exclude=options.exclude or [],
        n_jobs=options.jobs,
        lag=options.lag,
        executor=options.dask,
        trial_time_limit=options.trial_time_limit,
        trial_memory_limit=options.trial_memory_limit,
        random_state=options.seed,
    )
    estimator.set_params(**classes)
    estimator.check_parameters()
    return estimator


def _label(text: str | None, y: pd.Series) -> object:
    """Return the label of the target that is written so."""
    labels = y.unique().tolist()
    return next((label for label in labels if str(label) == text), text)


def _task_of(y: pd.Series) -> Task:
    values = y.to_numpy()
    return task_of(values if values.dtype.kind in "fiub" else values.astype(str), None)


def _fit_data(options: FitOptions, X: pd.DataFrame, y: pd.Series) -> FitData:
    """Take groups and weights out of the table, or sort it by time."""
    named = {"groups": options.groups, "weights": options.weights, "time-column": options.time_column}
    for option, name in named.items():
        if name is not None and name not in X.columns:
            raise UnknownName(f"column for --{option}", name, [str(c) for c in X.columns])
    if options.time_column is not None:
        if options.groups or options.weights:
            raise ChoiceError("--time-column cannot be combined with --groups or --weights. Use one of them.")
        order = np.argsort(_sortable(X[options.time_column]), kind="stable")
        X, y = X.iloc[order], y.iloc[order]
    taken = [name for name in (options.groups, options.weights) if name is not None]
    weights = None if options.weights is None else X[options.weights].to_numpy()
    groups = None if options.groups is None else X[options.groups].to_numpy()
    return X.drop(columns=taken), y.to_numpy(), weights, groups


def _with_target(X: pd.DataFrame, y: pd.Series) -> tuple[pd.DataFrame, pd.Series]:
    """Leave out rows without a target, and warn of them; numbers that only these made reals are whole again."""
    is_missing = y.isna()
    if not is_missing.any():
        return X, y
    if is_missing.all():
        raise TableError(f"The target column {y.name!r} must have values. All are missing.")
    warnings.warn(
        f"{int(is_missing.sum())} of {len(y)} rows have no target and are left out.", ComitiaWarning, stacklevel=3
    )
    X, y = X[~is_missing], y[~is_missing]
    is_whole = y.dtype.kind == "f" and bool((y % 1 == 0).all())
    return X, y.astype("int64") if is_whole else y


def _sortable(column: pd.Series) -> AnyArray:
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy()
    parsed = pd.to_datetime(column, errors="coerce", utc=True)
    if parsed.isna().any():
        raise TableError(f"The column {column.name!r} must hold dates or numbers to sort by. Some are neither.")
    return parsed.astype("int64").to_numpy()


def _checksum(table: pd.DataFrame) -> str:
    rows = pd.util.hash_pandas_object(table.astype(str), index=False).to_numpy()
    return hashlib.blake2b(rows.tobytes() + repr(list(table.columns)).encode(), digest_size=16).hexdigest()


def run_predict(model: Path, table: str, proba: bool, delimiter: str | None, trusted: list[str]) -> pd.DataFrame:
    """Return predictions as a frame."""
    estimator = load(model, trusted=trusted)
    X = read_table(table, delimiter=delimiter)
    if not proba:
        return pd.DataFrame({"prediction": estimator.predict(X)})
    if not isinstance(estimator, AutoClassifier):
        raise ChoiceError("--proba is for classification. The model predicts numbers. Leave it out.")
    return pd.DataFrame(estimator.predict_proba(X), columns=[str(c) for c in estimator.classes_])


def labelled(
    model: Path, table: str, delimiter: str | None, trusted: list[str]
) -> tuple[Auto, pd.DataFrame, AnyArray, AnyArray | None]:
    """Return a model, a table, the column that it predicts, and the weights of rows if it was fitted with any."""
    options = FitOptions.read(model) if (model / OPTIONS).is_file() else None
    if options is None:
        raise ModelError(f"{str(model)!r} must be the folder of a `comitia fit`, which knows its target. No {OPTIONS}.")
    frame = read_table(table, delimiter=delimiter)
    if options.target not in frame.columns:
        raise TableError(
            f"The table must have the column {options.target!r}, which the model predicts, to compare with. "
            f"{table!r} has none. Use `comitia predict` for rows without it."
        )
    X, y = _with_target(*split_target(frame, options.target))
    weights = X[options.weights].to_numpy() if options.weights is not None and options.weights in X.columns else None
    return load(model, trusted=trusted), X, y.to_numpy(), weights


def run_evaluate(model: Path, table: str, delimiter: str | None, trusted: list[str]) -> pd.DataFrame:
    """Return the score and further metrics of a model on labelled rows, and those on its validation rows."""
    estimator, X, y, weights = labelled(model, table, delimiter, trusted)
    found = estimator.scores(X, y, weights)
    rows = [
        {"metric": estimator.metric if name == "score" else name, "score": score, "validation": known}
        for (name, score), known in zip(found.items(), estimator.validation_scores_.values(), strict=True)
    ]
    return pd.DataFrame(rows)


def run_importance(model: Path, table: str, repeats: int, delimiter: str | None, trusted: list[str]) -> pd.DataFrame:
    """Return how much a model needs each column of a labelled table."""
    estimator, X, y, weights = labelled(model, table, delimiter, trusted)
    return estimator.feature_importance(X, y, weights, n_repeats=repeats)


def run_leaderboard(
    model: Path, test: str | None = None, delimiter: str | None = None, trusted: Sequence[str] = (), most: int = 20
) -> pd.DataFrame:
    """Return the best trials of a model folder, each configuration in one column, and what was returned in any case."""
    if not (model / STUDY).is_file():
        raise ModelError(f"{str(model)!r} must be a model folder with a {STUDY}. There is none.")
    if not _is_begun(model / STUDY):
        return pd.DataFrame(columns=list(FIRST))
    if test is not None:
        estimator, X, y, weights = labelled(model, test, delimiter, list(trusted))
        frame = estimator.leaderboard(X, y, weights)
    else:
        known = load(model, trusted=trusted) if (model / MODEL).is_file() else None
        frame = known.leaderboard() if known is not None and _is_of_study(known) else _running_leaderboard(model)
    is_returned = frame["estimate"].notna() if "estimate" in frame else np.zeros(len(frame), dtype=bool)
    frame = frame[is_returned | (np.arange(len(frame)) < most)]
    configs = [c for c in frame.columns if c.startswith("config.")]
    settings = [
        ", ".join(f"{c.split(':')[-1]}={_short(row[c])}" for c in configs if row[c] == row[c] and row[c] is not None)
        for _, row in frame.iterrows()
    ]
    frame = frame.drop(columns=configs).assign(settings=settings)
    unused = [] if frame["error"].fillna("").any() else ["error", "status"]
    return frame.drop(columns=unused)


def run_report(model: Path, output: Path, test: str | None, delimiter: str | None, trusted: list[str]) -> str | None:
    """Write the page of a model folder or of a study's file; return what is wrong with it, if something is."""
    if not model.exists():
        raise ModelError(f"{str(model)!r} must be a model folder or a study's file. It does not exist.")
    if model.is_dir() and not (model / STUDY).is_file():
        raise ModelError(f"{str(model)!r} must be a model folder with a {STUDY}. There is none.")
    check_report(output)  # what is missing is said before anything is computed
    X, y = (None, None) if test is None else labelled(model, test, delimiter, trusted)[1:3]
    summary = summary_of(model, X=X, y=y, trusted=trusted)
    save_page(page_of(summary), output)
    return None if summary["problem"] is None else str(summary["problem"])


def _is_of_study(estimator: Auto) -> bool:
    """Tell whether a model is of the study beside it, and not of one that is being replaced."""
    history = estimator.study_.history
    numbers = [member.trial for member in estimator.members_ if member.trial is not None]
    configs = [member.config for member in estimator.members_ if member.trial is not None]
    return all(n < len(history) and history.trial(n).config == c for n, c in zip(numbers, configs, strict=True))


def _running_leaderboard(model: Path) -> pd.DataFrame:
    """Return the trials of a fit that has not ended."""
    options = FitOptions.read(model) if (model / OPTIONS).is_file() else None
    with Study.open(model / STUDY) as study:
        truth = study.history.truth
        task: Task = "regression" if truth is not None and truth.n_classes == 0 else "classification"
        scoring = make_scoring(None if options is None else options.metric, task)
        names = [make_scoring(metric, task).scorer.name for metric in (options.metrics or [] if options else [])]
        return leaderboard_of(study, scoring, names)


def _is_begun(path: Path) -> bool:
    """Tell whether a record has a study; a fit that was stopped at once has left an empty one."""
    with closing(make_store(path)) as store:
        return StudyRecord(store).header() is not None


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def methods_frame() -> pd.DataFrame:
    """Return the registry of methods."""
    rows = []
    for method in METHODS.values():
        paper = "; ".join(paper.citation for paper in method.papers) or "comitia"
        rows.append({"name": method.name, "paper": paper, "spelling": method.spelling, "what": method.summary})
    return pd.DataFrame(rows)


def spaces_frame() -> pd.DataFrame:
    """Return the ready-made spaces."""
    return pd.DataFrame(
        [{"name": r.name, "task": r.task, "paper": r.paper, "what": r.summary} for r in SPACES.values()]
    )
