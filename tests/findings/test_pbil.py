"""Findings of Xavier-Júnior et al. 2020: probability vectors learn where a hierarchy is good.

That `pbil-v2` is ahead of a default random forest (their Tables 7 to 10) did not come out in a small run
(docs/papers/xavier-2020.md) and takes hours at their size: it has no test here.
"""

import numpy as np
import pytest

from comitia import FunctionEvaluator, Study
from comitia.arrays import Array
from comitia.bench.problems.black_boxes import conditional, conditional_space
from comitia.optimizers import PBIL
from tests.findings.drawn import ALPHA, p_smaller

pytestmark = pytest.mark.slow
SPACE = conditional_space()
N_TRIALS = 500  # ten generations of 50
N_REPETITIONS = 12


def searched(name: str, repetition: int) -> Study:
    return Study(SPACE, name, seed=repetition).run(FunctionEvaluator(conditional), n_trials=N_TRIALS)


def entropies(study: Study) -> Array:
    """Return the entropy of the vector that chooses the branch, generation by generation."""
    optimizer = study.method.make_optimizer(SPACE)
    assert isinstance(optimizer, PBIL)
    values = study.method.goal.values(study.history, study.seeds)
    p = optimizer.courses(study.history, values, study.seeds)["branch"].p
    return np.asarray(-(p * np.log(np.maximum(p, 1e-300))).sum(axis=1))


def test_pbil_finds_smaller_values_than_random_search_and_its_choice_of_a_branch_concentrates() -> None:
    studies = [searched("pbil-v2", repetition) for repetition in range(N_REPETITIONS)]
    random = [searched("rs", repetition).best_trial.loss for repetition in range(N_REPETITIONS)]
    assert p_smaller([study.best_trial.loss for study in studies], random) < ALPHA
    first, last = np.array([entropies(study)[[0, -1]] for study in studies]).T
    assert p_smaller(last, first) < ALPHA
