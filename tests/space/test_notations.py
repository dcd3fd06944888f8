"""Ranges as tuples, lists of dictionaries, Optuna's distributions and skopt's dimensions."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from comitia import Space
from comitia.errors import SpaceError
from tests.ids import stable

RNG = np.random.default_rng
ends = st.floats(-1e6, 1e6).map(lambda end: round(end, 6))
positive = st.floats(-12, 6).map(lambda exponent: float(f"{10**exponent:.6g}"))


def drawn(definition: Any, n: int = 200) -> list[Any]:
    space = Space({"x": definition})
    return [config["x"] for config in space.decode(space.sample(n, RNG(0)))]


# Objects with the names and attributes of Optuna 5 and scikit-optimize 0.10.


@dataclass
class FloatDistribution:
    low: float
    high: float
    log: bool = False
    step: float | None = None


@dataclass
class IntDistribution:
    low: int
    high: int
    log: bool = False
    step: int = 1


@dataclass
class CategoricalDistribution:
    choices: tuple[Any, ...]


@dataclass
class Real:
    low: float
    high: float
    prior: str = "uniform"


@dataclass
class Integer:
    low: int
    high: int
    prior: str = "uniform"


@dataclass
class Categorical:
    categories: tuple[Any, ...]
    prior: list[float] | None = None


class TestTuples:
    @given(ends, ends)
    def test_two_numbers_with_a_float_are_a_range_of_reals(self, a: float, b: float) -> None:
        low, high = min(a, b), max(a, b)
        if low == high:
            return
        found = drawn((low, high), 20)
        assert all(isinstance(value, float) and low <= value <= high for value in found)
        space = Space({"x": (low, high)})
        assert space.decode(space.encode(space.decode(space.sample(5, RNG(1))))) == space.decode(
            space.sample(5, RNG(1))
        )
        assert Space.from_json(space.to_json()) == space

    @given(positive, positive, st.sampled_from(["log", "log-uniform"]))
    def test_a_logarithmic_range_is_scipys(self, a: float, b: float, word: str) -> None:
        low, high = min(a, b), max(a, b)
        if low == high:
            return
        assert Space({"x": (low, high, word)}) == Space({"x": stats.loguniform(low, high)})

    @given(st.integers(-50, 50), st.integers(1, 5))
    def test_two_ints_are_a_range_of_ints_with_both_ends(self, low: int, width: int) -> None:
        found = drawn((low, low + width))
        assert all(type(value) is int for value in found)
        assert set(found) == set(range(low, low + width + 1))

    def test_small_ints_are_frequent_in_a_logarithmic_range(self) -> None:
        found = drawn((1, 1000, "log"), 1000)
        assert {type(value) for value in found} == {int}
        assert 400 < sum(value <= 31 for value in found) < 600

    def test_one_float_makes_it_a_range_of_reals(self) -> None:
        assert {type(value) for value in drawn((0, 1.0), 10)} == {float}
        assert {type(value) for value in drawn((np.int64(0), np.int64(9)), 10)} == {int}

    def test_uniform_is_what_two_numbers_are(self) -> None:
        assert Space({"x": (0.0, 2.0, "uniform")}) == Space({"x": (0.0, 2.0)}) == Space({"x": stats.uniform(0, 2)})

    def test_is_what_configspace_makes_of_it(self) -> None:
        assert Space({"x": (0.0, 2.0), "n": (1, 9)}) == Space(CS.ConfigurationSpace({"x": (0.0, 2.0), "n": (1, 9)}))

    def test_one_int_is_one_value(self) -> None:
        assert set(drawn((3, 3))) == {3}

    @pytest.mark.parametrize(
        "values",
        [("rbf", "linear"), (True, False), (1, 2, 3), (1,), (), (None, 1.0), (0.1, 1.0, "linear"), ((1, 2), (3, 4))],
        ids=stable,
    )
    def test_any_other_tuple_is_refused_with_the_list_to_write(self, values: tuple[Any, ...]) -> None:
        with pytest.raises(SpaceError, match="A tuple is a range") as caught:
            Space({"x": values})
        assert repr(list(values)) in str(caught.value)

    @pytest.mark.parametrize("values", [(2, 1), (1.0, 1.0), (0.0, math.inf), (math.nan, 1.0)], ids=stable)
    def test_ends_must_be_finite_and_in_order(self, values: tuple[Any, ...]) -> None:
        with pytest.raises(SpaceError, match="from a smaller to a larger"):
            Space({"x": values})

    @pytest.mark.parametrize("low", [0, -1, 0.0])
    def test_a_logarithmic_range_begins_above_zero(self, low: float) -> None:
        with pytest.raises(SpaceError, match="begin above 0"):
            Space({"x": (low, 10, "log")})


class TestOtherTools:
    @pytest.mark.parametrize(
        ("theirs", "ours"),
        [
            (FloatDistribution(0.0, 1.0), (0.0, 1.0)),
            (FloatDistribution(1e-5, 1.0, log=True), (1e-5, 1.0, "log")),
            (FloatDistribution(2.0, 2.0), [2.0]),
            (IntDistribution(1, 10), (1, 10)),
            (IntDistribution(1, 1000, log=True), (1, 1000, "log")),
            (CategoricalDistribution((None, "a", 1)), [None, "a", 1]),
            (Real(0, 1), (0.0, 1.0)),
            (Real(1e-6, 1e6, "log-uniform"), (1e-6, 1e6, "log")),
            (Integer(2, 5), (2, 5)),
            (Integer(1, 100, "log-uniform"), (1, 100, "log")),
            (Categorical(("a", "b")), ["a", "b"]),
        ],
        ids=stable,
    )
    def test_their_objects_have_their_own_meaning(self, theirs: Any, ours: Any) -> None:
        assert Space({"x": theirs}) == Space({"x": ours})

    def test_steps_are_kept_and_in_order(self) -> None:
        space = Space({"x": FloatDistribution(0.0, 1.0, step=0.1), "n": IntDistribution(1, 91, step=10)})
        assert not space.is_categorical.any()
        assert sorted({config["x"] for config in space.decode(space.grid())}) == [i / 10 for i in range(11)]
        assert sorted({config["n"] for config in space.decode(space.grid())}) == list(range(1, 92, 10))

    @given(st.integers(-20, 20), st.integers(1, 7), st.integers(0, 30))
    def test_ints_by_a_step_are_pythons_range(self, low: int, step: int, n: int) -> None:
        found = set(drawn(IntDistribution(low, low + n * step, step=step), 2000))
        assert found == set(range(low, low + n * step + 1, step))

    def test_too_many_steps_are_refused(self) -> None:
        with pytest.raises(SpaceError, match="Leave the step out"):
            Space({"x": FloatDistribution(0.0, 1.0, step=1e-6)})

    def test_the_probabilities_of_a_choice_are_kept(self) -> None:
        counts = Counter(drawn(Categorical(("a", "b"), prior=[0.9, 0.1]), 1000))
        assert 850 < counts["a"] < 950

    def test_an_unknown_prior_is_refused(self) -> None:
        with pytest.raises(SpaceError, match="SciPy distribution"):
            Space({"x": Real(0, 1, "normal")})

    def test_a_hyperparameter_of_configspace_goes_by_its_own_name(self) -> None:
        theirs = CS.UniformIntegerHyperparameter("x", 1, 9)
        assert Space({"x": theirs}) == Space({"x": (1, 9)})
        with pytest.raises(SpaceError, match="under its own name"):
            Space({"y": theirs})


class TestListsOfDicts:
    def test_what_tells_them_apart_decides_what_is_active(self) -> None:
        space = Space(
            [
                {"kernel": ["linear"], "C": (0.1, 10.0, "log")},
                {"kernel": ["rbf", "sigmoid"], "C": (0.1, 10.0, "log"), "gamma": (1e-3, 1.0, "log")},
                {"kernel": ["poly"], "degree": [2, 3]},
            ]
        )
        has = {"linear": {"C"}, "rbf": {"C", "gamma"}, "sigmoid": {"C", "gamma"}, "poly": {"degree"}}
        configs = space.decode(space.sample(3000, RNG(0)))
        assert all(set(config) == {"kernel"} | has[config["kernel"]] for config in configs)
        counts = Counter(config["kernel"] for config in configs)
        assert stats.chisquare([counts["linear"], counts["rbf"] + counts["sigmoid"], counts["poly"]]).pvalue > 1e-3, (
            "each dictionary is as likely as the others"
        )

    def test_estimators_may_tell_them_apart(self) -> None:
        space = Space(
            [
                {"clf": [SVC()], "clf__C": (0.1, 10.0)},
                {"clf": [DecisionTreeClassifier(), None], "clf__max_depth": (1, 5)},
            ]
        )
        for config in space.decode(space.sample(50, RNG(0))):
            assert set(config) == {"clf", "clf__C" if isinstance(config["clf"], SVC) else "clf__max_depth"}

    def test_scikit_learns_own_example(self) -> None:
        """The user guide's `param_grid` of two dictionaries."""
        space = Space(
            [
                {"C": [1, 10, 100, 1000], "kernel": ["linear"]},
                {"C": [1, 10, 100, 1000], "gamma": [0.001, 0.0001], "kernel": ["rbf"]},
            ]
        )
        assert len(space.grid()) == 4 + 8
        assert Space.from_json(space.to_json()) == space

    def test_a_list_of_one_is_that_one(self) -> None:
        assert Space([{"x": (0.0, 1.0)}]) == Space({"x": (0.0, 1.0)})

    @pytest.mark.parametrize(
        ("alternatives", "message"),
        [
            ([{"C": (1, 2)}, {"gamma": (1, 2)}], "tells them apart"),
            ([{"C": [1, 2]}, {"C": [2, 3]}], "tells them apart"),
            ([{"k": ["a"], "C": (1, 2)}, {"k": ["b"], "C": (1, 3)}], "the same values in every dict"),
            ([], "A space must be a dict"),
            ([3], "A space must be a dict"),
            ([{"a": [1]}, {}], "A space must be a dict"),
        ],
        ids=stable,
    )
    def test_what_cannot_be_one_space_is_refused(self, alternatives: Any, message: str) -> None:
        with pytest.raises(SpaceError, match=message):
            Space(alternatives)
