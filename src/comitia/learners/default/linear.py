"""Logistic and ridge regression."""

from __future__ import annotations

from sklearn.linear_model import LogisticRegression, Ridge

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import log_real


def make(own: Values, task: Task, random_state: int) -> LogisticRegression | Ridge:
    """Build one; `C` is the inverse of the penalty for both."""
    if task == "classification":
        return LogisticRegression(**own, max_iter=500, random_state=random_state)
    return Ridge(alpha=1 / own["C"], random_state=random_state)


LINEAR = Learner(
    name="linear",
    make=make,
    hyperparameters=lambda: [log_real("C", 1e-4, 1e3)],
    default={"C": 1.0},
)
