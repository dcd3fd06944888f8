"""Boosters: an inner split that no fold's answer depends on, trees that end there, nothing written, one seed."""

import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor

from comitia import AutoClassifier
from comitia.errors import ChoiceError
from comitia.learners.boosters.boosted import STEPS_WITHOUT, Boosted
from comitia.learners.boosters.cat import CatBoost
from comitia.learners.boosters.hist import PATIENCE, HistBoosting
from comitia.learners.boosters.light import LightGBM
from comitia.learners.boosters.xgb import XGBoost
from comitia.learners.default import LEARNERS, default_space
from comitia.learners.default.learners import default_learners
from comitia.learners.held_out import FEWEST, FEWEST_ROWS, held_out
from comitia.tables.cleaner import Columns

PACKAGES: dict[type[Boosted], str] = {
    HistBoosting: "sklearn",
    LightGBM: "lightgbm",
    XGBoost: "xgboost",
    CatBoost: "catboost",
}


@pytest.fixture(params=PACKAGES, ids=lambda kind: kind.__name__)
def kind(request: pytest.FixtureRequest) -> Any:
    pytest.importorskip(PACKAGES[request.param])
    return request.param


def noisy(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def n_trees(model: Boosted) -> int:
    opened = model._opened()
    if isinstance(model, HistBoosting):
        return int(opened.n_iter_)
    if isinstance(model, LightGBM):
        return int(opened.num_trees())
    return int(opened.num_boosted_rounds()) if isinstance(model, XGBoost) else int(opened.tree_count_)


def test_trees_end_where_rows_set_aside_are_predicted_best(kind: Any) -> None:
    X, y = noisy(600)
    assert 0 < n_trees(kind(learning_rate=0.3, most_trees=400).fit(X, y)) < 200


def test_few_rows_have_a_fixed_number_of_trees(kind: Any) -> None:
    X, y = noisy(FEWEST_ROWS - 1)
    assert n_trees(kind(learning_rate=0.2, most_trees=400).fit(X, y)) == round(STEPS_WITHOUT / 0.2)
    assert n_trees(kind(learning_rate=0.2, most_trees=7).fit(X, y)) == 7


def test_one_that_is_told_how_many_trees_learns_from_all_rows(kind: Any) -> None:
    X, y = noisy(600)
    first = kind(learning_rate=0.3, most_trees=400).fit(X, y)
    assert first.found_size() == n_trees(first)
    told = first.of_size(first.found_size()).fit(X, y)
    assert n_trees(told) == n_trees(first)
    assert told.found_size() is None
    assert np.abs(told.predict_proba(X) - first.predict_proba(X)).max() > 0.01  # of other rows


def test_several_classes_and_one_of_a_single_row(kind: Any) -> None:
    X, y = noisy(300)
    y[X[:, 1] > 0.7] = 5
    y[7] = 9
    model = kind(most_trees=20).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 5, 9]
    assert model.predict_proba(X).shape == (300, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-5)
    assert (model.predict(X) == y).mean() > 0.6
    with pytest.raises(ValueError, match="at least 2 classes"):
        kind().fit(X, np.ones(300))


def test_weights_count(kind: Any) -> None:
    X, y = noisy(300)
    is_late = np.arange(300) >= 150
    X[:, 0] *= np.where(is_late, -1, 1)
    p = [kind(most_trees=20).fit(X, y, sample_weight=np.where(w, 1.0, 1e-3)).predict(X) for w in (is_late, ~is_late)]
    assert (p[0] == y)[is_late].mean() > (p[1] == y)[is_late].mean() + 0.2


def test_codes_are_categories_and_not_numbers(kind: Any) -> None:
    """One split by categories tells odd codes from even ones; of numbers it takes many."""
    code = np.random.default_rng(0).integers(0, 40, 2_000)
    X, y = code[:, None].astype(float), code % 2
    size = {CatBoost: "depth", XGBoost: "max_depth", LightGBM: "num_leaves", HistBoosting: "max_leaf_nodes"}[kind]
    options = {size: 1 if "depth" in size else 2, "most_trees": 10, "learning_rate": 0.3}
    right = [(kind(codes=codes, **options).fit(X, y).predict(X) == y).mean() for codes in ([0], [])]
    assert right[0] > right[1] + 0.2


