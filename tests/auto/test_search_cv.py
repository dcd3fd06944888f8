"""SearchCV: what users of scikit-learn's own searches expect works as they expect."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from comitia import Method, SearchCV
from comitia.errors import ChoiceError, ComitiaError
from comitia.optimizers import RandomSearch

IRIS = load_iris(return_X_y=True)
SPACE: dict[str, Any] = {"C": stats.loguniform(1e-2, 1e2), "gamma": stats.loguniform(1e-3, 1e1)}


def test_has_the_attributes_of_randomized_search() -> None:
    ours = SearchCV(SVC(), SPACE, n_trials=6, random_state=0, cv=3, return_train_score=True).fit(*IRIS)
    theirs = RandomizedSearchCV(SVC(), SPACE, n_iter=6, random_state=0, cv=3, return_train_score=True).fit(*IRIS)
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    public = {name for name in vars(theirs) if name.endswith("_")}
    assert public <= set(vars(ours))
    assert ours.score(*IRIS) > 0.9
    assert ours.best_index_ == np.argmin(ours.cv_results_["rank_test_score"])
    assert ours.study_.best_trial.number == ours.best_index_


def test_several_metrics() -> None:
    search = SearchCV(SVC(), SPACE, n_trials=4, scoring=["accuracy", "f1_macro"], refit="f1_macro", random_state=0).fit(
        *IRIS
    )
    assert "mean_test_f1_macro" in search.cv_results_
    assert search.best_index_ == np.argmax(search.cv_results_["mean_test_f1_macro"])


def test_finite_spaces_are_not_searched_twice() -> None:
    search = SearchCV(SVC(), {"C": [0.1, 1, 10], "kernel": ["rbf"]}, method="rs", n_trials=50).fit(*IRIS)
    assert len(search.cv_results_["params"]) == 3


def test_estimators_inside_a_pipeline_and_groups() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = SearchCV(model, {"logisticregression__C": [0.1, 1.0]}, n_trials=2, cv=GroupKFold(3))
    search.fit(*IRIS, groups=np.arange(150) % 6)
    assert search.best_params_["logisticregression__C"] in (0.1, 1.0)


def test_failures_are_scored_as_scikit_learn_does() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = SearchCV(SVC(), {"C": [1.0, -1.0]}, n_trials=2, cv=KFold(3, shuffle=True, random_state=0)).fit(*IRIS)
    assert search.best_params_ == {"C": 1.0}
    assert search.study_.history.n_failed == 1


def test_a_method_that_reshuffles_gives_every_trial_other_folds() -> None:
    method = Method("rs-r", RandomSearch, "Random search, reshuffled.", is_reshuffled=True)
    same = {"C": [1.0, 1.0 + 1e-9, 1.0 + 2e-9]}  # one model, so that scores differ by their folds alone
    search = SearchCV(SVC(), same, method=method, n_trials=3, random_state=0, cv=3).fit(*IRIS)
    first = [search.cv_results_[f"split{i}_test_score"] for i in range(3)]
    assert len({tuple(scores) for scores in np.transpose(first)}) > 1
    plain = SearchCV(SVC(), same, method="rs", n_trials=3, random_state=0, cv=3).fit(*IRIS)
    assert len(set(plain.cv_results_["mean_test_score"])) == 1


def test_a_method_that_sets_rows_aside_is_refused() -> None:
    search = SearchCV(SVC(), {"C": [1.0, 2.0]}, method="gp-sel")
    with pytest.raises(ChoiceError, match="rows set aside"):
        search.fit(*IRIS)


def test_a_random_state_may_be_a_generator() -> None:
    one, two = (SearchCV(SVC(), SPACE, n_trials=2, random_state=np.random.RandomState(3)).fit(*IRIS) for _ in range(2))
    assert one.cv_results_["params"] == two.cv_results_["params"]


def test_an_unknown_method() -> None:
    with pytest.raises(ComitiaError, match=r"near|mean"):
        SearchCV(SVC(), SPACE, method="sobell").fit(*IRIS)
