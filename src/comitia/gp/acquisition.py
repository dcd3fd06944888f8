"""Acquisition functions: plain functions of mean, variance and incumbent; losses are minimised, utilities maximised.

z = (best - mean) / sigma; Phi and phi are the normal distribution and density. EI is sigma h(z) with
h(z) = z Phi(z) + phi(z) (Lévesque 2018, eq. 2.10; Lacoste et al. 2014, eq. 3, prints sigma squared, a misprint). Far
below the incumbent h underflows, so everything is computed in logarithms (Ament et al. 2023).

The registered methods use expected improvement, augmented or not. The probability of improvement and the lower
confidence bound are here as alternatives for `GaussianProcess(acquisition=...)`.
"""

import math

import numpy as np
from scipy.special import erfcx, log_ndtr, ndtr

from comitia.arrays import Array

LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
TINY = 1e-300
FAR = -1e3
"""Below this z the asymptotic series has more correct digits than the difference that it replaces."""


def log_h(z: Array) -> Array:
    """Return log(z Phi(z) + phi(z)), finite and increasing from z = -1e10 to 1e10; NaN stays NaN."""
    z = np.asarray(z, dtype=np.float64)
    found = np.empty_like(z)
    near = ~(z <= -1.0)  # so that one of the three pieces takes NaN
    zn = z[near]
    found[near] = np.log(zn * ndtr(zn) + np.exp(-0.5 * zn * zn - LOG_SQRT_2PI))
    mid = ~near & (z > FAR)
    zm = -z[mid]
    # h = phi (1 - |z| Phi / phi), and Phi / phi is a scaled complementary error function
    rest = np.log1p(-zm * math.sqrt(math.pi / 2.0) * erfcx(zm / math.sqrt(2.0)))
    found[mid] = -0.5 * zm * zm - LOG_SQRT_2PI + rest
    far = z <= FAR
    zf = z[far]
    found[far] = -0.5 * zf * zf - LOG_SQRT_2PI - 2.0 * np.log(-zf) + np.log1p(-3.0 / (zf * zf))
    return found


def log_ei(mean: Array, var: Array, best: Array | float) -> Array:
    """Return the logarithm of expected improvement below `best`."""
    sigma = np.sqrt(var)
    return np.asarray(log_h((best - mean) / sigma) + np.log(sigma))


def log_pi(mean: Array, var: Array, best: Array | float) -> Array:
    """Return the logarithm of the probability of improvement."""
    return np.asarray(log_ndtr((best - mean) / np.sqrt(var)))


def negative_lcb(mean: Array, var: Array, best: Array | float, kappa: float = 2.0) -> Array:
    """Return minus the lower confidence bound `mean - kappa sigma`; the incumbent plays no part."""
    return np.asarray(kappa * np.sqrt(var) - mean)


def integrated(log_values: Array) -> Array:
    """Return the logarithm of the average over samples of theta, the first axis (Lévesque 2018, eq. 2.17)."""
    if len(log_values) == 1:
        return np.asarray(log_values[0])
    top = log_values.max(axis=0)
    return np.asarray(top + np.log(np.exp(log_values - top).mean(axis=0)))


def expected_improvement(mean: Array, var: Array, best: Array, noise: Array) -> Array:
    """Return the logarithm of EI, averaged over theta; the noise plays no part.

    `mean` and `var` of the function are (n_samples, n), `best` and the variance `noise` of an observation
    (n_samples, 1); the result is (n,), and so it is for the functions below.
    """
    return integrated(log_ei(mean, var, best))


def augmented_improvement(mean: Array, var: Array, best: Array, noise: Array) -> Array:
    """Return the logarithm of augmented EI (Huang et al. 2006): EI (1 - sd_noise / sqrt(var + noise)).

    Where the function is known better than the noise, another observation teaches little, however good the place is;
    EI alone would keep asking there.
    """
    share = noise / (var + noise)
    # 1 - sqrt(share), without cancellation where the function is known well
    learned = (1.0 - share) / (1.0 + np.sqrt(share))
    return integrated(log_ei(mean, var, best) + np.log(np.maximum(learned, TINY)))


def probability_of_improvement(mean: Array, var: Array, best: Array, noise: Array) -> Array:
    """Return the logarithm of the probability of improvement, averaged over theta."""
    return integrated(log_pi(mean, var, best))


def lower_confidence_bound(mean: Array, var: Array, best: Array, noise: Array) -> Array:
    """Return minus the lower confidence bound, averaged over theta."""
    return np.asarray(negative_lcb(mean, var, best).mean(axis=0))


def log_ei_gradient(mean: Array, var: Array, best: Array | float, d_mean: Array, d_var: Array) -> tuple[Array, Array]:
    """Return the logarithm of integrated EI and its gradient from those of mean and variance.

    dEI = -Phi(z) dmean + phi(z) dsigma. Shapes (n_samples, n), gradients (n_samples, n, d); results (n,), (n, d).
    """
    sigma = np.sqrt(var)
    z = (best - mean) / sigma
    values = log_h(z)
    # Phi / h and phi / h in logarithms; far below they are about |z| and z^2
    of_mean = np.exp(np.minimum(log_ndtr(z) - values, 600.0)) / sigma
    of_sigma = np.exp(np.minimum(-0.5 * z * z - LOG_SQRT_2PI - values, 600.0)) / sigma
    each = -of_mean[..., None] * d_mean + (of_sigma / (2.0 * sigma))[..., None] * d_var
    values = values + np.log(sigma)
    total = integrated(values)
    weights = np.exp(values - total) / len(values)
    return total, np.einsum("sn,snd->nd", weights, each)
