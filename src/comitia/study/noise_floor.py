"""`NoiseFloor`: end a search when nothing that it could still find would be told apart from what it has found."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from comitia.errors import check_int
from comitia.gp.outputs import standardise
from comitia.gp.priors import SHORT
from comitia.history import History, Observation
from comitia.optimizers.bayes.gaussian_process import GaussianProcess
from comitia.optimizers.bayes.single_thread import one_thread
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.study.study import Study

N_CANDIDATES = 500
"""Configurations that might still be found: so many drawn at random, and all that were tried."""


@dataclass(frozen=True)
class NoiseFloor:
    """Stop the search when what could still be gained is less than the noise of a validation score: a callback.

    After Makarova et al. (2022, "Automatic termination for hyperparameter optimization"): a Gaussian process of all
    trials bounds what is left to gain, from the worst that the best configuration may be to the best that any other
    may be, each by one standard deviation. It is compared with the standard error of a mean over folds, which share
    training rows (Nadeau and Bengio 2003). Where a trial has a single loss no noise is known, and it never stops. It
    looks at the history alone, so one object serves any number of studies.

    Parameters
    ----------
    n_trials : int
        Trials before it looks for the first time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from comitia import NoiseFloor, Study, TableEvaluator
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluator = TableEvaluator(lambda config, seed: KNeighborsClassifier(config["k"]), X, y)
    >>> study = Study({"k": (1, 60)}, seed=0).run(evaluator, n_trials=55, callbacks=[NoiseFloor(10)])
    >>> study.stop_reason
    'stopped'
    """

    n_trials: int = 20

    def __post_init__(self) -> None:
        check_int("NoiseFloor", "n_trials", self.n_trials)

    def __call__(self, study: Study, observation: Observation) -> None:
        """Stop the study if it is time."""
        best = study.history.best
        if best is None or study.history.n_finished < self.n_trials or len(best.losses) < 2:
            return
        if possible_gain(study.history, study.seeds) < noise_of(best):
            study.stop()


def noise_of(observation: Observation) -> float:
    """Return the standard error of a trial's mean loss over k folds: their variance times 1/k + 1/(k - 1)."""
    k = len(observation.losses)
    return math.sqrt(float(np.var(observation.losses, ddof=1)) * (1 / k + 1 / (k - 1)))


def possible_gain(history: History, seeds: Seeds) -> float:
    """Return how much smaller the loss might still become; infinite where no model can be made of the trials."""
    is_good = np.isfinite(history.losses) & ~history.is_superseded
    if history.space is None or np.count_nonzero(is_good) < 2:
        return math.inf
    X, losses = history.X[is_good], history.losses[is_good]
    number = len(history)
    model = GaussianProcess(
        history.space, view="branches", has_offsets=True, n_samples=0, priors=SHORT, outputs=standardise
    )
    with one_thread():
        belief = model.belief(X, Values(losses), number, seeds)
        others = history.space.sample(N_CANDIDATES, seeds("noise-floor", number))
        mean, variance = belief.posterior.mean_var(*belief.view(np.concatenate([X, others])))
    spread = np.sqrt(np.maximum(variance, 0.0))
    gain = (mean + spread)[:, : len(X)].min(axis=1) - (mean - spread).min(axis=1)
    return float(gain.mean() * losses.std())
