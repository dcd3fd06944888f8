"""Losses of a committee: on votes (Lévesque 2018, §4.3), on averaged probabilities, on averaged numbers.

Arrays in, arrays out; which trials they belong to is known elsewhere. Two kinds:

- a `VoteLoss` counts votes. Legend: m is the size, v* (`right`) the votes for the true class, vmax (`rival`) the most
  votes that any other class has, M = 2 v*/m - 1 the margin (Lévesque 2018, eq. 4.6).
- an `AverageLoss` averages what members say. What it keeps of a model's answers already knows the truth, so that a
  committee is a sum of arrays and its loss a function of their mean.

Means over rows are weighted. Smaller is better.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit

from comitia.arrays import AnyArray, Array

Term = Callable[[Array, Array, float], Array]
"""`term(right, rival, size)`: a number for each row."""

LEAST_STEP = 1e-3
"""Lévesque 2018, §4.3.3: what one vote changes of the sigmoid loss, at least."""
LEAST_PROBABILITY = float(np.finfo(np.float64).eps)
"""Probabilities are clipped to this from below, as in scikit-learn."""
MOST_RESIDUAL = 1e15
"""Residuals are clipped to this, in standard deviations of y: in single precision their squares are still numbers."""


class KeptPart(Protocol):
    """What says which part of a model's answers is needed."""

    @property
    def kept(self) -> str:
        """Name of that part, so that losses which need the same share it."""

    def keep(self, values: AnyArray, y: AnyArray, n_classes: int, /) -> AnyArray:
        """Return it: (n,) or (n, n_classes), (n,) -> (..., n)."""


# ---- votes ----------------------------------------------------------------------------------------------------------


def _only(means: Array) -> Array:
    return means[..., 0]


@dataclass(frozen=True)
class VoteLoss:
    """A loss of a majority vote: means over rows of some terms, combined."""

    name: str
    terms: tuple[Term, ...]
    combine: Callable[[Array], Array] = _only
    """From the means (..., n_terms) to the loss (...)."""

    kept = "codes"

    def keep(self, values: AnyArray, y: AnyArray, n_classes: int) -> AnyArray:
        """Return the class that a model votes for: (n,) codes or (n, n_classes) -> (n,)."""
        return values.argmax(axis=1).astype(np.int16) if values.ndim == 2 else values

    def __call__(self, right: Array, rival: Array, size: float, weights: Array) -> Array:
        """Return the loss of committees, given weights of rows that sum to 1: (..., n) -> (...)."""
        return self.combine(np.stack([term(right, rival, size) @ weights for term in self.terms], axis=-1))


def _zero_one(right: Array, rival: Array, size: float) -> Array:
    return np.asarray(right <= rival, dtype=np.float64)  # a tie counts as an error


def _margin(right: Array, rival: Array, size: float) -> Array:
    return 2.0 * right / size - 1.0  # Lévesque 2018, eq. 4.6


def _squared(right: Array, rival: Array, size: float) -> Array:
    return _margin(right, rival, size) ** 2


def _margin_loss(right: Array, rival: Array, size: float) -> Array:
    return (1.0 - _margin(right, rival, size)) / 2.0  # Lévesque 2018, eq. 4.7


def _squared_margin_loss(right: Array, rival: Array, size: float) -> Array:
    return (1.0 - _margin(right, rival, size)) ** 2 / 4.0  # Lévesque 2018, eq. 4.8


def _sigmoid_loss(right: Array, rival: Array, size: float) -> Array:
    # Lévesque 2018, eq. 4.23; with two classes (v* - vmax) / m is the margin
    return np.asarray(expit(-sigmoid_slope(round(size)) * (right - rival) / size))


def _adapted_c_bound(means: Array) -> Array:
    """Lévesque 2018, eq. 4.22 from the first two moments of the margin; 0.5 where the second is 0."""
    first, second = means[..., 0], means[..., 1]
    share = np.divide(first**2, second, out=np.zeros_like(first), where=second > 0)
    return np.asarray(0.5 * (1.0 - np.sign(first) * share))


@cache
def sigmoid_slope(size: int) -> float:
    """Return the slope a above 1 with s(1) - s(1 - 2/m) = 1e-3, where s(x) = 1 / (1 + exp(-a x)).

    Lévesque 2018, §4.3.3. Sizes 1 and 2 have no such root and use that of size 3. Beyond about 450 no slope makes a
    vote count for that much: the one that makes it count for most is used.
    """
    m = max(size, 3)

    def step(a: float) -> float:
        return float(expit(-a * (1 - 2 / m)) - expit(-a))  # the same difference without cancellation near 1

    steepest = float(minimize_scalar(lambda a: -step(a), bounds=(0.5, 10.0), method="bounded").x)
    if step(steepest) <= LEAST_STEP:
        return steepest
    return float(brentq(lambda a: step(a) - LEAST_STEP, steepest, 1e3))


