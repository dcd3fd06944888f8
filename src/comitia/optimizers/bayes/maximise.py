"""Where a belief promises most: random candidates, local search, gradients (Lévesque 2018, §5.3.2)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.errors import ChoiceError
from comitia.seams import Belief, SmoothBelief
from comitia.space import Space

FEW = 2000
"""A space with so few configurations is not searched: all of them are scored."""
MOST_STEPS = 20
"""Steps of a local search; Lévesque 2018, §5.3.2 has a maximum and names none."""
LEAST_GAIN = 0.01
"""A step must promise this much more in the logarithm of EI; Lévesque 2018, §5.3.2 has a threshold and names none."""


def random_rows(space: Space, n: int, rng: np.random.Generator) -> Array:
    """Return random configurations, or all of them where there are few, (n, d)."""
    everything = space.all
    return everything if everything is not None and len(everything) <= FEW else space.sample(n, rng)


def ranked(X: Array, scores: Array) -> Array:
    """Sort rows by score, the greatest first."""
    return X[np.argsort(-scores, kind="stable")]


@dataclass(frozen=True)
class RandomCandidates:
    """The best of random configurations (Lévesque et al. 2017, §III-B)."""

    n: int = 1000

    def __call__(self, belief: Belief, space: Space, tried: Array, rng: np.random.Generator) -> Array:
        X = random_rows(space, self.n, rng)
        return ranked(X, belief.score(X))


@dataclass(frozen=True)
class LocalSearch:
    """One-exchange local search from several starts at once (Lévesque 2018, eq. 5.7-5.8).

    All starts take their steps together, so one step of all is one call of the model.

    Parameters
    ----------
    n_candidates : int
        Random configurations, of which the best are starts.
    n_starts : int
        How many of them, and as many of the best trials.
    steps : tuple of float
        Steps of reals in the encoded range, one search after the other. Lévesque 2018 has one fixed step and does not
        say which; one alone never finds an optimum between its multiples.
    n_fine : int
        The best ends of the first search, from which those with the other steps start.
    n_kept : tuple of int
        How many starts, the best of them, take another step after each one; the last number holds for all further
        steps. Empty: all of them. So most steps are taken by the few whose end matters.
    """

    n_candidates: int = 250
    n_starts: int = 5
    steps: tuple[float, ...] = (0.1, 0.03, 0.01)
    n_fine: int = 3
    n_kept: tuple[int, ...] = (5, 3, 2)

    def __call__(self, belief: Belief, space: Space, tried: Array, rng: np.random.Generator) -> Array:
        X = random_rows(space, self.n_candidates, rng)
        scores = belief.score(X)
        if space.all is not None and len(X) == len(space.all):
            return ranked(X, scores)
        good = np.argsort(-scores, kind="stable")[: self.n_starts]
        starts = space.impute(np.concatenate([X[good], tried[: self.n_starts]]))
        at = np.concatenate([scores[good], belief.score(tried[: self.n_starts])]) if len(tried) else scores[good]
        starts, at = distinct(starts, at)
        ends, values = climb(belief, space, starts, at, self.steps[0], self.n_kept)
        for step in self.steps[1:]:
            best = np.argsort(-values, kind="stable")[: self.n_fine]
            fine, better = climb(belief, space, ends[best], values[best], step, self.n_kept)
            ends, values = np.concatenate([fine, ends]), np.concatenate([better, values])
        return ranked(np.concatenate([ends, X]), np.concatenate([values, scores]))


def climb(
    belief: Belief, space: Space, X: Array, scores: Array, step: float, n_kept: tuple[int, ...] = ()
) -> tuple[Array, Array]:
    """Move every row to its best neighbour while it gains by it; return where they ended and the scores there.

    Rows that meet continue as one; for `n_kept` see `LocalSearch`.
    """
    X, scores = X.copy(), scores.copy()
    walking = np.arange(len(X))
    known = KnownScores(belief)
    for number in range(MOST_STEPS):
        neighbours, origin = space.neighbours(X[walking], step=step)
        if not len(neighbours):
            break
        neighbours = space.impute(neighbours)
        best, values = best_of_each(neighbours, origin, known.score(neighbours), len(walking))
        better = values > scores[walking] + LEAST_GAIN
        walking = walking[better]
        if not len(walking):
            break
        X[walking], scores[walking] = best[better], values[better]
        walking = walking[first_of_equals(X[walking])]
        if n_kept:
            best_first = np.argsort(-scores[walking], kind="stable")
            walking = np.sort(walking[best_first[: n_kept[min(number, len(n_kept) - 1)]]])
    return distinct(X, scores)


class KnownScores:
    """Scores that are known already: most neighbours of a step were neighbours of the one before, too.

    A change of branch leads to the middle of the other branch, wherever a row comes from, if what is inactive there is
    imputed.
    """

    def __init__(self, belief: Belief) -> None:
        self._belief = belief
        self._known: dict[bytes, float] = {}

    def score(self, X: Array) -> Array:
        keys = [row.tobytes() for row in X]
        new = {key: index for index, key in enumerate(keys) if key not in self._known}
        if new:
            scores = self._belief.score(X[list(new.values())])
            self._known.update(zip(new, scores.tolist(), strict=True))
        return np.array([self._known[key] for key in keys])


def distinct(X: Array, scores: Array) -> tuple[Array, Array]:
    """Leave out rows that are there before."""
    first = first_of_equals(X)
    return X[first], scores[first]


def best_of_each(X: Array, origin: Indices, scores: Array, n: int) -> tuple[Array, Array]:
    """Return for each of `n` origins its best row and that row's score; -inf where it has none."""
    order = np.lexsort((-scores, origin))
    first = order[np.unique(origin[order], return_index=True)[1]]
    best, values = np.zeros((n, X.shape[1])), np.full(n, -np.inf)
    best[origin[first]], values[origin[first]] = X[first], scores[first]
    return best, values


