"""Small tables that are drawn with many test rows, so that one repetition says something; and the test that decides.

A repetition is a table of its own: those of one method and of another are pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.datasets import make_moons

from comitia.arrays import AnyArray, Array
from comitia.bench.problems.synthetic import chess, twonorm
from comitia.committees import Ensemble
from comitia.learners.learner_space import LearnerSpace
from comitia.seams import Member

N_TEST = 4000
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows to search on, and many more to test on."""

    X: Array
    y: AnyArray
    X_test: Array
    y_test: AnyArray

    def error(self, ready: LearnerSpace, members: Sequence[Member]) -> float:
        """Return the test error of what a method hands over, fitted on all rows; committees vote."""
        models = [ready.build(member.config, 0).fit(self.X, self.y) for member in members]
        weights = [member.weight for member in members]
        return float(np.mean(Ensemble(models, weights, 2, votes=True).predict(self.X_test) != self.y_test))


def draw(repetition: int, n: int = 90) -> Drawn:
    """Draw a table: the chess board, two moons, or two normals in 20 dimensions, in turn; a tenth of labels flipped."""
    rng = np.random.default_rng(repetition)
    kind, size = repetition % 3, n + N_TEST
    if kind == 0:
        X, y = chess(size, rng)
    elif kind == 1:
        X, y = make_moons(size, noise=0.3, random_state=repetition)
    else:
        X, y = twonorm(size, rng)
    y = np.where(rng.random(size) < 0.1, 1 - y, y)
    return Drawn(X[:n], y[:n], X[n:], y[n:])


def p_smaller(a: ArrayLike, b: ArrayLike) -> float:
    """Return the p value of Wilcoxon's signed-rank test, one-sided: small if `a` is smaller than `b` in most pairs."""
    return float(stats.wilcoxon(np.asarray(a), np.asarray(b), alternative="less").pvalue)
