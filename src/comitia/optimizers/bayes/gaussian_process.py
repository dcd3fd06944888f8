"""Gaussian processes over a space: which rows they see, and where their theta comes from.

Lévesque 2018, §2.4 and §5.3; Lévesque et al. 2017, §III.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from comitia.arrays import Array, Mask
from comitia.errors import ChoiceError
from comitia.gp.acquisition import expected_improvement, log_ei_gradient
from comitia.gp.blocks import Blocks
from comitia.gp.kernels import ARD, Labels, Matern52
from comitia.gp.outputs import standardise, variances_of
from comitia.gp.posterior import Posterior, condition, fitted
from comitia.gp.priors import THESIS, JointPrior, Priors
from comitia.gp.slice_sampling import sample_theta
from comitia.gp.theta import Structure
from comitia.gp.tuning import Gaussian, gaussian_around, maximum_a_posteriori
from comitia.seams import Values
from comitia.seeds import Seeds
from comitia.space import Space

Acquisition = Callable[[Array, Array, Array, Array], Array]

ALWAYS_TUNED = 20
"""Up to so many observations theta's maximum is found again after each."""
GROWTH = 1.1
"""After that, each time the observations have grown by a tenth."""
SCALE_CHANGE = 1.5
"""And whenever the spread of the observations has changed by this factor."""
LEAST_SETTLED = 2 / 3
"""The part of the observations that theta must be inferred from at least, where many trials are pending."""
MANY_PENDING = 16
"""From so many pending trials on theta is inferred from fewer observations: with eight workers there is time to infer
it from all of them, which is better or even on four of five problems (docs/lab/searches.md)."""
MOST_TUNED = 400
"""Theta is inferred from so many observations at most: the best quarter of that number and the rest evenly in time."""


@dataclass(frozen=True)
class View:
    """Which rows the model sees instead of those that were asked.

    "branches": inactive hyperparameters imputed, branches unrelated (the conditional kernel); "imputed": imputed, one
    kernel over all; "sampled": inactive hyperparameters as they were sampled; "relaxed": and categories as reals.
    """

    space: Space
    kind: Literal["branches", "imputed", "sampled", "relaxed"]
    inactive: Literal["middle", "default"] = "middle"
    """What inactive hyperparameters are imputed with."""

    @property
    def is_categorical(self) -> Mask:
        """Which dimensions have no order, (d,)."""
        return np.zeros(len(self.space), dtype=bool) if self.kind == "relaxed" else self.space.is_categorical

    def __call__(self, X: Array) -> tuple[Array, Labels]:
        """Return rows and their branches."""
        if self.kind == "branches":
            return self.space.imputed_branches(X, to=self.inactive)
        labels = np.zeros(len(X), dtype=np.int64)
        return (self.space.impute(X, to=self.inactive) if self.kind == "imputed" else X), labels


@dataclass(frozen=True, eq=False)
class ProcessBelief:
    """What a Gaussian process believes, averaged over theta; see `Belief`."""

    view: View
    posterior: Posterior
    best: Array
    """The incumbent: the best mean at a tried or pending point, for each theta, (n_samples, 1)."""
    acquisition: Acquisition

    def score(self, X: Array) -> Array:
        mean, var = self.posterior.mean_var(*self.view(X))
        return self.acquisition(mean, var, self.best, self.posterior.variances[1][:, None])

    def mean(self, X: Array) -> Array:
        return np.asarray(self.posterior.mean_var(*self.view(X))[0].mean(axis=0))

    def believe(self, X: Array) -> ProcessBelief:
        """Keep the mean, shrink the variance to nothing at the rows; the incumbent may be one of them."""
        rows, labels = self.view(X)
        best = np.minimum(self.best, self.posterior.mean_var(rows, labels)[0].min(axis=1, keepdims=True))
        return replace(self, posterior=self.posterior.believe(rows, labels), best=best)

    def score_gradient(self, X: Array) -> tuple[Array, Array]:
        if self.acquisition is not expected_improvement:
            raise ChoiceError(
                "A search along gradients needs the expected improvement. Got another acquisition, whose gradient is "
                "not here. Use LocalSearch or Perturbations with it."
            )
        mean, var, d_mean, d_var = self.posterior.gradients(*self.view(X))
        return log_ei_gradient(mean, var, self.best, d_mean, d_var)

    def mean_gradient(self, X: Array) -> tuple[Array, Array]:
        mean, _, d_mean, _ = self.posterior.gradients(*self.view(X))
        return mean.mean(axis=0), d_mean.mean(axis=0)


class Known(NamedTuple):
    """Observations: rows as the model sees them, their branches, values, and known variances of these."""

    rows: Array
    labels: Labels
    y: Array
    noise: Array | None


