"""A Gaussian process with the Mondrian kernel over a space: close to a forest, with a process's variance.

Lévesque et al. 2017, §IV-C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from comitia.arrays import Array
from comitia.gp.acquisition import log_ei
from comitia.gp.kernels import Laplace, Scaled
from comitia.gp.model import GP, DensePosterior
from comitia.gp.mondrian import Mondrian
from comitia.gp.outputs import standardise
from comitia.gp.theta import AMPLITUDE, N_GLOBAL, NOISE
from comitia.optimizers.bayes.gaussian_process import GaussianProcess, View
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Space

LEAST_NOISE = 1e-3
"""Random features are coarse: points that differ share a cell in all partitions."""


@dataclass(frozen=True, eq=False)
class MondrianBelief:
    """What is believed; see `Belief`."""

    view: View
    posterior: DensePosterior
    noise: float
    best: float

    def score(self, X: Array) -> Array:
        mean, var = self.posterior.mean_var(self.view(X)[0])
        return log_ei(mean, np.maximum(var, 1e-12), self.best)

    def mean(self, X: Array) -> Array:
        return self.posterior.mean_var(self.view(X)[0])[0]

    def believe(self, X: Array) -> MondrianBelief:
        best = min(self.best, float(self.mean(X).min()))
        return replace(self, posterior=self.posterior.believe(self.view(X)[0], self.noise), best=best)


class MondrianProcess:
    """A Gaussian process with the Mondrian kernel; see `Surrogate`. Inactive hyperparameters are imputed.

    Theta is the most probable one of the Laplace kernel, which the Mondrian kernel tends to; partitions are drawn again
    for every suggestion.

    Parameters
    ----------
    space : Space
    n_partitions : int
        Lévesque 2018, Fig. 5.5 has 30.
    """

    def __init__(self, space: Space, n_partitions: int = 50) -> None:
        self._view = View(space, "imputed")
        self._laplace = GaussianProcess(space, kernel=Laplace, n_samples=0)
        self._n_partitions = n_partitions

    def belief(self, X: Array, values: Values, number: int, seeds: Seeds) -> MondrianBelief:
        [theta] = self._laplace.belief(X, values, number, seeds).posterior.theta
        rows, _ = self._view(X)
        z = standardise(values.now)
        lengths = np.exp(theta[N_GLOBAL:])
        partitions = Mondrian(
            lengths, seeds("mondrian", number), self._n_partitions, is_categorical=self._view.is_categorical
        )
        noise = max(float(np.exp(theta[NOISE])), LEAST_NOISE)
        amplitude = float(np.exp(theta[AMPLITUDE]))
        posterior = GP(Scaled(partitions, amplitude), noise, float(z.mean()), variance=amplitude**2).fit(rows, z)
        best = float(posterior.mean_var(rows)[0].min())
        return MondrianBelief(self._view, posterior, noise, best)
