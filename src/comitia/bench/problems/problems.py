"""What an experiment is run on: a table with rows set aside for the test, or a black box.

Tables become one matrix of numbers: types are cleaned and categories turned into indicators, which learns nothing from
the target; what learns (filling in missing numbers, standardisation) happens inside the folds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from comitia.arrays import AnyArray, Array, Estimator, Indices
from comitia.bench.plan.plan import HoldOutTest
from comitia.errors import ExperimentError
from comitia.evaluation.fitting import Build
from comitia.evaluation.resampling import make_shuffler
from comitia.evaluation.scoring import Task
from comitia.seeds import Seeds
from comitia.space import Config, Space
from comitia.tables.cleaner import MOST_LEVELS, TableCleaner


@dataclass(frozen=True, eq=False)
class Draw:
    """The rows of one repetition: to search on, and to test on."""

    X_train: Array
    y_train: AnyArray
    X_test: Array
    y_test: AnyArray
    raw_train: pd.DataFrame
    """The same rows as the user's table had them, for systems that clean tables themselves."""
    raw_test: pd.DataFrame

    def n_classes(self, task: Task) -> int:
        """Return how many classes occur among all rows; 0 for numbers."""
        return len(np.union1d(self.y_train, self.y_test)) if task == "classification" else 0


class TableProblem(Protocol):
    """A table to learn from."""

    @property
    def name(self) -> str:
        """Its name in the results."""

    @property
    def task(self) -> Task:
        """What is predicted."""

    def draw(self, test: HoldOutTest, repetition: int) -> Draw:
        """Return the rows of one repetition: the same for every method."""


@dataclass(frozen=True, eq=False)
class FixedTable:
    """A table whose test rows are set aside anew in each repetition."""

    name: str
    task: Task
    raw: pd.DataFrame
    X: Array
    y: AnyArray

    def draw(self, test: HoldOutTest, repetition: int) -> Draw:
        train, aside = split_rows(self.y, test, repetition, self.name, is_classes=self.task == "classification")
        raw_train, raw_test = (self.raw.iloc[rows].reset_index(drop=True) for rows in (train, aside))
        return Draw(self.X[train], self.y[train], self.X[aside], self.y[aside], raw_train, raw_test)


@dataclass(frozen=True, eq=False)
class FunctionProblem:
    """A black box with a space of its own."""

    name: str
    space: Space
    function: Callable[[Config], float]
    """What the search sees, noise included."""
    truth: Callable[[Config], float]
    """The value without noise, for the test."""


def split_rows(
    y: AnyArray, test: HoldOutTest, repetition: int, name: str, *, is_classes: bool
) -> tuple[Indices, Indices]:
    """Return training and test rows of a repetition: a function of the problem's name and the repetition alone.

    Classes keep their proportions where every class has at least two rows (one fold's worth for folds). A table with
    test rows of its own has these in every repetition.
    """
    if name in test.own:
        n_train = test.own[name]
        if n_train >= len(y):
            raise ExperimentError(
                f"{name!r} must have test rows after its first {n_train}. Got {len(y)} rows. Change 'own' of [split]."
            )
        return np.arange(n_train), np.arange(n_train, len(y))
    shuffle, fold = divmod(repetition, test.folds) if test.folds else (repetition, 0)
    smallest = int(np.unique(y, return_counts=True)[1].min()) if is_classes else 0
    splitter = make_shuffler(test.folds or test.test or 1 / 3, stratify=smallest >= 2)
    splitter.random_state = Seeds(shuffle).integer(f"test/{name}")
    try:
        splits = list(splitter.split(np.zeros((len(y), 1)), y))
    except ValueError as error:
        raise ExperimentError(
            f"{name!r} must have enough rows for its splits. Got {len(y)} rows: {str(error).rstrip('.')}. "
            "Leave the problem out, or use larger parts."
        ) from error
    train, aside = splits[fold]
    return np.sort(train), np.sort(aside)


# ---- from a raw table to numbers ----------------------------------------------------------------------------------


def make_table(name: str, frame: pd.DataFrame, target: pd.Series, task: Task) -> FixedTable:
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


def numbers_of(frame: pd.DataFrame) -> Array:
    """Return a table as numbers: categories as indicators, missing categories as zeros, missing numbers as NaN."""
    cleaner = TableCleaner().fit(frame)
    X = np.asarray(cleaner.transform(frame), dtype=np.float64)
    columns = cleaner.columns_
    levels = dict(zip(columns.codes, columns.n_levels, strict=True))
    counts_of_words = {j for block in columns.words for j in block}  # for learners that know what to make of them
    kept = [j for j in range(X.shape[1]) if j not in counts_of_words]
    parts = [_indicators(X[:, j], levels[j]) if j in levels else X[:, [j]] for j in kept]
    matrix = np.column_stack(parts)
    is_missing = np.isnan(matrix)
    highest = np.where(is_missing, -np.inf, matrix).max(axis=0)
    varies = highest > np.where(is_missing, np.inf, matrix).min(axis=0)
    return matrix[:, varies] if varies.any() else matrix


def _indicators(codes: Array, n_levels: int) -> Array:
    if n_levels > MOST_LEVELS:  # the columns of its hashed text stand for it
        return np.empty((len(codes), 0))
    kept = range(1, n_levels) if n_levels == 2 else range(n_levels)  # two levels are one column
    return np.column_stack([codes == level for level in kept]).astype(np.float64)


@dataclass(frozen=True)
class WithImputer:
    """Fill in missing numbers inside each fold before the learner sees them."""

    build: Build

    def __call__(self, config: Config, random_state: int) -> Estimator:
        imputer = SimpleImputer(strategy="median", keep_empty_features=True)
        pipeline: Estimator = make_pipeline(imputer, self.build(config, random_state))
        return pipeline
