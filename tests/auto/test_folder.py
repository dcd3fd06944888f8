"""Model folders: every learner comes back the same, nothing foreign runs."""

import os
import pickle
import shutil
import subprocess
import sys
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import cross_val_score

import comitia
from comitia import AutoClassifier, AutoRegressor, History, Method, Seeds, load
from comitia.auto.folder import FORMAT, MODEL, STUDY
from comitia.auto.model_file import untrusted_names, write_model
from comitia.auto.trusted_types import EXTRAS, RANDOM, TRUSTED
from comitia.errors import ChoiceError, ModelError, VersionWarning
from comitia.learners.default import LEARNERS
from comitia.learners.default.learners import default_learners
from comitia.learners.scaling import Products
from comitia.learners.target import TARGETS, TransformedTarget
from comitia.learners.word_directions import WordDirections
from comitia.optimizers import RandomSearch
from comitia.seams import Member, Needs, Optimizer
from comitia.study.record import versions

BEFORE = Path(__file__).parents[1] / "data" / "before" / "model"


class EveryTrial:
    """All trials with equal weights."""

    needs = Needs()

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        return [Member(o.config, 1 / history.n_finished, o.number) for o in history.observations()]


EVERY_TRIAL = Method("every-trial", RandomSearch, "All trials.", selection=EveryTrial())


def mixed_table(n: int = 80) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "hole": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "colour": rng.choice(["red", "green", "blue"], n),
            "city": rng.choice([f"city {i}" for i in range(30)], n),
            "when": pd.date_range("2024-01-01", periods=n, freq="D").astype(str),
            "flag": rng.random(n) < 0.5,
        }
    )
    return table, table["number"] + (table["colour"] == "red") + rng.normal(scale=0.1, size=n)


PINBALL = make_scorer(mean_pinball_loss, alpha=0.95, greater_is_better=False)


def fitted(name: str, kind: str) -> tuple[Any, pd.DataFrame]:
    X, y = mixed_table()
    if kind == "classification":
        labels = np.where(y > 0.3, "yes", "no")
        return AutoClassifier(n_trials=1, include=[name], cv=2, random_state=0).fit(X, labels), X
    return AutoRegressor(n_trials=1, include=[name], cv=2, random_state=0).fit(X, y.to_numpy()), X


def skip_without(name: str) -> None:
    """Skip a learner whose package is not installed."""
    if (package := LEARNERS[name].package) is not None:
        pytest.importorskip(package)


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name in sorted(LEARNERS) for kind in LEARNERS[name].tasks])
def test_every_learner_comes_back_the_same(name: str, kind: str, tmp_path: Path) -> None:
    skip_without(name)
    model, X = fitted(name, kind)
    model.save(tmp_path / "model")
    shutil.move(tmp_path / "model", tmp_path / "elsewhere")
    again = load(tmp_path / "elsewhere")
    assert (again.predict(X) == model.predict(X)).all()
    if kind == "classification":
        assert (again.predict_proba(X) == model.predict_proba(X)).all()
        assert again.classes_.tolist() == ["no", "yes"]
    assert again.best_params_ == model.best_params_
    assert again.feature_names_in_.tolist() == X.columns.tolist()
    assert len(again.leaderboard()) == 1


def test_the_allow_list_holds_what_is_needed_and_nothing_else(tmp_path: Path) -> None:
    needed = set()
    for learner in LEARNERS.values():
        for kind in learner.tasks if learner.package is None else ():
            fitted(learner.name, kind)[0].save(tmp_path / f"{learner.name}-{kind}")
            needed |= untrusted_names(tmp_path / f"{learner.name}-{kind}" / MODEL)
    X, y = mixed_table()
    table = sparse.csr_matrix(X[["number", "flag"]].to_numpy(dtype=float))
    model = AutoClassifier(n_trials=1, include=["lda"], cv=2, random_state=0).fit(table, y > 0)
    model.save(tmp_path / "dense")
    needed |= untrusted_names(tmp_path / "dense" / MODEL)
    write_model(tmp_path / "products", Products().fit(np.eye(3), np.arange(3)))
    needed |= untrusted_names(tmp_path / "products")
    write_model(tmp_path / "words", WordDirections([(0, 1)]).fit(np.eye(3)))
    needed |= untrusted_names(tmp_path / "words")
    for by in TARGETS[1:]:
        write_model(tmp_path / by, TransformedTarget(LinearRegression(), by).fit(X[["number"]], y))
        needed |= untrusted_names(tmp_path / by)
    line = AutoRegressor(n_trials=1, include=["linear"], cv=2, scoring=PINBALL, random_state=0).fit(X, y.to_numpy())
    line.save(tmp_path / "line")
    assert (load(tmp_path / "line").predict(X) == line.predict(X)).all()
    needed |= untrusted_names(tmp_path / "line" / MODEL)
    assert needed - set(RANDOM) == set(TRUSTED)


@pytest.mark.parametrize("name", sorted(name for name, one in LEARNERS.items() if one.package))
def test_the_allow_list_of_extras_holds_what_is_needed(name: str, tmp_path: Path) -> None:
    skip_without(name)
    for kind in LEARNERS[name].tasks:
        fitted(name, kind)[0].save(tmp_path / kind)
        needed = untrusted_names(tmp_path / kind / MODEL) - {*TRUSTED, *RANDOM}
        assert len(needed) == 1
        assert needed <= set(EXTRAS)


