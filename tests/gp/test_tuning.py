"""Priors, maximum a posteriori and slice sampling of theta."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from comitia.gp import Blocks, RationalQuadratic
from comitia.gp.densities import Horseshoe, LogNormal
from comitia.gp.priors import SHORT, THESIS, JointPrior, Priors
from comitia.gp.slice_sampling import Reference, sample_theta, update
from comitia.gp.theta import N_GLOBAL, NOISE, OFFSET, Structure
from comitia.gp.tuning import gaussian_around, log_posterior, maximum_a_posteriori
from tests.gp.points import CATEGORICAL, branch_of, problem


def test_the_log_normal_is_scipy_s() -> None:
    t = np.linspace(-3, 3, 7)
    ours = LogNormal(0.5, 2.0).log(t)
    theirs = stats.lognorm(2.0, scale=np.exp(0.5)).logpdf(np.exp(t)) + t
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-12)


def test_the_horseshoe_has_mass_at_zero_and_heavy_tails() -> None:
    density = Horseshoe(1.0)
    sd = np.array([1e-3, 1e-2, 1.0, 10.0, 100.0])
    log_p = density.log(np.log(sd)) - np.log(sd)  # without the Jacobian
    assert (np.diff(log_p) < 0).all()
    # p(v) ~ log(1 + 1/v^2): about 1 / v^2 in the tail
    assert log_p[4] - log_p[3] == pytest.approx(-2 * np.log(10), abs=0.01)


@pytest.mark.parametrize("priors", [THESIS, SHORT])
def test_gradients_of_priors_are_those_of_finite_differences(priors: Priors) -> None:
    structure = Structure(CATEGORICAL, RationalQuadratic)
    prior = JointPrior(priors, structure)
    theta = np.linspace(-2, 2, structure.n_theta)
    for j in range(len(theta)):
        step = np.eye(len(theta))[j] * 1e-6
        numeric = (prior.log((theta + step)[None]) - prior.log((theta - step)[None])) / 2e-6
        assert prior.gradient(theta[None])[0, j] == pytest.approx(numeric[0], rel=1e-5, abs=1e-7)


def test_a_kernel_brings_the_priors_of_its_own_parameters() -> None:
    prior = JointPrior(THESIS, Structure(CATEGORICAL, RationalQuadratic))
    theta = np.repeat(prior.start[None], 2, axis=0)
    theta[1, -1] = 1.5
    before, after = prior.log(theta)
    assert after - before == pytest.approx(stats.norm.logpdf(1.5) - stats.norm.logpdf(0))


def test_the_parameter_of_the_rational_quadratic_is_found() -> None:
    """Points drawn with alpha = 0.3, whose correlations fall fast and then slowly: a small alpha is more probable."""
    rng = np.random.default_rng(0)
    X = rng.random((120, 2))
    K = RationalQuadratic([0.1, 0.1], alpha=0.3)(X, X) + 1e-4 * np.eye(120)
    y = np.linalg.cholesky(K) @ rng.standard_normal(120)
    structure = Structure(np.zeros(2, dtype=bool), RationalQuadratic)
    theta = maximum_a_posteriori(Blocks(structure, X, y), JointPrior(THESIS, structure))
    assert theta[structure.own] < np.log(0.7)
    np.testing.assert_allclose(theta[structure.lengths], np.log(0.1), atol=0.7)


def smooth_problem() -> tuple[Blocks, JointPrior]:
    X, _, _ = problem(60)
    y = np.sin(6 * X[:, 2]) + 0.05 * np.random.default_rng(1).standard_normal(60)
    blocks = Blocks(Structure(CATEGORICAL), X, (y - y.mean()) / y.std())
    return blocks, JointPrior(THESIS, blocks.structure)


def test_map_is_stationary_and_finds_what_matters() -> None:
    blocks, prior = smooth_problem()
    theta = maximum_a_posteriori(blocks, prior)
    _, gradient = log_posterior(blocks, prior, theta)
    assert np.abs(gradient[blocks.structure.free]).max() < 0.1
    lengths = np.exp(theta[N_GLOBAL:])
    assert lengths[2] == lengths.min()
    assert 0.01 < np.exp(theta[NOISE]) < 0.3


def test_the_gaussian_has_the_curvature_of_the_posterior() -> None:
    blocks, prior = smooth_problem()
    theta = maximum_a_posteriori(blocks, prior)
    gaussian = gaussian_around(blocks, prior, theta)
    assert (np.linalg.eigvalsh(gaussian.covariance) > -1e-12).all()
    assert gaussian.covariance[OFFSET, OFFSET] == 0
    # length scales of no consequence are as uncertain as the prior, the one that matters is not
    assert gaussian.covariance[N_GLOBAL + 2, N_GLOBAL + 2] < 0.3


@pytest.mark.parametrize(
    "target", [stats.norm(1.0, 0.5), stats.gamma(4.0, scale=0.4), stats.uniform(-1.0, 3.0)], ids=lambda t: t.dist.name
)
def test_slice_samples_follow_a_known_density(target: Any) -> None:
    """Many short chains that start from the reference, as for theta."""
    rng = np.random.default_rng(0)
    reference = Reference(np.array([0.8]), np.array([[1.0]]))
    theta = np.clip(reference.centre + reference.draw(4000, rng), 0.05, 1.95)

    def evaluate(candidate: Any, chains: Any) -> tuple[Any, Any]:
        return target.logpdf(candidate[:, 0]), np.zeros((len(candidate), 1))

    density = evaluate(theta, None)[0]
    for _ in range(15):
        theta, density, _, _ = update(theta, density, np.array([0]), reference, evaluate, rng)
    assert stats.kstest(theta[:, 0], target.cdf).pvalue > 0.01


def test_samples_of_theta_follow_its_posterior() -> None:
    """A length scale that no data touch has the prior's samples; the noise is compared with numeric integration."""
    rng = np.random.default_rng(0)
    y = rng.standard_normal(8)
    X = np.zeros((8, 1))  # no dimension varies: amplitude and noise alone
    blocks = Blocks(Structure(np.zeros(1, dtype=bool)), X, y)
    prior = JointPrior(THESIS, blocks.structure)
    gaussian = gaussian_around(blocks, prior, maximum_a_posteriori(blocks, prior))
    samples = sample_theta(blocks, prior, gaussian, 500, 12, rng)
    assert stats.kstest(samples[:, N_GLOBAL], stats.norm(0, 1).cdf).pvalue > 0.01
    amplitude, noise = np.meshgrid(np.linspace(-5, 4, 120), np.linspace(-3, 3, 400), indexing="ij")
    grid = np.zeros((amplitude.size, 4))
    grid[:, 0], grid[:, 1] = amplitude.ravel(), noise.ravel()
    density = blocks.log_likelihood(blocks.all_terms(grid)) + prior.log(grid)
    marginal = np.exp(density - density.max()).reshape(amplitude.shape).sum(axis=0)
    cdf = np.cumsum(marginal) / marginal.sum()
    assert stats.kstest(samples[:, NOISE], lambda t: np.interp(t, noise[0], cdf)).pvalue > 0.01


def test_samples_are_a_function_of_the_data_and_the_stream() -> None:
    X, y, _ = problem(30)
    prior = JointPrior(THESIS, Structure(CATEGORICAL))
    found = []
    for _ in range(2):
        blocks = Blocks(Structure(CATEGORICAL), X, y, branch_of(X))
        gaussian = gaussian_around(blocks, prior, maximum_a_posteriori(blocks, prior))
        found.append(sample_theta(blocks, prior, gaussian, 5, 2, np.random.default_rng(3)))
    np.testing.assert_array_equal(found[0], found[1])
