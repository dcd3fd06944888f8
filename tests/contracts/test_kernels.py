"""What every kernel of `KERNELS` must be, alone and inside a model. A new one joins by being in that tuple."""

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
import pytest
from scipy.stats import multivariate_normal, uniform

from comitia import Method, Space, minimize
from comitia.arrays import Array
from comitia.gp import GP, Blocks, Conditional, Hamming, Kernel, Product, Sum
from comitia.gp.kernels import ARD, KERNELS, Labels
from comitia.gp.posterior import condition
from comitia.gp.priors import THESIS, JointPrior
from comitia.gp.slice_sampling import sample_theta
from comitia.gp.theta import Structure
from comitia.gp.tuning import gaussian_around, log_posterior, maximum_a_posteriori
from comitia.optimizers.bayes.bayes import Bayes
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from tests.gp.points import CATEGORICAL, branch_of, dense_kernel, dense_noise, problem, theta_of

Branches = Callable[[Array], Labels]
SCALES = np.array([0.3, 1.0, 2.5, 0.7])
BRANCHES = pytest.mark.parametrize("branches", [branch_of, None], ids=["branches", "one block"])


@pytest.fixture(params=KERNELS, ids=lambda kernel: kernel.__name__)
def kernel(request: pytest.FixtureRequest) -> type[ARD]:
    found: type[ARD] = request.param
    return found


def with_own(kernel: type[ARD], value: float) -> ARD:
    return kernel(SCALES, CATEGORICAL, **dict.fromkeys(kernel.parameters, value))


# ---- alone ------------------------------------------------------------------------------------------------------


def test_is_1_at_distance_0_and_falls_from_there(kernel: type[ARD]) -> None:
    k = kernel(SCALES).profile(np.linspace(0.0, 50.0, 200))
    assert k[0] == 1
    assert (np.diff(k) < 0).all()
    assert (k > 0).all()


def test_the_profile_is_a_new_array_of_the_shape_of_its_argument(kernel: type[ARD]) -> None:
    s = np.ones((2, 3, 4))
    found = kernel(SCALES).profile(s)
    found *= 2.0
    assert found.shape == s.shape
    assert (s == 1).all()


def test_the_slope_is_the_derivative_of_the_profile(kernel: type[ARD]) -> None:
    s = np.linspace(0.01, 5, 40)
    instance = with_own(kernel, 0.7)
    numeric = (instance.profile(s + 1e-6) - instance.profile(s - 1e-6)) / 2e-6
    np.testing.assert_allclose(instance.slope(s), numeric, rtol=1e-6)
    assert np.isfinite(instance.slope(np.zeros(1))).all()


def test_its_own_parameters_have_derivatives_and_values_for_several_theta_at_once(kernel: type[ARD]) -> None:
    s = np.linspace(0.0, 5, 40)
    slopes = with_own(kernel, 0.7).own_slopes(s)
    assert set(slopes) == set(kernel.parameters)
    for name in kernel.parameters:
        above, below = (
            kernel(SCALES, **{**dict.fromkeys(kernel.parameters, 0.7), name: 0.7 + e}) for e in (1e-6, -1e-6)
        )
        np.testing.assert_allclose(slopes[name], (above.profile(s) - below.profile(s)) / 2e-6, atol=1e-8)
    several = np.array([[0.3], [2.0]])
    together = kernel(SCALES, **dict.fromkeys(kernel.parameters, several)).profile(np.stack([s, s]))
    apart = [with_own(kernel, value).profile(s) for value in (0.3, 2.0)]
    np.testing.assert_allclose(together, apart, rtol=1e-14)


def test_categories_have_no_order(kernel: type[ARD]) -> None:
    X = np.array([[0.1], [0.5], [0.9]])
    K = kernel([1.0], is_categorical=[True])(X, X)
    assert K[0, 1] == K[0, 2] == K[1, 2] < 1


