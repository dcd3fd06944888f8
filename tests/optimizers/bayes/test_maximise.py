"""Maximisers of a promise that is known."""

from dataclasses import dataclass, field
from typing import Any

import ConfigSpace as CS
import numpy as np
import pytest

from comitia import Space, get_space
from comitia.optimizers.bayes.maximise import Gradients, LocalSearch, RandomCandidates, best_of_each, climb
from comitia.seams import Maximiser


@dataclass(frozen=True)
class Hill:
    """Promises most at one row; a double for a model."""

    space: Space
    at: Any

    def score(self, X: Any) -> Any:
        return -((self.space.impute(X) - self.at) ** 2).sum(axis=1)

    def score_gradient(self, X: Any) -> Any:
        return self.score(X), -2 * (X - self.at)

    def mean(self, X: Any) -> Any:
        return -self.score(X)

    def mean_gradient(self, X: Any) -> Any:
        return self.mean(X), 2 * (X - self.at)

    def believe(self, X: Any) -> "Hill":
        return self


def reals() -> Space:
    definition = CS.ConfigurationSpace()
    definition.add(*(CS.UniformFloatHyperparameter(f"x{j}", 0.0, 1.0) for j in range(3)))
    return Space(definition)


NOTHING = np.empty((0, 3))


@pytest.mark.parametrize(
    ("maximiser", "near"),
    [
        (RandomCandidates(), 0.2),
        (LocalSearch(), 0.1),
        (LocalSearch(steps=(0.1, 0.03, 0.01)), 0.05),
        (Gradients(), 1e-3),
    ],
    ids=["random", "local", "fine", "gradients"],
)
def test_finds_the_top_of_a_hill(maximiser: Maximiser, near: float) -> None:
    space = reals()
    hill = Hill(space, np.array([0.3, 0.8, 0.05]))
    found = maximiser(hill, space, NOTHING, np.random.default_rng(0))
    assert np.abs(found[0] - hill.at).max() < near
    scores = hill.score(found)
    assert (np.diff(scores) <= 1e-12).all()  # the best first


def test_all_starts_climb_at_once_and_each_as_it_would_alone() -> None:
    space = get_space("sklearn-cash").space
    rng = np.random.default_rng(1)
    hill = Hill(space, space.impute(space.sample(1, rng))[0])
    starts = space.impute(space.sample(12, rng))
    together, values = climb(hill, space, starts, hill.score(starts), 0.1)
    alone = np.concatenate([climb(hill, space, x[None], hill.score(x[None]), 0.1)[0] for x in starts])
    assert {tuple(x) for x in together} == {tuple(x) for x in alone}
    np.testing.assert_allclose(values, hill.score(together))


RF = ("rf:max_depth", "rf:min_samples_leaf", "rf:min_samples_split", "rf:n_estimators")


@dataclass(frozen=True)
class Remembering(Hill):
    """A steep hill that remembers the configurations it scored."""

    seen: list[bytes] = field(default_factory=list)

    def score(self, X: Any) -> Any:
        self.seen.extend(row.tobytes() for row in self.space.impute(X))
        return 100.0 * super().score(X)


def forests(space: Space, n: int, seed: int) -> Any:
    """Return configurations of the learner with the most hyperparameters.  # (n, d)."""
    X = space.sample(n, np.random.default_rng(seed))
    X[:, 0] = space.encode([{"learner": "rf", **dict.fromkeys(RF, 2)}])[0, 0]
    return space.impute(X)


def test_the_best_of_many_walkers_goes_to_its_end_and_the_rest_is_left_behind() -> None:
    space = get_space("sklearn-cash").space
    top = forests(space, 1, seed=3)[0]
    starts = forests(space, 12, seed=4)
    scores = Remembering(space, top).score(starts)
    every, few = Remembering(space, top), Remembering(space, top)
    _, values = climb(every, space, starts, scores, 0.1)
    _, kept = climb(few, space, starts, scores, 0.1, (5, 3, 2))
    assert kept.max() == values.max()
    assert len(few.seen) < 0.7 * len(every.seen)


def test_no_configuration_is_scored_twice_however_long_the_walk() -> None:
    """A walker's neighbours in other branches are the same ones at each step."""
    space = get_space("sklearn-cash").space
    hill = Remembering(space, forests(space, 1, seed=3)[0])
    start = forests(space, 1, seed=4)
    climb(hill, space, start, Remembering(space, hill.at).score(start), 0.1)
    assert len(hill.seen) == len(set(hill.seen)) > 40


def test_local_search_crosses_branches_and_ends_at_a_local_maximum() -> None:
    space = get_space("sklearn-cash").space
    rng = np.random.default_rng(2)
    hill = Hill(space, space.impute(space.sample(1, rng))[0])
    best = LocalSearch(n_candidates=5, n_starts=2)(hill, space, np.empty((0, 14)), rng)[0]
    assert space.branches(best[None]) == space.branches(hill.at[None])
    neighbours, _ = space.neighbours(best[None])
    assert hill.score(neighbours).max() <= hill.score(best[None])[0] + 0.01


def test_local_search_starts_from_the_best_trials_too() -> None:
    space = reals()
    hill = Hill(space, np.array([0.3, 0.8, 0.05]))
    found = LocalSearch(n_candidates=1, n_starts=1)(hill, space, hill.at[None], np.random.default_rng(0))
    np.testing.assert_allclose(found[0], hill.at)


def test_gradients_hold_categories_and_move_active_numbers_alone() -> None:
    space = get_space("sklearn-cash").space
    starts = space.sample(50, np.random.default_rng(0))
    movable = Gradients().movable(space, starts)
    assert not movable[:, space.is_categorical].any()
    assert not (movable & ~space.active(starts)).any()
    assert Gradients(is_relaxed=True).movable(space, starts).all()


def test_a_small_space_is_scored_whole() -> None:
    space = Space({"a": list(range(7)), "b": list(range(5))})
    everything = space.all
    assert everything is not None
    hill = Hill(space, everything[17])
    for maximiser in (RandomCandidates(3), LocalSearch(n_candidates=3)):
        found = maximiser(hill, space, np.empty((0, 2)), np.random.default_rng(0))
        assert len(found) == 35
        np.testing.assert_array_equal(found[0], hill.at)


def test_the_best_of_each_origin() -> None:
    X = np.arange(8.0).reshape(4, 2)
    best, values = best_of_each(X, np.array([0, 2, 0, 2]), np.array([1.0, 5.0, 3.0, 4.0]), 3)
    np.testing.assert_array_equal(best[[0, 2]], X[[2, 1]])
    assert values.tolist() == [3.0, -np.inf, 5.0]
