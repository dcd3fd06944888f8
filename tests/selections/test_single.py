"""What is handed over: the posterior mean against the luckiest trial, the mean of a distribution."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from comitia import FunctionEvaluator, History, Seeds, Serial, Space, Study
from comitia.errors import ChoiceError
from comitia.methods import Method
from comitia.optimizers import RandomSearch
from comitia.selections.single import Argmin, DistributionMean, PosteriorMean
from tests.optimizers.observed import observed

SEARCH = RandomSearch(Space({"x": stats.uniform(0, 1)}))


def noisy_history(seed: int) -> tuple[Space, History]:
    space = Space({"x": stats.uniform(0, 1)})
    rng = np.random.default_rng(seed)
    X = np.sort(rng.random(40))[:, None]
    return space, observed(space, X, 4 * (X[:, 0] - 0.5) ** 2 + 0.3 * rng.standard_normal(40))


@pytest.mark.parametrize("among_trials", [True, False])
def test_the_posterior_mean_is_not_taken_in_by_luck(among_trials: bool) -> None:
    distances: dict[str, list[float]] = {"argmin": [], "mean": []}
    for seed in range(8):
        _, history = noisy_history(seed)
        for name, selection in (("argmin", Argmin()), ("mean", PosteriorMean(among_trials=among_trials))):
            [member] = selection.members(history, SEARCH, Seeds(0))
            distances[name].append(abs(member.config["x"] - 0.5))
    assert np.mean(distances["mean"]) < 0.7 * np.mean(distances["argmin"])


def test_among_trials_is_a_trial_and_over_the_space_usually_is_not() -> None:
    _, history = noisy_history(0)
    [tried] = PosteriorMean(among_trials=True).members(history, SEARCH, Seeds(0))
    assert tried.trial is not None
    assert history.trial(tried.trial).config == tried.config
    [anywhere] = PosteriorMean().members(history, SEARCH, Seeds(0))
    assert anywhere.trial is None


def test_what_was_tried_names_its_trial() -> None:
    space = Space({"a": [1, 2, 3, 4]})
    everything: Any = space.all
    history = observed(space, everything, [0.5, 0.1, 0.4, 0.6])
    [member] = PosteriorMean().members(history, SEARCH, Seeds(0))
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
        PosteriorMean().members(history, SEARCH, Seeds(0))


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


def test_a_distribution_has_a_mean_only_where_cma_es_searched() -> None:
    study = Study({"x": stats.uniform(0, 1)}, Method("mean", RandomSearch, "x", selection=DistributionMean()), seed=0)
    study.run(FunctionEvaluator(lambda config: config["x"]), n_trials=3)
    with pytest.raises(ChoiceError, match=r"a search by CMA-ES. Got a search by RandomSearch"):
        study.members()
