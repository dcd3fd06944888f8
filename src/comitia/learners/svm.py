"""Support vector machines: `svm-rbf`, `svm-kernels` (Lévesque 2018), `svm`, `svr` (Lacoste et al. 2014), `svm-ard`.

The last is that of Glasmachers and Igel 2008.
"""

from __future__ import annotations

import ConfigSpace as CS
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from comitia.arrays import AnyArray, Array, Table
from comitia.errors import ChoiceError
from comitia.learners.learner_space import LearnerSpace, choice, integer, log_real, space_of, standardised
from comitia.learners.quick_svm import QuickBuild, quick_ard, quick_rbf
from comitia.space import Config

LACOSTE = "Lacoste et al. 2014, §6.1"
MOST_STEPS = 200_000
"""Steps of the solver: a polynomial of degree 10 with C = 1e5 has no end otherwise; libsvm has 10 million."""


def _rbf_space(n_features: int | None) -> CS.ConfigurationSpace:
    """Define both on a log scale; the kernel width tau of the thesis is scikit-learn's gamma (eq. 2.18)."""
    return space_of(log_real("C", 1e-5, 1e5), log_real("gamma", 1e-5, 1e5))


def _build_rbf(config: Config, random_state: int) -> Pipeline:
    return standardised(SVC(C=config["C"], gamma=config["gamma"], random_state=random_state))


RBF = LearnerSpace(
    name="svm-rbf",
    define=_rbf_space,
    build=QuickBuild(_build_rbf, quick_rbf),
    paper="Lévesque 2018, §3.3",
    summary="SVM, radial kernel: C and gamma.",
)


def _narrow_space(n_features: int | None) -> CS.ConfigurationSpace:
    """Lacoste et al. 2014 print the kernel without its minus sign."""
    return space_of(log_real("C", 1e-2, 1e3), log_real("gamma", 1e-5, 1e3))


NARROW = LearnerSpace(
    name="svm",
    define=_narrow_space,
    build=RBF.build,
    paper=LACOSTE,
    summary="SVM, radial kernel, narrower ranges.",
)


def _svr_space(n_features: int | None) -> CS.ConfigurationSpace:
    return space_of(log_real("C", 1e-2, 1e3), log_real("gamma", 1e-5, 1e3), log_real("epsilon", 1e-2, 1.0))


def _build_svr(config: Config, random_state: int) -> TransformedTargetRegressor:
    """Build an SVM for standardised targets: ranges of C and epsilon that hold for all tables suppose as much."""
    return TransformedTargetRegressor(standardised(SVR(**config)), transformer=StandardScaler())


REGRESSION = LearnerSpace(
    name="svr",
    define=_svr_space,
    build=_build_svr,
    task="regression",
    paper=LACOSTE,
    summary="Support vector regression, radial kernel, standardised targets.",
)


def _kernels_space(n_features: int | None) -> CS.ConfigurationSpace:
    """Define a choice of kernels; C for all; tau (gamma) for RBF and sigmoid; degree; c (coef0)."""
    kernel = choice("kernel", ["linear", "rbf", "poly", "sigmoid"])
    gamma, degree, coef0 = log_real("gamma", 1e-5, 1e5), integer("degree", 1, 10), log_real("coef0", 1e-2, 1e2)
    return space_of(
        *(kernel, log_real("C", 1e-5, 1e5), gamma, degree, coef0),
        CS.InCondition(gamma, kernel, ["rbf", "sigmoid"]),
        CS.EqualsCondition(degree, kernel, "poly"),
        CS.InCondition(coef0, kernel, ["poly", "sigmoid"]),
    )


def _build_kernels(config: Config, random_state: int) -> Pipeline:
    """Build an SVM; the polynomial kernel, for which the thesis names no width, has the default `gamma="scale"`."""
    return standardised(SVC(**config, max_iter=MOST_STEPS, random_state=random_state))


KERNELS = LearnerSpace(
    name="svm-kernels",
    define=_kernels_space,
    build=_build_kernels,
    paper="Lévesque 2018, §4.4.1",
    summary="SVM, four kernels.",
)


class ColumnWidths(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Multiply each column by the square root of its width: turns the radial kernel into an ARD kernel.

    `exp(-sum_i gamma_i (x_i - x'_i)^2)` (Glasmachers and Igel 2008, §3) is the radial kernel of width 1 on
    `sqrt(gamma_i) x_i`.
    """

    def __init__(self, widths: tuple[float, ...]) -> None:
        self.widths = widths

    def fit(self, X: Table, y: AnyArray | None = None) -> ColumnWidths:
        if X.shape[1] != len(self.widths):
            raise ChoiceError(
                f"ColumnWidths must have one width per column. Got {len(self.widths)} for {X.shape[1]} columns. "
                f"Define the space with n_features={X.shape[1]}."
            )
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Table) -> Array:
        return np.asarray(X, dtype=np.float64) * np.sqrt(self.widths)


def _ard_space(n_features: int | None) -> CS.ConfigurationSpace:
    """Glasmachers and Igel 2008, §3 and §5.1: C and one gamma per column; unbounded there, too wide to matter here.

    In the middle, where searches start here, are libsvm's defaults: C = 1, gamma = 1 / n_features. The paper does not
    say where its searches start.
    """
    if n_features is None:
        raise ChoiceError(
            "The space 'svm-ard' has one width per column, so n_features must be given. Got None. "
            "Use get_space('svm-ard', n_features=X.shape[1])."
        )
    low, high = 1e-8 / n_features, 1e8 / n_features
    return space_of(log_real("C", 1e-8, 1e8), *(log_real(f"gamma_{i}", low, high) for i in range(n_features)))


def _build_ard(config: Config, random_state: int) -> Pipeline:
    """Build an SVM with an ARD kernel; not standardised, because each column's width is searched for."""
    widths = tuple(config[f"gamma_{i}"] for i in range(len(config) - 1))
    return make_pipeline(ColumnWidths(widths), SVC(C=config["C"], gamma=1.0, random_state=random_state))


ARD = LearnerSpace(
    name="svm-ard",
    define=_ard_space,
    build=QuickBuild(_build_ard, quick_ard),
    paper="Glasmachers and Igel 2008, §3",
    summary="SVM with one kernel width per column.",
)
