"""Which method a fit searches by: committees that begin with a default, budgets for costs that cool down."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from comitia import METHODS, AutoClassifier, Study
from comitia.auto.methods_for import COMMITTEES, method_for, within
from comitia.evaluation.scoring import make_scoring
from comitia.methods import get_method
from comitia.methods.own import AUTO_ABSOLUTE, AUTO_COMMITTEE

ACCURACY = make_scoring("accuracy", "classification")
MAE = make_scoring("neg_mean_absolute_error", "regression")


@pytest.mark.parametrize("name", COMMITTEES)
def test_a_committee_by_name_is_one_that_begins_with_a_default(name: str) -> None:
    found = method_for(METHODS[name], ACCURACY)
    assert (found.name, found.goal, found.selection) == (name, AUTO_COMMITTEE.goal, AUTO_COMMITTEE.selection)
    assert found.optimizer is METHODS[name].optimizer
    assert method_for(METHODS[name], MAE).selection == AUTO_ABSOLUTE.selection
    assert method_for(found, ACCURACY) == found


def test_options_are_kept() -> None:
    found: Any = method_for(get_method("committee[members=3]"), ACCURACY)
    assert found.name == "committee[members=3]"
    assert found.selection.greedy.most_members == 3
    assert found.selection.first_share == AUTO_COMMITTEE.selection.first_share  # type: ignore[attr-defined]
    assert method_for(get_method("committee-log"), ACCURACY) == METHODS["committee-log"]


def test_a_method_of_the_users_own_is_left_as_it_is() -> None:
    own = replace(METHODS["committee"], goal=METHODS["bayes"].goal)
    assert method_for(own, ACCURACY) is own


def test_costs_cool_down_within_the_time_limit() -> None:
    assert within(METHODS["committee-cooled"], 120.4, None).name == "committee-cooled[seconds=120]"
    assert within(get_method("bayes-cooled[seconds=7]"), 120.0, None).name == "bayes-cooled[seconds=7]"
    assert within(METHODS["bayes-cooled"], None, None) is METHODS["bayes-cooled"]
    assert within(METHODS["bayes"], 60.0, None) is METHODS["bayes"]


def test_a_study_that_is_resumed_keeps_its_budget(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    Study({"x": [1, 2]}, "bayes-cooled[seconds=30]", storage=path).close()
    assert within(METHODS["bayes-cooled"], 120.0, path).name == "bayes-cooled[seconds=30]"
    assert within(METHODS["bayes-cooled"], None, path).name == "bayes-cooled[seconds=30]"
    assert within(METHODS["committee-cooled"], 120.0, path).name == "committee-cooled[seconds=120]"


def test_the_auto_classes_tell_a_method_its_budget() -> None:
    X, y = load_iris(return_X_y=True)
    options: dict[str, Any] = {"n_trials": 1, "cv": 3, "include": ["linear"], "n_jobs": 1}
    model = AutoClassifier(method="committee-cooled", time_limit=50, **options).fit(X, y)
    assert model.study_.method.name == "committee-cooled[seconds=50]"
