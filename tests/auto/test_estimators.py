"""AutoClassifier, AutoRegressor and SearchCV: what scikit-learn users expect works as they expect."""

import os
import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

from comitia import AutoClassifier, AutoRegressor, Config, Method, SearchCV, Serial
from comitia.errors import ChoiceError, ComitiaWarning, TableError, UnknownName
from comitia.optimizers import RandomSearch
from comitia.selections.set_aside import SelectionSplit
from tests.ids import stable

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


def quick(kind: Any = AutoClassifier, **more: Any) -> Any:
    return kind(**{"n_trials": 2, "include": ["linear"], "random_state": 0, "cv": 3, "executor": Serial(), **more})


@pytest.mark.parametrize(
    "estimator",
    [
        # one trial: with more, weights and repeated rows give other folds, which may prefer another configuration
        AutoClassifier(n_trials=1, include=["linear"], cv=2, executor=Serial()),
        AutoRegressor(n_trials=1, include=["linear"], cv=2, executor=Serial()),
        SearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, n_trials=2, cv=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scikit_learns_own_checks_pass_without_exception(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert failed == {}
    assert len(results) > 50


class TestInsideScikitLearn:
    def test_pipeline_and_cross_val_score(self) -> None:
        model = make_pipeline(StandardScaler(), quick())
        assert cross_val_score(model, *IRIS, cv=3).mean() > 0.9

    def test_grid_search_over_it(self) -> None:
        search = GridSearchCV(quick(), {"n_trials": [1, 2]}, cv=2).fit(*IRIS)
        assert search.best_score_ > 0.9

    def test_clone_pickle_and_joblib(self, tmp_path: Path) -> None:
        model = clone(quick(storage=tmp_path / "s.db")).fit(*IRIS)
        expected = model.predict_proba(IRIS[0])
        assert (pickle.loads(pickle.dumps(model)).predict_proba(IRIS[0]) == expected).all()
        joblib.dump(model, tmp_path / "m.joblib")
        assert (joblib.load(tmp_path / "m.joblib").predict_proba(IRIS[0]) == expected).all()
        assert len(pickle.loads(pickle.dumps(model)).leaderboard().query("number >= 0")) == 2

    def test_the_same_random_state_gives_the_same_model(self) -> None:
        one, two = (quick(n_trials=4, include=["lightgbm"]).fit(*IRIS).predict_proba(IRIS[0]) for _ in range(2))
        assert (one == two).all()

    def test_attributes(self) -> None:
        X, y = load_iris(return_X_y=True, as_frame=True)
        model = quick(n_trials=3).fit(X, y)
        assert model.classes_.tolist() == [0, 1, 2]
        assert model.n_features_in_ == 4
        assert model.feature_names_in_.tolist() == X.columns.tolist()
        assert model.best_params_["learner"] == "linear"
        assert 0 <= model.best_index_ < 3
        assert model.best_score_ == max(model.leaderboard().query("number >= 0")["score"])
        assert model.best_estimator_ is model.members_[0].pipeline
        assert sum(member.weight for member in model.members_) == 1
        assert "linear" in model._repr_html_()
        assert "AutoClassifier" in quick()._repr_html_()

    def test_a_notebook_shows_texts_of_the_user_as_texts(self) -> None:
        model = quick(n_trials=1).fit(*IRIS)
        model.members_ = [replace(m, config=Config({"text": "<b>&</b>"})) for m in model.members_]
        assert "&lt;b&gt;&amp;&lt;/b&gt;" in model._repr_html_()
        assert "<b>&" not in model._repr_html_()
        assert "&lt;b&gt;" in quick(method="<b>")._repr_html_()

    def test_score_follows_scoring(self) -> None:
        X, y = load_breast_cancer(return_X_y=True)
        plain = quick().fit(X, y)
        assert plain.score(X, y) == accuracy_score(y, plain.predict(X))
        ranked = quick(scoring="roc_auc").fit(X, y)
        assert ranked.score(X, y) == pytest.approx(roc_auc_score(y, ranked.predict_proba(X)[:, 1]))
        assert ranked.best_score_ > 0.9

    def test_groups_and_weights(self) -> None:
        X, y = IRIS
        groups = np.arange(150) % 10
        model = quick(cv=GroupKFold(5)).fit(X, y, groups=groups, sample_weight=np.ones(150))
        assert model.score(X, y) > 0.9
        assert quick().fit(X, y, groups=groups).study_.history.n_finished == 2

    def test_explicit_validation_rows(self) -> None:
        X, y = IRIS
        X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0, stratify=y)
        model = quick(n_trials=1).fit(X_train, y_train, X_val=X_val, y_val=y_val)
        expected = LogisticRegression(max_iter=500).fit(StandardScaler().fit(X_train).transform(X_train), y_train)
        error = 1 - expected.score(StandardScaler().fit(X_train).transform(X_val), y_val)
        assert model.study_.best_trial.loss == pytest.approx(error)

    @pytest.mark.parametrize(("refit", "n_members"), [("full", 1), ("folds", 3), (False, 1)])
    def test_refit(self, refit: Any, n_members: int) -> None:
        model = quick(refit=refit, cv=3, method="bayes").fit(*IRIS)
        assert len(model.members_) == n_members
        assert model.score(*IRIS) > 0.9

    @pytest.mark.parametrize("cv", [None, 0.3])
    def test_a_method_that_sets_rows_aside_returns_the_best_on_them(self, cv: Any) -> None:
        method = Method(
            "rs-sel", RandomSearch, "Random.", selection=SelectionSplit(), has_selection_split=True, is_reshuffled=True
        )
        model = quick(method=method, n_trials=6, cv=cv).fit(*IRIS)
        aside = model.study_.history.selection_losses
        assert model.members_[0].trial == np.argmin(aside)
        assert len(set(aside)) > 1
        assert model.score(*IRIS) > 0.9
        assert not any("selection" in column for column in model.leaderboard().columns)
        with pytest.raises(ChoiceError, match="selection split needs a 'cv'"):
            quick(method="gp-sel").fit(*IRIS, X_val=IRIS[0], y_val=IRIS[1])

    def test_rows_set_aside_leave_fewer_folds(self) -> None:
        X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
        model = quick(method="gp-sel", n_trials=1, cv=None).fit(X, y)
        assert len(model.study_.best_trial.losses) == 2

    def test_regression(self) -> None:
        X, y = DIABETES
        model = quick(AutoRegressor, n_trials=3).fit(X, y)
        assert model.score(X, y) > 0.4
        assert model.predict(X).shape == y.shape


class TestOwnLearners:
    def test_estimators_and_their_spaces(self) -> None:
        model = quick(
            include=["linear", (SVC(), {"C": stats.loguniform(0.1, 10), "kernel": ["rbf", "linear"]}), SGDClassifier()],
            n_trials=12,
        ).fit(*IRIS)
        tried = set(model.leaderboard().query("number >= 0")["learner"])
        assert tried == {"linear", "SVC", "SGDClassifier"}
        assert model.predict_proba(IRIS[0]).shape == (150, 3)

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"include": ["lightgm"]}, UnknownName, "'lightgbm'"),
            ({"include": []}, ChoiceError, "non-empty"),
            ({"include": "linear"}, ChoiceError, "non-empty"),
            ({"include": [SVC]}, ChoiceError, "estimators"),
            ({"include": [3]}, ChoiceError, "estimators"),
            ({"exclude": ["svn"]}, UnknownName, "'svm'"),
            ({"include": ["linear"], "exclude": ["linear"]}, ChoiceError, "At least one learner"),
            ({"method": "sobl"}, UnknownName, "'sobol'"),
            ({"scoring": "acuracy"}, UnknownName, "'accuracy'"),
            ({"refit": "all"}, ChoiceError, "'full'"),
            ({"n_trials": 0}, ChoiceError, "n_trials"),
            ({"time_limit": -1}, ChoiceError, "time_limit"),
            ({"n_jobs": 0}, ChoiceError, "workers"),
            ({"trial_time_limit": 0}, ChoiceError, "trial_time_limit"),
        ],
        ids=stable,
    )
    def test_wrong_parameters_are_refused(self, options: dict[str, Any], error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            quick(**options).fit(*IRIS)


def frame(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.choice(np.array(["x", "y", None]), n),
            "c": pd.date_range("2024", periods=n),
            "d": rng.random(n) > 0.5,
            "e": rng.choice([f"id {i}" for i in range(500)], n),
        }
    )


