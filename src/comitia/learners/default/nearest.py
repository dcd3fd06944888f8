"""Nearest neighbours."""

from __future__ import annotations

from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import choice, integer


def make(own: Values, task: Task, random_state: int) -> KNeighborsClassifier | KNeighborsRegressor:
    """Build one; nothing in it is random."""
    return KNeighborsClassifier(**own) if task == "classification" else KNeighborsRegressor(**own)


KNN = Learner(
    name="knn",
    make=make,
    hyperparameters=lambda: [integer("n_neighbors", 1, 50), choice("weights", ["uniform", "distance"])],
    default={"n_neighbors": 15, "weights": "distance"},
    most_rows=50_000,
)
