"""The registry, and choices that clash."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from comitia import METHODS, Fixed, Method, Reshuffled, Study, TableEvaluator, get_method, get_space, minimize
from comitia.errors import ChoiceError, UnknownName
from comitia.goals import MeanLoss
from comitia.optimizers import RandomSearch
from comitia.selections.single import Argmin, Backwarding, GlobalValidation, PartialValidation, SelectionSplit


class Generational(RandomSearch):
    needs_generations = True


class Moving(MeanLoss):
    moves = True


class ByRow(Argmin):
    compares_rows = True


def test_names_are_lower_case_unique_and_described() -> None:
    assert all(name == name.lower() == method.name for name, method in METHODS.items())
    assert all(method.summary.endswith(".") for method in METHODS.values())


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_survives_being_pickled(name: str) -> None:
    again = pickle.loads(pickle.dumps(METHODS[name]))
    assert isinstance(again, Method)
    assert again.name == name


def test_methods_are_found_without_regard_to_case() -> None:
    assert get_method("RS") is METHODS["rs"]
    assert get_method(METHODS["rs"]) is METHODS["rs"]


@pytest.mark.parametrize(("name", "near"), [("sobel", "'sobol'"), ("gridd", "'grid'"), (3, "Known")])
def test_an_unknown_name_has_near_matches(name: Any, near: str) -> None:
    with pytest.raises(UnknownName, match=near):
        get_method(name)
    with pytest.raises(UnknownName):
        Study({"a": [1]}, name)


def test_generations_need_values_that_stay_put() -> None:
    with pytest.raises(ChoiceError, match="Generational with Moving"):
        Method("clash", Generational, "clashes", goal=Moving())
    Method("fine", RandomSearch, "fine", goal=Moving())
    Method("fine", Generational, "fine")


@pytest.mark.parametrize("strategy", [PartialValidation(), Backwarding(), GlobalValidation()])
def test_choosing_among_generations_needs_generations(strategy: Any) -> None:
    with pytest.raises(ChoiceError, match=f"{type(strategy).__name__} chooses among them. Got RandomSearch"):
        Method("clash", RandomSearch, "clashes", selection=strategy, has_selection_split=True)
    Method("fine", Generational, "fine", selection=strategy, has_selection_split=True)


def test_choosing_by_a_selection_split_needs_one() -> None:
    with pytest.raises(ChoiceError, match="must set rows aside, because SelectionSplit"):
        Method("clash", RandomSearch, "clashes", selection=SelectionSplit())
    with pytest.raises(ChoiceError, match="must set rows aside, because Backwarding"):
        Method("clash", Generational, "clashes", selection=Backwarding())


def test_a_method_that_sets_rows_aside_needs_an_evaluator_that_does() -> None:
    evaluator = TableEvaluator(get_space("svm-rbf").build, np.ones((40, 2)), np.arange(40) % 2)
    with pytest.raises(ChoiceError, match=r"'gp-sel' must have rows set aside.*selection_split=0.2"):
        Study("svm-rbf", "gp-sel", seed=0).run(evaluator, n_trials=1)
    with pytest.raises(ChoiceError, match="for a function a method without '-sel'"):
        minimize(lambda config: 0.0, {"a": [1, 2]}, method="gp-sel-r", n_trials=1)


@pytest.mark.parametrize(
    ("resampling", "clashes"),
    [
        (Reshuffled(ShuffleSplit(1, test_size=0.3)), True),
        (Reshuffled(KFold(5)), False),
        (Fixed(ShuffleSplit(1, test_size=0.3)), False),
    ],
    ids=repr,
)
def test_comparing_rows_needs_the_same_rows(resampling: Any, clashes: bool) -> None:
    method = Method("by-row", RandomSearch, "compares rows", selection=ByRow())
    y = np.arange(40) % 2
    evaluator = TableEvaluator(get_space("svm-rbf").build, np.ones((40, 2)), y, cv=resampling, keep="predictions")
    study = Study("svm-rbf", method, seed=0)
    if clashes:
        with pytest.raises(ChoiceError, match="k-fold"):
            study.run(evaluator, n_trials=1)
    else:
        study.run(evaluator, n_trials=1)
