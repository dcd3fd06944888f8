"""Methods with options in their names."""

import pickle

import numpy as np
import pytest

from comitia import METHODS, Study, TableEvaluator, get_method, get_space
from comitia.errors import ChoiceError, UnknownName
from comitia.goals import BootstrapRisk, EnsembleLoss
from comitia.methods import for_budget, is_method
from comitia.methods.options import OPTIONS
from comitia.selections.committees import AgnosticBayes, GreedyCommittee, SlotCommittee

BY_OPTION = {"slots": "eo-sqm", "bootstraps": "esmbo"}


def test_goal_and_selection_are_changed_alike() -> None:
    method = get_method("EO-sqm[slots=7]")
    assert isinstance(method.goal, EnsembleLoss)
    assert isinstance(method.selection, SlotCommittee)
    assert method.goal.rules == method.selection.rules
    assert method.goal.rules.n_slots == 7
    assert (method.name, method.spelling) == ("eo-sqm[slots=7]", "EO-sqm[slots=7]")


def test_several_options_have_one_order() -> None:
    first, second = get_method("bo-post[warm=5,bags=20]"), get_method("bo-post[bags=20, warm=5]")
    assert first.name == second.name == "bo-post[bags=20,warm=5]"
    assert isinstance(first.selection, GreedyCommittee)
    assert (first.selection.greedy.n_warm, first.selection.greedy.n_bags) == (5, 20)


@pytest.mark.parametrize("option", sorted(OPTIONS))
def test_an_option_changes_a_method_that_can_be_pickled(option: str) -> None:
    name = BY_OPTION.get(option, "eo-sqm" if option == "inside" else "bo-post")
    value = "out" if option == "inside" else "4"
    method = get_method(f"{name}[{option}={value}]")
    assert pickle.loads(pickle.dumps(method)).name == method.name
    assert (method.goal, method.selection) != (METHODS[name].goal, METHODS[name].selection)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("eo-sqm[slot=7]", UnknownName, "'slots'"),
        ("rs[slots=7]", ChoiceError, "must be one that 'rs' has"),
        ("rs[inactive=default]", ChoiceError, "must be one that 'rs' has"),
        ("smac-rf[inactive=default]", ChoiceError, "must be one that 'smac-rf' has"),
        ("gp[inactive=zero]", ChoiceError, "middle or default"),
        ("eo-sqm[slots=0]", ChoiceError, "n_slots"),
        ("eo-sqm[slots=few]", ChoiceError, "n_slots"),
        ("eo-sqn[slots=7]", UnknownName, "'eo-sqm'"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        get_method(name)


def test_a_study_goes_on_with_the_options_in_its_file(tmp_path: object) -> None:
    path = f"{tmp_path}/study.db"
    space = {"a": [1, 2, 3]}
    Study(space, "eo-sqm[slots=3]", storage=path).close()
    with Study.open(path) as study:
        assert study.method == get_method("eo-sqm[slots=3]")
    assert not is_method("mine[slots=3]")


def test_inactive_hyperparameters_may_be_imputed_with_their_defaults() -> None:
    ready = get_space("sklearn-cash")
    X = ready.space.sample(30, np.random.default_rng(0))
    rows = {}
    for inactive in ("middle", "default"):
        optimizer = get_method(f"gp-cond-ls[inactive={inactive}]").make_optimizer(ready.space)
        rows[inactive] = optimizer._surrogate.view(X)[0]  # type: ignore[attr-defined]
    is_active = ready.space.active(X)
    assert np.array_equal(rows["middle"][is_active], rows["default"][is_active])
    assert (rows["middle"][~is_active] == 0.5).all()
    assert np.array_equal(rows["default"], np.where(is_active, X, ready.space.defaults))


def test_a_method_may_search_as_another_one() -> None:
    method = get_method("eo-sqm[search=spearmint]")
    assert method.optimizer is METHODS["spearmint"].optimizer
    assert method.goal is METHODS["eo-sqm"].goal
    assert get_method("eo-c[select=bo-post]").selection is METHODS["bo-post"].selection
    assert get_method("cma[select=cma-gv]").has_selection_split
    with pytest.raises(UnknownName, match="'spearmint'"):
        get_method("eo-sqm[search=spearmind]")


def test_agnostic_bayes_knows_its_bootstraps_where_the_budget_is_known() -> None:
    method = for_budget(METHODS["esmbo"], 150)
    assert isinstance(method.goal, BootstrapRisk)
    assert isinstance(method.selection, AgnosticBayes)
    assert method.goal.bootstraps.n == method.selection.bootstraps.n == 75
    turns = [method.goal.bootstraps.turn(number) for number in range(150)]
    assert sorted(turns) == sorted([*range(75), *range(75)])  # each twice, Lacoste et al. 2014, Alg. 2
    assert for_budget(METHODS["esmbo"], None) == METHODS["esmbo"]
    named = get_method("esmbo[bootstraps=10]")
    assert for_budget(named, 150) == named


def test_a_search_with_options_runs() -> None:
    ready = get_space("svm-rbf")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.repeat([0, 1], 20)
    evaluator = TableEvaluator(ready.build, X + y[:, None], y, cv=3, keep="predictions")
    for inside in ("nothing", "again", "out"):
        study = Study(ready.space, f"eo-sqm[inside={inside},slots=3]", seed=0)
        study.run(evaluator, n_trials=8)
        assert 1 <= len(study.members()) <= 3
