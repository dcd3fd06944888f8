"""Where an experiment's data come from: folders of tables, scikit-learn's own sets, OpenML, generators, black boxes.

A problem is named `kind:name`; a name alone is a table of the data folder.
"""

import csv
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from sklearn import datasets
from sklearn.utils import Bunch

from comitia.bench.problems.black_boxes import make_black_box
from comitia.bench.problems.image_sets import ImageProblem, images_file, read_images
from comitia.bench.problems.openml import fetch_table
from comitia.bench.problems.problems import FixedTable, FunctionProblem, TableProblem, make_table
from comitia.bench.problems.synthetic import make_synthetic
from comitia.bench.problems.tabulated import Tabulated, read_pool
from comitia.errors import ExperimentError, TableError, UnknownName
from comitia.evaluation.scoring import Task
from comitia.tables.reading import read_table, split_target

DATA_VARIABLE = "COMITIA_DATA"
"""Environment variable with the folder of tables."""
TASKS = ("binary", "multiclass", "classification", "regression")
"""What an index may say of a table."""
ENDINGS = (".parquet", ".csv", ".tsv", ".arff")
Problem = TableProblem | FunctionProblem | Tabulated | ImageProblem
SKLEARN: dict[str, tuple[Callable[..., Bunch], Task]] = {
    "iris": (datasets.load_iris, "classification"),
    "wine": (datasets.load_wine, "classification"),
    "breast_cancer": (datasets.load_breast_cancer, "classification"),
    "digits": (datasets.load_digits, "classification"),
    "diabetes": (datasets.load_diabetes, "regression"),
}
KINDS = ("folder", "sklearn", "openml", "synthetic", "function", "coco", "hpo", "pool", "images")


def data_folder(given: Path | None) -> Path | None:
    """Return the folder of tables: the one given, else that of the environment."""
    variable = os.environ.get(DATA_VARIABLE)
    return Path(variable) if given is None and variable else given


@lru_cache(maxsize=4)
def find_problem(reference: str, folder: Path | None = None) -> Problem:
    """Load a problem by its name; the last few are kept in memory."""
    kind, name = _parts(reference)
    match kind:
        case "folder":
            return _from_folder(name, folder)
        case "sklearn":
            load, task = _of_sklearn(name)
            bunch = load(as_frame=True)
            return make_table(reference, bunch.data, bunch.target, task)
        case "openml":
            frame, target, task = fetch_table(name)
            return make_table(reference, frame, target, task)
        case "synthetic":
            return make_synthetic(reference)
        case "function" | "coco" | "hpo":
            return make_black_box(reference)
        case "pool":
            return read_pool(Path(name))
        case "images":
            return read_images(name, folder)
    raise UnknownName("kind of problem", kind, KINDS)


def find_table(reference: str, folder: Path | None, whose: str) -> TableProblem:
    """Load a table for something that can be run on nothing else."""
    problem = find_problem(reference, folder)
    if isinstance(problem, FunctionProblem | Tabulated | ImageProblem):
        what = {FunctionProblem: "black box", Tabulated: "pool", ImageProblem: "set of images"}[type(problem)]
        raise ExperimentError(f"{whose} must be given a table. Got the {what} {reference!r}. Name a table instead.")
    return problem


def check_problem(reference: str, folder: Path | None) -> int | None:
    """Refuse a problem that does not exist, without loading it; return its number of rows where that is known."""
    kind, name = _parts(reference)
    if kind not in KINDS:
        raise UnknownName("kind of problem", kind, KINDS)
    if kind == "folder":
        row, _, _ = _of_folder(name, folder)
        return int(float(row.get("n_rows") or 0)) or None
    if kind == "sklearn":
        _of_sklearn(name)
    if kind == "openml" and not name.isdigit():
        raise ExperimentError(f"An OpenML problem must be a number, such as openml:61. Got {reference!r} instead.")
    if kind == "pool" and not Path(name).is_file():
        raise ExperimentError(f"A pool must be a file. There is no {name!r}. Make it with comitia bench pool.")
    if kind == "images":
        images_file(name, folder)
    if kind in ("synthetic", "function", "coco", "hpo"):
        find_problem(reference)  # costs little, and knows its names
    return None


def task_of_problem(reference: str, folder: Path | None) -> Task | None:
    """Return what a table's problem predicts, as far as that is known without loading it."""
    kind, name = _parts(reference)
    if kind == "folder":
        return _of_folder(name, folder)[1]
    if kind == "sklearn":
        return _of_sklearn(name)[1]
    if kind == "synthetic":
        problem = find_problem(reference)
        return None if isinstance(problem, FunctionProblem | ImageProblem) else problem.task
    return None


def _parts(reference: str) -> tuple[str, str]:
    kind, colon, name = reference.partition(":")
    return (kind, name) if colon else ("folder", kind)


def _of_sklearn(name: str) -> tuple[Callable[..., Bunch], Task]:
    if name not in SKLEARN:
        raise UnknownName("dataset of scikit-learn", name, SKLEARN)
    return SKLEARN[name]


def _of_folder(name: str, folder: Path | None) -> tuple[dict[str, str], Task, Path]:
    """Return what the index says of a table, the task among it, and its file."""
    if folder is None:
        raise ExperimentError(
            f"The table {name!r} must be in a folder of tables. Got no folder. Use --data, or set {DATA_VARIABLE}."
        )
    index = read_index(folder)
    if name not in index:
        raise UnknownName("dataset", name, index)
    path = next((folder / f"{name}{ending}" for ending in ENDINGS if (folder / f"{name}{ending}").is_file()), None)
    if path is None:
        raise ExperimentError(f"The table {name!r} must be a file {name}.parquet or .csv. There is none in the folder.")
    return index[name], "regression" if index[name]["task"] == "regression" else "classification", path


@lru_cache(maxsize=8)
def read_index(folder: Path) -> dict[str, dict[str, str]]:
    """Read the `index.csv` of a folder: one row per table, with at least `name` and `task`."""
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


def _from_folder(name: str, folder: Path | None) -> FixedTable:
    _, task, path = _of_folder(name, folder)
    try:
        table = read_table(str(path))
        target = "target" if "target" in table.columns else str(table.columns[-1])
        frame, column = split_target(table, target)
    except TableError as error:
        raise ExperimentError(f"The table {name!r} could not be read: {error}") from error
    return make_table(name, frame, column, task)
