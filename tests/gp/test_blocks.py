"""Likelihoods block by block against the dense one, gradients against finite differences."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from comitia.gp import Blocks, Conditional, Constant, Laplace, Matern52, Scaled, SquaredExponential, Sum
from comitia.gp.kernels import ARD
from comitia.gp.linalg import JITTER
from comitia.gp.posterior import condition
from comitia.gp.theta import MEAN_VARIANCE, N_GLOBAL, Form

CATEGORICAL = np.array([False, True, False, False])
THETA = np.array([0.3, -1.5, -0.5, -0.2, 0.4, -1.0, 0.1])


def branch_of(X: Any) -> Any:
    return (X[:, 0] * 4).astype(np.int64)


def problem(n: int = 40, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 4))
    X[:, 1] = np.floor(X[:, 1] * 3) / 3
    return X, rng.standard_normal(n), rng.random(n) * 0.1


def dense_covariance(form: Form, theta: Any, X: Any, noise: Any, conditional: bool) -> Any:
    """Write the model down as it is in the papers."""
    lengths = np.exp(theta[N_GLOBAL:])
    amplitude, sd, offset = np.exp(theta[:N_GLOBAL])
    inner: Any = Scaled(form.kernel(lengths, form.is_categorical), amplitude)
    if form.has_offsets:
        inner = Sum(inner, Constant(offset**2))
    kernel = Conditional(inner, branch_of) if conditional else inner
    extra = JITTER * (amplitude**2 + (offset**2 if form.has_offsets else 0.0))
    return kernel(X, X) + np.diag(noise + sd**2 + extra) + MEAN_VARIANCE


@pytest.mark.parametrize("kernel", [SquaredExponential, Matern52, Laplace])
@pytest.mark.parametrize("conditional", [True, False])
@pytest.mark.parametrize("has_offsets", [True, False])
def test_likelihood_is_that_of_the_dense_covariance(kernel: type[ARD], conditional: bool, has_offsets: bool) -> None:
    X, y, noise = problem()
    form = Form(CATEGORICAL, kernel, has_offsets)
    blocks = Blocks(form, X, y, branch_of(X) if conditional else None, noise)
    theta = np.stack([THETA, THETA + 0.3])
    expected = [
        multivariate_normal(np.zeros(len(y)), dense_covariance(form, t, X, noise, conditional)).logpdf(y) for t in theta
    ]
    np.testing.assert_allclose(blocks.log_likelihood(blocks.all_terms(theta)), expected, rtol=1e-10)
    assert blocks.gradient(theta[0])[0] == pytest.approx(expected[0], rel=1e-10)


@pytest.mark.parametrize("conditional", [True, False])
def test_posterior_is_that_of_the_dense_covariance(conditional: bool) -> None:
    X, y, noise = problem()
    Z = problem(15, 1)[0]
    form = Form(CATEGORICAL, Matern52, has_offsets=True)
    blocks = Blocks(form, X, y, branch_of(X) if conditional else None, noise)
    labels = branch_of(Z) if conditional else None
    mean, var = condition(blocks, THETA).mean_var(Z, labels)
    both = np.concatenate([X, Z])
    C = dense_covariance(form, THETA, both, np.concatenate([noise, np.zeros(15)]), conditional)
    solved = np.linalg.solve(C[:40, :40], C[:40, 40:])
    sd, extra = math.exp(THETA[1]), JITTER * (math.exp(2 * THETA[0]) + math.exp(2 * THETA[2]))
    np.testing.assert_allclose(mean[0], solved.T @ y, atol=1e-10)
    expected = np.diag(C[40:, 40:] - C[40:, :40] @ solved) - sd**2 - extra
    np.testing.assert_allclose(var[0], expected, atol=1e-10)


def test_posterior_is_that_of_scikit_learn() -> None:
    """With the constant mean known to be 0, by observations that average out."""
    rng = np.random.default_rng(0)
    half = rng.random((15, 2))
    X, y = np.concatenate([half, half + 100.0]), np.concatenate([np.sin(half.sum(axis=1)), -np.sin(half.sum(axis=1))])
    form = Form(np.zeros(2, dtype=bool), Matern52)
    theta = np.log([1.0, 0.1, 1.0, 0.4, 0.7])
    theirs = GaussianProcessRegressor(Matern([0.4, 0.7], nu=2.5) + WhiteKernel(0.01), optimizer=None, alpha=JITTER).fit(
        X, y
    )
    Z = rng.random((9, 2))
    mean, sd = theirs.predict(Z, return_std=True)
    ours_mean, ours_var = condition(Blocks(form, X, y), theta).mean_var(Z)
    np.testing.assert_allclose(ours_mean[0], mean, atol=1e-8)
    # what not knowing the mean adds to the variance is never negative
    assert (ours_var[0] - (sd**2 - 0.01) > -1e-8).all()


def test_only_the_touched_block_changes() -> None:
    X, y, _ = problem()
    blocks = Blocks(Form(CATEGORICAL), X, y, branch_of(X))
    X[:, 2][branch_of(X) != 2] = 0.5  # dimension 2 lives in one branch
    blocks = Blocks(Form(CATEGORICAL), X, y, branch_of(X))
    moved = THETA.copy()
    moved[N_GLOBAL + 2] += 1.0
    before, after = blocks.all_terms(THETA[None])[0], blocks.all_terms(moved[None])[0]
    assert [number for number in range(4) if not np.array_equal(before[number], after[number])] == [2]
    [touched] = [t for positions, t in blocks.groups() if N_GLOBAL + 2 in positions]
    assert touched == [2]


@pytest.mark.parametrize("kernel", [SquaredExponential, Matern52, Laplace])
@pytest.mark.parametrize("conditional", [True, False])
def test_gradient_is_that_of_finite_differences(kernel: type[ARD], conditional: bool) -> None:
    X, y, noise = problem()
    blocks = Blocks(Form(CATEGORICAL, kernel, has_offsets=True), X, y, branch_of(X) if conditional else None, noise)
    value, gradient = blocks.gradient(THETA)
    assert value == pytest.approx(blocks.log_likelihood(blocks.all_terms(THETA[None]))[0], rel=1e-12)
    for j in range(len(THETA)):
        step = np.zeros(len(THETA))
        step[j] = 1e-5
        numeric = (blocks.gradient(THETA + step)[0] - blocks.gradient(THETA - step)[0]) / 2e-5
        assert gradient[j] == pytest.approx(numeric, rel=1e-5, abs=1e-6)


def test_a_fixed_offset_has_no_gradient() -> None:
    X, y, _ = problem()
    form = Form(CATEGORICAL)
    assert Blocks(form, X, y).gradient(THETA)[1][2] == 0
    assert 2 not in form.free
