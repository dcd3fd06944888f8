"""`sklearn-cash`: nine learners, 13 hyperparameters and the choice of the learner.

(Lévesque 2018, Table 5.1; Lévesque et al. 2017, §V.)
"""

from __future__ import annotations

import inspect

import ConfigSpace as CS
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from comitia.arrays import AnyArray, Array
from comitia.learners.learner_space import LearnerSpace, choice, integer, log_real, space_of, standardised
from comitia.space import Config
from comitia.space.hyperparameters import Definition

NAMES = ["knn", "svm", "linsvm", "dt", "rf", "adab", "gnb", "lda", "qda"]


def _tree(prefix: str) -> list[Definition]:
    return [
        integer(f"{prefix}:max_depth", 1, 10),
        integer(f"{prefix}:min_samples_split", 2, 100),
        integer(f"{prefix}:min_samples_leaf", 2, 100),
    ]


def _space(n_features: int | None) -> CS.ConfigurationSpace:
    """Lévesque 2018, Table 5.1. The width tau is `gamma`; QDA's constant c in [1e-3, 1e3] is translated in `_qda`."""
    learner = choice("learner", NAMES)
    hyperparameters: list[Definition] = [
        integer("knn:n_neighbors", 1, 30),
        log_real("svm:C", 1e-5, 1e5),
        log_real("svm:gamma", 1e-5, 1e5),
        log_real("linsvm:C", 1e-5, 1e5),
        *_tree("dt"),
        integer("rf:n_estimators", 1, 30),
        *_tree("rf"),
        integer("adab:n_estimators", 1, 30),
        log_real("qda:c", 1e-3, 1e3),
    ]
    conditions = [CS.EqualsCondition(h, learner, h.name.split(":")[0]) for h in hyperparameters]
    return space_of(learner, *hyperparameters, *conditions)


class RidgeCovariance(BaseEstimator):  # type: ignore[misc]
    """The covariance (1 - r) S + r I."""

    def __init__(self, r: float = 0.0) -> None:
        self.r = r

    def fit(self, X: Array, y: AnyArray | None = None) -> RidgeCovariance:
        S = np.atleast_2d(np.cov(X, rowvar=False, bias=True))
        self.covariance_ = (1 - self.r) * S + self.r * np.eye(X.shape[1])
        return self


class SmallClassQDA(QuadraticDiscriminantAnalysis):  # type: ignore[misc]
    """Quadratic discriminant analysis that takes a class of one row.

    Its S is 0 and (1 - r) S + r I is defined, but scikit-learn refuses it: so the row is there twice, and once in the
    priors.
    """

    def fit(self, X: AnyArray, y: AnyArray) -> SmallClassQDA:
        X, y = np.asarray(X), np.asarray(y)
        _, first, counts = np.unique(y, return_index=True, return_counts=True)
        alone = first[counts == 1]
        super().fit(np.concatenate([X, X[alone]]), np.concatenate([y, y[alone]]))
        if len(alone):
            self.priors_ = counts / len(y)
        return self


def _qda(c: float) -> SmallClassQDA:
    """Return QDA whose covariances are proportional to S + c I.

    scikit-learn refuses a `reg_param` above 1, so the paper's c becomes `r = c / (1 + c)`, which gives
    `(1 - r) S + r I`. From 1.8 on its default solver also refuses classes with fewer rows than columns, whatever the
    regularisation; its other solver takes the covariance from us.
    """
    r = c / (1 + c)
    if "solver" in inspect.signature(QuadraticDiscriminantAnalysis).parameters:
        return SmallClassQDA(solver="eigen", covariance_estimator=RidgeCovariance(r))
    return SmallClassQDA(reg_param=r)


SEEDED = {
    "svm": SVC,
    "linsvm": LinearSVC,
    "dt": DecisionTreeClassifier,
    "rf": RandomForestClassifier,
    "adab": AdaBoostClassifier,
}
UNSEEDED = {"knn": KNeighborsClassifier, "gnb": GaussianNB, "lda": LinearDiscriminantAnalysis, "qda": _qda}
SCALED = {"knn", "svm", "linsvm", "qda"}


def _build(config: Config, random_state: int) -> BaseEstimator:
    """Build the chosen learner; those that depend on the scale get standardised columns."""
    name = config["learner"]
    own = {key.split(":")[1]: value for key, value in config.items() if ":" in key}
    model = SEEDED[name](**own, random_state=random_state) if name in SEEDED else UNSEEDED[name](**own)
    return standardised(model) if name in SCALED else model


CASH = LearnerSpace(
    name="sklearn-cash",
    define=_space,
    build=_build,
    paper="Lévesque 2018, Table 5.1",
    summary="Nine learners and their tuning.",
)
