"""The preprocessing of linear, kernel, neighbour and neural learners, fitted inside each fold."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler, TargetEncoder

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Values
from comitia.learners.dense import Dense
from comitia.learners.word_directions import n_directions, others
from comitia.tables.cleaner import Columns

MOST_ONE_HOT = 15
"""Categories with more levels are encoded by the target."""
FEWEST_BY_TARGET = 3
"""Levels from which trees get that number beside the code."""


def encoder(columns: Columns, task: Task, numbers: BaseEstimator | None = None) -> BaseEstimator:
    """Return what makes numbers without gaps of a cleaned table.

    `numbers` is what becomes of columns of numbers once gaps are filled; they are standardised if it is None.
    """
    if columns.is_sparse:
        return MaxAbsScaler()
    scaler = StandardScaler() if numbers is None else numbers
    filled = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), scaler)
    if not columns.codes:
        return filled
    few = [c for c, n in zip(columns.codes, columns.n_levels, strict=True) if n <= MOST_ONE_HOT]
    many = [c for c in columns.codes if c not in set(few)]
    rest = sorted(set(range(columns.n_columns)) - set(columns.codes))
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("numbers", filled, rest),
        ("few", one_hot, few),
        ("many", make_pipeline(by_target(task), StandardScaler()), many),
    ]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)


def by_target(task: Task) -> BaseEstimator:
    """Return what replaces a category by what the target is like there: fitted rows by those of other folds."""
    kind, splitter = ("auto", StratifiedKFold) if task == "classification" else ("continuous", KFold)
    if TargetEncoder().random_state is None:  # before scikit-learn 1.9, where it is deprecated
        return TargetEncoder(target_type=kind, random_state=0)
    return TargetEncoder(target_type=kind, cv=splitter(5, shuffle=True, random_state=0))


def encoded(model: BaseEstimator, columns: Columns, task: Task, numbers: BaseEstimator | None = None) -> Pipeline:
    """Return a model behind its preprocessing."""
    return Pipeline([("encode", encoder(columns, task, numbers)), ("learner", model)])


def without_words(columns: Columns) -> Columns:
    """Return what a table is like after `WordDirections`: other columns in their order, then directions."""
    rest = others(columns.words, columns.n_columns)
    codes = np.searchsorted(rest, columns.codes)
    n_columns = len(rest) + sum(n_directions(len(block)) for block in columns.words)
    return Columns(n_columns, columns.is_sparse, tuple(codes.tolist()), columns.n_levels)


def beside_codes(model: BaseEstimator, values: Values, columns: Columns, task: Task) -> BaseEstimator:
    """Return a model that gets the table as it is and, beside it, categories as numbers that the target gives them.

    Codes are in the order of the alphabet, so a tree needs many splits to find the levels that are alike.
    """
    codes = [c for c, n in zip(columns.codes, columns.n_levels, strict=True) if n >= FEWEST_BY_TARGET]
    if not codes:
        return model
    parts = [("table", "passthrough", list(range(columns.n_columns))), ("targets", by_target(task), codes)]
    return Pipeline([("encode", ColumnTransformer(parts, sparse_threshold=0.0)), ("learner", model)])


def encoded_densely(model: BaseEstimator, values: Values, columns: Columns, task: Task) -> BaseEstimator:
    """Return a model behind its preprocessing, for learners that take no sparse tables."""
    return encoded(make_pipeline(Dense(), model) if columns.is_sparse else model, columns, task)