LABELS = np.arange(60) % 2


class TestTables:
    @pytest.mark.parametrize("include", [["linear"], ["lightgbm"]])
    @pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "pyarrow batch", "pyarrow types", "object array"])
    def test_mixed_tables(self, kind: str, include: list[str]) -> None:
        X: Any = frame()
        if kind == "polars":
            X = pl.from_pandas(X)
        elif kind.startswith("pyarrow"):
            X = pa.Table.from_pandas(X)
            if kind == "pyarrow types":
                X = X.to_pandas(types_mapper=pd.ArrowDtype)
            elif kind == "pyarrow batch":
                [X] = X.to_batches()
        elif kind == "object array":
            X = X.to_numpy(dtype=object)
        model = quick(include=include).fit(X, LABELS)
        assert (model.predict(X) == quick(include=include).fit(frame(), LABELS).predict(frame())).all()
        assert ("feature_names_in_" in vars(model)) == (kind != "object array")

    @pytest.mark.parametrize(
        "make", [pl.Series, pa.array, lambda y: pa.chunked_array([y]), lambda y: pd.Series(y, dtype="Int64")]
    )
    def test_targets_of_other_libraries(self, make: Any) -> None:
        y = make(LABELS)
        model = quick().fit(frame(), y)
        assert model.classes_.tolist() == [0, 1]
        assert model.score(frame(), y) == quick().fit(frame(), LABELS).score(frame(), LABELS)

    @pytest.mark.parametrize("include", [["linear"], ["lightgbm"], ["knn"], ["svm"], ["extra-trees"], ["mlp"]])
    def test_sparse_tables(self, include: list[str]) -> None:
        X = sparse.random(80, 30, density=0.2, random_state=0, format="csr")
        y = (X[:, 0].toarray().ravel() > 0).astype(int)
        model = quick(include=include, cv=2).fit(X, y)
        assert (model.predict(X.tocsc()) == model.predict(X)).all()

    def test_columns_are_matched_by_name(self) -> None:
        X = frame()
        model = quick().fit(X, LABELS)
        expected = model.predict_proba(X)
        shuffled = X[["e", "b", "a", "d", "c"]].assign(extra=1)
        assert (model.predict_proba(shuffled) == expected).all()
        with pytest.raises(TableError, match="without 'b'"):
            model.predict(X.drop(columns="b"))

    def test_unseen_categories_and_missing_values(self) -> None:
        X = frame()
        model = quick().fit(X, LABELS)
        strange = X.assign(b="never seen", a=np.nan)
        strange["c"] = pd.NaT
        assert model.predict(strange).shape == (60,)

    def test_frames_without_texts_as_names_raise_no_warning(self) -> None:
        X = pd.DataFrame(IRIS[0])  # columns 0, 1, 2, 3
        assert quick().fit(X, IRIS[1]).predict(X).shape == (150,)

    def test_numbers_that_become_text_are_reported(self) -> None:
        X = frame()
        model = quick().fit(X, LABELS)
        with pytest.raises(TableError, match=r"'a' must hold numbers.*'oops'"):
            model.predict(X.assign(a=["oops"] + ["1"] * 59))
        assert model.predict(X.assign(a=X["a"].astype(str))).shape == (60,)  # numbers as text are numbers
        with pytest.raises(TableError, match="'c' must hold dates"):
            model.predict(X.assign(c="not a date"))

    @pytest.mark.parametrize(
        "labels",
        [
            ["no", "yes"],
            [True, False],
            [1.5, 2.5],
            [np.datetime64("2024-01-01"), np.datetime64("2025-01-01")],
            ["1", 2],
        ],
        ids=stable,
    )
    def test_labels_of_any_type(self, labels: list[Any]) -> None:
        y = np.array([labels[i] for i in LABELS], dtype=object)
        if labels == [1.5, 2.5]:
            with pytest.raises(TableError, match="continuous"):
                quick().fit(frame(), y.astype(float))
            return
        model = quick().fit(frame(), y)
        assert set(model.predict(frame())) <= set(model.classes_)

    @pytest.mark.parametrize(
        ("X", "y", "message"),
        [
            (pd.DataFrame(), [], "at least one"),
            (frame().iloc[:0], [], "at least one row"),
            (frame().iloc[:1], [1], "2 classes|2 samples|varies"),
            (frame(), np.zeros(60), "one class"),
            (frame(), np.zeros(59), "60 and 59"),
            (frame(), np.full(60, np.nan), "NaN"),
            (pd.DataFrame({"a": [1] * 60, "b": ["x"] * 60}), LABELS, "varies"),
            (pd.DataFrame([[1, 2]] * 60, columns=["a", "a"]), LABELS, "different names"),
            (frame(), None, "target"),
            (np.ones((60, 2, 2)), LABELS, "dim|shape"),
            (frame(), np.arange(60), "2 samples"),
        ],
        ids=[
            "empty",
            "no rows",
            "one row",
            "one class",
            "length",
            "nan",
            "constant",
            "twice",
            "no y",
            "3d",
            "singletons",
        ],
    )
    def test_tables_that_cannot_be_learned_from(self, X: Any, y: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            quick(cv=None).fit(X, y)

    def test_odd_but_usable_tables(self) -> None:
        odd: dict[str, Any] = {"all missing": np.nan, "constant": 3, 'qu"ote {json: [1]}': 1.5, "ü" * 1000: LABELS}
        X = frame().assign(**odd)
        X["infinite"] = np.where(LABELS, np.inf, 1.0)
        model = quick(include=["linear", "lightgbm"], n_trials=3).fit(X, LABELS)
        assert model.score(X, LABELS) > 0.9

    def test_a_class_with_one_row(self) -> None:
        y = np.array(["a"] * 30 + ["b"] * 29 + ["rare"])
        with pytest.warns(ComitiaWarning, match="'rare', which accuracy hardly counts"):
            model = quick(cv=None).fit(frame(), y)
        assert model.predict_proba(frame()).shape == (60, 3)

    def test_a_constant_number_to_predict(self) -> None:
        with pytest.warns(ComitiaWarning, match="constant"):
            model = quick(AutoRegressor).fit(frame(), np.full(60, 7.0))
        assert model.predict(frame()) == pytest.approx(np.full(60, 7.0))

    @pytest.mark.parametrize(
        "y", [np.full(60, np.nan), np.full(60, np.inf), np.array(["x"] * 60)], ids=["nan", "inf", "text"]
    )
    def test_numbers_that_are_none(self, y: Any) -> None:
        with pytest.raises(TableError):
            quick(AutoRegressor).fit(frame(), y)


def test_a_fit_with_the_same_storage_resumes(tmp_path: Path) -> None:
    first = quick(n_trials=3, storage=tmp_path / "s.db").fit(*IRIS)
    first.study_.close()
    second = quick(n_trials=6, storage=tmp_path / "s.db").fit(*IRIS)
    assert second.study_.history.n_finished == 6
    second.study_.close()
    whole = quick(n_trials=6).fit(*IRIS)
    assert whole.leaderboard()["score"].tolist() == second.leaderboard()["score"].tolist()


@pytest.mark.processes
def test_nothing_is_written_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quick(n_jobs=2).fit(*IRIS)
    assert os.listdir(tmp_path) == []
