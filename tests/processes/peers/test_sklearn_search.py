"""scikit-learn's searches over our spaces."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from comitia import Config, Seeds, TableEvaluator, Trial, get_space
from comitia.bench.peers.sklearn_search import search_with_sklearn
from comitia.errors import ChoiceError, NothingFound

X, y = load_iris(return_X_y=True)
READY = get_space("svm-rbf")


def test_random_search_returns_the_best_of_its_candidates() -> None:
    rounds = search_with_sklearn(READY, X, y, n_trials=12, seed=0, cv=3)
    assert [r.spent for r in rounds] == list(range(1, 13))
    losses = [r.loss for r in rounds]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.2


def test_the_loss_is_that_of_a_study_on_the_same_splits() -> None:
    *_, found = search_with_sklearn(READY, X, y, n_trials=5, seed=3, cv=3)
    evaluator = TableEvaluator(READY.build, X, y, cv=3)
    observation, _ = evaluator(Trial(0, 0, (0.5, 0.5), found.config), Seeds(3))
    assert observation.loss == pytest.approx(found.loss)


def test_halving_spends_what_it_may_in_three_equal_rounds() -> None:
    rounds = search_with_sklearn(READY, X, y, n_trials=9, seed=0, cv=3, halving=True)
    assert [r.spent for r in rounds] == pytest.approx([3, 6, 9], rel=0.05)
    assert rounds[-1].spent <= 9
    assert rounds[-1].loss < 0.1
    assert set(rounds[-1].config) == {"C", "gamma"}


@pytest.mark.parametrize("halving", [False, True])
def test_the_same_seed_gives_the_same(halving: bool) -> None:
    def search(seed: int) -> Any:
        return search_with_sklearn(READY, X, y, n_trials=4, seed=seed, cv=2, halving=halving)

    assert search(1) == search(1)
    assert search(1) != search(2)


def test_conditions_other_losses_and_numbers() -> None:
    *_, cash = search_with_sklearn(get_space("sklearn-cash"), X, y, n_trials=4, seed=0, cv=2, halving=True)
    assert "learner" in cash.config
    *_, forest = search_with_sklearn(get_space("random-forest"), X, y, n_trials=2, seed=0, cv=2, loss="log-loss")
    assert 0 < forest.loss < 2
    assert search_with_sklearn(READY, X, y, n_trials=2, seed=0, cv=2, loss="balanced_accuracy")[-1].loss < 0
    table, target = load_diabetes(return_X_y=True)
    *_, svr = search_with_sklearn(get_space("svr"), table, target, n_trials=4, seed=0, cv=0.3, halving=True)
    assert 1000 < svr.loss < 10_000


def test_candidates_that_fail_are_left_out() -> None:
    def build(config: Config, random_state: int) -> Any:
        if config["C"] > 1:
            raise ValueError("too large")
        return READY.build(config, random_state)

    *_, found = search_with_sklearn(replace(READY, build=build), X, y, n_trials=8, seed=0, cv=2, halving=True)
    assert found.config["C"] <= 1
    assert np.isfinite(found.loss)

    def never(config: Config, random_state: int) -> Any:
        raise ValueError("never")

    with pytest.raises(NothingFound, match="one candidate"):
        search_with_sklearn(replace(READY, build=never), X, y, n_trials=3, seed=0, cv=2)


def test_too_small_a_budget_is_refused() -> None:
    with pytest.raises(ChoiceError, match=r"n_trials.*>= 3"):
        search_with_sklearn(READY, X, y, n_trials=2, seed=0, halving=True)
