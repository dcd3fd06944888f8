"""scikit-learn's histogram boosting with native categories and early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from comitia.arrays import AnyArray, Array, Indices, Table
from comitia.evaluation.fitting import Examples
from comitia.evaluation.scoring import Task
from comitia.learners.boosters.boosted import Boosted
from comitia.learners.dense import dense
from comitia.learners.held_out import can_be_split

PATIENCE = 20
"""Trees without anything better after which it ends."""
MOST_CODES = 255
"""Categories with more levels are numbers to it: its histograms have no more bins."""


class HistBoosting(Boosted):
    """A `HistGradientBoostingClassifier` or `-Regressor`; `codes` beyond its limit must be left out by the caller."""

    def __init__(
        self,
        *,
        task: Task = "classification",
        codes: Sequence[int] = (),
        learning_rate: float = 0.1,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        most_trees: int = 1_000,
        n_trees: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.task = task
        self.codes = codes
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.most_trees = most_trees
        self.n_trees = n_trees
        self.random_state = random_state

    def _trained(self, examples: Examples, held: Indices | None) -> tuple[Any, int]:
        """Return a fitted estimator of scikit-learn, which draws the rows to stop by itself: as many as were drawn."""
        learner = HistGradientBoostingClassifier if self.task == "classification" else HistGradientBoostingRegressor
        stops = held is not None and (self.task == "regression" or can_be_split(examples.y, len(held)))
        own = ("learning_rate", "max_leaf_nodes", "min_samples_leaf", "l2_regularization", "max_features")
        model = learner(
            **{name: getattr(self, name) for name in own},
            max_iter=self.most_trees if stops else self._n_trees,
            early_stopping=stops,
            validation_fraction=len(held) if stops and held is not None else 0.1,
            n_iter_no_change=PATIENCE,
            categorical_features=list(self.codes) or None,
            random_state=self.random_state,
        )
        model.fit(dense(examples.X), examples.y, sample_weight=examples.weights)
        return _plain(model), int(model.n_iter_)

    def _opened(self) -> Any:
        model = copy(self.model_)
        model._loss = model._get_loss(sample_weight=None)  # what makes probabilities of the sum of trees
        return model

    def _answers(self, model: Any, X: Table) -> Array:
        told: Array = model.predict_proba(dense(X)) if self.task == "classification" else model.predict(dense(X))
        return told


class CodesFirst(BaseEstimator):  # type: ignore[misc]
    """Put columns of codes first, each code as its place among those of the fit; one that was not there is missing.

    scikit-learn's boosters hold a transformer that does so, and that only some versions can keep in a model file.
    """

    def __init__(self, codes: Sequence[int], categories: Sequence[Array], n_columns: int) -> None:
        self.codes = codes
        self.categories = categories
        self.n_columns = n_columns

    def transform(self, X: Array) -> Array:
        if X.shape[1] != self.n_columns:
            raise ValueError(f"X has {X.shape[1]} columns, but {self.n_columns} are expected.")
        rest = [column for column in range(self.n_columns) if column not in set(self.codes)]
        found = [_places(X[:, code], known) for code, known in zip(self.codes, self.categories, strict=True)]
        return np.column_stack([*found, X[:, rest]])


def _places(column: Array, known: Array) -> Array:
    """Return the place of each value among those known, which ascend; NaN where it is not among them."""
    places = np.minimum(np.searchsorted(known, column), len(known) - 1)
    return np.where(known[places] == column, places, np.nan)


def _plain(model: Any) -> Any:
    """Return a fitted model with nothing in it that a model file cannot hold: no loss, and no functions."""
    del model._loss
    if (before := model._preprocessor) is not None:
        codes = np.flatnonzero(model.is_categorical_).tolist()
        known = [_known(found) for found in before.named_transformers_["encoder"].categories_]
        model._preprocessor = CodesFirst(codes, known, model.n_features_in_)
    return model


def _known(categories: AnyArray) -> Array:
    """Return the codes that a column had in the fit, without the missing one."""
    numbers = np.asarray(categories, dtype=np.float64)
    return numbers[~np.isnan(numbers)] if (~np.isnan(numbers)).any() else np.array([np.nan])
