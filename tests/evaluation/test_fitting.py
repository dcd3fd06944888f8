"""One way to fit a model: the same for a trial, for what is handed over, and for the test of an experiment."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from comitia import Config, Seeds, TableEvaluator
from comitia.auto.refit import Job, Refit
from comitia.evaluation.fitting import Examples, fit, fit_parameters, take

X, Y = load_iris(return_X_y=True)
SEEDS, CONFIG = Seeds(0), Config({"k": 3})


class Drawing(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Draws from the global generator: without a `random_state` of its own."""

    def fit(self, X: Any, y: Any) -> "Drawing":
        self.classes_ = np.unique(y)
        self.draw_ = float(np.random.random())  # noqa: NPY002 - a user's learner may
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def test_a_learner_that_draws_from_the_global_generator_is_the_same_again() -> None:
    models: list[Any] = [fit(lambda c, s: Drawing(), CONFIG, Examples(X, Y), SEEDS, keys) for keys in ((1, 0, 0),) * 2]
    other: Any = fit(lambda c, s: Drawing(), CONFIG, Examples(X, Y), SEEDS)
    assert models[0].draw_ == models[1].draw_ != other.draw_


def test_what_is_handed_over_is_fitted_as_an_evaluator_fits() -> None:
    evaluator = TableEvaluator(lambda c, s: Drawing(), X, Y, cv=3)
    rows = np.arange(0, 150, 2)
    for keys in ((), (4, 0, 1)):
        ours: Any = evaluator.fit(CONFIG, rows, SEEDS, keys)
        theirs: Any = Refit(evaluator, SEEDS)(Job(CONFIG, rows, keys))
        assert ours.draw_ == theirs.draw_


def test_the_random_state_is_the_trials_own_or_that_of_a_refit() -> None:
    seeds: list[int] = []

    def build(config: Config, seed: int) -> Any:
        seeds.append(seed)
        return Drawing()

    for keys in ((), (3, 0, 1)):
        fit(build, CONFIG, Examples(X, Y), SEEDS, keys)
    assert seeds == [SEEDS.integer("refit"), SEEDS.integer("learner", 3, 0, 1)]


def test_weights_reach_every_step_of_a_pipeline_that_takes_them() -> None:
    weights = np.arange(150.0)
    model = make_pipeline(StandardScaler(), make_pipeline(SVC()))
    assert set(fit_parameters(model, weights)) == {"standardscaler__sample_weight", "pipeline__svc__sample_weight"}
    assert fit_parameters(model, None) == {}
    fitted: Any = fit(lambda c, s: GaussianNB(), CONFIG, Examples(X, Y, weights), SEEDS)
    assert np.allclose(fitted.theta_, GaussianNB().fit(X, Y, sample_weight=weights).theta_)


@pytest.mark.parametrize("table", [X, pd.DataFrame(X), sparse.csr_matrix(X)], ids=["array", "frame", "sparse"])
def test_rows_are_taken_by_position(table: Any) -> None:
    taken: Any = take(table, np.array([3, 1]))
    assert np.array_equal(taken.toarray() if sparse.issparse(taken) else np.asarray(taken), X[[3, 1]])
