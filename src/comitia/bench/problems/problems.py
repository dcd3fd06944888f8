"""Where an experiment's data come from: folders of tables, scikit-learn's own sets, OpenML, generators, black boxes.

A problem is named `kind:name`; a name alone is a table of the data folder. Tables become one matrix of numbers: types
are cleaned and categories turned into indicators, which learns nothing from the target; what learns (filling in missing
numbers, standardisation) happens inside the folds.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from comitia.arrays import AnyArray, Array, Indices
from comitia.bench.plan.plan import Split
from comitia.errors import ExperimentError, TableError, UnknownName
from comitia.evaluation.fitting import Build
from comitia.evaluation.resampling import make_splitter
from comitia.evaluation.scoring import Task
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.tables.cleaner import MOST_LEVELS, TableCleaner
from comitia.tables.reading import read_table, split_target

DATA_VARIABLE = "COMITIA_DATA"
"""Environment variable with the folder of tables."""
TASKS = ("binary", "multiclass", "classification", "regression")
"""What an index may say of a table."""
ENDINGS = (".parquet", ".csv", ".tsv", ".arff")


@dataclass(frozen=True, eq=False)
class Draw:
    """The rows of one repetition: to search on, and to test on."""

    X_train: Array
    y_train: AnyArray
    X_test: Array
    y_test: AnyArray
    raw_train: Any
    """The same rows as the user's table had them, for systems that clean tables themselves."""
    raw_test: Any


class TableProblem(Protocol):
    """A table to learn from."""

    @property
    def name(self) -> str:
        """Its name in the rows of results."""

    @property
    def task(self) -> Task:
        """What is predicted."""

    def draw(self, split: Split, repetition: int) -> Draw:
        """Return the rows of one repetition: the same for every method."""


@dataclass(frozen=True, eq=False)
class FixedTable:
    """A table whose test rows are set aside anew in each repetition."""

    name: str
    task: Task
    raw: Any
    X: Array
    y: AnyArray

    def draw(self, split: Split, repetition: int) -> Draw:
        """See `TableProblem`."""
        train, test = split_rows(self.y, split, repetition, self.name, is_classes=self.task == "classification")
        raw_train, raw_test = (self.raw.iloc[rows].reset_index(drop=True) for rows in (train, test))
        return Draw(self.X[train], self.y[train], self.X[test], self.y[test], raw_train, raw_test)


@dataclass(frozen=True, eq=False)
class FunctionProblem:
    """A black box with a space of its own."""

    name: str
    space: Space
    function: Callable[[Config], float]
    """What the search sees, noise included."""
    truth: Callable[[Config], float]
    """The value without noise, for the test."""


Problem = TableProblem | FunctionProblem


def split_rows(y: AnyArray, split: Split, repetition: int, name: str, *, is_classes: bool) -> tuple[Indices, Indices]:
    """Return training and test rows of a repetition: a function of the problem's name and the repetition alone.

    Classes keep their proportions where every class has at least two rows (one fold's worth for folds).
    """
    shuffle, fold = divmod(repetition, split.folds) if split.folds else (repetition, 0)
    smallest = int(np.unique(y, return_counts=True)[1].min()) if is_classes else 0
    splitter = make_splitter(split.folds or split.test or 1 / 3, stratify=smallest >= 2)
    splitter.random_state = Seeds(shuffle).integer(f"test/{name}")
    try:
        splits = list(splitter.split(np.zeros((len(y), 1)), y))
    except ValueError as error:
        raise ExperimentError(
            f"{name!r} must have rows enough for its splits. Got {len(y)} rows: {str(error).rstrip('.')}. "
            "Leave the problem out, or use larger parts."
        ) from error
    train, test = splits[fold]
    return np.sort(train), np.sort(test)


# ---- from a raw table to numbers ----------------------------------------------------------------------------------


