"""Findings of Lévesque et al. 2017, Table I, on a function with six branches and a budget of 40 trials.

Their order of the kernels is not that of our larger run (docs/lab/reproductions.md): no test here says which is first.
"""

import pytest

from comitia import FunctionEvaluator, Study
from comitia.bench.problems.black_boxes import conditional, conditional_space
from tests.findings.drawn import ALPHA, p_smaller

pytestmark = pytest.mark.slow
SPACE = conditional_space()


def least_of(name: str, n_repetitions: int = 10, n_trials: int = 40) -> list[float]:
    """Return the least value that a method finds, repetition by repetition."""
    studies = (Study(SPACE, name, seed=repetition) for repetition in range(n_repetitions))
    return [study.run(FunctionEvaluator(conditional), n_trials=n_trials).best_trial.loss for study in studies]


@pytest.mark.parametrize(("better", "worse"), [("gp-cond-ls", "rs")])
def test_one_search_finds_smaller_values_than_another(better: str, worse: str) -> None:
    assert p_smaller(least_of(better), least_of(worse)) < ALPHA
