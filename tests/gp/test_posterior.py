"""Mean, variance and fantasies. Contracts compare all kernels with the dense model."""

from typing import Any

import numpy as np
import pytest

from comitia.gp import GP, Blocks, Matern52, Posterior, Scaled
from comitia.gp.posterior import condition
from comitia.gp.theta import NOISE, Structure
from tests.gp.points import CATEGORICAL, THETA, branch_of, problem


def posterior() -> Posterior:
    X, y, noise = problem()
    blocks = Blocks(Structure(CATEGORICAL, has_offsets=True), X, y, branch_of(X), noise)
    return condition(blocks, np.stack([THETA, THETA + 0.2]))


def test_a_branch_without_points_has_the_common_mean_and_the_whole_variance() -> None:
    p = posterior()
    mean, var = p.mean_var(np.full((1, 4), 0.5), np.array([99]))
    np.testing.assert_allclose(mean[:, 0], p.mean)
    assert (var[:, 0] > p.structure.variances(p.theta)[0]).all()


def test_a_pending_point_is_an_observation_of_the_mean_without_noise() -> None:
    X, y, noise = problem()
    structure = Structure(CATEGORICAL)
    before = condition(Blocks(structure, X, y, branch_of(X), noise), THETA)
    new = problem(3, 5)[0]
    labels = np.array([0, 0, 99])  # twice the same branch, and a fresh one
    believed = before.believe(new, labels)
    values = np.append(y, before.mean_var(new, labels)[0][0])
    noises = np.append(noise, np.full(3, -np.exp(2 * THETA[NOISE])))  # what is added to every observation
    points, branches = np.concatenate([X, new]), np.append(branch_of(X), labels)
    refitted = condition(Blocks(structure, points, values, branches, noises), THETA)
    Z = problem(20, 6)[0]
    at = np.where(np.arange(20) % 5 == 0, 99, branch_of(Z))
    for ours, theirs in zip(believed.mean_var(Z, at), refitted.mean_var(Z, at), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)
    np.testing.assert_allclose(believed.mean_var(Z, at)[0], before.mean_var(Z, at)[0])
    assert (believed.mean_var(new, labels)[1] < 1e-6).all()
    one_by_one = before.believe(new[:1], labels[:1]).believe(new[1:], labels[1:])
    np.testing.assert_allclose(one_by_one.mean_var(Z, at)[1], believed.mean_var(Z, at)[1], atol=1e-7)


def test_a_dense_model_takes_any_kernel() -> None:
    X, y, noise = problem()
    Z = problem(5, 1)[0]
    dense = GP(Scaled(Matern52(0.7), 1.3), noise=0.2, mean=0.1).fit(X, y, noise)
    mean, var = dense.mean_var(Z)
    K = 1.69 * Matern52(0.7)(X, X) + np.diag(0.04 + noise)
    k = 1.69 * Matern52(0.7)(X, Z)
    np.testing.assert_allclose(mean, 0.1 + k.T @ np.linalg.solve(K, y - 0.1))
    np.testing.assert_allclose(var, 1.69 - np.diag(k.T @ np.linalg.solve(K, k)))
    draws = dense.sample(Z, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(np.cov(draws.T), dense.covariance(Z), atol=0.05)


def test_duplicates_without_noise_do_not_break_the_factor() -> None:
    X = np.repeat(problem(5)[0], 8, axis=0)
    theta = THETA.copy()
    theta[1] = -11.0
    mean, var = condition(Blocks(Structure(CATEGORICAL), X, np.ones(40)), theta).mean_var(X)
    assert np.isfinite(mean).all()
    assert (var > 0).all()


def test_a_covariance_of_nan_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="must be positive definite"):
        condition(Blocks(Structure(CATEGORICAL), problem(4)[0], np.ones(4), noise=np.full(4, np.nan)), THETA)


def test_known_noise_is_believed() -> None:
    X: Any = np.array([[0.0], [1.0]])
    structure = Structure(np.zeros(1, dtype=bool))
    theta = np.log([1.0, 1e-3, 1.0, 0.2])
    mean, _ = condition(Blocks(structure, X, np.array([1.0, -1.0]), noise=np.array([0.0, 100.0])), theta).mean_var(X)
    assert mean[0, 0] == pytest.approx(1.0, abs=0.01)
    assert abs(mean[0, 1]) < 0.6
