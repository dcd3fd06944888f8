"""What is done to observations before a model sees them; every result is finite, whatever came."""

import numpy as np

from comitia.arrays import Array

FLAT = 1e-12
"""Observations whose spread is below this fraction of their size are taken to be all the same."""
CLIP_IQR = 3.0
"""Bad values are clipped at the median plus this many interquartile ranges."""


MOST_VARIANCE = 1e6
"""Known variances are clipped to this: such an observation says nothing."""


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


def variances_of(noise: Array, y: Array, z: Array) -> Array:
    """Return known variances of observations y in units of their outputs z.

    What is done to observations is a change of scale among the better half of them; bad ones may be clipped.
    """
    is_good = np.isfinite(y)
    better = y[is_good & (y <= np.median(y[is_good]))] if is_good.any() else y[:0]
    for some in (better, y[is_good]):
        if len(some) and some.max() > some.min():
            low, high = int(np.flatnonzero(y == some.min())[0]), int(np.flatnonzero(y == some.max())[0])
            with np.errstate(all="ignore"):
                found = noise * ((z[high] - z[low]) / (y[high] - y[low])) ** 2
            found = np.nan_to_num(found, nan=0.0, posinf=MOST_VARIANCE)
            return np.asarray(np.minimum(found, MOST_VARIANCE))
    return np.zeros(len(y))
