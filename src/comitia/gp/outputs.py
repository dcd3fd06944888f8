"""What is done to observations before a model sees them; every result is finite, whatever came."""

import numpy as np

from comitia.arrays import Array

FLAT = 1e-12
"""Observations whose spread is below this fraction of their size are taken to be all the same."""
CLIP_IQR = 3.0
"""Bad values are clipped at the median plus this many interquartile ranges."""


def finite(y: Array) -> Array:
    """Replace NaN and +inf by the worst finite value, -inf by the best, and scale to [-1, 1]."""
    y = np.array(y, dtype=np.float64)
    good = np.isfinite(y)
    if not good.any():
        return np.zeros(len(y))
    y[~good] = np.where(y[~good] == -np.inf, y[good].min(), y[good].max())
    size = np.abs(y).max()
    return y / size if size > 0 else y


def standardise(y: Array) -> Array:
    """Return observations with mean 0 and standard deviation 1; zeros if all are the same."""
    y = finite(y)
    if not len(y):
        return y
    y = y - np.median(y)
    spread = y.std()
    return (y - y.mean()) / spread if spread > FLAT else np.zeros(len(y))


def clipped(y: Array) -> Array:
    """Clip on the bad side, so that a few failures do not flatten what lies among the good, and standardise."""
    y = finite(y)
    low, middle, high = np.quantile(y, [0.25, 0.5, 0.75]) if len(y) else (0.0, 0.0, 0.0)
    if high > low:
        y = np.minimum(y, middle + CLIP_IQR * (high - low))
    return standardise(y)


def slope_of(y: Array, z: Array) -> float:
    """Return by how much an output z changes with an observation y, among the better half of them; 0 if all are alike.

    What is done to observations is a change of scale there: bad ones may be clipped.
    """
    better = y[np.isfinite(y) & (y <= np.nanmedian(y))] if np.isfinite(y).any() else y[:0]
    if not len(better) or not better.max() > better.min():
        better = y[np.isfinite(y)]
    if not len(better) or not better.max() > better.min():
        return 0.0
    low, high = int(np.flatnonzero(y == better.min())[0]), int(np.flatnonzero(y == better.max())[0])
    return float((z[high] - z[low]) / (y[high] - y[low]))
