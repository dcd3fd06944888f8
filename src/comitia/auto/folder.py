"""Model folders: `model.zip`, which is never unpickled (see `model_file`), and the study's record `study.db`.

Files are written beside their place and renamed: a kill leaves the old one. A folder can be moved to another place or
machine; loading warns if it was made by other versions of the libraries.
"""

import os
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from comitia.arrays import Json
from comitia.auto.model_file import read_model, write_model
from comitia.errors import ComitiaError, ModelError, VersionWarning
from comitia.study.read_only import ReadOnlyStore
from comitia.study.record import versions
from comitia.study.store import SqliteStore
from comitia.study.study import Study

FORMAT = 2
MODEL, STUDY = "model.zip", "study.db"
OPTIONS = "fit.json"
"""What `comitia fit` leaves beside them: how it was called."""
OLD_MODEL = "model.skops"
"""What format 1 had instead."""
PLAIN = (str, int, float, bool, type(None))


class FittedModel(Protocol):
    """What is saved: `AutoClassifier` or `AutoRegressor`."""

    study_: Study

    def get_params(self, deep: bool = True) -> Json:
        """Return what it was constructed with."""


def check_output(path: Path, *, overwrite: bool = False) -> None:
    """Refuse a place where a model folder cannot or should not be written."""
    if path.is_file():
        raise ModelError(f"A model is a folder. Got {str(path)!r}, which is a file. Choose another place.")
    if not path.exists():
        if not path.absolute().parent.is_dir():
            raise ModelError(f"The folder around {str(path)!r} must exist. It does not. Create it first.")
        return
    if not os.access(path, os.W_OK):
        raise ModelError(f"A model's folder must be writable. Got {str(path)!r}, which is not. Choose another place.")
    is_ours = any((path / name).exists() for name in (MODEL, OLD_MODEL, STUDY))
    if any(path.iterdir()) and not (is_ours and overwrite):
        what = "a model; use --overwrite to replace it" if is_ours else "other files; choose another place"
        raise ModelError(f"The folder {str(path)!r} must be new or empty. It holds {what}.")


def save(model: FittedModel, path: Path) -> None:
    """Write a fitted model and its study as a model folder; parameters that are objects are left out."""
    check_output(path, overwrite=True)
    path.mkdir(exist_ok=True)
    kept = type(model)(**{name: value for name, value in model.get_params(deep=False).items() if _is_plain(value)})
    learned = {name: value for name, value in vars(model).items() if name.endswith("_") and name != "study_"}
    vars(kept).update(learned)
    with tempfile.TemporaryDirectory(dir=path) as folder:  # beside its place, so that renaming is atomic
        write_model(Path(folder) / MODEL, {"format": FORMAT, "versions": versions(), "model": kept})
        os.replace(Path(folder) / MODEL, path / MODEL)
        _save_study(model.study_, path, Path(folder))
    (path / OLD_MODEL).unlink(missing_ok=True)


def _save_study(study: Study, path: Path, folder: Path) -> None:
    """Copy the study's record, unless it is there already."""
    store = study.store
    if isinstance(store, SqliteStore) and store.path.absolute() == (path / STUDY).absolute():
        return
    copy = SqliteStore(folder / STUDY)
    study.copy_to(copy)
    copy.close()
    os.replace(folder / STUDY, path / STUDY)


def load(path: str | Path, *, trusted: Sequence[str] = ()) -> Any:
    """Load a model folder.

    The model has no `storage`, so fitting it again begins a new search; `Study.open(path / "study.db")` is the old one.

    Parameters
    ----------
    path : str or Path
    trusted : sequence of str
        Exact names of further types that the file may hold, such as "my_module.MyEstimator" for a learner of your own.

    Raises
    ------
    ModelError
        If there is no model, or the file holds a type that is not trusted; then nothing in it has run.
    """
    path = Path(path)
    if not (path / MODEL).is_file():
        raise _missing(path)
    content = read_model(path / MODEL, trusted)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelError(f"{str(path / MODEL)!r} must hold a comitia model of format {FORMAT}. Got something else.")
    if content["versions"] != (here := versions()):
        changed = [f"{k} {v} (here {here.get(k)})" for k, v in content["versions"].items() if here.get(k) != v]
        warnings.warn(f"The model was made with other versions: {', '.join(changed)}.", VersionWarning, stacklevel=2)
    model = content["model"]
    if "ensemble_" not in vars(model):
        raise ModelError(
            f"{str(path)!r} must hold an AutoClassifier or AutoRegressor. Got a {type(model).__name__}. Fit again."
        )
    model.storage = None  # that of its own fit; another one needs another record
    if (study := _read_study(path)) is not None:
        model.adopt(study)
    return model


def _missing(path: Path) -> ModelError:
    if not (path / OLD_MODEL).is_file():
        return ModelError(f"{str(path)!r} must be a model folder with a {MODEL}. There is none. Was the fit finished?")
    return ModelError(
        f"{str(path)!r} must hold a model of format {FORMAT}, a {MODEL}. Got one that an earlier version of comitia "
        f"wrote, a {OLD_MODEL}. Load it with that version, or fit the model again from its trials, which are not "
        f"repeated: by `comitia resume` if `comitia fit` made it, else with the same parameters and table, "
        f"storage={str(path / STUDY)!r}, and save it to the same folder."
    )


def _read_study(path: Path) -> Study | None:
    """Return the study of a model folder; None where it cannot be rebuilt, having learners of the user's own."""
    try:
        with Study(storage=ReadOnlyStore(path / STUDY)) as study:
            return study.in_memory()
    except ComitiaError:
        return None


def _is_plain(value: object) -> bool:
    """Tell whether a parameter can be kept in a model file."""
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    return isinstance(value, PLAIN)
