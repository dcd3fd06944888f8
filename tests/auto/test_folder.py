"""Model folders: every learner comes back the same, nothing foreign runs."""

import json
import os
import pickle
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from packaging.version import Version
from sklearn.base import BaseEstimator, ClassifierMixin

import comitia
from comitia import AutoClassifier, AutoRegressor, load
from comitia.auto.folder import MODEL, VersionWarning
from comitia.auto.trusted_types import TRUSTED
from comitia.errors import ChoiceError, ModelError
from comitia.learners.default import LEARNERS


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


def fitted(name: str, kind: str) -> tuple[Any, pd.DataFrame]:
    X, y = mixed_table()
    if kind == "classification":
        labels = np.where(y > 0.3, "yes", "no")
        return AutoClassifier(n_trials=1, include=[name], cv=2, random_state=0).fit(X, labels), X
    return AutoRegressor(n_trials=1, include=[name], cv=2, random_state=0).fit(X, y.to_numpy()), X


@pytest.mark.parametrize("kind", ["classification", "regression"])
@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_learner_comes_back_the_same(name: str, kind: str, tmp_path: Path) -> None:
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
    for name in sorted(LEARNERS):
        for kind in ("classification", "regression"):
            fitted(name, kind)[0].save(tmp_path / f"{name}-{kind}")
            needed |= set(skops.io.get_untrusted_types(file=tmp_path / f"{name}-{kind}" / MODEL))
    assert needed <= set(TRUSTED)
    if Version(skops.__version__) >= Version("0.16"):  # which trusts fewer types by itself than older ones
        assert needed == set(TRUSTED)


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
    with pytest.raises(ModelError, match=r"tests.test_models.Sneaky.*trusted="):
        load(tmp_path / "model")
    again = load(tmp_path / "model", trusted=["tests.test_models.Sneaky"])
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


def test_a_file_with_foreign_types_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    schema = {
        "__class__": "mkdir",
        "__module__": "os",
        "__loader__": "ReduceNode",
        "__id__": 1,
        "__reduce__": {
            "args": {
                "__class__": "tuple",
                "__module__": "builtins",
                "__loader__": "TupleNode",
                "content": [],
                "__id__": 2,
            }
        },
        "content": {},
        "protocol": 2,
        "_skops_version": "0.11",
    }
    with zipfile.ZipFile(tmp_path / "model" / MODEL, "w") as archive:
        archive.writestr("schema.json", json.dumps(schema))
    with pytest.raises(ModelError):
        load(tmp_path / "model")


def test_other_content_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is none"):
        load(tmp_path)
    skops.io.dump([1, 2], tmp_path / MODEL)
    with pytest.raises(ModelError, match="Got something else"):
        load(tmp_path)


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


def test_only_a_fitted_model_is_saved(tmp_path: Path) -> None:
    with pytest.raises(ChoiceError, match="fitted"):
        AutoClassifier().save(tmp_path / "model")


def test_saving_again_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    for name in ("linear", "knn"):
        fitted(name, "regression")[0].save(tmp_path / "model")
    assert sorted(os.listdir(tmp_path / "model")) == ["model.skops", "study.db"]
    assert load(tmp_path / "model").best_params_["learner"] == "knn"


def test_a_model_loads_in_another_process(tmp_path: Path) -> None:
    model, X = fitted("lightgbm", "classification")
    model.save(tmp_path / "model")
    X.to_csv(tmp_path / "x.csv", index=False)
    code = "import comitia, pandas as pd; print(*comitia.load('model').predict(pd.read_csv('x.csv')))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == model.predict(X).tolist()
    assert comitia.load is load
