"""Kernels against scikit-learn's, and what every kernel must be."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.gaussian_process import kernels as sk

from comitia.gp import (
    Conditional,
    Constant,
    Hamming,
    Kernel,
    Laplace,
    Matern52,
    Product,
    Scaled,
    SquaredExponential,
    Sum,
)
from comitia.gp.kernels import ARD, OnColumns

SCALES = np.array([0.3, 1.0, 2.5])


def points(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).random((n, 3))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (SquaredExponential(SCALES), sk.RBF(SCALES)),
        (Matern52(SCALES), sk.Matern(SCALES, nu=2.5)),
        (Scaled(Matern52(SCALES), 2.0), 4.0 * sk.Matern(SCALES, nu=2.5)),
        (Sum(SquaredExponential(SCALES), Constant(0.5)), sk.RBF(SCALES) + sk.ConstantKernel(0.5)),
        (Product(SquaredExponential(SCALES), Matern52(0.7)), sk.RBF(SCALES) * sk.Matern(0.7, nu=2.5)),
    ],
    ids=["squared exponential", "matern", "scaled", "sum", "product"],
)
def test_as_scikit_learn(ours: Kernel, theirs: Any) -> None:
    A, B = points(7), points(5, 1)
    np.testing.assert_allclose(ours(A, B), theirs(A, B), atol=1e-12)


def test_laplace_is_the_exponential_of_the_city_block_distance() -> None:
    A, B = points(7), points(5, 1)
    expected = [[np.exp(-np.sum(np.abs(a - b) / SCALES)) for b in B] for a in A]
    np.testing.assert_allclose(Laplace(SCALES)(A, B), expected)


def test_categories_have_no_order() -> None:
    X = np.array([[0.1], [0.5], [0.9]])
    K = Hamming(2.0)(X, X)
    np.testing.assert_allclose(K, np.where(np.eye(3) == 1, 1.0, np.exp(-0.5)))
    mixed = Matern52([1.0], is_categorical=[True])(X, X)
    assert mixed[0, 1] == mixed[0, 2] == mixed[1, 2]


def test_a_kernel_can_see_some_columns() -> None:
    A = points(4)
    np.testing.assert_array_equal(OnColumns(Matern52(0.5), [2])(A, A), Matern52(0.5)(A[:, [2]], A[:, [2]]))


def branch_of(X: Any) -> Any:
    return (X[:, 0] * 3).astype(np.int64)


def test_conditional_is_the_inner_kernel_in_a_branch_and_exactly_0_between_branches() -> None:
    A = points(30)
    inner = Matern52(SCALES)
    K = Conditional(inner, branch_of)(A, A)
    same = branch_of(A)[:, None] == branch_of(A)[None, :]
    np.testing.assert_array_equal(K[same], inner(A, A)[same])
    assert (K[~same] == 0).all()


KERNELS: list[Kernel] = [
    SquaredExponential(SCALES),
    Matern52(SCALES, is_categorical=[False, True, False]),
    Laplace(SCALES),
    Hamming(SCALES),
    Conditional(Matern52(SCALES), branch_of),
]


@given(st.integers(0, 4), st.integers(0, 4), st.booleans(), st.integers(0, 1000))
def test_kernels_sums_and_products_are_symmetric_and_positive_semi_definite(
    first: int, second: int, is_sum: bool, seed: int
) -> None:
    X = np.round(points(12, seed), 1)  # with ties
    K = (Sum if is_sum else Product)(KERNELS[first], KERNELS[second])(X, X)
    np.testing.assert_allclose(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-9


@pytest.mark.parametrize("kernel", [SquaredExponential, Matern52, Laplace])
def test_slope_is_the_derivative_of_the_profile(kernel: type[ARD]) -> None:
    s = np.linspace(0.01, 5, 40)
    numeric = (kernel.profile(s + 1e-6) - kernel.profile(s - 1e-6)) / 2e-6
    np.testing.assert_allclose(kernel.slope(s), numeric, rtol=1e-6)
    assert np.isfinite(kernel.slope(np.zeros(1))).all()
