"""Perceptrons with one to three hidden layers of equal size."""

from __future__ import annotations

from sklearn.neural_network import MLPClassifier, MLPRegressor

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import integer, log_real


def make(own: Values, task: Task, random_state: int) -> MLPClassifier | MLPRegressor:
    """Build one that stops early."""
    learner = MLPClassifier if task == "classification" else MLPRegressor
    return learner(
        hidden_layer_sizes=(own["neurons"],) * own["layers"],
        alpha=own["alpha"],
        learning_rate_init=own["learning_rate"],
        early_stopping=True,
        max_iter=100,
        random_state=random_state,
    )


MLP = Learner(
    name="mlp",
    make=make,
    hyperparameters=lambda: [
        integer("layers", 1, 3),
        integer("neurons", 16, 256, log=True),
        log_real("alpha", 1e-6, 1.0),
        log_real("learning_rate", 1e-4, 1e-1),
    ],
    default={"layers": 2, "neurons": 128, "alpha": 1e-4, "learning_rate": 1e-3},
)
