"""Suggestions keep their distance from pending trials."""

from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from scipy import stats

from comitia import METHODS, Seeds, Space
from comitia.optimizers.bayes.apart import WIDEST, apart
from comitia.seams import Values

from ..observed import observed


class Flat:
    """Promises the same everywhere."""

    def score(self, X: Any) -> Any:
        return np.zeros(len(X))

    mean = score

    def believe(self, X: Any) -> "Flat":
        return self


def mixed() -> Space:
    definition = CS.ConfigurationSpace()
    kind = CS.CategoricalHyperparameter("kind", list("abcdefghi"))
    x = CS.UniformFloatHyperparameter("x", 0.0, 1.0)
    only_a = CS.UniformFloatHyperparameter("only_a", 0.0, 1.0)
    definition.add(kind, x, only_a, CS.EqualsCondition(only_a, kind, "a"))
    return Space(definition)


def test_other_categories_are_far_apart_whatever_their_codes() -> None:
    space = mixed()
    there = space.encode([{"kind": "e", "x": 0.5}])
    belief = apart(Flat(), space, np.empty((0, 3))).believe(there)
    others = space.encode([{"kind": kind, "x": 0.5} for kind in "bcdfghi"])
    assert belief.score(others) == pytest.approx(0.0, abs=1e-9)
    assert belief.score(there)[0] < -20
    assert belief.score(space.encode([{"kind": "e", "x": 0.8}]))[0] == pytest.approx(0.0, abs=1e-4)


def test_what_is_inactive_makes_no_difference() -> None:
    space = mixed()
    row = space.encode([{"kind": "e", "x": 0.5}])
    elsewhere = row.copy()
    elsewhere[0, space.names.index("only_a")] = 0.1
    belief = apart(Flat(), space, np.empty((0, 3))).believe(row)
    assert np.array_equal(belief.score(row), belief.score(elsewhere))


def test_the_gradient_of_the_penalty_is_that_of_finite_differences() -> None:
    space = Space({"x": stats.uniform(0, 1), "y": stats.uniform(0, 1)})
    belief = apart(Flat(), space, np.empty((0, 2))).believe(np.array([[0.5, 0.5], [0.52, 0.47]]))
    X = np.array([[0.51, 0.52], [0.5, 0.49], [0.9, 0.1]])
    step = 1e-7
    for j in range(2):
        up, down = X.copy(), X.copy()
        up[:, j] += step
        down[:, j] -= step
        expected = (belief.penalty(up)[0] - belief.penalty(down)[0]) / (2 * step)
        assert belief.penalty(X)[1][:, j] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_the_distance_shrinks_with_that_of_finished_trials() -> None:
    space = Space({"x": stats.uniform(0, 1), "y": stats.uniform(0, 1)})
    rng = np.random.default_rng(0)
    there, beside = np.array([[0.5, 0.5]]), np.array([[0.5005, 0.5]])
    scores, widths = [], []
    for scale in (1.0, 0.1, 0.01, 1e-12):
        tried = 0.5 + scale * (rng.random((20, 2)) - 0.5)
        belief = apart(Flat(), space, tried).believe(there)
        scores.append(belief.score(beside)[0])
        widths.append(belief.widths[0])
    assert scores == sorted(scores)
    assert scores[-1] == pytest.approx(0.0, abs=1e-9)
    assert WIDEST >= widths[0] > widths[1] > widths[2] > widths[3] > 0


@pytest.mark.parametrize("name", ["bayes", "gp", "smbo", "gp-cond-ls", "smac-rf"])
def test_a_batch_near_a_known_optimum_is_not_one_point(name: str) -> None:
    space = Space({"x": stats.uniform(0, 1), "y": stats.uniform(0, 1)})
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.random((10, 2)), [0.3, 0.6] + 0.05 * rng.standard_normal((10, 2))])
    y = ((X - [0.3, 0.6]) ** 2).sum(axis=1)
    asks = METHODS[name].make_optimizer(space).ask(observed(space, X, y), Values(y), 8, Seeds(0))
    batch = np.array([ask.x for ask in asks])
    distances = np.sqrt(((batch[:, None] - batch) ** 2).sum(axis=2)) + np.eye(8)
    assert distances.min() > 2e-4  # before pending trials counted as drawn, gp's eight were within 1e-4
    assert np.median(distances.min(axis=1)) > 0.002
