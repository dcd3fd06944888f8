"""The temperature of a whole committee."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer

import comitia
from comitia import METHODS, AutoClassifier
from comitia.auto.temperature import is_tempered, tempered_by_parts
from comitia.committees.ensemble import Ensemble
from comitia.committees.tempering import tempered

X, Y = load_breast_cancer(return_X_y=True)


def said_and_true(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what a committee says that is half as sure as it should be, and the truth."""
    rng = np.random.default_rng(seed)
    p = softmax(2 * rng.standard_normal((n, 3)), axis=1)
    y = (p.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)
    return tempered(p, 2.0), y


def test_a_committee_that_is_not_sure_enough_becomes_surer() -> None:
    p, y = said_and_true(4000, 0)
    temperature, found = tempered_by_parts(p, y, np.arange(len(y)) % 5, None)
    assert temperature == pytest.approx(0.5, rel=0.1)
    everywhere = np.arange(len(y))
    assert -np.log(found[everywhere, y]).mean() < -np.log(p[everywhere, y]).mean()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(0, 4))
def test_rows_of_a_fold_have_no_part_in_its_own_temperature(seed: int, fold: int) -> None:
    p, y = said_and_true(100, seed)
    folds = np.arange(len(y)) % 5
    others = np.where(folds == fold, (y + 1) % 3, y)
    before, after = (tempered_by_parts(p, truth, folds, None)[1] for truth in (y, others))
    assert (before[folds == fold] == after[folds == fold]).all()


def test_rows_without_weight_have_no_part_in_it() -> None:
    p, y = said_and_true(400, 1)
    weights = np.repeat([1.0, 0.0], 200)
    wrong = np.where(weights > 0, y, (y + 1) % 3)
    folds = np.arange(len(y)) % 5
    assert tempered_by_parts(p, y, folds, weights)[0] == tempered_by_parts(p, wrong, folds, weights)[0]


def test_all_together_are_tempered_after_they_are_averaged() -> None:
    class Known:
        def __init__(self, p: np.ndarray) -> None:
            self.p, self.classes_ = p, np.arange(3)

        def predict(self, rows: Any) -> np.ndarray:
            return self.p.argmax(axis=1)

        def predict_proba(self, rows: Any) -> np.ndarray:
            return self.p

    a, b = (Known(said_and_true(50, seed)[0]) for seed in (2, 3))
    plain = Ensemble([a, b], [0.3, 0.7], 3)
    surer = Ensemble([a, b], [0.3, 0.7], 3, temperature=0.5)
    rows = np.arange(50)
    assert np.allclose(surer.predict_proba(rows), tempered(0.3 * a.p + 0.7 * b.p, 0.5))
    assert (surer.predict(rows) == plain.predict(rows)).all()


def test_committees_have_one_where_their_members_do() -> None:
    assert is_tempered(METHODS["committee"].selection)
    assert not is_tempered(METHODS["committee-log"].selection)
    assert not is_tempered(METHODS["bayes"].selection)


def test_a_fit_predicts_as_it_says_and_is_the_same_from_a_folder(tmp_path: Path) -> None:
    fit = AutoClassifier(n_trials=3, n_jobs=1, include=["linear"], scoring="neg_log_loss", random_state=0)
    fit.fit(X[::2], Y[::2])
    temperature = fit.ensemble_.temperature
    assert temperature != 1.0
    fit.ensemble_.temperature = 1.0
    plain = fit.predict_proba(X[1::2])
    fit.ensemble_.temperature = temperature
    assert np.allclose(fit.predict_proba(X[1::2]), tempered(plain, temperature))
    fit.save(tmp_path / "model")
    assert (comitia.load(tmp_path / "model").predict_proba(X[1::2]) == fit.predict_proba(X[1::2])).all()


def test_a_single_model_keeps_its_own_probabilities() -> None:
    fit = AutoClassifier(n_trials=2, n_jobs=1, include=["linear"], method="rs", random_state=0).fit(X[::2], Y[::2])
    assert fit.ensemble_.temperature == 1.0
    [member] = fit.members_
    pipeline: Any = member.pipeline
    assert np.allclose(fit.predict_proba(X[1::2]), pipeline.predict_proba(fit.cleaner_.transform(X[1::2])))
