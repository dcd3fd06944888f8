"""One number for each model that makes its probabilities comparable with those of others: its temperature.

A support vector machine's margin, a naive Bayes model and a forest of ten trees mean different things by 0.9. Averaged
as they are, the loudest wins. Temperature scaling (Guo, Pleiss, Sun, Weinberger 2017) raises a model's probabilities to
the power 1 / T and normalises them, where T minimises the log loss on rows that the model was not trained on: a
number from thousands of rows, which cannot overfit, and which never changes the model's most probable class.
"""

import numpy as np

from comitia.arrays import AnyArray, Array

LEAST_PROBABILITY = 1e-7
"""Probabilities are clipped to this from below: a model that only votes has a temperature, too."""
WIDEST = 4.0
"""Largest logarithm of a temperature, and of its inverse."""
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
    """Return the temperature with the least log loss.

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

    def log_loss(log_inverse: float) -> float:
        scaled = z * np.exp(log_inverse)
        return float(w @ (np.log(np.exp(scaled).sum(axis=1)) - np.exp(log_inverse) * true) / w.sum())

    found = minimize_scalar(log_loss, bounds=(-WIDEST, WIDEST), method="bounded", options={"xatol": 0.01})
    return float(np.exp(-found.x))
