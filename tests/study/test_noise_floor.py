"""A search ends when what it could still find would be noise."""

import math
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from comitia import FunctionEvaluator, NoiseFloor, Observation, Space, Study, TableEvaluator, Trial
from comitia.errors import ChoiceError
from comitia.space import Config
from comitia.study.noise_floor import noise_of, possible_gain

X, Y = load_iris(return_X_y=True)


def neighbours(config: Any, seed: int) -> Any:
    return KNeighborsClassifier(config["k"])


def searched(n_trials: int, **options: Any) -> Study:
    study = Study(Space({"k": (1, 60)}), "bayes", seed=0)
    return study.run(TableEvaluator(neighbours, X, Y), n_trials=n_trials, **options)


def test_it_stops_where_only_noise_is_left() -> None:
    study = searched(55, callbacks=[NoiseFloor(8)])
    assert study.stop_reason == "stopped"
    assert 8 <= study.history.n_finished < 40
    assert possible_gain(study.history, study.seeds) < noise_of(study.best_trial)


def test_it_waits_for_enough_trials() -> None:
    assert searched(12, callbacks=[NoiseFloor(13)]).stop_reason == "budget"


def test_a_clear_gain_is_awaited() -> None:
    """Far from the optimum of a function without noise in its folds, a model sees more to gain than folds differ."""
    study = Study(Space({"x": (0.0, 1.0)}), "rs", seed=0)
    for _ in range(5):
        [trial] = study.ask()
        study.record([(Observation(trial, "ok", (trial.config["x"], trial.config["x"] + 1e-6)), None)])
    assert possible_gain(study.history, study.seeds) > noise_of(study.best_trial)


def test_a_single_loss_has_no_noise_to_compare_with() -> None:
    study = Study(Space({"x": (0.0, 1.0)}), "rs", seed=0)
    study.run(FunctionEvaluator(lambda config: 1.0), n_trials=12, callbacks=[NoiseFloor(2)])
    assert study.stop_reason == "budget"


def test_without_two_good_trials_everything_may_be_gained() -> None:
    study = Study(Space({"x": (0.0, 1.0)}), "rs", seed=0)
    assert possible_gain(study.history, study.seeds) == math.inf


def test_the_noise_of_folds_that_share_rows() -> None:
    losses = (0.1, 0.3, 0.2, 0.2)
    observation = Observation(Trial(0, 0, (0.5,), Config({"x": 0.5})), "ok", losses)
    assert noise_of(observation) == pytest.approx(np.std(losses, ddof=1) * np.sqrt(1 / 4 + 1 / 3))


def test_its_number_of_trials_is_checked() -> None:
    with pytest.raises(ChoiceError, match="NoiseFloor"):
        NoiseFloor(0)
