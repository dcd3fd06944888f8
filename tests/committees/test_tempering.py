"""Temperatures: one number that makes a model's probabilities honest."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from comitia.committees.ensemble import Ensemble
from comitia.committees.losses import BRIER, TEMPERED_BRIER, AverageLoss
from comitia.committees.pool import pool_of
from comitia.committees.tempering import MOST_ROWS, temperature_of, tempered
from comitia.evaluation.scoring import ROW_LOSSES
from comitia.seeds import Seeds
from comitia.selections.committees import GreedyCommittee, validation_loss

from .histories import SEARCH, played, random_probabilities

ONES = np.ones(4000)


def honest(n: int = 4000, n_classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw probabilities, and classes by these very probabilities."""
    rng = np.random.default_rng(seed)
    p = softmax(2 * rng.standard_normal((n, n_classes)), axis=1)
    return p, (p.cumsum(axis=1) > rng.random(n)[:, None]).argmax(axis=1)


@pytest.mark.parametrize("loudness", [0.3, 1.0, 4.0])
def test_it_finds_by_how_much_a_model_exaggerates(loudness: float) -> None:
    p, y = honest()
    said = tempered(p, 1 / loudness)
    found = temperature_of(said, y, ONES)
    assert found == pytest.approx(loudness, rel=0.1)
    assert tempered(said, found) == pytest.approx(p, abs=0.05)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.floats(0.05, 20.0))
def test_what_is_tempered_is_a_probability_in_the_same_order(seed: int, temperature: float) -> None:
    p, _ = honest(50, seed=seed)
    found = tempered(p, temperature)
    assert found.sum(axis=1) == pytest.approx(np.ones(50))
    assert (found.argmax(axis=1) == p.argmax(axis=1)).all()


def test_votes_become_as_sure_as_they_are_right() -> None:
    _, y = honest()
    said = np.where(np.random.default_rng(0).random(len(y)) < 0.8, y, (y + 1) % 3)
    votes = np.eye(3)[said]
    assert tempered(votes, temperature_of(votes, y, ONES)).max(axis=1) == pytest.approx(0.8 * ONES, abs=0.04)


def test_rows_without_weight_do_not_count_and_many_rows_are_thinned() -> None:
    p, y = honest()
    wrong = np.concatenate([y, (y + 1) % 3])
    twice = np.concatenate([p, p])
    assert temperature_of(twice, wrong, np.repeat([1.0, 0.0], len(y))) == pytest.approx(1.0, rel=0.1)
    assert temperature_of(p, y, 0 * ONES) == 1.0
    many = honest(3 * MOST_ROWS)
    assert temperature_of(*many, np.ones(len(many[1]))) == pytest.approx(1.0, rel=0.1)


def test_perfect_and_hopeless_models_have_finite_temperatures() -> None:
    y = np.arange(30) % 3
    sure = np.eye(3)[y]
    for p in (sure, np.eye(3)[(y + 1) % 3], np.full((30, 3), 1 / 3)):
        assert 0 < temperature_of(p, y, np.ones(30)) < 100
        assert np.isfinite(tempered(p, temperature_of(p, y, np.ones(30)))).all()


def test_a_loud_model_does_not_drown_the_others() -> None:
    """Three equally good models, one of which exaggerates: as it is it decides alone."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    logits = 1.5 * np.eye(3)[y] + rng.standard_normal((3, 600, 3))
    models = [softmax(logits[0] * 30, axis=1), *(softmax(logit, axis=1) for logit in logits[1:])]
    history = played(models, y, 3)

    def error(loss: AverageLoss) -> float:
        members = GreedyCommittee(loss=loss).members(history, SEARCH, Seeds(0))
        p = sum(m.weight * tempered(models[m.trial or 0], m.temperature) for m in members)
        assert validation_loss(history, members, ROW_LOSSES["log-loss"]) == pytest.approx(
            -np.log(np.asarray(p)[np.arange(600), y]).mean(), rel=1e-4
        )
        return float((np.asarray(p).argmax(axis=1) != y).mean())

    assert error(TEMPERED_BRIER) < error(BRIER)
    temperatures = pool_of(history, TEMPERED_BRIER).temperatures
    assert temperatures[0] > 5 * temperatures[1]
    assert (pool_of(history, BRIER).temperatures == 1).all()


def test_what_is_handed_over_predicts_what_it_was_chosen_by() -> None:
    answers, y = random_probabilities(4, n_models=12, n_rows=80)
    history = played(answers, y, 3)
    members = GreedyCommittee(loss=TEMPERED_BRIER).members(history, SEARCH, Seeds(0))

    class Known:
        classes_ = np.arange(3)

        def __init__(self, number: int) -> None:
            self.number = number

        def predict(self, X: object) -> np.ndarray:
            return self.predict_proba(X).argmax(axis=1)

        def predict_proba(self, X: object) -> np.ndarray:
            return np.asarray(answers[self.number])

    ensemble = Ensemble(
        [Known(m.trial or 0) for m in members],
        [m.weight for m in members],
        3,
        temperatures=[m.temperature for m in members],
    )
    p = ensemble.predict_proba(np.zeros((80, 1)))
    assert -np.log(p[np.arange(80), y]).mean() == pytest.approx(
        validation_loss(history, members, ROW_LOSSES["log-loss"]), rel=1e-5
    )
