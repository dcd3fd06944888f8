"""Presets: the same in Python and on the command line, and never stronger than what the user says."""

from pathlib import Path
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from comitia import AutoClassifier, AutoRegressor, load
from comitia.auto.presets import ALIASES, PRESETS, get_preset
from comitia.errors import UnknownName
from comitia.learners.default import LEARNERS
from comitia.learners.default.learners import default_learners
from comitia.methods.own import AUTO_COMMITTEE
from comitia.selections.committees import GreedyCommittee

X, Y = load_iris(return_X_y=True)
N_LEARNERS = len(default_learners("classification"))
OPTIONS: dict[str, Any] = {"n_trials": 1, "n_jobs": 1, "random_state": 0, "estimate": False}


def learners_of(model: AutoClassifier) -> list[str]:
    learner = model.study_.space.configspace["learner"]
    assert isinstance(learner, CS.CategoricalHyperparameter)
    return [str(name) for name in learner.choices]


def n_folds_of(model: AutoClassifier) -> int:
    assert model.validation_predictions_ is not None
    return len(np.unique(model.validation_predictions_.folds))


@pytest.mark.parametrize(
    ("preset", "n_folds", "n_learners"), [("fast", 3, 2), ("balanced", 8, N_LEARNERS), ("best", 10, N_LEARNERS)]
)
def test_a_preset_chooses_folds_and_learners(preset: str, n_folds: int, n_learners: int) -> None:
    table, target = np.tile(X, (3, 1)), np.tile(Y, 3)
    model = AutoClassifier(preset=preset, **OPTIONS).fit(table, target)
    assert n_folds_of(model) == n_folds
    assert len(learners_of(model)) == n_learners


def test_the_best_preset_has_more_members_and_bags_and_what_the_user_names_wins() -> None:
    options = {**OPTIONS, "include": ["linear"], "cv": 3}
    assert AutoClassifier(**options).fit(X, Y).study_.method.name == "committee"
    method = AutoClassifier(preset="best", **options).fit(X, Y).study_.method
    assert method.name == "committee[bags=8,members=16]"
    assert isinstance(method.selection, GreedyCommittee)
    assert (method.selection.greedy.n_bags, method.selection.greedy.most_members) == (8, 16)
    assert method.selection.first_share == AUTO_COMMITTEE.selection.first_share  # type: ignore[attr-defined]
    assert AutoClassifier(preset="best", method="bayes", **options).fit(X, Y).study_.method.name == "bayes"


def test_a_fit_with_the_best_preset_is_resumed(tmp_path: Path) -> None:
    options = {**OPTIONS, "include": ["linear", "knn"], "preset": "best", "storage": tmp_path / "study.db"}
    AutoClassifier(**options).fit(X, Y)
    again = AutoClassifier(**{**options, "n_trials": 3}).fit(X, Y)
    assert again.study_.history.n_finished == 3
    again.save(tmp_path / "model")
    assert load(tmp_path / "model").study_.method.name == again.study_.method.name


def test_what_the_user_says_wins_over_a_preset() -> None:
    model = AutoClassifier(preset="fast", cv=4, include=["knn", "linear"], **OPTIONS).fit(X, Y)
    assert n_folds_of(model) == 4
    assert learners_of(model) == ["linear", "knn"]
    assert learners_of(AutoClassifier(preset="fast", exclude=["lightgbm"], **OPTIONS).fit(X, Y)) == ["linear"]


def test_a_preset_has_as_many_folds_as_the_rows_allow() -> None:
    assert n_folds_of(AutoClassifier(preset="best", include=["linear"], **OPTIONS).fit(X[::25], Y[::25])) == 2


def test_another_name_means_the_same_preset() -> None:
    assert set(ALIASES.values()) <= set(PRESETS)
    assert get_preset("thorough") == get_preset("best")


def test_every_learner_of_a_preset_is_known() -> None:
    assert all(name in LEARNERS for preset in PRESETS.values() for name in preset.include or ())


@pytest.mark.parametrize("wrong", ["faster", 3, None])
def test_an_unknown_preset_is_refused_before_anything_is_read(wrong: Any) -> None:
    with pytest.raises(UnknownName, match="preset"):
        AutoRegressor(preset=wrong).check_parameters()


def test_a_preset_is_a_parameter_that_is_cloned_and_saved(tmp_path: Path) -> None:
    model = AutoClassifier(preset="fast", **OPTIONS).fit(X, Y)
    assert clone(model).get_params()["preset"] == "fast"
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").preset == "fast"


def test_a_model_of_a_version_without_presets_gets_the_default() -> None:
    model = AutoClassifier(include=["linear"], **OPTIONS).fit(X, Y)
    state = {name: value for name, value in model.__getstate__().items() if name != "preset"}
    old = AutoClassifier.__new__(AutoClassifier)
    old.__setstate__(state)
    assert old.get_params()["preset"] == "balanced"
    assert (old.predict(X) == model.predict(X)).all()