def make_table(name: str, frame: Any, target: Any, task: Task) -> FixedTable:
    """Clean a table and its target; rows without a target are left out."""
    is_known = ~target.isna().to_numpy()
    frame, target = frame[is_known].reset_index(drop=True), target[is_known]
    if not len(frame):
        raise ExperimentError(f"{name!r} must have rows with a target. Got none.")
    if task == "classification":
        y: AnyArray = np.unique(target.astype(str).to_numpy(dtype=str), return_inverse=True)[1]
    else:
        y = target.to_numpy(dtype=np.float64)
    return FixedTable(name, task, frame, numbers_of(frame), y)


def numbers_of(frame: Any) -> Array:
    """Return a table as numbers: categories as indicators, missing categories as zeros, missing numbers as NaN."""
    cleaner = TableCleaner().fit(frame)
    X = np.asarray(cleaner.transform(frame), dtype=np.float64)
    columns = cleaner.columns_
    levels = dict(zip(columns.codes, columns.n_levels, strict=True))
    parts = [_indicators(X[:, j], levels[j]) if j in levels else X[:, [j]] for j in range(X.shape[1])]
    matrix = np.column_stack(parts)
    is_missing = np.isnan(matrix)
    highest = np.where(is_missing, -np.inf, matrix).max(axis=0)
    varies = highest > np.where(is_missing, np.inf, matrix).min(axis=0)
    return matrix[:, varies] if varies.any() else matrix


def _indicators(codes: Array, n_levels: int) -> Array:
    if n_levels > MOST_LEVELS:  # its hashed letters stand for it
        return np.empty((len(codes), 0))
    kept = range(1, n_levels) if n_levels == 2 else range(n_levels)  # two levels are one column
    return np.column_stack([codes == level for level in kept]).astype(np.float64)


@dataclass(frozen=True)
class WithImputer:
    """Fill in missing numbers inside each fold before the learner sees them."""

    build: Build

    def __call__(self, config: Config, random_state: int) -> Any:
        """Build the pipeline."""
        return make_pipeline(
            SimpleImputer(strategy="median", keep_empty_features=True), self.build(config, random_state)
        )


# ---- finding ------------------------------------------------------------------------------------------------------

SKLEARN: dict[str, tuple[str, Task]] = {
    "iris": ("load_iris", "classification"),
    "wine": ("load_wine", "classification"),
    "breast_cancer": ("load_breast_cancer", "classification"),
    "digits": ("load_digits", "classification"),
    "diabetes": ("load_diabetes", "regression"),
}
KINDS = ("folder", "sklearn", "openml", "synthetic", "function", "coco", "hpo", "pool")


def data_folder(given: Path | None) -> Path | None:
    """Return the folder of tables: the one given, else that of the environment."""
    if given is None and not os.environ.get(DATA_VARIABLE):
        return None
    return given if given is not None else Path(os.environ[DATA_VARIABLE])


def find_problem(reference: str, folder: Path | None = None) -> Problem:
    """Load a problem by its name; the last few are kept in memory."""
    problem: Problem = _find(reference, folder)
    return problem


@lru_cache(maxsize=4)
def _find(reference: str, folder: Path | None) -> Any:
    kind, name = _parts(reference)
    match kind:
        case "folder":
            return _from_folder(name, _checked_folder(name, folder))
        case "sklearn":
            return _from_sklearn(name)
        case "openml":
            from comitia.bench.problems.openml import fetch_table

            frame, target, task = fetch_table(name)
            return make_table(reference, frame, target, task)
        case "synthetic":
            from comitia.bench.problems.synthetic import make_synthetic

            return make_synthetic(reference)
        case "function" | "coco" | "hpo":
            from comitia.bench.problems.black_boxes import make_black_box

            return make_black_box(reference)
        case "pool":
            from comitia.bench.problems.tabulated import read_pool

            return read_pool(Path(name))
    raise UnknownName("kind of problem", kind, KINDS)


