"""Studies that leave out folds: what they learn, hand over, record and resume."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from comitia import Config, FunctionEvaluator, Observation, Study, TableEvaluator

SPACE = [{"kind": ["near"], "k": (1, 200)}, {"kind": ["tree"], "leaf": (1, 200)}]
LAZY = ["bayes-lazy", "bayes-pm-lazy", "committee-lazy"]


def build(config: Config, random_state: int) -> Any:
    if config["kind"] == "near":
        return KNeighborsClassifier(config["k"])
    return DecisionTreeClassifier(min_samples_leaf=config["leaf"], random_state=random_state)


def evaluator(**options: Any) -> TableEvaluator:
    X, y = load_breast_cancer(return_X_y=True)
    return TableEvaluator(build, X, y, **{"keep": "probabilities", "loss": "zero-one", **options})


def record_of(study: Study) -> list[Any]:
    return [(o.number, o.trial.x, o.status, o.losses, o.n_evaluations) for o in study.history.observations()]


@pytest.fixture(scope="module")
def studies() -> dict[str, Study]:
    return {name: Study(SPACE, name, seed=1).run(evaluator(), n_trials=22) for name in LAZY}


@pytest.mark.parametrize("name", LAZY)
def test_a_partial_trial_is_never_handed_over(studies: dict[str, Study], name: str) -> None:
    study = studies[name]
    history = study.history
    rejected = {o.number for o in history.observations() if o.status == "rejected"}
    assert len(rejected) == history.n_rejected > 1
    assert history.n_evaluations < 5 * 22
    assert 0 not in rejected
    for member in study.members():
        assert member.trial not in rejected
        assert member.trial is not None
        found = history.observation(member.trial)
        assert found is not None
        assert len(found.losses) == 5
    assert study.best_trial.number not in rejected
    frame = study.to_frame()
    assert (frame["status"] == "rejected").sum() == len(rejected)
    assert frame["loss"].isna().sum() == len(rejected)


@pytest.mark.parametrize("name", LAZY)
def test_a_fresh_study_of_the_same_history_asks_the_same(studies: dict[str, Study], name: str) -> None:
    study = studies[name]
    one, other = study.in_memory(), study.in_memory()
    assert one.ask(1)[0].x == other.ask(1)[0].x
    trial = other.history.trial(len(other.history) - 1)
    assert study.in_memory().ask(1)[0].config == trial.config


class StopAfter:
    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, study: Study, observation: Observation) -> None:
        if study.history.n_finished >= self.n:
            study.stop()


@pytest.mark.parametrize("name", ["bayes-lazy", "committee-lazy"])
def test_a_study_that_is_resumed_in_the_middle_of_a_trial_rejects_the_same(
    studies: dict[str, Study], name: str, tmp_path: Path
) -> None:
    """A trial that was begun and has no result is evaluated again, against what was there when it began."""
    with Study(SPACE, name, seed=1, storage=tmp_path / "a.db") as study:
        study.run(evaluator(), n_trials=22, callbacks=[StopAfter(9)])
        study.ask(1)  # begun, and then the program ends
    with Study.open(tmp_path / "a.db") as again:
        again.run(evaluator(), n_trials=22)
        assert record_of(again) == record_of(studies[name])
        assert again.members() == studies[name].members()


def test_a_search_learns_from_what_was_rejected(studies: dict[str, Study]) -> None:
    study = studies["bayes-lazy"]
    values = study.method.goal.values(study.history, study.seeds)
    is_rejected = np.array([o.status == "rejected" for o in study.history.observations()])
    assert values.noise is not None
    assert (values.noise[is_rejected] > 0).all()
    assert (values.noise[~is_rejected] == 0).all()
    # not all alike, as failures are
    assert len(np.unique(values.now[is_rejected])) > 2
    assert values.now[is_rejected].min() > values.now.min()


def test_fits_are_counted_as_they_were_made() -> None:
    study = Study(SPACE, "bayes-lazy", seed=1).run(evaluator(), n_evaluations=80)
    assert study.history.n_evaluations == sum(len(o.losses) for o in study.history.observations()) <= 80
    assert study.history.n_finished > 16


def test_nothing_is_left_out_where_it_cannot_be() -> None:
    """A scorer has no losses of rows; a function has no folds; a hold-out has one."""
    for options in ({"loss": "roc_auc"}, {"cv": 0.3}):
        study = Study(SPACE, "bayes-lazy", seed=0).run(evaluator(**options), n_trials=8)
        assert study.history.n_rejected == 0
    function = FunctionEvaluator(lambda config: float(config["k"]))
    study = Study({"k": (1, 200)}, "bayes-r", seed=0).run(function, n_trials=8)
    assert study.history.n_rejected == 0


@pytest.mark.parametrize("name", ["bayes-r", "bayes-pm-r", "bayes-rc", "bayes-pm-rc"])
@pytest.mark.parametrize("cv", [0.3, 3])
def test_trials_on_rows_of_their_own_can_be_searched_and_chosen_from(name: str, cv: Any) -> None:
    study = Study(SPACE, name, seed=0).run(evaluator(cv=cv, reshuffled=True, keep="predictions"), n_trials=10)
    [member] = study.members()
    assert member.trial is not None
    if name.endswith("rc") and cv == 0.3:
        values = study.method.goal.values(study.history, study.seeds)
        assert values.now.tolist() != study.history.losses.tolist()


@pytest.mark.processes
def test_what_a_trial_is_compared_with_travels_to_workers() -> None:
    study = Study(SPACE, "bayes-lazy", seed=1).run(evaluator(), n_trials=14, n_jobs=2)
    rejected = {o.number for o in study.history.observations() if o.status == "rejected"}
    assert rejected
    assert not study.history.n_failed
    assert study.members()[0].trial not in rejected
