"""Findings of Glasmachers and Igel 2008: CMA-ES where every evaluation is noisy.

Their Table 1 takes 100,000 evaluations and 1,000 trials; docs/papers/glasmachers-2008.md has what came of it. Here the
function is a sphere with noise of 1, whose optimum is drawn.
"""

import numpy as np
import pytest
from scipy import stats

from comitia import Config, FunctionEvaluator, Space, Study
from comitia.optimizers.cmaes.uncertainty import averages
from tests.findings.drawn import ALPHA, p_smaller

pytestmark = pytest.mark.slow
N_DIMENSIONS = 3
SPACE = Space({f"x{j}": stats.uniform(-5, 10) for j in range(N_DIMENSIONS)})


def searched(name: str, repetition: int, noise: float = 1.0) -> tuple[Study, float]:
    """Search a noisy sphere by a method; return the study, and the squared distance of what it hands over."""
    centre = np.random.default_rng(repetition).uniform(-3, 3, N_DIMENSIONS)
    rng = np.random.default_rng(1000 + repetition)

    def distance(config: Config) -> float:
        return float(sum((config[f"x{j}"] - centre[j]) ** 2 for j in range(N_DIMENSIONS)))

    study = Study(SPACE, name, seed=repetition)
    study.run(FunctionEvaluator(lambda config: distance(config) + noise * rng.normal()), n_evaluations=2000)
    [member] = study.members()
    return study, distance(member.config)


def test_uncertainty_handling_comes_closer_with_the_same_evaluations() -> None:
    """Glasmachers and Igel 2008, Table 1: UH-CMA-ES is ahead of CMA-ES on single evaluations."""
    handled, plain = ([searched(name, repetition)[1] for repetition in range(12)] for name in ("uh-cma", "cma-1x"))
    assert p_smaller(handled, plain) < ALPHA


def test_the_number_of_averages_grows_when_noise_decides_the_ranks() -> None:
    """Glasmachers and Igel 2008, Fig. 2: near the optimum one evaluation says little; without noise one is enough."""
    first, last = [], []
    for repetition in range(12):
        found = averages(searched("uh-cma", repetition)[0].history)
        quarter = len(found) // 4
        first.append(np.mean(found[:quarter]))
        last.append(np.mean(found[-quarter:]))
    assert p_smaller(first, last) < ALPHA
    assert np.mean(averages(searched("uh-cma", 0, noise=0.0)[0].history)) == 1.0