def first_of_equals(X: Array) -> Indices:
    """Return where each different row appears first: two walkers that met need one pair of legs."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])


@dataclass(frozen=True)
class RandomNeighbours:
    """Random candidates, and local search by random steps from the best of them and of the trials, as SMAC has it.

    A step looks at `n_neighbours` draws from a normal distribution around each active number and at every other value
    of each active category, and goes to the best. A random step finds a way on where a surface is piecewise constant.
    """

    n_candidates: int = 5000
    n_starts: int = 10
    n_neighbours: int = 4
    scale: float = 0.2

    def __call__(self, belief: Belief, space: Space, tried: Array, rng: np.random.Generator) -> Array:
        X = random_rows(space, self.n_candidates, rng)
        scores = belief.score(X)
        if space.all is not None and len(X) == len(space.all):
            return ranked(X, scores)
        good, tried = np.argsort(-scores, kind="stable")[: self.n_starts], tried[: self.n_starts]
        ends = space.impute(np.concatenate([X[good], tried]))
        values = np.concatenate([scores[good], belief.score(tried)]) if len(tried) else scores[good]
        walking = np.arange(len(ends))
        for _ in range(MOST_STEPS):
            neighbours, origin = one_exchange(space, ends[walking], self.n_neighbours, self.scale, rng)
            best, better = best_of_each(neighbours, origin, belief.score(neighbours), len(walking))
            gains = better > values[walking]
            walking = walking[gains]
            if not len(walking):
                break
            ends[walking], values[walking] = best[gains], better[gains]
        return ranked(np.concatenate([ends, X]), np.concatenate([values, scores]))


def one_exchange(space: Space, X: Array, n: int, scale: float, rng: np.random.Generator) -> tuple[Array, Indices]:
    """Return copies of each row in which one active hyperparameter differs, and the row each comes from."""
    active = space.active(X)
    rows, origins = [], []
    for j, column in enumerate(space.columns):
        origin = np.flatnonzero(active[:, j])
        if column.is_categorical:
            moved = column.neighbours(X[origin, j], scale)
        else:
            drawn = X[origin, j] + scale * rng.standard_normal((n, len(origin)))
            moved = 1.0 - np.abs(1.0 - np.abs(drawn))  # mirrored at both ends
        for values in moved:
            changed = X[origin]
            changed[:, j] = np.clip(values, 0.0, 1.0)
            rows.append(changed)
            origins.append(origin)
    found = space.impute(space.snap(np.concatenate(rows)))
    allowed = space.is_allowed(found)
    return found[allowed], np.concatenate(origins)[allowed]


@dataclass(frozen=True)
class Perturbations:
    """Random candidates, then rounds of ever smaller random changes around the best of several branches.

    A handful of calls of the model in all, whatever the number of hyperparameters and however fine their steps: what
    one-exchange search needs forty of to cross an integer's range.

    Parameters
    ----------
    n_candidates : int
        Random configurations; the best of each branch is a start.
    n_starts : int
        How many of those at most.
    n_tried : int
        Best trials that are starts, too.
    n_children : int
        Changed copies of each start in a round; the best of them and of the start is kept.
    scales : tuple of float
        Standard deviation of a changed number in each round, in the encoded range.
    n_kept : tuple of int
        Starts that are left in each round, the best of them.
    """

    n_candidates: int = 400
    n_starts: int = 6
    n_tried: int = 3
    n_children: int = 20
    scales: tuple[float, ...] = (0.2, 0.1, 0.05, 0.02, 0.01)
    n_kept: tuple[int, ...] = (9, 4, 2, 2, 2)

    def __call__(self, belief: Belief, space: Space, tried: Array, rng: np.random.Generator) -> Array:
        X = random_rows(space, self.n_candidates, rng)
        scores = belief.score(X)
        if space.all is not None and len(X) == len(space.all):
            return ranked(X, scores)
        good = np.argsort(-scores, kind="stable")
        good = good[np.sort(np.unique(space.branches(X)[good], return_index=True)[1])][: self.n_starts]
        tried = tried[: self.n_tried]
        ends = space.impute(np.concatenate([X[good], tried]))
        values = np.concatenate([scores[good], belief.score(tried)]) if len(tried) else scores[good]
        seen, seen_scores = [X], [scores]
        for scale, n_kept in zip(self.scales, self.n_kept, strict=True):
            kept = np.argsort(-values, kind="stable")[:n_kept]
            ends, values = ends[kept], values[kept]
            children, origin = perturbed(space, ends, self.n_children, scale, rng)
            at = belief.score(children)
            seen, seen_scores = [*seen, ends, children], [*seen_scores, values, at]
            best, better = best_of_each(children, origin, at, len(ends))
            gains = better > values
            ends, values = np.where(gains[:, None], best, ends), np.where(gains, better, values)
        # everything that was scored: where the best was tried already, its neighbour is the next
        return ranked(np.concatenate(seen), np.concatenate(seen_scores))


def perturbed(space: Space, X: Array, n: int, scale: float, rng: np.random.Generator) -> tuple[Array, Indices]:
    """Return `n` changed copies of each row that are allowed, and the row each comes from.

    About half of a row's active numbers move, and one in ten of its categories is drawn again.
    """
    origin = np.repeat(np.arange(len(X)), n)
    rows = X[origin]
    moves = np.where(space.is_categorical, 0.1, 0.5) > rng.random(rows.shape)
    drawn = np.where(space.is_categorical, rng.random(rows.shape), rows + scale * rng.standard_normal(rows.shape))
    rows = space.impute(space.snap(np.where(moves & space.active(rows), drawn, rows)))
    allowed = space.is_allowed(rows)
    return rows[allowed], origin[allowed]


@dataclass(frozen=True)
class Gradients:
    """L-BFGS from the best of Sobol points and trials (Lévesque 2018, §2.2; Lacoste et al. 2014, §2).

    All starts are one problem whose objective is the sum of theirs: it separates, and one call of the model serves all.
    Numbers that are active at a start move; the rest stays. A relaxed space has numbers alone, all of them active.

    Parameters
    ----------
    n_candidates : int
        Sobol points, a power of two.
    n_starts : int
    is_relaxed : bool
        Treat every hyperparameter as an active real in [0, 1] (the method `spearmint`).
    most_steps : int
    """

    n_candidates: int = 256
    n_starts: int = 8
    is_relaxed: bool = False
    most_steps: int = 30

    def __call__(self, belief: Belief, space: Space, tried: Array, rng: np.random.Generator) -> Array:
        if not isinstance(belief, SmoothBelief):
            raise ChoiceError(
                f"A search along gradients needs a surrogate that has them. Got {type(belief).__name__}. Use "
                "LocalSearch or Perturbations with it."
            )
        U = sobol(len(space), self.n_candidates, rng)
        X = np.concatenate([U if self.is_relaxed else space.from_uniform(U), tried[: self.n_starts]])
        X = X[space.is_allowed(X)]
        if not len(X):
            X = space.sample(self.n_candidates, rng)
        scores = belief.score(X)
        starts = X[np.argsort(-scores, kind="stable")[: self.n_starts]]
        found = ascend(belief.score_gradient, starts, self.movable(space, starts), self.most_steps)
        found = found if self.is_relaxed else space.snap(found)
        found = found[space.is_allowed(found)]
        return ranked(np.concatenate([found, X]), np.concatenate([belief.score(found), scores]))

    def movable(self, space: Space, X: Array) -> Mask:
        """Return which coordinates of each row L-BFGS may move, (n, d)."""
        if self.is_relaxed:
            return np.ones(X.shape, dtype=bool)
        return np.asarray(space.active(X) & ~space.is_categorical)


def sobol(d: int, n: int, rng: np.random.Generator) -> Array:
    """Return the first `n` points of a scrambled Sobol sequence, (n, d)."""
    from scipy.stats import qmc

    return np.asarray(qmc.Sobol(d, scramble=True, rng=rng).random(n))


def ascend(score_gradient: Callable[[Array], tuple[Array, Array]], X: Array, movable: Mask, most_steps: int) -> Array:
    """Follow the gradient from every row within [0, 1], coordinates that are not movable held."""
    from scipy.optimize import minimize

    def negative(values: Array) -> tuple[float, Array]:
        rows = X.copy()
        rows[movable] = values
        scores, gradient = score_gradient(rows)
        return -float(scores.sum()), -gradient[movable]

    if not movable.any():
        return X
    result = minimize(
        negative, X[movable], jac=True, method="L-BFGS-B", bounds=[(0.0, 1.0)] * int(movable.sum()),
        options={"maxiter": most_steps},
    )  # fmt: skip
    found = X.copy()
    found[movable] = np.clip(result.x, 0.0, 1.0)
    return found
