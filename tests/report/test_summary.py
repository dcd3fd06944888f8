"""One document of everything: of models, folders, studies, running ones, and of what is broken."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from comitia import AutoClassifier, AutoRegressor, SearchCV, Serial, Study, minimize
from comitia.errors import ChoiceError
from comitia.report import searched, summary_of
from comitia.report.trials import trials_of
from tests.study.examples import LINE, square

X, Y = load_iris(return_X_y=True, as_frame=True)


def strict(document: Any) -> str:
    return json.dumps(document, allow_nan=False)


@pytest.fixture(scope="module")
def model() -> Any:
    made = AutoClassifier(n_trials=8, include=["linear", "knn"], cv=3, executor=Serial(), random_state=0)
    return made.fit(X, Y)


@pytest.fixture(scope="module")
def folder(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "iris"
    model.save(path)
    return path


@pytest.fixture(scope="module")
def document(folder: Path) -> Any:
    return summary_of(folder)


def test_the_headline_is_the_estimate_with_the_optimistic_score_beside_it(model: Any, document: Any) -> None:
    head, estimate = document["headline"], model.estimate_
    assert head["estimate"]["score"] == pytest.approx(estimate.score, rel=1e-5)
    assert [head["estimate"]["low"], head["estimate"]["high"]] == pytest.approx(list(estimate.interval), rel=1e-5)
    assert head["estimate"]["optimistic"] == pytest.approx(model.validation_score_, rel=1e-5)
    assert head["metric"] == "accuracy"
    assert head["n_finished"] == 8
    assert head["fit_seconds"] > 0
    assert document["title"] == "Predicting target"


def test_a_document_holds_what_json_has_and_every_section(document: Any) -> None:
    assert json.loads(strict(document)) == document
    filled = {name for name, value in document.items() if value is not None}
    assert filled >= {
        "headline", "scores", "leaderboard", "choices", "space", "committee", "path", "diagnostics",
        "data", "reproduce",
    }  # fmt: skip
    assert document["problem"] is None
    assert document["columns"] is None  # no rows were given
    assert document["failures"] is None


def test_the_leaderboard_is_that_of_the_model(model: Any, document: Any) -> None:
    board = model.leaderboard()
    board = board[board["number"].notna()]
    rows = document["leaderboard"]["rows"]
    assert [row["number"] for row in rows] == board["number"].tolist()
    assert [row["score"] for row in rows] == pytest.approx(board["score"].tolist(), rel=1e-5)
    assert [row["weight"] for row in rows] == pytest.approx(board["weight"].tolist(), rel=1e-5)


def test_the_path_ends_with_the_estimate_of_the_fit(model: Any, document: Any) -> None:
    path = document["path"]
    assert path["estimate"][-1] == pytest.approx(model.estimate_.score, rel=1e-5)
    assert path["optimistic"][-1] == pytest.approx(model.validation_score_, rel=1e-5)
    assert path["number"][-1] == 7
    assert path["number"] == sorted(set(path["number"]))


def test_members_have_what_they_add_and_correlations(model: Any, document: Any) -> None:
    committee = document["committee"]
    assert sum(row["weight"] for row in committee["rows"]) == pytest.approx(1.0, abs=1e-4)
    if len(committee["rows"]) > 1:
        values = np.array(committee["correlation"]["values"])
        np.testing.assert_allclose(np.diag(values), 1.0)
        without = model.hindsight().score_without(committee["rows"][0]["number"])
        assert committee["rows"][0]["adds"] == pytest.approx(model.validation_score_ - without, abs=1e-5)


def test_errors_are_those_of_validation_predictions(model: Any, document: Any) -> None:
    told = model.validation_predictions_
    counts = np.array(document["diagnostics"]["confusion"]["counts"])
    assert counts.sum() == len(told.rows)
    assert np.trace(counts) == int((told.y == told.predictions).sum())
    assert len(document["diagnostics"]["roc"]) == 3


def test_a_model_and_its_folder_say_the_same(model: Any, document: Any) -> None:
    ours = summary_of(model)
    for section in ("headline", "scores", "leaderboard", "committee", "diagnostics", "data"):
        assert ours[section] == document[section], section


def test_rows_that_are_given_tell_which_columns_matter(model: Any) -> None:
    found = summary_of(model, X=X[::3], y=Y[::3])["columns"]
    assert found["score"] == pytest.approx(model.score(X[::3], Y[::3]), rel=1e-5)
    assert found["n_rows"] == 50
    assert found["rows"][0]["column"].startswith("petal")
    with pytest.raises(ChoiceError, match="go together"):
        summary_of(model, X=X)


def test_numbers_have_residuals() -> None:
    target = X["petal width (cm)"]
    model: Any = AutoRegressor(n_trials=3, include=["linear"], cv=3, executor=Serial(), random_state=0)
    model.fit(X.drop(columns="petal width (cm)"), target)
    found = summary_of(model)
    strict(found)
    assert found["diagnostics"]["kind"] == "numbers"
    told = model.validation_predictions_
    residuals = told.y - told.predictions
    assert found["diagnostics"]["median"] == pytest.approx(float(np.median(residuals)), rel=1e-4)
    assert found["title"] == "Predicting petal width (cm)"


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_studies_of_functions_have_their_own_numbers(direction: Any) -> None:
    study = minimize(square, LINE, n_trials=12, seed=0, direction=direction)
    found = summary_of(study)
    strict(found)
    assert found["headline"]["best"]["score"] == pytest.approx(study.best_value, rel=1e-5)
    assert found["headline"]["is_greater_better"] == (direction == "maximize")
    assert found["importance"]["groups"][0]["names"] == ["x"]
    assert found["choices"] is None


def test_a_search_in_the_manner_of_scikit_learn_has_a_document() -> None:
    search = SearchCV(LogisticRegression(), {"C": (0.01, 1.0, "log")}, n_trials=3, cv=2, random_state=0).fit(X, Y)
    found = summary_of(search)
    assert found["headline"]["best"]["score"] == pytest.approx(search.best_score_, rel=1e-5)


def test_a_study_that_runs_shows_what_is_known_in_its_metric(folder: Path, model: Any, tmp_path: Path) -> None:
    running = tmp_path / "running"
    shutil.copytree(folder, running)
    (running / "model.zip").unlink()
    for quick in (True, False):
        found = summary_of(running, quick=quick)
        assert found["headline"]["state"] == "open"
        assert found["headline"]["metric"] == "accuracy"
        assert found["headline"]["best"]["score"] == pytest.approx(model.best_score_, rel=1e-5)
        assert ("importance" in found) is not quick


def test_a_study_without_a_success_has_a_document() -> None:
    study = Study(LINE, "rs", seed=0)
    for trial in study.ask(3):
        study.tell(trial, error="<b>no</b>\nreally")
    found = summary_of(study)
    strict(found)
    assert found["headline"]["best"] is None
    assert found["failures"]["reasons"] == [{"status": "failed", "error": "<b>no</b>", "n": 3}]
    assert strict(summary_of(Study(LINE, "rs", seed=0)))


def test_a_model_that_cannot_be_loaded_leaves_its_trials(folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / "model.zip").write_bytes(b"nothing")
    found = summary_of(broken)
    assert "cannot be loaded" in found["problem"]
    assert found["headline"]["n_finished"] == 8


def test_a_damaged_study_has_a_document_that_says_so(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with closing(sqlite3.connect(folder / "study.db")) as source, closing(sqlite3.connect(path)) as copy:
        source.backup(copy)
    path.write_bytes(path.read_bytes()[:6000])
    found = summary_of(path)
    strict(found)
    assert found["problem"]


def test_a_large_study_is_thinned_to_the_best_the_newest_and_some_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searched, "MOST_SURE", 10)
    monkeypatch.setattr(searched, "MOST_ROWS", 20)
    study = Study(LINE, "rs", seed=0)
    study.tell_all([(trial, float((trial.number * 37) % 400)) for trial in study.ask(400)])
    trials = trials_of(study)
    some = searched.chosen_points(trials, 60)
    assert len(some) <= 60
    assert set(np.argsort(trials.losses)[:10]) <= set(some)
    assert set(range(390, 400)) <= set(some)
    board = summary_of(study)["leaderboard"]
    assert len(board["rows"]) == 20
    assert board["n_all"] == 400
    assert [row["score"] for row in board["rows"]] == list(range(20))


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ChoiceError, match="Got DataFrame"):
        summary_of(pd.DataFrame())  # type: ignore[arg-type]
