"""The Mondrian kernel tends to the Laplace kernel, and its partitions do not depend on the order of points."""

import numpy as np

from comitia.gp import Laplace
from comitia.gp.mondrian import Mondrian

SCALES = np.array([0.5, 1.0, 2.0])
CATEGORICAL = np.array([False, False, True])


def points() -> np.ndarray:
    X = np.random.default_rng(0).random((12, 3))
    X[:, 2] = np.floor(X[:, 2] * 3) / 3
    return X


def error(n_partitions: int, seed: int = 0) -> float:
    X = points()
    K = Mondrian(SCALES, np.random.default_rng(seed), n_partitions, CATEGORICAL)(X, X)
    return float(np.abs(K - Laplace(SCALES, CATEGORICAL)(X, X)).max())


def test_tends_to_the_laplace_kernel_as_partitions_grow() -> None:
    errors = [np.mean([error(n, seed) for seed in range(3)]) for n in (30, 300, 3000)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.05  # about 3 standard errors of the worst of 66 pairs


def test_a_point_is_in_its_own_cell_and_the_matrix_is_positive() -> None:
    X = points()
    K = Mondrian(SCALES, np.random.default_rng(0), 20)(X, X)
    assert (K.diagonal() == 1).all()
    assert np.linalg.eigvalsh(K).min() > -1e-12


def test_cells_do_not_depend_on_the_other_points_or_their_order() -> None:
    X = points()
    kernel = Mondrian(SCALES, np.random.default_rng(0), 20, CATEGORICAL)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_array_equal(kernel.cells(X)[:, order], kernel.cells(X[order]))
    np.testing.assert_array_equal(kernel.cells(X)[:, [3]], kernel.cells(X[[3]]))


def test_categories_alone_and_tiny_length_scales_are_fine() -> None:
    X = points()
    only = Mondrian(SCALES, np.random.default_rng(0), 5, np.ones(3, dtype=bool))
    assert only(X, X).shape == (12, 12)
    fine = Mondrian(np.full(3, 1e-3), np.random.default_rng(0), 5)
    np.testing.assert_array_equal(fine(X, X) > 0.5, np.eye(12) == 1)
