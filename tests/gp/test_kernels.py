"""Kernels against scikit-learn's. What every kernel must be is in tests/contracts/test_kernels.py."""

from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from comitia.gp import (
    Conditional,
    Constant,
    Hamming,
    Kernel,
    Laplace,
    Matern52,
    Product,
    RationalQuadratic,
    Scaled,
    SquaredExponential,
    Sum,
)

SCALES = np.array([0.3, 1.0, 2.5])


def points(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((n, 3))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SquaredExponential(SCALES), sk.RBF(SCALES)),
        (Matern52(SCALES), sk.Matern(SCALES, nu=2.5)),
        *((RationalQuadratic(width, alpha=a), sk.RationalQuadratic(width, a)) for width, a in [(0.3, 0.2), (2.0, 5.0)]),
        (Scaled(Matern52(SCALES), 2.0), 4.0 * sk.Matern(SCALES, nu=2.5)),
        (Sum(SquaredExponential(SCALES), Constant(0.5)), sk.RBF(SCALES) + sk.ConstantKernel(0.5)),
        (Product(SquaredExponential(SCALES), Matern52(0.7)), sk.RBF(SCALES) * sk.Matern(0.7, nu=2.5)),
    ],
    ids=["squared exponential", "matern", "heavy tails", "light tails", "scaled", "sum", "product"],
)
def test_as_scikit_learn(ours: Kernel, theirs: Any) -> None:
    A, B = points(7), points(5, 1)
    np.testing.assert_allclose(ours(A, B), theirs(A, B), atol=1e-12)


def test_laplace_is_the_exponential_of_the_city_block_distance() -> None:
    A, B = points(7), points(5, 1)
    expected = [[np.exp(-np.sum(np.abs(a - b) / SCALES)) for b in B] for a in A]
    np.testing.assert_allclose(Laplace(SCALES)(A, B), expected)


def test_the_rational_quadratic_tends_to_the_squared_exponential() -> None:
    A, B = points(7), points(5, 1)
    np.testing.assert_allclose(RationalQuadratic(SCALES, alpha=1e7)(A, B), SquaredExponential(SCALES)(A, B), rtol=1e-4)


def test_categories_have_no_order() -> None:
    X = np.array([[0.1], [0.5], [0.9]])
    K = Hamming(2.0)(X, X)
    np.testing.assert_allclose(K, np.where(np.eye(3) == 1, 1.0, np.exp(-0.5)))


def branch_of(X: Any) -> Any:
    return (X[:, 0] * 3).astype(np.int64)


def test_conditional_is_the_inner_kernel_in_a_branch_and_exactly_0_between_branches() -> None:
    A = points(30)
    inner = Matern52(SCALES)
    K = Conditional(inner, branch_of)(A, A)
    same = branch_of(A)[:, None] == branch_of(A)[None, :]
    np.testing.assert_array_equal(K[same], inner(A, A)[same])
    assert (K[~same] == 0).all()