COMPARED: list[Kernel] = [
    *(kernel(SCALES, CATEGORICAL) for kernel in KERNELS),
    Hamming(SCALES),
    Conditional(KERNELS[0](SCALES), branch_of),
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("combine", [Sum, Product])
def test_kernels_sums_and_products_are_symmetric_and_positive_semi_definite(
    combine: type[Sum] | type[Product], seed: int
) -> None:
    X = np.round(problem(12, seed)[0], 1)  # with ties
    for parts in [*((one,) for one in COMPARED), *combinations_with_replacement(COMPARED, 2)]:
        K = combine(*parts)(X, X)
        np.testing.assert_allclose(K, K.T)
        assert np.linalg.eigvalsh(K).min() > -1e-9


# ---- inside a model ---------------------------------------------------------------------------------------------


@BRANCHES
@pytest.mark.parametrize("has_offsets", [True, False])
def test_the_likelihood_is_that_of_the_dense_covariance(
    kernel: type[ARD], branches: Branches | None, has_offsets: bool
) -> None:
    X, y, noise = problem()
    structure = Structure(CATEGORICAL, kernel, has_offsets)
    blocks = Blocks(structure, X, y, branches(X) if branches else None, noise)
    theta = np.stack([theta_of(structure), theta_of(structure) + 0.3])
    expected = []
    for one in theta:
        K = dense_kernel(structure, one, branches)(X, X)
        K += np.diag(noise + dense_noise(structure, one))
        expected.append(multivariate_normal(np.zeros(len(y)), K).logpdf(y))
    np.testing.assert_allclose(blocks.log_likelihood(blocks.all_terms(theta)), expected, rtol=1e-10)
    assert blocks.gradient(theta[0])[0] == pytest.approx(expected[0], rel=1e-10)


@BRANCHES
def test_the_posterior_is_that_of_the_dense_model(kernel: type[ARD], branches: Branches | None) -> None:
    (X, y, noise), Z = problem(), problem(15, 1)[0]
    structure = Structure(CATEGORICAL, kernel, has_offsets=True)
    theta = np.stack([theta_of(structure), theta_of(structure) + 0.2])
    blocks = Blocks(structure, X, y, branches(X) if branches else None, noise)
    mean, var = condition(blocks, theta).mean_var(Z, branches(Z) if branches else None)
    for sample, one in enumerate(theta):
        dense = GP(dense_kernel(structure, one, branches), noise=0.0)
        expected_mean, expected_var = dense.fit(X, y, noise + dense_noise(structure, one)).mean_var(Z)
        np.testing.assert_allclose(mean[sample], expected_mean, atol=1e-9)
        np.testing.assert_allclose(var[sample], expected_var, atol=1e-9)


def derivatives(function: Callable[[Array], float], theta: Array) -> list[float]:
    return [(function(theta + step) - function(theta - step)) / 2e-5 for step in 1e-5 * np.eye(len(theta))]


@BRANCHES
def test_the_gradient_of_likelihood_and_prior_is_that_of_finite_differences(
    kernel: type[ARD], branches: Branches | None
) -> None:
    X, y, noise = problem()
    structure = Structure(CATEGORICAL, kernel, has_offsets=True)
    blocks = Blocks(structure, X, y, branches(X) if branches else None, noise)
    prior, theta = JointPrior(THESIS, structure), theta_of(structure)
    value, gradient = blocks.gradient(theta)
    assert value == pytest.approx(blocks.log_likelihood(blocks.all_terms(theta[None]))[0], rel=1e-12)
    numeric = derivatives(lambda t: blocks.gradient(t)[0], theta)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6)
    total = derivatives(lambda t: log_posterior(blocks, prior, t)[0], theta)
    np.testing.assert_allclose(log_posterior(blocks, prior, theta)[1], total, rtol=1e-5, atol=1e-6)


def test_the_gradients_of_mean_and_variance_are_those_of_finite_differences(kernel: type[ARD]) -> None:
    (X, y, noise), Z = problem(), problem(7, 3)[0]
    structure = Structure(CATEGORICAL, kernel, has_offsets=True)
    theta = np.stack([theta_of(structure), theta_of(structure) + 0.2])
    posterior = condition(Blocks(structure, X, y, branch_of(X), noise), theta)
    labels = branch_of(Z)
    _, _, d_mean, d_var = posterior.gradients(Z, labels)
    for j in np.flatnonzero(~CATEGORICAL):
        step = np.eye(4)[j] * 1e-6
        above, below = posterior.mean_var(Z + step, labels), posterior.mean_var(Z - step, labels)
        np.testing.assert_allclose(d_mean[:, :, j], (above[0] - below[0]) / 2e-6, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(d_var[:, :, j], (above[1] - below[1]) / 2e-6, rtol=1e-4, atol=1e-6)
    assert (d_mean[:, :, CATEGORICAL] == 0).all()


def test_joint_samples_have_the_mean_and_the_variance(kernel: type[ARD]) -> None:
    (X, y, noise), Z = problem(), problem(6, 3)[0]
    structure = Structure(CATEGORICAL, kernel, has_offsets=True)
    theta = np.stack([theta_of(structure), theta_of(structure) + 0.2])
    posterior = condition(Blocks(structure, X, y, branch_of(X), noise), theta)
    mean, var = posterior.mean_var(Z, branch_of(Z))
    draws = posterior.sample(Z, 20_000, np.random.default_rng(0), branch_of(Z))
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.05)
    np.testing.assert_allclose(draws.var(axis=1), var, rtol=0.05, atol=0.01)


def test_the_whole_of_theta_is_tuned_and_sampled(kernel: type[ARD]) -> None:
    X, y, _ = problem(30)
    structure = Structure(CATEGORICAL, kernel)
    blocks, prior = Blocks(structure, X, y, branch_of(X)), JointPrior(THESIS, structure)
    touched = np.concatenate([positions for positions, _ in blocks.groups()])
    assert sorted(touched) == structure.free.tolist()
    centre = maximum_a_posteriori(blocks, prior)
    assert np.abs(log_posterior(blocks, prior, centre)[1][structure.free]).max() < 0.1
    theta = sample_theta(blocks, prior, gaussian_around(blocks, prior, centre), 4, 2, np.random.default_rng(0))
    assert theta.shape == (4, structure.n_theta)
    assert (np.ptp(theta[:, structure.free], axis=0) > 0).all()


def test_a_search_uses_it(kernel: type[ARD]) -> None:
    surrogate = partial(GaussianProcess, kernel=kernel)
    method = Method("own", partial(Bayes, surrogate=surrogate), "A search with one kernel.")
    space = Space({"x": uniform(0, 1), "kind": ["a", "b"]})
    study = minimize(lambda c: (c["x"] - 0.3) ** 2 + (c["kind"] == "b"), space, method=method, n_trials=10, seed=0)
    assert study.best_trial.loss < 0.01
