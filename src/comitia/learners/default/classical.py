"""Gaussians for classes, to be named in `include`, and a Gaussian process for numbers."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.naive_bayes import GaussianNB

from comitia.evaluation.scoring import Task
from comitia.learners.default.encoder import encoded_densely
from comitia.learners.default.learner import Learner, Values
from comitia.learners.discriminant import Discriminant
from comitia.learners.learner_space import choice, log_real, real

SMOOTHNESS = {"1/2": 0.5, "3/2": 1.5, "5/2": 2.5, "infinite": np.inf}
"""Of the Matérn kernel, by name; the last one is the radial kernel."""
FIRST_LENGTH = 3.0
"""Where the length scale starts; columns are standardised."""


def _naive_bayes(own: Values, task: Task, random_state: int) -> BaseEstimator:
    return GaussianNB(**own)


def _discriminant(own: Values, task: Task, random_state: int) -> BaseEstimator:
    return Discriminant(**own)


def _gaussian_process(own: Values, task: Task, random_state: int) -> BaseEstimator:
    """Length scale, signal and noise are those of the largest marginal likelihood."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    matern = Matern(FIRST_LENGTH, (1e-2, 1e4), nu=SMOOTHNESS[own["smoothness"]])
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * matern + WhiteKernel(0.1, (1e-6, 1e2))
    return GaussianProcessRegressor(kernel, normalize_y=True, random_state=random_state)


CLASSICAL = (
    Learner(
        name="naive-bayes",
        make=_naive_bayes,
        hyperparameters=lambda: [log_real("var_smoothing", 1e-10, 1.0)],
        default={"var_smoothing": 1e-3},
        prepare=encoded_densely,
        tasks=("classification",),
        default_for=(),
    ),
    Learner(
        name="lda",
        make=_discriminant,
        hyperparameters=lambda: [log_real("shrinkage", 1e-5, 1.0)],
        default={"shrinkage": 1e-2},
        prepare=encoded_densely,
        tasks=("classification",),
        default_for=(),
    ),
    Learner(
        name="qda",
        make=_discriminant,
        hyperparameters=lambda: [real("pooling", 0.0, 1.0), log_real("shrinkage", 1e-5, 1.0)],
        default={"pooling": 0.2, "shrinkage": 1e-2},
        prepare=encoded_densely,
        tasks=("classification",),
        default_for=(),
    ),
    Learner(
        name="gp-regression",
        make=_gaussian_process,
        hyperparameters=lambda: [choice("smoothness", list(SMOOTHNESS))],
        default={"smoothness": "5/2"},
        prepare=encoded_densely,
        most_rows=500,
        tasks=("regression",),
        transforms_target=True,
    ),
)
