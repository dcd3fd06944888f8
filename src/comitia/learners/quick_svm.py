"""A short way to the answers of a radial SVM: libsvm itself, for tables that were checked once.

On 80 rows libsvm takes 0.2 ms; scikit-learn's pipeline around it checks its input for another millisecond and more, in
every trial. The arithmetic here is the pipeline's own, bit for bit, and so are the answers. libsvm is reached by a
private entry of scikit-learn, which is tried first (`matches_public_svc`); unusual cases are left to the pipeline.
"""

import math
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from comitia.arrays import Array
from comitia.evaluation.fitting import Build, Quick
from comitia.space import Config

try:
    libsvm = import_module("sklearn.svm._libsvm")
except ImportError:  # a scikit-learn that has it elsewhere
    libsvm = ModuleType("missing")

CACHE_MEGABYTES = 200.0
"""The default of `SVC`."""
NEARLY_CONSTANT = 1e-12
"""Variances below this part of the squared mean may be rounding errors, which `StandardScaler` has rules for."""


@dataclass(frozen=True)
class QuickBuild:
    """How a configuration becomes an estimator, and a short way to what that estimator would answer."""

    build: Build
    quick: Quick

    def __call__(self, config: Config, random_state: int) -> BaseEstimator:
        return self.build(config, random_state)


def quick_rbf(config: Config, X: Array, codes: Array, X_new: Array) -> Array | None:
    """Answer as the pipeline of `StandardScaler` and `SVC(C, gamma)` does; see `Quick`."""
    n = len(X)
    mean = np.add.reduce(X, 0) / n
    centred = X - mean
    # the second term is the mean's rounding error (Chan, Golub and LeVeque 1983), as in StandardScaler
    variance = (np.add.reduce(centred * centred, 0) - np.add.reduce(centred, 0) ** 2 / n) / n
    if any(v <= NEARLY_CONSTANT * m * m for v, m in zip(variance.tolist(), mean.tolist(), strict=True)):
        return None
    scale = np.sqrt(variance)
    return radial_answer(centred / scale, codes, (X_new - mean) / scale, config["C"], config["gamma"])


def quick_ard(config: Config, X: Array, codes: Array, X_new: Array) -> Array | None:
    """Answer as the pipeline of `ColumnWidths` and `SVC(C, gamma=1)` does; see `Quick`."""
    names = width_names(X.shape[1])
    if len(config) != len(names) + 1:
        return None
    roots = np.sqrt([config[name] for name in names])
    return radial_answer(X * roots, codes, X_new * roots, config["C"], 1.0)


@cache
def width_names(n: int) -> tuple[str, ...]:
    """Return the names of the widths of n columns in their order, which is not that of a configuration."""
    return tuple(f"gamma_{i}" for i in range(n))


def radial_answer(X: Array, codes: Array, X_new: Array, C: float, gamma: float) -> Array | None:
    """Fit libsvm's classifier and predict; None where scikit-learn should, and where there is only one class.

    Tables and codes are float64 and finite, tables in C order.
    """
    if not matches_public_svc() or (codes[0] == codes[-1] and (codes == codes[0]).all()):
        return None
    libsvm.set_verbosity_wrap(0)
    model = libsvm.fit(X, codes, kernel="rbf", C=C, gamma=gamma, cache_size=CACHE_MEGABYTES)
    # coefficients and intercepts: scikit-learn says what to do about infinite ones
    if not math.isfinite(np.add.reduce(model[3], axis=None) + np.add.reduce(model[4])):
        return None
    predicted: Array = libsvm.predict(X_new, *model[:5], kernel="rbf", gamma=gamma, cache_size=CACHE_MEGABYTES)
    if len(model[2]) <= np.maximum.reduce(codes):  # a class is missing: libsvm counts those that are there
        predicted = np.unique(codes)[predicted.astype(np.intp)]
    return predicted


@cache
def matches_public_svc() -> bool:
    """Tell whether the private entry is there and answers as the public `SVC` does; tried once, on a small table."""
    rng = np.random.default_rng(0)
    X, X_new = rng.normal(size=(60, 2)), rng.normal(size=(200, 2))
    codes = np.floor(X[:, 0] % 3)
    model = SVC(C=10.0, gamma=2.0).fit(X, codes)
    try:
        libsvm.set_verbosity_wrap(0)
        found = libsvm.fit(X, codes, kernel="rbf", C=10.0, gamma=2.0, cache_size=CACHE_MEGABYTES)
        predicted = libsvm.predict(X_new, *found[:5], kernel="rbf", gamma=2.0, cache_size=CACHE_MEGABYTES)
        pairs = [(found[0], model.support_), (found[3], model.dual_coef_), (found[4], model.intercept_)]
        return all(np.array_equal(a, b) for a, b in [*pairs, (predicted, model.predict(X_new))])
    except Exception:  # a private entry may have become anything
        return False
