"""Block likelihoods: against scikit-learn, and what a change of theta touches. Contracts have the dense comparison."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel

from comitia.gp import Blocks, Matern52, RationalQuadratic
from comitia.gp.linalg import JITTER
from comitia.gp.posterior import condition
from comitia.gp.theta import N_GLOBAL, Structure
from tests.gp.points import CATEGORICAL, THETA, branch_of, problem


def test_posterior_is_that_of_scikit_learn() -> None:
    """With the constant mean known to be 0, by observations that average out."""
    rng = np.random.default_rng(0)
    half = rng.random((15, 2))
    X, y = np.concatenate([half, half + 100.0]), np.concatenate([np.sin(half.sum(axis=1)), -np.sin(half.sum(axis=1))])
    structure = Structure(np.zeros(2, dtype=bool), Matern52)
    theta = np.log([1.0, 0.1, 1.0, 0.4, 0.7])
    theirs = GaussianProcessRegressor(Matern([0.4, 0.7], nu=2.5) + WhiteKernel(0.01), optimizer=None, alpha=JITTER).fit(
        X, y
    )
    Z = rng.random((9, 2))
    mean, sd = theirs.predict(Z, return_std=True)
    ours_mean, ours_var = condition(Blocks(structure, X, y), theta).mean_var(Z)
    np.testing.assert_allclose(ours_mean[0], mean, atol=1e-8)
    # what not knowing the mean adds to the variance is never negative
    assert (ours_var[0] - (sd**2 - 0.01) > -1e-8).all()


def test_only_the_touched_block_changes() -> None:
    X, y, _ = problem()
    blocks = Blocks(Structure(CATEGORICAL), X, y, branch_of(X))
    X[:, 2][branch_of(X) != 2] = 0.5  # dimension 2 lives in one branch
    blocks = Blocks(Structure(CATEGORICAL), X, y, branch_of(X))
    moved = THETA.copy()
    moved[N_GLOBAL + 2] += 1.0
    before, after = blocks.all_terms(THETA[None])[0], blocks.all_terms(moved[None])[0]
    assert [number for number in range(4) if not np.array_equal(before[number], after[number])] == [2]
    [touched] = [t for positions, t in blocks.groups() if N_GLOBAL + 2 in positions]
    assert touched == [2]


def test_a_fixed_offset_has_no_gradient() -> None:
    X, y, _ = problem()
    structure = Structure(CATEGORICAL)
    assert Blocks(structure, X, y).gradient(THETA)[1][2] == 0
    assert 2 not in structure.free


def test_a_kernel_s_own_parameters_touch_the_blocks_in_which_something_varies() -> None:
    X, y, _ = problem()
    labels = branch_of(X)
    X[labels == 1] = 0.5
    structure = Structure(CATEGORICAL, RationalQuadratic)
    [touched] = [t for positions, t in Blocks(structure, X, y, labels).groups() if structure.n_theta - 1 in positions]
    assert touched == [0, 2, 3]
    still = Blocks(structure, np.full((40, 4), 0.5), y, labels)
    assert [positions.tolist() for positions, _ in still.groups()] == [[0, 1]]  # amplitude and noise
