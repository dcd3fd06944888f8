"""Theta from observations: its most probable value, and a Gaussian around it."""

from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array
from comitia.gp.blocks import Blocks
from comitia.gp.priors import JointPrior
from comitia.gp.theta import MOST, NOISE

MOST_ITERATIONS = 40
LEAST_NOISE = np.log(1e-4)
"""MAP keeps the noise above this: less noise changes nothing but the condition of matrices."""
SHORTER, LITTLE_NOISE = 1.5, np.log(0.01)
"""The second start: length scales shorter than the prior's by this much in the logarithm, and its noise."""
DIFFERENCE = 1e-3
"""Step of the finite differences that turn gradients into a Hessian."""
LEAST_PRECISION = 0.3
"""A direction of which data and prior say less is taken to have this precision."""


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A Gaussian approximation of p(theta | X, y) over the positions that are free."""

    centre: Array
    covariance: Array
    """Zero where theta is fixed."""


def log_posterior(blocks: Blocks, prior: JointPrior, theta: Array) -> tuple[float, Array]:
    """Return log p(y | X, theta) + log p(theta) and its gradient at one theta."""
    value, gradient = blocks.gradient(theta)
    return value + float(prior.log(theta[None])[0]), gradient + prior.gradient(theta[None])[0]


def maximum_a_posteriori(blocks: Blocks, prior: JointPrior) -> Array:
    """Return the best theta at which L-BFGS ends; nothing here is random.

    It begins twice: at the prior's centre, and with short length scales and little noise. The likelihood often has two
    maxima, one of which takes everything for noise.
    """
    from scipy.optimize import minimize

    free = blocks.structure.free
    start = prior.start.copy()

    def negative(values: Array) -> tuple[float, Array]:
        theta = start.copy()
        theta[free] = values
        value, gradient = log_posterior(blocks, prior, theta)
        return (-value, -gradient[free]) if np.isfinite(value) else (1e25, np.zeros(len(free)))

    wiggly = start.copy()
    wiggly[blocks.structure.lengths] -= SHORTER
    wiggly[NOISE] = LITTLE_NOISE
    bounds = [(LEAST_NOISE if j == NOISE else -MOST / 2, MOST / 2) for j in free.tolist()]
    options = {"maxiter": MOST_ITERATIONS}
    ends = [
        minimize(negative, begin[free], jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        for begin in (start, wiggly)
    ]
    found = start.copy()
    found[free] = min(ends, key=lambda end: float(end.fun)).x
    return found


def gaussian_around(blocks: Blocks, prior: JointPrior, centre: Array) -> Gaussian:
    """Approximate the posterior of theta by a Gaussian, from the curvature at its maximum."""
    free = blocks.structure.free
    H = np.empty((len(free), len(free)))
    _, here = log_posterior(blocks, prior, centre)
    for row, j in enumerate(free.tolist()):
        step = np.zeros(len(centre))
        step[j] = DIFFERENCE
        _, there = log_posterior(blocks, prior, centre + step)
        H[row] = (here[free] - there[free]) / DIFFERENCE
    values, vectors = np.linalg.eigh(0.5 * (H + H.T))
    variances = 1.0 / np.maximum(values, LEAST_PRECISION)
    covariance = np.zeros((len(centre), len(centre)))
    covariance[np.ix_(free, free)] = (vectors * variances) @ vectors.T
    return Gaussian(centre, covariance)
