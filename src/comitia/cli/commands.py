"""What the commands do: read, fit, predict, list. `cli.py` parses and prints."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from comitia.auto.estimators import AutoClassifier, AutoRegressor, load
from comitia.auto.folder import STUDY, check_output
from comitia.errors import ChoiceError, ModelError, TableError, UnknownName
from comitia.evaluation.checks import task_of
from comitia.learners import SPACES
from comitia.methods import METHODS
from comitia.study.study import Study
from comitia.tables.reading import read_table, split_target

if TYPE_CHECKING:
    import pandas as pd

OPTIONS = "fit.json"
"""How the fit was begun, so that `resume` can go on."""
PRESETS: dict[str, dict[str, Any]] = {
    "fast": {"cv": 3, "include": ["linear", "lightgbm"]},
    "balanced": {},
    "thorough": {"cv": 10},
}


def run_fit(options: dict[str, Any], output: Path, *, overwrite: bool, verbose: bool) -> Any:
    """Fit by the options of the command line and save."""
    table = read_table(options["train"], delimiter=options["delimiter"])
    X, y = split_target(table, options["target"])
    is_standard_input = options["train"] == "-"
    estimator = _estimator(options, y)  # refuses wrong options before a folder is made
    fit_options = _columns(options, X, y)
    check_output(output, overwrite=overwrite)
    output.mkdir(exist_ok=True)
    for name in (STUDY, OPTIONS):
        (output / name).unlink(missing_ok=True)
    source = "-" if is_standard_input else str(Path(options["train"]).absolute())
    record = {**options, "train": source, "checksum": _checksum(table)}
    (output / OPTIONS).write_text(json.dumps(record, indent=1))
    return _fit_and_save(estimator, fit_options, output, verbose)


def run_resume(model: Path, time_limit: float | None, n_trials: int | None, *, verbose: bool) -> Any:
    """Go on with a fit."""
    if not (model / OPTIONS).is_file() or not (model / STUDY).is_file():
        raise ModelError(
            f"{str(model)!r} must be the folder of a fit that was begun. It is not: no {OPTIONS} and {STUDY}."
        )
    options = json.loads((model / OPTIONS).read_text())
    if options["train"] == "-":
        raise ModelError("A fit from standard input cannot be resumed: its table is not there any more. Fit again.")
    table = read_table(options["train"], delimiter=options["delimiter"])
    if _checksum(table) != options["checksum"]:
        raise TableError(
            f"The table must be the one the fit was begun with. {options['train']!r} has changed. Fit again."
        )
    if time_limit is not None or n_trials is not None:
        options |= {"time_limit": time_limit, "n_trials": n_trials}
    X, y = split_target(table, options["target"])
    return _fit_and_save(_estimator(options, y), _columns(options, X, y), model, verbose)


def _fit_and_save(estimator: Any, fit_options: dict[str, Any], output: Path, verbose: bool) -> Any:
    estimator.set_params(storage=str(output / STUDY), verbose=int(verbose))
    estimator.fit(**fit_options)
    estimator.save(output)
    estimator.study_.close()
    return estimator


def _estimator(options: dict[str, Any], y: pd.Series) -> Any:
    task = options["task"] or _task_of(y)
    kinds = {"classification": AutoClassifier, "regression": AutoRegressor}
    if task not in kinds:
        raise UnknownName("task", task, kinds)
    preset = PRESETS[options["preset"]]
    include = options["include"] or preset.get("include")
    cv = preset.get("cv")
    if options["time_column"]:
        from sklearn.model_selection import TimeSeriesSplit

        cv = TimeSeriesSplit(cv or 5)
    estimator = kinds[task](
        time_limit=options["time_limit"],
        n_trials=options["n_trials"],
        method=options["method"],
        scoring=options["metric"],
        cv=cv,
        include=include,
        exclude=options["exclude"] or [],
        n_jobs=options["jobs"],
        trial_time_limit=options["trial_time_limit"],
        trial_memory_limit=options["trial_memory_limit"],
        random_state=options["seed"],
    )
    estimator.check_parameters()
    return estimator


def _task_of(y: pd.Series) -> Any:
    values = y.dropna().to_numpy()
    if not len(values):
        raise TableError(f"The target column {y.name!r} must have values. All are missing.")
    return task_of(values if values.dtype.kind in "fiub" else values.astype(str), None)


def _columns(options: dict[str, Any], X: pd.DataFrame, y: pd.Series) -> dict[str, Any]:
    """Take groups, weights and time out of the table."""
    found: dict[str, Any] = {}
    for option, argument in (("groups", "groups"), ("weights", "sample_weight"), ("time_column", None)):
        name = options[option]
        if name is None:
            continue
        if name not in X.columns:
            raise UnknownName(f"column for --{option.replace('_', '-')}", name, [str(c) for c in X.columns])
        if argument is not None:
            found[argument] = X[name].to_numpy()
            X = X.drop(columns=name)
        else:
            if options["groups"] or options["weights"]:
                raise ChoiceError("--time-column cannot be combined with --groups or --weights. Use one of them.")
            order = np.argsort(_sortable(X[name]), kind="stable")
            X, y = X.iloc[order], y.iloc[order]
    return {"X": X, "y": y.to_numpy(), **found}


def _sortable(column: pd.Series) -> Any:
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype):
        return column.to_numpy()
    parsed = pd.to_datetime(column, errors="coerce", utc=True)
    if parsed.isna().any():
        raise TableError(f"The column {column.name!r} must hold dates or numbers to sort by. Some are neither.")
    return parsed.astype("int64").to_numpy()


def _checksum(table: pd.DataFrame) -> str:
    import pandas as pd

    rows = pd.util.hash_pandas_object(table.astype(str), index=False).to_numpy()
    return hashlib.blake2b(rows.tobytes() + repr(list(table.columns)).encode(), digest_size=16).hexdigest()


def run_predict(model: Path, table: str, proba: bool, delimiter: str | None, trusted: list[str]) -> pd.DataFrame:
    """Return predictions as a frame."""
    import pandas as pd

    estimator = load(model, trusted=trusted)
    X = read_table(table, delimiter=delimiter)
    if not proba:
        return pd.DataFrame({"prediction": estimator.predict(X)})
    if not hasattr(estimator, "predict_proba"):
        raise ChoiceError("--proba is for classification. The model predicts numbers. Leave it out.")
    return pd.DataFrame(estimator.predict_proba(X), columns=[str(c) for c in estimator.classes_])


def leaderboard_of(model: Path) -> pd.DataFrame:
    """Return the trials of a model folder, the best first."""
    if not (model / STUDY).is_file():
        raise ModelError(f"{str(model)!r} must be a model folder with a {STUDY}. There is none.")
    with Study.open(model / STUDY) as study:
        frame = study.to_frame()
    if not len(frame):
        return frame
    frame = frame[frame["status"] != "pending"]
    frame = frame.sort_values("loss", kind="stable", na_position="last").reset_index(drop=True)
    configs = [c for c in frame.columns if c.startswith("config.") and c != "config.learner"]
    settings = [
        ", ".join(f"{c.split(':')[-1]}={_short(row[c])}" for c in configs if row[c] == row[c] and row[c] is not None)
        for _, row in frame.iterrows()
    ]
    frame = frame.drop(columns=configs)
    frame.insert(0, "rank", range(1, len(frame) + 1))
    frame["settings"] = settings
    frame = frame.rename(columns={"config.learner": "learner"})
    return frame if frame["error"].fillna("").any() else frame.drop(columns="error")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def methods_frame() -> pd.DataFrame:
    """Return the registry of methods."""
    import pandas as pd

    rows = []
    for method in METHODS.values():
        paper = "; ".join(paper.citation for paper in method.papers) or "comitia"
        rows.append({"name": method.name, "paper": paper, "spelling": method.spelling, "what": method.summary})
    return pd.DataFrame(rows)


def spaces_frame() -> pd.DataFrame:
    """Return the ready-made spaces."""
    import pandas as pd

    return pd.DataFrame(
        [{"name": r.name, "task": r.task, "paper": r.paper, "what": r.summary} for r in SPACES.values()]
    )
