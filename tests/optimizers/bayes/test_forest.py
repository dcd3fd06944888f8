"""The forest surrogate: what of SMAC it has."""

import ConfigSpace as CS
import numpy as np
import pytest

from comitia import METHODS, Seeds, Space, Study
from comitia.optimizers.bayes.forest import Forest, reordered
from comitia.optimizers.bayes.maximise import one_exchange
from comitia.seams import Values


def space_of_categories() -> Space:
    definition = CS.ConfigurationSpace()
    definition.add(CS.CategoricalHyperparameter("k", list("abcdefghi")), CS.UniformFloatHyperparameter("x", 0.0, 1.0))
    return Space(definition)


def test_every_tree_has_categories_in_an_order_of_its_own() -> None:
    space = space_of_categories()
    X = space.sample(40, np.random.default_rng(0))
    belief = Forest(space).belief(X, Values(X[:, 1]), 40, Seeds(0))
    orders = {tuple(order[0].tolist()) for _, order in belief.trees}
    assert len(orders) == 10
    assert all(sorted(order) == list(range(9)) for order in orders)
    rows = belief.forest.rows(X)
    assert [("abcdefghi"[int(code)]) for code in rows[:, 0]] == [config["k"] for config in space.decode(X)]
    order = np.arange(9, dtype=np.float32)[::-1]
    assert np.array_equal(reordered(rows, {0: order})[:, 0], 8 - rows[:, 0])


def test_a_name_is_only_a_name() -> None:
    """Every second category is good: with codes in one order a tree needs eight splits, with sets one."""
    space = space_of_categories()
    X = space.sample(60, np.random.default_rng(0))
    codes = np.array(["abcdefghi".index(config["k"]) for config in space.decode(X)])
    y = (codes % 2).astype(np.float64)
    belief = Forest(space).belief(X, Values(y), 60, Seeds(0))
    each = space.encode([{"k": k, "x": 0.5} for k in "abcdefghi"])
    good, bad = belief.mean(each)[::2], belief.mean(each)[1::2]
    assert good.max() < bad.min()


def test_the_incumbent_is_the_least_observed_value() -> None:
    space = space_of_categories()
    X = space.sample(30, np.random.default_rng(0))
    y = np.random.default_rng(1).normal(size=30)
    assert Forest(space).belief(X, Values(y), 30, Seeds(0)).best == pytest.approx((y.min() - y.mean()) / y.std())


def test_every_second_configuration_is_random() -> None:
    space = space_of_categories()
    random = []
    for sign in (1.0, -1.0):
        study = Study(space, "smac-rf", seed=0)
        for _ in range(20):
            [trial] = study.ask()
            study.tell(trial, sign * float(trial.config["x"]))
        random.append([study.history.trial(number).x for number in range(5, 20, 2)])
    assert random[0] == random[1]  # whatever was observed
    assert METHODS["smac-rf"].make_optimizer(space).needs == METHODS["bayes"].make_optimizer(space).needs


def test_neighbours_differ_in_one_active_hyperparameter() -> None:
    space = space_of_categories()
    X = space.sample(5, np.random.default_rng(0))
    rows, origin = one_exchange(space, X, 4, 0.2, np.random.default_rng(0))
    assert len(rows) == 5 * (8 + 4)
    assert ((rows != X[origin]).sum(axis=1) == 1).all()
    assert ((rows >= 0) & (rows <= 1)).all()
