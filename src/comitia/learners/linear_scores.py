"""`LinearScores`: what a linear model says of each row, as more columns for learners that split one column at a time.

A tree needs many splits for a difference of two columns; a linear model needs two numbers. The rows of a fit are scored
by models of their other folds: by its own model a row would look better known than rows that come later.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import KFold

from comitia.arrays import AnyArray, Array, Table
from comitia.evaluation.fitting import fit_parameters
from comitia.evaluation.scoring import Task

N_FOLDS = 5


class LinearScores(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Append a model's probabilities of all classes but the first, or its numbers, to a table.

    Parameters
    ----------
    model : estimator
        Behind what it needs to see such a table.
    task : {"classification", "regression"}
    """

    def __init__(self, model: BaseEstimator, task: Task = "classification") -> None:
        self.model = model
        self.task = task

    def fit(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model that scores rows which come later."""
        self.n_features_in_ = X.shape[1]
        target: AnyArray = np.asarray(y)
        self.classes_ = np.unique(target) if self.task == "classification" else np.zeros(2)
        self.model_ = self._fitted(X, target, None if sample_weight is None else np.asarray(sample_weight, float))
        return self

    def fit_transform(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Table:
        """Fit, and return the table with scores by models that have not seen the row."""
        self.fit(X, y, sample_weight)
        target: AnyArray = np.asarray(y)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        scores = np.zeros((len(target), len(self.classes_) - 1))
        n_folds = min(N_FOLDS, len(target))
        for train, rest in KFold(n_folds, shuffle=True, random_state=0).split(target) if n_folds > 1 else ():
            if self.task == "regression" or len(np.unique(target[train])) > 1:
                model = self._fitted(X[train], target[train], None if weights is None else weights[train])
                scores[rest] = self._scores(model, X[rest])
        return _beside(X, scores)

    def transform(self, X: Table) -> Table:
        """Return the table with scores."""
        return _beside(X, self._scores(self.model_, X))

    def _fitted(self, X: Table, y: AnyArray, weights: Array | None) -> BaseEstimator:
        model = clone(self.model)
        return model.fit(X, y, **fit_parameters(model, weights))

    def _scores(self, model: BaseEstimator, X: Table) -> Array:
        if self.task == "regression":
            return np.asarray(model.predict(X), dtype=np.float64)[:, None]
        scores = np.zeros((X.shape[0], len(self.classes_)))
        scores[:, np.searchsorted(self.classes_, model.classes_)] = model.predict_proba(X)
        return scores[:, 1:]


def _beside(X: Table, scores: Array) -> Table:
    return sparse.hstack([X, scores]).tocsr() if sparse.issparse(X) else np.hstack([X, scores])