def check_problem(reference: str, folder: Path | None) -> int | None:
    """Refuse a problem that does not exist, without loading it; return its number of rows where that is known."""
    kind, name = _parts(reference)
    if kind not in KINDS:
        raise UnknownName("kind of problem", kind, KINDS)
    if kind == "folder":
        place = _checked_folder(name, folder)
        index = read_index(place)
        if name not in index:
            raise UnknownName("dataset", name, index)
        _file_of(name, place)
        return int(float(index[name].get("n_rows") or 0)) or None
    if kind == "sklearn" and name not in SKLEARN:
        raise UnknownName("dataset of scikit-learn", name, SKLEARN)
    if kind == "openml" and not name.isdigit():
        raise ExperimentError(f"An OpenML problem must be a number, such as openml:61. Got {reference!r} instead.")
    if kind == "pool" and not Path(name).is_file():
        raise ExperimentError(f"A pool must be a file. There is no {name!r}. Make it with comitia bench pool.")
    if kind in ("synthetic", "function", "coco", "hpo"):
        find_problem(reference)  # costs little, and knows its names
    return None


def task_of_problem(reference: str, folder: Path | None) -> Task | None:
    """Return what a table's problem predicts, as far as that is known without loading it."""
    kind, name = _parts(reference)
    if kind == "folder":
        row = read_index(_checked_folder(name, folder))[name]
        return "regression" if row["task"] == "regression" else "classification"
    if kind == "sklearn":
        return SKLEARN[name][1]
    if kind == "synthetic":
        problem = find_problem(reference)
        return None if isinstance(problem, FunctionProblem) else problem.task
    return None


def _parts(reference: str) -> tuple[str, str]:
    kind, colon, name = reference.partition(":")
    return (kind, name) if colon else ("folder", kind)


def _checked_folder(name: str, folder: Path | None) -> Path:
    if folder is None:
        raise ExperimentError(
            f"The table {name!r} must be in a folder of tables. Got no folder. Use --data, or set {DATA_VARIABLE}."
        )
    return folder


@lru_cache(maxsize=8)
def read_index(folder: Path) -> dict[str, dict[str, str]]:
    """Read the `index.csv` of a folder: one row a table, with at least `name` and `task`."""
    path = folder / "index.csv"
    if not path.is_file():
        raise ExperimentError(
            f"A folder of tables must have an index.csv with the columns name and task. There is no {str(path)!r}."
        )
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows or not {"name", "task"} <= set(rows[0]):
        raise ExperimentError(
            f"{str(path)!r} must have the columns name and task. Got {list(rows[0]) if rows else []}."
        )
    for row in rows:
        if row["task"] not in TASKS:
            raise UnknownName(f"task of {row['name']!r} in {path.name}", row["task"], TASKS)
    return {row["name"]: row for row in rows}


def _from_folder(name: str, folder: Path) -> FixedTable:
    index = read_index(folder)
    if name not in index:
        raise UnknownName("dataset", name, index)
    try:
        table = read_table(str(_file_of(name, folder)))
        target = "target" if "target" in table.columns else str(table.columns[-1])
        frame, column = split_target(table, target)
    except TableError as error:
        raise ExperimentError(f"The table {name!r} could not be read: {error}") from error
    task: Task = "regression" if index[name]["task"] == "regression" else "classification"
    return make_table(name, frame, column, task)


def _file_of(name: str, folder: Path) -> Path:
    path = next((folder / f"{name}{ending}" for ending in ENDINGS if (folder / f"{name}{ending}").is_file()), None)
    if path is None:
        raise ExperimentError(f"The table {name!r} must be a file {name}.parquet or .csv. There is none in the folder.")
    return path


def _from_sklearn(name: str) -> FixedTable:
    from sklearn import datasets

    if name not in SKLEARN:
        raise UnknownName("dataset of scikit-learn", name, SKLEARN)
    loader, task = SKLEARN[name]
    bunch = getattr(datasets, loader)(as_frame=True)
    return make_table(f"sklearn:{name}", bunch.data, bunch.target, task)
