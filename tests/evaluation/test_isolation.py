"""What a learner runs in leaves no trace outside."""

import random
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from comitia import Config, Seeds, TableEvaluator, Trial
from comitia.evaluation.isolation import quiet, seeded_globals

SEEDS = Seeds(0)


def draws() -> tuple[float, float]:
    return random.random(), float(np.random.random())  # noqa: NPY002 - the global generator is the point here


def test_the_same_keys_give_the_same_numbers_and_others_give_others() -> None:
    found = []
    for keys in ((1, 0), (1, 0), (1, 1)):
        with seeded_globals(SEEDS, *keys):
            found.append(draws())
    assert found[0] == found[1] != found[2]


def test_the_generators_are_given_back_when_the_last_has_left() -> None:
    before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
    with seeded_globals(SEEDS, 1):
        draws()
        with seeded_globals(SEEDS, 1):
            inner = draws()
        assert draws() != inner
    assert (repr(np.random.get_state()), random.getstate()) == before  # noqa: NPY002


def test_only_the_message_that_is_named_is_silenced() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with quiet("expected"):
            warnings.warn("expected of many trials", UserWarning, stacklevel=1)
            warnings.warn("something else", UserWarning, stacklevel=1)
    assert [str(one.message) for one in caught] == ["something else"]


def test_warning_filters_survive_threads() -> None:
    # a tree: what joblib runs changes the filters by itself, in every thread
    evaluator = TableEvaluator(
        lambda config, seed: DecisionTreeClassifier(max_depth=2), *load_iris(return_X_y=True), cv=5
    )

    def one(number: int) -> None:
        evaluator(Trial(number=number, batch=0, x=(0.5,), config=Config({"k": 3})), SEEDS)

    before = [entry[0] for entry in warnings.filters]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(20)))
    assert [entry[0] for entry in warnings.filters] == before
