"""SearchCV: what users of scikit-learn's own searches expect works as they expect."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from comitia import Method, Patience, SearchCV
from comitia.errors import ChoiceError, ComitiaError, StoreMismatch
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


class TestStorage:
    def test_a_search_is_resumed_with_all_its_results(self, tmp_path: Path) -> None:
        def searched(n_trials: int, storage: Path | None) -> Any:
            return SearchCV(SVC(), SPACE, n_trials=n_trials, cv=3, random_state=0, storage=storage).fit(*IRIS)

        whole = searched(8, None)
        searched(5, tmp_path / "s.db")
        resumed = searched(8, tmp_path / "s.db")
        assert resumed.cv_results_["params"] == whole.cv_results_["params"]
        assert (resumed.cv_results_["mean_test_score"] == whole.cv_results_["mean_test_score"]).all()
        assert resumed.best_params_ == whole.best_params_
        assert resumed.study_.best_value == resumed.best_score_
        assert pickle.loads(pickle.dumps(resumed)).predict(IRIS[0]).shape == (150,)

    def test_one_that_was_complete_is_not_searched_again(self, tmp_path: Path) -> None:
        seen: list[int] = []
        for _ in range(2):
            search = SearchCV(SVC(), SPACE, n_trials=4, cv=3, random_state=0, storage=tmp_path / "s.db")
            search.set_params(callbacks=[lambda study, observation: seen.append(observation.number)]).fit(*IRIS)
            assert len(search.cv_results_["params"]) == 4
            assert search.best_score_ == search.study_.best_value
        assert seen == [0, 1, 2, 3]

    def test_other_rows_are_refused(self, tmp_path: Path) -> None:
        search = SearchCV(SVC(), SPACE, n_trials=2, cv=3, storage=tmp_path / "s.db").fit(*IRIS)
        with pytest.raises(StoreMismatch, match="estimator and the rows"):
            search.fit(IRIS[0] + 1, IRIS[1])
        with pytest.raises(StoreMismatch, match="estimator and the rows"):
            search.set_params(estimator=SVC(kernel="poly")).fit(*IRIS)


def test_callbacks_hear_scores_and_may_stop() -> None:
    heard: list[float] = []
    callbacks: list[Any] = [Patience(3), lambda study, observation: heard.append(observation.value)]
    search = SearchCV(SVC(), SPACE, n_trials=30, cv=3, random_state=0, callbacks=callbacks).fit(*IRIS)
    assert heard == search.cv_results_["mean_test_score"].tolist()
    assert len(heard) < 30
    assert len(heard) - 1 - int(np.argmax(heard)) == 3


def test_a_progress_bar_shows_the_score(capsys: pytest.CaptureFixture[str]) -> None:
    search = SearchCV(SVC(), SPACE, n_trials=2, cv=3, random_state=0, progress=True).fit(*IRIS)
    assert f"best value {search.best_score_:.4g}" in capsys.readouterr().err


@pytest.mark.processes
def test_more_jobs_than_folds_run_several_trials_at_a_time() -> None:
    search = SearchCV(SVC(), SPACE, n_trials=7, cv=2, random_state=0, n_jobs=4)
    with joblib.parallel_backend("threading"):
        search.fit(*IRIS)
    batches = [search.study_.history.trial(number).batch for number in range(7)]
    assert batches == [0, 1, 1, 2, 2, 3, 3], "the first tells how many folds there are"
    assert len(search.cv_results_["params"]) == 7


def test_lists_of_spaces_are_taken_as_scikit_learn_takes_them() -> None:
    space: list[dict[str, Any]] = [
        {"kernel": ["linear"], "C": (0.1, 10.0, "log")},
        {"kernel": ["rbf"], "C": (0.1, 10.0, "log"), "gamma": (1e-3, 1.0, "log")},
    ]
    search = SearchCV(SVC(), space, n_trials=8, cv=3, random_state=0).fit(*IRIS)
    assert all(("gamma" in params) == (params["kernel"] == "rbf") for params in search.cv_results_["params"])