@pytest.mark.parametrize("name", sorted(n for n, learner in LEARNERS.items() if "classification" in learner.tasks))
def test_every_learner_of_sparse_tables_comes_back_the_same(name: str, tmp_path: Path) -> None:
    skip_without(name)
    X = sparse.random(60, 8, 0.5, format="csr", random_state=0)
    y = np.asarray(X.sum(axis=1)).ravel() > 2
    model = AutoClassifier(n_trials=1, include=[name], cv=2, random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    assert (load(tmp_path / "model").predict_proba(X) == model.predict_proba(X)).all()


class Sneaky(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A learner of the user's own."""

    def fit(self, X: Any, y: Any) -> "Sneaky":
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), dtype=int)


def test_a_learner_of_ones_own_must_be_trusted_by_name(tmp_path: Path) -> None:
    X, y = mixed_table()
    model = AutoClassifier(n_trials=1, include=[Sneaky()], cv=2).fit(X[["number"]], y > 0)
    model.save(tmp_path / "model")
    with pytest.raises(ModelError, match=r"tests.auto.test_folder.Sneaky.*trusted="):
        load(tmp_path / "model")
    again = load(tmp_path / "model", trusted=["tests.auto.test_folder.Sneaky"])
    assert (again.predict(X[["number"]]) == model.predict(X[["number"]])).all()


class Bomb:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


def test_a_pickle_in_disguise_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / MODEL).write_bytes(pickle.dumps(Bomb(str(tmp_path / "boom"))))
    with pytest.raises(ModelError, match="must be a model file"):
        load(tmp_path / "model")
    assert not (tmp_path / "boom").exists()


def test_other_content_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is none"):
        load(tmp_path)
    write_model(tmp_path / MODEL, [1, 2])
    with pytest.raises(ModelError, match="Got something else"):
        load(tmp_path)
    write_model(tmp_path / MODEL, {"format": FORMAT, "versions": versions(), "model": LogisticRegression()})
    with pytest.raises(ModelError, match=r"must hold an AutoClassifier or AutoRegressor\. Got a LogisticRegression"):
        load(tmp_path)


def test_a_folder_of_the_format_before_says_what_to_do_and_that_works(tmp_path: Path) -> None:
    folder = shutil.copytree(BEFORE, tmp_path / "model")
    with pytest.raises(ModelError, match=r"earlier version of comitia.*storage=.*study\.db") as caught:
        load(folder)
    assert "comitia resume" in str(caught.value)
    X, y = load_iris(return_X_y=True)
    options: Any = {"n_trials": 2, "include": ["linear"], "random_state": 0}
    model = AutoClassifier(storage=folder / "study.db", **options).fit(X[::5], y[::5])
    model.study_.close()
    model.save(folder)
    assert sorted(os.listdir(folder)) == [MODEL, STUDY]
    assert (load(folder).predict(X) == AutoClassifier(**options).fit(X[::5], y[::5]).predict(X)).all()


def test_a_folder_is_no_larger_than_a_compressed_pickle_of_what_is_in_it(tmp_path: Path) -> None:
    X, y = load_wine(return_X_y=True)
    n_learners = len(default_learners("classification"))
    model = AutoClassifier(method=EVERY_TRIAL, n_trials=n_learners, cv=2, random_state=0).fit(X, y)
    assert len(model.members_) == n_learners
    model.save(tmp_path / "model")
    pickled = len(zlib.compress(pickle.dumps([member.pipeline for member in model.members_])))
    assert (tmp_path / "model" / MODEL).stat().st_size < 1.2 * pickled  # 2 is what is promised
    assert (load(tmp_path / "model").predict_proba(X) == model.predict_proba(X)).all()


def test_other_versions_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted("linear", "regression")[0].save(tmp_path / "model")
    monkeypatch.setattr("comitia.auto.folder.versions", lambda: {"python": "9.9"})
    with pytest.warns(VersionWarning, match=r"here 9\.9"):
        load(tmp_path / "model")


@pytest.mark.parametrize("place", ["file", "folder of others", "no/such/parent"])
def test_places_that_are_not_for_a_model(place: str, tmp_path: Path) -> None:
    model, _ = fitted("linear", "regression")
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder of others").mkdir()
    (tmp_path / "folder of others" / "precious.txt").write_text("x")
    with pytest.raises(ModelError):
        model.save(tmp_path / place)
    assert (tmp_path / "folder of others" / "precious.txt").exists()


def test_a_loaded_model_can_be_fitted_again_by_others(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    options: dict[str, Any] = {"n_trials": 1, "include": ["linear"], "random_state": 0}
    model = AutoClassifier(**options, storage=str(tmp_path / "s.db")).fit(X, y)
    model.save(tmp_path / "m")
    model.study_.close()
    again = load(tmp_path / "m")
    assert again.storage is None
    assert cross_val_score(again, X, y, cv=3).mean() > 0.9


def test_only_a_fitted_model_is_saved(tmp_path: Path) -> None:
    with pytest.raises(ChoiceError, match="fitted"):
        AutoClassifier().save(tmp_path / "model")


def test_saving_again_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    for name in ("linear", "knn"):
        fitted(name, "regression")[0].save(tmp_path / "model")
    assert sorted(os.listdir(tmp_path / "model")) == [MODEL, STUDY]
    assert load(tmp_path / "model").best_params_["learner"] == "knn"


@pytest.mark.processes
def test_a_model_loads_in_another_process(tmp_path: Path) -> None:
    model, X = fitted("lightgbm", "classification")
    model.save(tmp_path / "model")
    X.to_csv(tmp_path / "x.csv", index=False)
    code = "import comitia, pandas as pd; print(*comitia.load('model').predict(pd.read_csv('x.csv')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == model.predict(X).tolist()
    assert comitia.load is load
