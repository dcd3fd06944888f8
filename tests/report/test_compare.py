"""Two fits side by side, and the test of their difference."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.datasets import load_breast_cancer, load_diabetes

from comitia import AutoClassifier, AutoRegressor
from comitia.errors import ModelError
from comitia.report.compare import compare

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, y = X.iloc[:240, :6], np.where(y == 1, "benign", "malignant")[:240]


def fitted(*, include: str = "linear", rows: int = 240, **options: Any) -> AutoClassifier:
    model = AutoClassifier(n_trials=1, include=[include], cv=3, n_jobs=1, random_state=0, **options)
    return model.fit(X[:rows], y[:rows])


@pytest.fixture(scope="module")
def linear() -> AutoClassifier:
    return fitted()


@pytest.fixture(scope="module")
def knn() -> AutoClassifier:
    return fitted(include="knn")


def test_a_fit_is_as_good_as_itself(linear: AutoClassifier) -> None:
    found = compare(linear, linear)
    [difference] = found.differences
    assert (difference.difference, difference.p_value, found.n_rows) == (0.0, 1.0, 240)
    assert "accuracy: both are the same." in str(found)


def test_the_p_value_is_that_of_the_rows_on_which_they_disagree(linear: AutoClassifier, knn: AutoClassifier) -> None:
    linear.estimate_, kept = None, linear.estimate_  # so that nothing is taken off
    [difference] = compare(linear, knn).differences
    linear.estimate_ = kept
    told = [model.validation_predictions_ for model in (linear, knn)]
    right = []
    for one in told:
        assert one is not None
        right.append((one.predictions == one.y)[np.argsort(one.rows)])
    gains = right[1].astype(float) - right[0]
    assert difference.difference == pytest.approx(gains.mean())
    spread = math.sqrt(1 + 3 / 2) * gains.std() / math.sqrt(len(gains))  # three folds: Nadeau and Bengio (2003)
    expected = 2 * float(ndtr(-abs(gains.mean()) / spread))
    assert difference.p_value == pytest.approx(expected, rel=0.15)  # by 1,000 resamples
    assert difference.interval[1] - difference.interval[0] == pytest.approx(2 * 1.645 * spread, rel=0.15)


def test_a_difference_that_is_large_is_beyond_noise(linear: AutoClassifier) -> None:
    blind = AutoClassifier(n_trials=1, include=["linear"], cv=3, n_jobs=1, random_state=0)
    blind.fit(np.random.default_rng(0).normal(size=(240, 2)), y)
    found = compare(blind, linear, names=("blind", "seeing"))
    [difference] = found.differences
    assert difference.is_beyond_noise
    assert "accuracy: seeing is better. seeing less blind is +" in str(found)
    assert compare(linear, blind).differences[0].difference == pytest.approx(-difference.difference)


def test_what_is_optimistic_of_both_is_taken_off(linear: AutoClassifier, knn: AutoClassifier) -> None:
    found = compare(linear, knn)
    assert linear.estimate_ is not None
    assert knn.estimate_ is not None
    assert found.differences[0].scores == pytest.approx((linear.estimate_.score, knn.estimate_.score))
    assert found.differences[0].is_honest


def test_a_difference_that_is_only_in_the_optimism_does_not_count(linear: AutoClassifier) -> None:
    from copy import copy
    from dataclasses import replace

    other = copy(linear)
    assert linear.estimate_ is not None
    other.estimate_ = replace(linear.estimate_, score=linear.estimate_.score - 0.1)
    [difference] = compare(linear, other).differences
    assert difference.difference == pytest.approx(-0.1)
    assert not difference.is_beyond_noise
    assert difference.p_value == 1.0


def test_each_metric_is_compared_where_they_were_fitted_for_different_ones(linear: AutoClassifier) -> None:
    found = compare(linear, fitted(include="knn", scoring="roc_auc"))
    assert [difference.metric for difference in found.differences] == ["accuracy", "roc_auc"]
    assert "each has an advantage in its own" in str(found)


def test_only_rows_that_both_were_judged_on_are_compared(linear: AutoClassifier) -> None:
    found = compare(linear, fitted(rows=200))
    assert found.n_rows == 200
    assert "200 rows that both were judged on" in found.rows


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (lambda: AutoClassifier(n_trials=1, include=["linear"], n_jobs=1).fit(X[::-1], y[::-1]), "on other rows"),
        (
            lambda: AutoRegressor(n_trials=1, include=["linear"], n_jobs=1).fit(*load_diabetes(return_X_y=True)),
            "numbers",
        ),
        (
            lambda: AutoClassifier(n_trials=1, include=["linear"], n_jobs=1).fit(X, y, np.arange(1.0, 241.0)),
            "other weights",
        ),
    ],
    ids=["other-rows", "other-task", "other-weights"],
)
def test_without_shared_rows_there_is_no_test_and_it_says_why(linear: AutoClassifier, other: Any, why: str) -> None:
    found = compare(linear, other())
    assert found.differences == ()
    assert found.rows.startswith("No test: ")
    assert why in found.rows
    assert "expected on new rows" in str(found)  # the rest is there


def test_equal_targets_prove_nothing_where_they_are_sorted(tmp_path: Path) -> None:
    order = np.argsort(y, kind="stable")
    model = AutoClassifier(n_trials=1, include=["linear"], cv=3, n_jobs=1, random_state=0).fit(X.iloc[order], y[order])
    assert "but sorted" in compare(model, model).rows
    model.save(tmp_path / "a")
    model.save(tmp_path / "b")
    assert "but sorted" in compare(tmp_path / "a", tmp_path / "b").rows
    for name in "ab":
        (tmp_path / name / "fit.json").write_text(json.dumps({"checksum": "1234", "target": "y"}))
    found = compare(tmp_path / "a", str(tmp_path / "b"))
    assert "the same checksum" in found.rows
    assert found.names == ("a", "b")


def test_other_columns_are_named(linear: AutoClassifier) -> None:
    model = AutoClassifier(n_trials=1, include=["linear"], cv=3, n_jobs=1, random_state=0)
    found = compare(linear, model.fit(X.assign(extra=1.0 * np.arange(240)), y))
    assert "1 are in one table alone (extra)" in str(found)
    assert len(found.differences) == 1


def test_the_document_can_be_written_as_json(linear: AutoClassifier, knn: AutoClassifier) -> None:
    document = json.loads(json.dumps(compare(linear, knn).document(), allow_nan=False))
    assert [fact[0] for fact in document["facts"]][:3] == ["metric", "expected on new rows", "90 % interval"]


def test_a_folder_without_a_model_is_refused(tmp_path: Path, linear: AutoClassifier) -> None:
    with pytest.raises(ModelError, match="model folder"):
        compare(linear, tmp_path)
