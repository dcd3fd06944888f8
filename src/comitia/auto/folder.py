"""Model folders: `model.skops`, loaded through an allow-list and never unpickled, and `study.db` beside it.

Files are written beside their place and renamed: a kill leaves the old one. A folder can be moved to another place or
machine; it says which versions made it when they differ.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from comitia.auto.trusted_types import TRUSTED
from comitia.errors import ComitiaError, ComitiaWarning, ModelError
from comitia.study.record import versions
from comitia.study.store import SqliteStore
from comitia.study.study import Study

FORMAT = 1
MODEL, STUDY = "model.skops", "study.db"
PLAIN = (str, int, float, bool, type(None))


class VersionWarning(ComitiaWarning):
    """A model was made by other versions than those that load it."""


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
    is_ours = (path / MODEL).exists() or (path / STUDY).exists()
    if any(path.iterdir()) and not (is_ours and overwrite):
        what = "a model; use --overwrite to replace it" if is_ours else "other files; choose another place"
        raise ModelError(f"The folder {str(path)!r} must be new or empty. It holds {what}.")


def write_folder(path: Path, content: dict[str, Any], study: Study) -> None:
    """Write a model's content and its study as a model folder."""
    import skops.io

    check_output(path, overwrite=True)
    path.mkdir(exist_ok=True)
    content = {"format": FORMAT, "versions": versions(), **content}
    with tempfile.TemporaryDirectory(dir=path) as folder:  # beside its place, so that renaming is atomic
        skops.io.dump(content, Path(folder) / MODEL)
        os.replace(Path(folder) / MODEL, path / MODEL)
        _save_study(study, path, Path(folder))


def _save_study(study: Study, path: Path, folder: Path) -> None:
    """Copy the study's record, unless it is there already."""
    store = study.store
    if isinstance(store, SqliteStore) and store.path.absolute() == (path / STUDY).absolute():
        return
    copy = SqliteStore(folder / STUDY)
    study.copy_to(copy)
    copy.close()
    os.replace(folder / STUDY, path / STUDY)


def read_folder(path: Path, trusted: Sequence[str]) -> dict[str, Any]:
    """Read a model's content; nothing in a file with types that are not trusted runs."""
    if not (path / MODEL).is_file():
        raise ModelError(f"{str(path)!r} must be a model folder with a {MODEL}. There is none. Was the fit finished?")
    content = _read(path / MODEL, trusted)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelError(f"{str(path / MODEL)!r} must hold a comitia model of format {FORMAT}. Got something else.")
    if content["versions"] != (here := versions()):
        changed = [f"{k} {v} (here {here.get(k)})" for k, v in content["versions"].items() if here.get(k) != v]
        warnings.warn(f"The model was made with other versions: {', '.join(changed)}.", VersionWarning, stacklevel=3)
    for model in content["ensemble"].models:
        _check_indices(model, path)
    return content


def read_study(path: Path) -> Study | None:
    """Return the study of a model folder; None where it cannot be rebuilt, having learners of the user's own."""
    try:
        with Study.open(path / STUDY) as study:
            return study.in_memory()
    except ComitiaError:
        return None


def _read(file: Path, trusted: Sequence[str]) -> Any:
    import zipfile

    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    try:
        return skops.io.load(file, trusted=[*TRUSTED, *trusted])
    except UntrustedTypesFoundException as error:
        raise ModelError(
            f"A model file must hold known types alone. {str(file)!r} holds others: {error} "
            "If you know where it is from, name them: comitia.load(path, trusted=[...])."
        ) from error
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, ImportError) as error:
        raise ModelError(f"{str(file)!r} must be a model file of comitia. Got something else: {error}") from error


def _check_indices(model: Any, path: Path) -> None:
    """Refuse trees whose node or row numbers point outside: scikit-learn follows them without looking."""
    for _, step in getattr(model, "steps", []):
        _check_indices(step, path)
    for part in np.ravel(getattr(model, "estimators_", [])):
        _check_indices(part, path)
    tree, neighbours = getattr(model, "tree_", None), getattr(model, "_tree", None)
    is_good = True
    if tree is not None:
        children = np.concatenate([tree.children_left, tree.children_right])
        is_good = bool((children >= -1).all() and (children < tree.node_count).all())
        is_good &= bool((tree.feature >= -2).all() and (tree.feature < tree.n_features).all())
    if neighbours is not None:
        data, rows, *_ = neighbours.get_arrays()
        is_good = bool((np.asarray(rows) >= 0).all() and (np.asarray(rows) < len(data)).all())
    if not is_good:
        raise ModelError(f"The trees of {str(path / MODEL)!r} point outside themselves: the file was tampered with.")


def is_plain(value: Any) -> bool:
    """Tell whether a parameter can be kept in a model file."""
    if isinstance(value, list | tuple):
        return all(is_plain(item) for item in value)
    return isinstance(value, PLAIN)
