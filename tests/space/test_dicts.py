"""scikit-learn's dictionaries of lists and SciPy distributions."""

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from comitia import Space
from comitia.errors import SpaceError
from tests.ids import stable

RNG = np.random.default_rng


@pytest.mark.parametrize(
    "options",
    [
        ["a", "b"],
        [1, 2.5, 3],
        [True, False],
        [None, "balanced"],
        [(10,), (10, 10), None],
        [1, "1"],
        [0, False],
        [[1, 2], [3]],
        np.array([1, 2, 3]),
        range(3),
    ],
    ids=stable,
)
def test_lists_keep_their_values_and_types(options: Any) -> None:
    space = Space({"a": options})
    found = [config["a"] for config in space.decode(space.grid())]
    expected = options.tolist() if isinstance(options, np.ndarray) else list(options)
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]
    again = Space.from_json(space.to_json())
    assert [config["a"] for config in again.decode(again.grid())] == expected
    assert space.decode(space.encode(space.decode(space.grid()))) == space.decode(space.grid())
    assert space.default["a"] == expected[0]


def test_estimators_as_values_work_but_do_not_come_back_from_json() -> None:
    space = Space({"clf": [SVC(), DecisionTreeClassifier()], "clf__x": [1]})
    kinds = {type(config["clf"]) for config in space.decode(space.grid())}
    assert kinds == {SVC, DecisionTreeClassifier}
    with pytest.raises(SpaceError, match="Build the space again"):
        Space.from_json(space.to_json())


@pytest.mark.parametrize(
    "distribution",
    [
        stats.uniform(-2, 5),
        stats.loguniform(1e-4, 1e3),
        stats.loguniform(1e-15, 1e-11),
        stats.norm(3, 2),
        stats.expon(scale=10),
        stats.truncnorm(-1, 1),
        stats.beta(2, 5),
    ],
    ids=lambda d: d.dist.name,
)
def test_continuous_distributions_are_followed(distribution: Any) -> None:
    space = Space({"a": distribution})
    configs = space.decode(space.sample(3000, RNG(0)))
    values = [config["a"] for config in configs]
    assert stats.kstest(values, distribution.cdf).pvalue > 1e-3
    assert np.allclose([c["a"] for c in space.decode(space.encode(configs[:50]))], values[:50], rtol=1e-6)
    again = Space.from_json(space.to_json())
    assert again.decode(space.sample(5, RNG(1))) == space.decode(space.sample(5, RNG(1)))


def test_randint_is_an_integer_with_its_upper_end_left_out() -> None:
    space = Space({"n": stats.randint(2, 5)})
    assert {config["n"] for config in space.decode(space.sample(200, RNG(0)))} == {2, 3, 4}


def test_randint_with_one_value() -> None:
    space = Space({"n": stats.randint(2, 3)})
    assert space.decode(space.sample(1, RNG(0))) == [{"n": 2}]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("rbf", "For a single value write"),
        (3, "must be a list"),
        ({"a": 1}, "must be a list"),
        ([], "at least one value"),
        ([1, 1], "must be different"),
        (stats.poisson(3), "Write its values as a list"),
    ],
)
def test_what_is_not_a_list_or_a_distribution_is_refused(values: Any, message: str) -> None:
    with pytest.raises(SpaceError, match=message):
        Space({"a": values})


@pytest.mark.parametrize("name", ["", 3])
def test_a_name_must_be_a_text(name: Any) -> None:
    with pytest.raises(SpaceError, match="name"):
        Space({name: [1, 2]})


@pytest.mark.parametrize("name", ["with space", 'quote"s', "ünïcödé", "a:b", "{}", "x" * 1000])
def test_odd_names_survive(name: str) -> None:
    space = Space.from_json(Space({name: [1, 2]}).to_json())
    assert space.decode(space.grid())[0] == {name: 1}