ZERO_ONE = VoteLoss("zero-one", (_zero_one,))
MARGIN = VoteLoss("margin", (_margin_loss,))
SQUARED_MARGIN = VoteLoss("squared-margin", (_squared_margin_loss,))
SIGMOID = VoteLoss("sigmoid", (_sigmoid_loss,))
C_BOUND = VoteLoss("c-bound", (_margin, _squared), _adapted_c_bound)


# ---- averages -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AverageLoss:
    """A loss of averaged answers."""

    name: str
    kept: str
    keep: Callable[[AnyArray, AnyArray, int], NDArray[np.float32]]
    """See `KeptPart`; it is summed over members."""
    rows: Callable[[AnyArray], AnyArray]
    """From means of that to the loss of each row; it may write over its argument: (..., n) -> (..., n)."""
    tempers: bool = False
    """Whether probabilities are tempered before they are averaged; see `tempering`."""
    is_of_numbers: bool = False

    @property
    def is_quadratic(self) -> bool:
        """Whether it is a sum of squares of what is kept, so that products of models with models are all it needs."""
        return self.rows in (_squares, _sums_of_squares)


def _probabilities(values: AnyArray, y: AnyArray, n_classes: int) -> NDArray[np.float32]:
    """Return probabilities with classes first; a class code is all on its class."""
    if values.ndim == 2:
        return np.ascontiguousarray(values.T, dtype=np.float32)
    return np.ascontiguousarray(values == np.arange(n_classes)[:, None], dtype=np.float32)


def _of_the_true_class(values: AnyArray, y: AnyArray, n_classes: int) -> NDArray[np.float32]:
    if values.ndim == 1:
        return np.asarray(values == y, dtype=np.float32)
    return np.asarray(values[np.arange(len(y)), y], dtype=np.float32)


def _log_rows(p: AnyArray) -> AnyArray:
    np.maximum(p, LEAST_PROBABILITY, out=p)
    np.log(p, out=p)
    return np.asarray(np.negative(p, out=p))


def _residuals(values: AnyArray, y: AnyArray, n_classes: int) -> NDArray[np.float32]:
    """Return residuals in standard deviations of y: which losses are equal must not depend on y's scale."""
    with np.errstate(over="ignore"):
        return np.asarray(np.clip((values - y) / unit_of(y), -MOST_RESIDUAL, MOST_RESIDUAL), dtype=np.float32)


def unit_of(y: AnyArray) -> float:
    """Return the standard deviation of numbers; 1 where they are all alike."""
    largest = float(np.abs(y).max(initial=0.0)) or 1.0
    return float((y / largest).std()) * largest or 1.0  # divided first: squares of very large or small ones are lost


def _class_residuals(values: AnyArray, y: AnyArray, n_classes: int) -> NDArray[np.float32]:
    p = _probabilities(values, y, n_classes)
    p[y, np.arange(len(y))] -= 1.0
    return p


def _squares(residuals: AnyArray) -> AnyArray:
    return np.asarray(np.square(residuals, out=residuals))


def _sizes(residuals: AnyArray) -> AnyArray:
    return np.asarray(np.abs(residuals, out=residuals))


def _sums_of_squares(residuals: AnyArray) -> AnyArray:
    return np.asarray(np.square(residuals, out=residuals).sum(axis=-2))


LOG_LOSS = AverageLoss("log-loss", "true", _of_the_true_class, _log_rows)
BRIER = AverageLoss("brier", "class-residuals", _class_residuals, _sums_of_squares)
TEMPERED_BRIER = AverageLoss("tempered-brier", "tempered-class-residuals", _class_residuals, _sums_of_squares, True)
SQUARED_ERROR = AverageLoss("squared-error", "residuals", _residuals, _squares, is_of_numbers=True)
ABSOLUTE_ERROR = AverageLoss("absolute-error", "residuals", _residuals, _sizes, is_of_numbers=True)

CommitteeLoss = VoteLoss | AverageLoss


# ---- models by themselves -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SingleLoss:
    """The loss of each row, of a model by itself."""

    kept: str
    keep: Callable[[AnyArray, AnyArray, int], NDArray[np.float32]]


def _log_losses(values: AnyArray, y: AnyArray, n_classes: int) -> NDArray[np.float32]:
    return _log_rows(_of_the_true_class(values, y, n_classes))


def _errors(values: AnyArray, y: AnyArray, n_classes: int) -> NDArray[np.float32]:
    return np.asarray(ZERO_ONE.keep(values, y, n_classes) != y, dtype=np.float32)


SINGLE_LOG_LOSS = SingleLoss("single-log-loss", _log_losses)
SINGLE_ZERO_ONE = SingleLoss("single-zero-one", _errors)
