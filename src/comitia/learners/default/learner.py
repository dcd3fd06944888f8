"""What a learner of the default space is, and the preprocessing that it gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler, TargetEncoder

from comitia.evaluation.scoring import Task
from comitia.space.config import Value
from comitia.space.hyperparameters import Definition
from comitia.tables.cleaner import Columns

MOST_ONE_HOT = 15
"""Categories with more levels are encoded by the target."""
Values: TypeAlias = Mapping[str, Value]
"""Values of a learner's hyperparameters, by their names without a prefix."""


@dataclass(frozen=True, kw_only=True)
class Learner:
    """One choice of the default space."""

    name: str
    make: Callable[[Values, Task, int], BaseEstimator]
    """`make(values, task, random_state)` returns the unfitted estimator."""
    hyperparameters: Callable[[], list[Definition]]
    """Named without a prefix."""
    default: Values
    """What is tried first."""
    needs_encoding: bool = True
    """Whether it needs the preprocessing of `encoder`; without, it gets codes and missing values as they are."""
    most_rows: int | None = None
    """Left out of larger tables, where one fit takes minutes."""


def encoder(columns: Columns, task: Task) -> BaseEstimator:
    """Return the preprocessing of linear, kernel, neighbour and neural learners."""
    if columns.is_sparse:
        return MaxAbsScaler()
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    if not columns.codes:
        return numbers
    few = [c for c, n in zip(columns.codes, columns.n_levels, strict=True) if n <= MOST_ONE_HOT]
    many = [c for c in columns.codes if c not in set(few)]
    rest = sorted(set(range(columns.n_columns)) - set(columns.codes))
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    by_target = make_pipeline(
        TargetEncoder(target_type="auto" if task == "classification" else "continuous", random_state=0),
        StandardScaler(),
    )
    parts = [("numbers", numbers, rest), ("few", one_hot, few), ("many", by_target, many)]
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0.0)
