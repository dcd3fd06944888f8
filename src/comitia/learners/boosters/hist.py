"""scikit-learn's histogram boosting with native categories and early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.preprocessing import FunctionTransformer

from comitia.arrays import Array, Indices, Table
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
        self.random_state = random_state

    def _trained(self, examples: Examples, held: Indices | None) -> Any:
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
        return _without_checks(model.fit(dense(examples.X), examples.y, sample_weight=examples.weights))

    def _opened(self) -> Any:
        return self.model_

    def _answers(self, model: Any, X: Table) -> Array:
        told: Array = model.predict_proba(dense(X)) if self.task == "classification" else model.predict(dense(X))
        return told


def _without_checks(model: BaseEstimator) -> BaseEstimator:
    """Return the model without the function that checks columns of numbers once more: a model file holds none."""
    before = getattr(model, "_preprocessor", None)
    for _, part, _ in [] if before is None else [*before.transformers, *before.transformers_]:
        if isinstance(part, FunctionTransformer):
            part.func = None
    return model
