"""The preprocessing of linear, kernel, neighbour and neural learners, fitted inside each fold."""

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler, TargetEncoder

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Values
from comitia.learners.dense import Dense
from comitia.tables.cleaner import Columns

MOST_ONE_HOT = 15
"""Categories with more levels are encoded by the target."""


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
    by_target = make_pipeline(
        TargetEncoder(target_type="auto" if task == "classification" else "continuous", random_state=0),
        StandardScaler(),
    )
    parts = [("numbers", filled, rest), ("few", one_hot, few), ("many", by_target, many)]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)


def encoded(model: BaseEstimator, columns: Columns, task: Task, numbers: BaseEstimator | None = None) -> Pipeline:
    """Return a model behind its preprocessing."""
    return Pipeline([("encode", encoder(columns, task, numbers)), ("learner", model)])


def encoded_densely(model: BaseEstimator, values: Values, columns: Columns, task: Task) -> BaseEstimator:
    """Return a model behind its preprocessing, for learners that take no sparse tables."""
    return encoded(make_pipeline(Dense(), model) if columns.is_sparse else model, columns, task)