class GaussianProcess:
    """A Gaussian process over a space; see `Surrogate`.

    Parameters
    ----------
    space : Space
    view : {"branches", "imputed", "sampled", "relaxed"}
        See `View`.
    inactive : {"middle", "default"}
        What inactive hyperparameters are imputed with: the middle of their range, or their default.
    kernel : type of kernel
        Its profile; there is always one length scale for each hyperparameter.
    n_samples : int
        Slice samples of theta that the acquisition is averaged over; 0 is the most probable theta alone.
    map_from : int, optional
        Number of observations from which the most probable theta is used instead.
    priors : Priors
    has_offsets : bool
        Whether each branch has its own mean, drawn around the common one.
    outputs : callable
        What is done to the observations first.
    acquisition : callable
    """

    def __init__(
        self,
        space: Space,
        *,
        view: Literal["branches", "imputed", "sampled", "relaxed"] = "imputed",
        inactive: Literal["middle", "default"] = "middle",
        kernel: type[ARD] = Matern52,
        n_samples: int = 10,
        map_from: int | None = None,
        priors: Priors = THESIS,
        has_offsets: bool = False,
        outputs: Callable[[Array], Array] = standardise,
        acquisition: Acquisition = expected_improvement,
        n_sweeps: int = 2,
    ) -> None:
        self.view = View(space, view, inactive)
        self._structure = Structure(self.view.is_categorical, kernel, has_offsets)
        self._n_samples, self._map_from, self._n_sweeps = n_samples, map_from, n_sweeps
        self._priors, self._outputs, self._acquisition = priors, outputs, acquisition
        self._tuned: tuple[bytes, Gaussian] | None = None  # cache: observations that theta was tuned on, and theta

    def belief(self, X: Array, values: Values, number: int, seeds: Seeds) -> ProcessBelief:
        rows, labels = self.view(X)
        y = values.now
        z = self._outputs(y)
        noise = None if values.noise is None else variances_of(values.noise, y, z)
        blocks = Blocks(self._structure, rows, z, labels, noise)
        # values that are remembered have moved, and no spread of theirs can jump: only their number counts
        of_spread = z if values.earlier is None else np.zeros(len(y))
        n = len(y) if values.have_moved else last_checkpoint(of_spread[: n_settled(len(y), values.n_pending)])
        known = Known(rows[:n], labels[:n], values.of_first(n), values.noise_of_first(n))
        gaussian = self._gaussian(known, self._samples(len(y)))
        theta = gaussian.centre[None]
        if self._samples(len(y)):
            some = self._some(Known(rows, labels, y, values.noise)) if len(y) > MOST_TUNED else blocks
            theta = self._sampled(some, gaussian, seeds("theta", number))
        posterior = condition(blocks, theta)
        best = fitted(blocks, posterior).min(axis=1, keepdims=True)
        return ProcessBelief(self.view, posterior, best, self._acquisition)

    def _samples(self, n: int) -> bool:
        """Tell whether theta is sampled after so many observations."""
        return self._n_samples > 0 and (self._map_from is None or n < self._map_from)

    def _sampled(self, blocks: Blocks, gaussian: Gaussian, rng: np.random.Generator) -> Array:
        """Return samples of theta, (n_samples, n_theta)."""
        prior = JointPrior(self._priors, self._structure)
        return sample_theta(blocks, prior, gaussian, self._n_samples, self._n_sweeps, rng)

    def _gaussian(self, known: Known, needs_spread: bool) -> Gaussian:
        """Return theta's maximum, and a Gaussian around it, given the observations up to the last checkpoint."""
        noise = b"" if known.noise is None else known.noise.tobytes()
        key = known.rows.tobytes() + np.asarray(known.y).tobytes() + noise + bytes([needs_spread])
        if self._tuned is None or self._tuned[0] != key:
            blocks = self._some(known)
            prior = JointPrior(self._priors, self._structure)
            centre = maximum_a_posteriori(blocks, prior)
            found = gaussian_around(blocks, prior, centre) if needs_spread else Gaussian(centre, np.empty((0, 0)))
            self._tuned = key, found
        return self._tuned[1]

    def _some(self, known: Known) -> Blocks:
        """Return the observations that theta is inferred from."""
        rows, labels, y, noise = known
        z = self._outputs(y)
        noise = None if noise is None else variances_of(noise, y, z)
        if len(y) > MOST_TUNED:
            good = np.argsort(z, kind="stable")[: MOST_TUNED // 4]
            even = np.linspace(0, len(y) - 1, MOST_TUNED - len(good)).astype(np.intp)
            some = np.unique(np.concatenate([good, even]))
            rows, labels, z = rows[some], labels[some], z[some]
            noise = None if noise is None else noise[some]
        return Blocks(self._structure, rows, z, labels, noise)


def n_settled(n: int, n_pending: int) -> int:
    """Return of how many observations, from the first on, it is likely that no others come between them.

    Observations are in the order of trials, and pending ones may be earlier than some of them. Whenever one of these
    ends, the first n observations are others than before, and theta would be tuned again: with 32 workers more than
    twice as often.
    """
    n_left = n - n_pending
    return n_left if n_pending >= MANY_PENDING and n_left >= max(ALWAYS_TUNED, LEAST_SETTLED * n) else n


def last_checkpoint(z: Array) -> int:
    """Return the number of observations, from the first on, that theta's maximum is found from.

    A function of the observations alone, so that an object that lived through them and a fresh one agree, and the cost
    of tuning is shared by many suggestions: each tenth more observations is one, and so is a jump of their spread.
    """
    n = len(z)
    if n <= ALWAYS_TUNED:
        return n
    counts = np.arange(1, n + 1)
    means = np.cumsum(z) / counts
    spreads = np.sqrt(np.maximum(np.cumsum(z**2) / counts - means**2, 0.0))  # of the first 1, 2, ..., n
    checkpoint = ALWAYS_TUNED
    while checkpoint < n:
        later = spreads[checkpoint:]
        is_broken = (later > spreads[checkpoint - 1] * SCALE_CHANGE) | (later * SCALE_CHANGE < spreads[checkpoint - 1])
        following = int(np.ceil(checkpoint * GROWTH))
        if is_broken.any():
            following = min(following, checkpoint + 1 + int(is_broken.argmax()))
        if following > n:
            break
        checkpoint = following
    return checkpoint
