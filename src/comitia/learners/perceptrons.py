"""`Perceptrons`: the mean of several neural networks that differ in their seeds."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from comitia.arrays import AnyArray, Array, Table
from comitia.evaluation.fitting import fit_parameters
from comitia.evaluation.scoring import Task
from comitia.learners.held_out import can_be_split, held_out

PATIENCE = 15
"""Epochs without anything better after which one ends."""
MOST_EPOCHS = 200


class Perceptrons(BaseEstimator):  # type: ignore[misc]
    """Fit the same network from several seeds and average the answers; numbers are standardised before the fit.

    Where there are rows to spare, each network ends when a part of them is predicted no better; else after
    `MOST_EPOCHS`, or when the loss stays as it is.
    """

    classes_: AnyArray

    def __init__(
        self,
        *,
        task: Task = "classification",
        layers: int = 2,
        neurons: int = 128,
        alpha: float = 1e-4,
        learning_rate: float = 1e-3,
        n_seeds: int = 4,
        random_state: int = 0,
    ) -> None:
        self.task = task
        self.layers = layers
        self.neurons = neurons
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.n_seeds = n_seeds
        self.random_state = random_state

    def fit(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit all of them; weights count where scikit-learn's networks take them."""
        self.n_features_in_ = X.shape[1]
        is_classes = self.task == "classification"
        target: AnyArray = np.asarray(y)
        if is_classes:
            self.classes_, target = np.unique(target, return_inverse=True)
        else:
            self.centre_, self.spread_ = float(target.mean()), float(target.std()) or 1.0
            target = (target - self.centre_) / self.spread_
        held = held_out(target, is_classes=is_classes, random_state=self.random_state)
        stops = held is not None and (not is_classes or can_be_split(target, len(held)))
        share = len(held) / len(target) if stops and held is not None else 0.1
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.models_ = []
        for seed in np.random.SeedSequence(self.random_state).generate_state(self.n_seeds).tolist():
            model = (MLPClassifier if is_classes else MLPRegressor)(
                hidden_layer_sizes=(self.neurons,) * self.layers,
                alpha=self.alpha,
                learning_rate_init=self.learning_rate,
                early_stopping=stops,
                validation_fraction=share,
                n_iter_no_change=PATIENCE,
                max_iter=MOST_EPOCHS,
                random_state=seed,
            )
            self.models_.append(model.fit(X, target, **fit_parameters(model, weights)))
        return self

    def _told(self, X: Table) -> Array:
        """Return the mean of numbers (n,), or of probabilities (n, n_classes)."""
        method = "predict_proba" if self.task == "classification" else "predict"
        return np.asarray(np.mean([getattr(model, method)(X) for model in self.models_], axis=0))

    def predict(self, X: Table) -> AnyArray:
        """Return the class or the number of each row, (n,)."""
        told = self._told(X)
        if self.task == "classification":
            return np.asarray(self.classes_[told.argmax(axis=1)])
        return self.centre_ + self.spread_ * told

    @available_if(lambda self: self.task == "classification")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Table) -> Array:
        """Return the probability of each class, (n, n_classes)."""
        return self._told(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier" if self.task == "classification" else "regressor"
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
