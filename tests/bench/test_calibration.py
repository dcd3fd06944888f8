"""Calibration error: beside a slow and obvious version, and where it is known."""

import numpy as np
import pytest

from comitia.bench.report.calibration import N_BINS, calibration_error


def obvious(p: np.ndarray, y: np.ndarray) -> float:
    """Guo et al. 2017, Eq. 2 and 3, row by row and bin by bin."""
    total = 0.0
    for m in range(1, N_BINS + 1):
        rows = [i for i in range(len(y)) if (m - 1) / N_BINS < max(p[i]) <= m / N_BINS]
        if rows:
            accuracy = sum(int(np.argmax(p[i])) == y[i] for i in rows) / len(rows)
            confidence = sum(max(p[i]) for i in rows) / len(rows)
            total += len(rows) / len(y) * abs(accuracy - confidence)
    return total


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_it_is_what_the_equations_say(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    p = rng.dirichlet(np.full(n_classes, 0.5), size=300)
    y = rng.integers(n_classes, size=300)
    assert calibration_error(p, y) == pytest.approx(obvious(p, y), abs=1e-12)


def test_who_is_sure_and_right_has_none_and_who_is_sure_and_wrong_has_all() -> None:
    p = np.eye(3)[[0, 1, 2, 2]]
    assert calibration_error(p, np.array([0, 1, 2, 2])) == 0
    assert calibration_error(p, np.array([1, 2, 0, 0])) == 1


def test_probabilities_that_are_frequencies_have_little() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(size=100_000)
    y = (rng.uniform(size=100_000) < p).astype(int)
    assert calibration_error(np.column_stack([1 - p, p]), y) < 0.01
    assert calibration_error(np.column_stack([1 - p**3, p**3]), y) > 0.05
