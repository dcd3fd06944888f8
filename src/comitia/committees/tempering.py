"""One number for each model that makes its probabilities comparable with those of others: its temperature.

A support vector machine's margin, a naive Bayes model and a forest of ten trees mean different things by 0.9. Averaged
as they are, the loudest wins. Temperature scaling (Guo, Pleiss, Sun, Weinberger 2017) raises a model's probabilities to
the power 1 / T and normalises them, where T minimises the log loss on rows that the model was not trained on. It never
changes the model's most probable class. Thousands of rows leave no doubt about one number, but fifty do: a model that
is right about all of them would have a temperature of 0. So log T has a prior around 0.
"""

import numpy as np

from comitia.arrays import AnyArray, Array

LEAST_PROBABILITY = 1e-7
"""Probabilities are clipped to this from below: a model that only votes has a temperature, too."""
WIDEST = 4.0
"""Largest logarithm of a temperature, and of its inverse."""
PRIOR_SPREAD = 0.5
"""Standard deviation of log T before any row was seen."""
MOST_ROWS = 10_000
"""Rows that are enough to find one number; of more, every second, third, ... is taken."""


def tempered(p: AnyArray, temperature: float) -> AnyArray:
    """Return p^(1 / T), normalised: (n, n_classes)."""
    if temperature == 1.0:
        return p
    z = np.log(np.maximum(p, LEAST_PROBABILITY)) / temperature
    z -= z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return np.asarray(z, dtype=p.dtype)


def temperature_of(p: AnyArray, y: AnyArray, weights: Array) -> float:
    """Return the most probable temperature.

    `p` are probabilities (n, n_classes) of rows that the model was not trained on, `y` the codes of their classes.
    """
    from scipy.optimize import minimize_scalar

    every = -(-len(y) // MOST_ROWS)
    z = np.log(np.maximum(p[::every].astype(np.float64), LEAST_PROBABILITY))
    z -= z.max(axis=1, keepdims=True)
    true = z[np.arange(len(z)), y[::every]]
    w = weights[::every]
    if not w.sum() > 0:
        return 1.0

    n = n_rows(weights)

    def log_loss(log_inverse: float) -> float:
        scaled = z * np.exp(log_inverse)
        losses = np.log(np.exp(scaled).sum(axis=1)) - np.exp(log_inverse) * true
        return float(w @ losses / w.sum() + surprise(log_inverse) / n)

    found = minimize_scalar(log_loss, bounds=(-WIDEST, WIDEST), method="bounded", options={"xatol": 0.01})
    return float(np.exp(-found.x))


def surprise(log_temperature: float | Array) -> Array:
    """Return how improbable temperatures were before any row was seen, in units of one row's log loss."""
    return np.asarray(np.square(log_temperature) / (2.0 * PRIOR_SPREAD**2))


def n_rows(weights: Array) -> float:
    """Return how many rows weights stand for: a weight of 2 is a row that is there twice, on whatever scale."""
    return float(weights.sum() / weights[weights > 0].min())