def test_codes_are_put_in_their_places_as_scikit_learn_does() -> None:
    """Also codes that are missing, that were not in the fit, and that leave gaps."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.choice([0.0, 3.0, 7.0, np.nan], 300), rng.integers(0, 9, 300)])
    y = X[:, 0] + (X[:, 1] == 3) + X[:, 2] % 2
    ours = HistBoosting(task="regression", codes=[1, 2], most_trees=30).fit(X, y)
    theirs = HistGradientBoostingRegressor(
        max_iter=30,
        early_stopping=True,
        validation_fraction=50,
        n_iter_no_change=PATIENCE,
        categorical_features=[1, 2],
        random_state=0,
    ).fit(X, y)
    new = np.vstack([X, [[0.0, 5.0, 1.0], [0.0, 99.0, np.nan]]])
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    with pytest.raises(ValueError, match="2 columns, but 3"):
        ours.predict(X[:, :2])


def test_nothing_is_written_and_no_open_library_object_travels(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = noisy(300)
    model = kind(most_trees=5).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert "_live" not in model.__getstate__()
    assert os.listdir(tmp_path) == []
    assert capfd.readouterr() == ("", "")


# ---- the inner split ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [FEWEST_ROWS, 400, 5_000])
def test_rows_set_aside_are_of_each_class_alike_and_drawn_by_the_seed(n: int) -> None:
    y = np.arange(n) % 5 // 4  # a fifth
    held, again, other = (held_out(y, is_classes=True, random_state=seed) for seed in (3, 3, 4))
    assert held is not None
    assert again is not None
    assert other is not None
    assert len(np.unique(held)) == len(held)
    assert len(held) == pytest.approx(max(FEWEST, n / 10), abs=2)
    assert y[held].mean() == pytest.approx(0.2, abs=0.02)
    assert np.array_equal(held, again)
    assert not np.array_equal(held, other)


def test_a_row_that_is_alone_in_its_class_is_learned_from() -> None:
    y = np.r_[np.zeros(400, int), 1]
    for seed in range(5):
        held = held_out(y, is_classes=True, random_state=seed)
        assert held is not None
        assert 400 not in held


@pytest.mark.parametrize("name", ["lightgbm", "lightgbm-native", "xgboost", "catboost"])
def test_rare_classes_do_not_make_a_booster_diverge(name: str) -> None:
    """LightGBM without a limit for its leaves has scores of 90,000 on these rows, and errs on one of eight."""
    learner = LEARNERS[name]
    if learner.package is not None:
        pytest.importorskip(learner.package)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 4)).round()
    y = (X[:, 0] > 1).astype(int)
    for label, n in enumerate((3, 4, 30), 2):
        y[rng.choice(len(y), n, replace=False)] = label
    train = np.arange(len(y)) % 3 > 0
    model = learner.make({**learner.default, "learning_rate": 0.3}, "classification", 0).fit(X[train], y[train])
    assert np.mean(model.predict(X[~train]) != y[~train]) < 0.02


# ---- learners that must be named -------------------------------------------------------------------------------------


def test_a_learner_that_is_not_of_the_default_is_searched_only_where_it_is_named() -> None:
    named = default_space(Columns(3), "regression", 100, include=["hist-boosting", "linear"])
    assert [trial["learner"] for trial in named.first] == ["linear", "hist-boosting"]
    assert named.first[1]["hist-boosting:target"] == "none"
    default = default_space(Columns(3), "regression", 100)
    assert {trial["learner"] for trial in default.first} == {one.name for one in default_learners("regression")}


def test_a_package_that_is_missing_is_named_with_what_to_do() -> None:
    learner = replace(LEARNERS["xgboost"], package="a_package_that_nobody_has")
    with pytest.raises(ChoiceError, match=r"a_package_that_nobody_has.*pip install 'comitia\[boosters\]'"):
        learner.check("classification")


def test_a_learner_for_another_task_is_refused_before_anything_is_read() -> None:
    learner = replace(LEARNERS["linear"], name="line", tasks=("regression",))
    with pytest.raises(ChoiceError, match="'line', which is for regression"):
        learner.check("classification")


@pytest.mark.parametrize(
    "name", [name for name, learner in LEARNERS.items() if "classification" not in learner.default_for]
)
def test_string_labels_through_the_auto_class(name: str) -> None:
    learner = LEARNERS[name]
    if learner.package is not None:
        pytest.importorskip(learner.package)
    if "classification" not in learner.tasks:
        pytest.skip("for regression")
    X, y = noisy(60)
    labels = np.array(["no", "yes"])[y]
    model = AutoClassifier(include=[name], n_trials=2, cv=2, n_jobs=1, estimate=False, random_state=0).fit(X, labels)
    assert set(model.predict(X)) <= {"no", "yes"}
    assert model.study_.history.n_finished == 2
    assert all(observation.is_ok for observation in model.study_.history.observations())
