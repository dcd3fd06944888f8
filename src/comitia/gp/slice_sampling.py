"""Slice sampling of theta, many chains side by side.

Elliptical slice sampling (Murray, Adams, MacKay 2010) in the structure that needs no Gaussian prior (Nishihara, Murray,
Adams 2014): p(theta) = q(theta) [p(theta) / q(theta)] with q a Gaussian near p. A point and a draw of q span an
ellipse, and an angle on it is slice-sampled by shrinking: no step size, no rejected sweeps. The chains start from draws
of q, which is computed from the observations, so a restart gives the same samples.

Positions of theta are updated group by group: a group is what touches the same blocks of the covariance, so that the
other blocks need not be factorised again.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array, Indices
from comitia.gp.blocks import Blocks
from comitia.gp.priors import JointPrior
from comitia.gp.tuning import Gaussian

MOST_SHRINKS = 25
"""Shrinks of a bracket before a chain stays where it is: the bracket is then below 1e-6 of a turn."""

Evaluate = Callable[[Array, Indices], tuple[Array, Array]]
"""(theta of several chains, their numbers) to (log density, what to remember if accepted), one row per chain."""


@dataclass(frozen=True, eq=False)
class Reference:
    """The Gaussian q of one group of positions."""

    centre: Array
    root: Array
    """Lower factor of the covariance."""

    def log(self, values: Array) -> Array:
        """Return the log density of each row, up to a constant."""
        z = np.linalg.solve(self.root, (values - self.centre).T)
        return np.asarray(-0.5 * np.einsum("jn,jn->n", z, z))

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """Draw n deviations from the centre."""
        return np.asarray(rng.standard_normal((n, len(self.centre))) @ self.root.T)


def update(
    theta: Array,
    log_density: Array,
    positions: Indices,
    reference: Reference,
    evaluate: Evaluate,
    rng: np.random.Generator,
) -> tuple[Array, Array, Indices, Array]:
    """Move every chain once along an ellipse through its values at `positions`.

    Returns
    -------
    theta : (n_chains, n_theta), the new states
    log_density : (n_chains,)
    moved : numbers of the chains that moved
    memory : what `evaluate` wants remembered, one row for each of `moved`
    """
    n = len(theta)
    theta, log_density = theta.copy(), log_density.copy()
    here = theta[:, positions] - reference.centre
    there = reference.draw(n, rng)
    level = log_density - reference.log(theta[:, positions]) + np.log(rng.random(n))
    angle = rng.random(n) * 2.0 * math.pi
    low, high = angle - 2.0 * math.pi, angle.copy()
    waiting = np.arange(n)
    moved, memory = [], []
    for _ in range(MOST_SHRINKS):
        turn = angle[waiting, None]
        proposed = reference.centre + here[waiting] * np.cos(turn) + there[waiting] * np.sin(turn)
        candidate = theta[waiting].copy()
        candidate[:, positions] = proposed
        value, remember = evaluate(candidate, waiting)
        good = value - reference.log(proposed) > level[waiting]
        winners = waiting[good]
        theta[winners], log_density[winners] = candidate[good], value[good]
        moved.append(winners)
        memory.append(remember[good])
        waiting = waiting[~good]
        draws = rng.random(n)  # for all chains, so that the stream does not depend on who waits
        if not len(waiting):
            break
        low[waiting] = np.where(angle[waiting] < 0, angle[waiting], low[waiting])
        high[waiting] = np.where(angle[waiting] >= 0, angle[waiting], high[waiting])
        angle[waiting] = low[waiting] + draws[waiting] * (high[waiting] - low[waiting])
    return theta, log_density, np.concatenate(moved), np.concatenate(memory)


def references(gaussian: Gaussian, groups: Sequence[Indices]) -> list[Reference]:
    """Return the Gaussian of each group of positions."""
    return [
        Reference(
            gaussian.centre[group],
            np.asarray(np.linalg.cholesky(gaussian.covariance[np.ix_(group, group)]), dtype=np.float64),
        )
        for group in groups
    ]


def sample_theta(
    blocks: Blocks, prior: JointPrior, gaussian: Gaussian, n: int, n_sweeps: int, rng: np.random.Generator
) -> Array:
    """Draw `n` theta from p(theta | X, y), each the end of its own chain: an (n, n_theta) array.

    Without a sweep they are draws of the Gaussian itself.
    """
    free = blocks.structure.free
    root = np.linalg.cholesky(gaussian.covariance[np.ix_(free, free)])
    theta = np.repeat(gaussian.centre[None], n, axis=0)
    theta[:, free] += rng.standard_normal((n, len(free))) @ root.T
    if not n_sweeps:
        return theta
    terms = blocks.all_terms(theta)
    log_density = blocks.log_likelihood(terms) + prior.log(theta)
    groups = blocks.groups()
    gaussians = references(gaussian, [positions for positions, _ in groups])
    for _ in range(n_sweeps):
        for (positions, touched), reference in zip(groups, gaussians, strict=True):

            def evaluate(
                candidate: Array, chains: Indices, touched: list[int] = touched, terms: Array = terms
            ) -> tuple[Array, Array]:
                fresh = terms[chains]
                for number in touched:
                    fresh[:, number] = blocks.terms(candidate, number)
                return blocks.log_likelihood(fresh) + prior.log(candidate), fresh

            theta, log_density, moved, memory = update(theta, log_density, positions, reference, evaluate, rng)
            terms[moved] = memory
    return theta
