"""Support vector machines with the radial kernel."""

from __future__ import annotations

from sklearn.svm import SVC, SVR

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import log_real


def make(own: Values, task: Task, random_state: int) -> SVC | SVR:
    """Build one; calibrated probabilities cost five more fits: the ensemble squashes the margin instead."""
    return SVC(**own, random_state=random_state) if task == "classification" else SVR(**own)


SVM = Learner(
    name="svm",
    make=make,
    hyperparameters=lambda: [log_real("C", 1e-2, 1e3), log_real("gamma", 1e-4, 1e1)],
    default={"C": 1.0, "gamma": 0.05},
    most_rows=5_000,
)
