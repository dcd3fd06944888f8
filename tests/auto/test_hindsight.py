"""What a fit would have returned earlier, or without a member, by what is known after it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from comitia import AutoClassifier, AutoRegressor, Serial, load
from comitia.auto.hindsight import moments
from comitia.seams import Member

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:150], Y[:150]


def fitted(kind: Any = AutoClassifier, **more: Any) -> Any:
    options = {"n_trials": 6, "include": ["linear", "knn"], "cv": 3, "executor": Serial(), "random_state": 0}
    return kind(**{**options, **more})


@pytest.fixture(scope="module")
def model() -> Any:
    return fitted().fit(X, Y)


def test_all_members_have_the_validation_score_and_one_trial_its_own(model: Any) -> None:
    hindsight = model.hindsight()
    assert hindsight.score(hindsight.trials) == pytest.approx(model.validation_score_)
    number = model.study_.best_trial.number
    alone = hindsight.score([Member(model.study_.best_trial.config, 1.0, number)])
    rows = model.study_.history.predictions(number)
    decided = np.asarray(rows.values).argmax(axis=1)
    assert alone == pytest.approx(float(np.mean(decided == Y[rows.rows])))


def test_the_last_moment_is_the_fit_itself_and_the_first_the_first_trial(model: Any) -> None:
    path = model.hindsight().path()
    assert [moment.n_trials for moment in path] == moments(6)
    assert path[-1].optimistic == pytest.approx(model.validation_score_)
    first = model.study_.history.observation(0)
    assert path[0].optimistic == pytest.approx(1 - first.loss, abs=0.01)


def test_errors_are_one_row_per_member(model: Any) -> None:
    hindsight = model.hindsight()
    errors = hindsight.errors()
    assert errors.shape == (len(hindsight.trials), len(X))
    assert ((errors >= 0) & (errors <= 1)).all()


def test_leaving_out_the_only_member_leaves_nothing() -> None:
    model = fitted(method="rs").fit(X, Y)
    [member] = model.hindsight().trials
    assert np.isnan(model.hindsight().score_without(member.trial))


def test_numbers_have_residuals() -> None:
    model = fitted(AutoRegressor).fit(X[:, 1:], X[:, 0])
    hindsight = model.hindsight()
    assert hindsight.score(hindsight.trials) == pytest.approx(model.validation_score_)
    assert hindsight.errors().std() > 0


def test_a_metric_that_looks_at_the_table_is_not_known_afterwards() -> None:
    def own(estimator: Any, some: Any, y: Any) -> float:
        return float(np.mean(estimator.predict(some) == y))

    assert fitted(n_trials=2, include=["linear"], scoring=own).fit(X, Y).hindsight() is None


def test_a_loaded_model_has_the_same_hindsight(model: Any, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.hindsight().path() == model.hindsight().path()
    assert again.fit_seconds_ == model.fit_seconds_
    assert again.data_summary_ == model.data_summary_
