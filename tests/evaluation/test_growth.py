"""Folds tell each other, and the fit of what is handed over, how large a model must be."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from comitia import Config, Seeds, TableEvaluator, Trial
from comitia.auto.refit import Refit
from comitia.evaluation.growth import Grows, found_size, of_size, size_for
from comitia.history import History
from comitia.seams import Member

X, Y = load_iris(return_X_y=True)
SEEDS = Seeds(0)


class Growing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """It is as large as the sum of its rows says, unless it is told a size."""

    def __init__(self, size: int | None = None) -> None:
        self.size = size

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        self.grown_ = self.size or 10 + int(np.abs(X).sum()) % 90
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])

    def found_size(self) -> int | None:
        return self.grown_ if self.size is None else None

    def of_size(self, size: int) -> Any:
        return Growing(size)


def history_of(build: Any, **options: Any) -> tuple[TableEvaluator, History, Any]:
    evaluator = TableEvaluator(build, X, Y, cv=5, keep="predictions", **options)
    trial = Trial(number=0, batch=0, x=(), config=Config({}))
    observation, told = evaluator(trial, SEEDS)
    assert observation.is_ok, observation.error
    history = History(0, lambda number: told)
    history.append(trial)
    history.finish(observation)
    return evaluator, history, told


def plain(config: Config, random_state: int) -> Any:
    return Growing()


def behind_a_scaler(config: Config, random_state: int) -> Any:
    return make_pipeline(StandardScaler(), Growing())


@pytest.mark.parametrize("build", [plain, behind_a_scaler])
def test_two_folds_find_out_and_the_others_are_told(build: Any) -> None:
    _, _, told = history_of(build)
    assert np.isfinite(told.sizes).tolist() == [True, True, False, False, False]


def test_what_is_handed_over_is_told_as_well_and_folds_are_fitted_as_they_were() -> None:
    evaluator, history, told = history_of(plain)
    refit = Refit(evaluator, SEEDS)
    member = Member(Config({}), 1.0, 0)
    expected = size_for(told.sizes.tolist())
    assert expected is not None
    assert min(told.sizes[:2]) <= expected <= max(told.sizes[:2])
    [whole] = refit.jobs(member, history, "full")
    assert found_size(refit(whole)) != found_size(refit(whole))  # NaN: it was told
    assert whole.size == expected
    assert [job.size for job in refit.jobs(member, history, "folds")] == [None, None, expected, expected, expected]


def test_what_does_not_grow_is_left_alone() -> None:
    scaler = StandardScaler()
    assert of_size(scaler, 3) is scaler
    assert np.isnan(found_size(scaler))
    assert not isinstance(scaler, Grows)


def test_one_fold_alone_tells_nothing() -> None:
    assert size_for([]) is None
    assert size_for([40.0, np.nan]) is None
    assert size_for([40.0, np.nan, 90.0]) == 60  # the geometric mean
