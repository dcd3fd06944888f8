"""How far probabilities are from frequencies."""

import numpy as np

from comitia.arrays import AnyArray, Array

N_BINS = 15


def calibration_error(p: Array, y: AnyArray) -> float:
    """Return the expected calibration error of the most probable class (Guo et al. 2017, Eq. 3).

    ECE = sum_m |B_m| / n |acc(B_m) - conf(B_m)| over 15 bins of equal width, ((m - 1) / 15, m / 15]: B_m are the rows
    whose largest probability lies in bin m, conf its mean there, acc the share of these rows of which that class is the
    true one; of equals the first. Smaller is better, 0 at best. With few rows it is too high even where the
    probabilities are right, by about the noise of a bin's share: compare systems on the same rows only.

    Parameters
    ----------
    p : array of shape (n_rows, n_classes)
        Probabilities.
    y : array of shape (n_rows,)
        True classes, as places of columns.

    Examples
    --------
    >>> round(calibration_error(np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]]), np.array([0, 1, 1])), 4)
    0.4
    """
    confidence = p.max(axis=1)
    is_right = p.argmax(axis=1) == y
    bins = np.clip(np.ceil(confidence * N_BINS).astype(np.intp) - 1, 0, N_BINS - 1)
    gaps = np.bincount(bins, weights=is_right - confidence, minlength=N_BINS)  # (n_bins,) |B_m| (acc - conf)
    return float(np.abs(gaps).sum() / len(y))
