"""The registry, and choices that clash."""

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit

from comitia import METHODS, Fixed, Method, Reshuffled, Space, Study, TableEvaluator, get_method, get_space, minimize
from comitia.errors import ChoiceError, UnknownName
from comitia.goals import MeanLoss
from comitia.methods.own import METHODS as OWN_METHODS
from comitia.optimizers import CMAES, RandomSearch
from comitia.seams import Needs
from comitia.selections.set_aside import Backwarding, GlobalValidation, PartialValidation, SelectionSplit
from comitia.selections.single import Argmin
from tests.ids import stable


class Generational(RandomSearch):
    needs = Needs(generations=True, fixed_values=True)


class Moving(MeanLoss):
    moves = True


class ByRow(Argmin):
    needs = Needs(rows=True)


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


SPACE = Space({"a": [1, 2]})
MAKERS: dict[str, Any] = {
    "class": Generational,
    "partial": partial(CMAES, population=6),
    "lambda": lambda s: CMAES(s, population=6),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_an_optimizer_that_needs_fixed_values_is_refused_with_a_goal_that_moves(kind: str) -> None:
    clash = Method("clash", MAKERS[kind], "clashes", goal=METHODS["eo-sqm"].goal)
    with pytest.raises(ChoiceError, match=r"needs fixed values .* with EnsembleLoss"):
        clash.make_optimizer(SPACE)
    with pytest.raises(ChoiceError, match="'clash' must not combine"):
        Study(SPACE, clash)
    Method("fine", RandomSearch, "fine", goal=Moving()).make_optimizer(SPACE)
    Method("fine", MAKERS[kind], "fine").make_optimizer(SPACE)


@pytest.mark.parametrize("strategy", [PartialValidation(), Backwarding(), GlobalValidation()])
def test_choosing_among_generations_needs_generations(strategy: Any) -> None:
    clash = Method("clash", RandomSearch, "clashes", selection=strategy, has_selection_split=True)
    with pytest.raises(ChoiceError, match=f"{type(strategy).__name__} chooses among them. Got RandomSearch"):
        clash.make_optimizer(SPACE)
    Method("fine", Generational, "fine", selection=strategy, has_selection_split=True).make_optimizer(SPACE)


class SaysNothing:
    """Neither an optimizer nor a goal nor a selection: it does not say what it needs."""

    def __init__(self, space: Any = None) -> None:
        pass


def test_a_choice_that_is_none_is_refused() -> None:
    thing: Any = SaysNothing
    with pytest.raises(ChoiceError, match=r"what comitia.seams.Goal lists. Got SaysNothing.*needs = Needs\(\)"):
        Method("clash", RandomSearch, "clashes", goal=thing())
    with pytest.raises(ChoiceError, match=r"what comitia.seams.Selection lists. Got SaysNothing"):
        Method("clash", RandomSearch, "clashes", selection=thing())
    with pytest.raises(ChoiceError, match=r"what comitia.seams.Optimizer lists. Got SaysNothing"):
        Method("clash", thing, "clashes").make_optimizer(SPACE)


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
    ids=stable,
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


@pytest.mark.parametrize(("alias", "name"), [("rs-best", "rs"), ("bo-best", "gp-matern-ls")])
def test_an_alias_is_the_method_under_another_name(alias: str, name: str) -> None:
    named, method = get_method(alias), METHODS[name]
    assert named.name == alias == named.spelling.lower()
    assert named.summary == f"Another name of `{name}`."
    assert (named.optimizer, named.goal, named.selection) == (method.optimizer, method.goal, method.selection)
    assert [other for method in METHODS.values() for other in method.aliases].count(named.spelling) == 1


def test_own_methods_come_first_and_the_others_name_their_papers() -> None:
    is_own = [not method.papers for method in METHODS.values()]
    assert is_own == sorted(is_own, reverse=True)
    assert sum(is_own) == len(OWN_METHODS)
    papers = {paper for method in METHODS.values() for paper in method.papers}
    assert len(papers) == len({paper.citation for paper in papers})
    for paper in papers:
        author, year = paper.citation.split()[0], paper.citation.split()[-1]
        assert author in paper.reference
        assert year in paper.reference
