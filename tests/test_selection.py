"""What is handed over: the posterior mean against the luckiest trial."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from comitia import FunctionEvaluator, History, Observation, Seeds, Serial, Space, Study, Trial
from comitia.errors import ChoiceError
from comitia.methods import Method
from comitia.optimizers import RandomSearch
from comitia.optimizers.unseen import Unseen
from comitia.selection import Argmin, PosteriorMean

from .optimizers.test_bayes import history_of


def noisy_history(seed: int) -> tuple[Space, History]:
    space = Space({"x": stats.uniform(0, 1)})
    rng = np.random.default_rng(seed)
    X = np.sort(rng.random(40))[:, None]
    return space, history_of(space, X, 4 * (X[:, 0] - 0.5) ** 2 + 0.3 * rng.standard_normal(40))


@pytest.mark.parametrize("among_trials", [True, False])
def test_the_posterior_mean_is_not_taken_in_by_luck(among_trials: bool) -> None:
    distances: dict[str, list[float]] = {"argmin": [], "mean": []}
    for seed in range(8):
        _, history = noisy_history(seed)
        for name, selection in (("argmin", Argmin()), ("mean", PosteriorMean(among_trials=among_trials))):
            [member] = selection.members(history, Seeds(0))
            distances[name].append(abs(member.config["x"] - 0.5))
    assert np.mean(distances["mean"]) < 0.7 * np.mean(distances["argmin"])


def test_among_trials_is_a_trial_and_over_the_space_usually_is_not() -> None:
    _, history = noisy_history(0)
    [tried] = PosteriorMean(among_trials=True).members(history, Seeds(0))
    assert tried.trial is not None
    assert history.trial(tried.trial).config == tried.config
    [anywhere] = PosteriorMean().members(history, Seeds(0))
    assert anywhere.trial is None


def test_what_was_tried_names_its_trial() -> None:
    space = Space({"a": [1, 2, 3, 4]})
    everything: Any = space.all
    history = history_of(space, everything, [0.5, 0.1, 0.4, 0.6])
    [member] = PosteriorMean().members(history, Seeds(0))
    assert member.trial == 1


def test_a_history_without_a_space_is_refused() -> None:
    _, known = noisy_history(0)
    history = History(1)
    for number in range(5):
        trial = known.trial(number)
        history.append(trial)
        observation = known.observation(number)
        assert observation is not None
        history.finish(observation)
    with pytest.raises(ChoiceError, match="knows its space"):
        PosteriorMean().members(history, Seeds(0))


def test_a_study_hands_over_its_posterior_mean() -> None:
    study = Study({"x": stats.uniform(0, 1)}, "gp-pm-r", seed=0)
    study.run(FunctionEvaluator(lambda c: (c["x"] - 0.3) ** 2), n_trials=12, executor=Serial())
    [member] = study.members()
    assert abs(member.config["x"] - 0.3) < 0.05


def test_the_posterior_mean_hands_over_nothing_from_where_everything_failed() -> None:
    """A model that saw successes alone would extrapolate into the part of the space where every fit fails."""
    space = Space({"x": stats.uniform(0, 1)})
    for seed in range(4):
        study = Study(space, Method("pm", RandomSearch, "x", selection=PosteriorMean()), seed=seed)
        rng = np.random.default_rng(seed)
        for _ in range(25):
            [trial] = study.ask()
            x = trial.config["x"]
            if x < 0.35:
                study.tell(trial, error="no fit")
            else:
                study.tell(trial, x**2 + 0.01 * rng.normal())
        [member] = study.members()
        assert member.config["x"] > 0.3


def test_suggestions_in_a_small_space_follow_the_ranking_however_much_is_known() -> None:
    """Beyond a hundred known candidates the rest was once drawn at random."""
    space = Space({"x": list(range(20)), "y": list(range(20))})
    history = History(2, space=space)
    assert space.all is not None
    for number, config in enumerate(c for c in space.decode(space.all) if c["x"] < 15):
        x = space.encode([config])[0]
        trial = Trial(number, number, tuple(x.tolist()), config)
        history.append(trial)
        history.finish(Observation(trial, "ok", ((config["x"] - 14) ** 2 + config["y"],)))
    unseen = Unseen(space, history)
    assert space.all is not None
    known_first = space.encode([*(c for c in space.decode(space.all) if c["x"] < 15), {"x": 19, "y": 3}])
    best = unseen.best(known_first)
    assert best is not None
    assert space.decode(best[None])[0] == {"x": 19, "y": 3}
    assert unseen.best(known_first) is None
