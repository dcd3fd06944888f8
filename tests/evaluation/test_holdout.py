"""Quick hold-outs are scikit-learn's own."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from comitia import Seeds
from comitia.evaluation.holdout import make_holdout
from comitia.evaluation.resampling import Reshuffled


def frozen(y: Any) -> Any:
    y = np.array(y)
    y.flags.writeable = False
    return y


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(2, 30), min_size=1, max_size=6),
    fraction=st.floats(0.2, 0.6),
    n_splits=st.integers(1, 3),
    kind=st.sampled_from([ShuffleSplit, StratifiedShuffleSplit]),
    seed=st.integers(0, 2**31 - 1),
)
def test_the_rows_are_those_of_scikit_learn(
    sizes: list[int], fraction: float, n_splits: int, kind: Any, seed: int
) -> None:
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    first, expected = (kind(n_splits, test_size=fraction, random_state=k) for k in (0, seed))
    assume(len(y) * min(fraction, 1 - fraction) >= len(sizes) + 1)  # else scikit-learn refuses
    made = make_holdout(first, y, 0, list(first.split(y, y)))
    assert made is not None
    for (a, b), (c, d) in zip(made.splits(seed), expected.split(y, y), strict=True):
        assert a.tolist() == c.tolist()
        assert b.tolist() == d.tolist()


@pytest.mark.parametrize("kind", [ShuffleSplit, StratifiedShuffleSplit])
def test_a_target_that_cannot_change_is_looked_at_once_and_gives_the_same_splits(kind: Any) -> None:
    y = np.repeat(["a", "b", "c"], [20, 11, 9])
    slow, quick = Reshuffled(kind(1, test_size=0.3)), Reshuffled(kind(1, test_size=0.3))
    fixed = frozen(y)
    for number in range(5):
        [(a, b)] = slow.splits(y, None, number, 1, Seeds(2))
        [(c, d)] = quick.splits(fixed, None, number, 1, Seeds(2))
        assert a.tolist() == c.tolist()
        assert b.tolist() == d.tolist()
    assert quick._known is not None
    assert quick._known[1] is not None
    assert slow._known is None


def test_another_target_is_not_taken_for_the_known_one() -> None:
    resampling = Reshuffled(StratifiedShuffleSplit(1, test_size=0.5))
    one, other = frozen([0, 0, 0, 0, 1, 1, 1, 1]), frozen([0, 1, 0, 1, 0, 1, 0, 1])
    for y in (one, one, other, other, one):
        [(train, test)] = resampling.splits(y, None, 0, 0, Seeds(0))
        assert y[train].sum() == y[test].sum() == 2


def test_a_splitter_that_draws_otherwise_is_used_itself() -> None:
    class Reversed(StratifiedShuffleSplit):  # type: ignore[misc]
        def split(self, X: Any, y: Any, groups: Any = None) -> Any:
            for train, test in super().split(X, y, groups):
                yield train[::-1], test[::-1]

    y = frozen([0, 1] * 10)
    own = Reshuffled(Reversed(1, test_size=0.3))
    plain = Reshuffled(StratifiedShuffleSplit(1, test_size=0.3))
    for number in range(3):
        [(a, _)] = own.splits(y, None, number, 0, Seeds(0))
        [(b, _)] = plain.splits(y, None, number, 0, Seeds(0))
        assert a.tolist() == b[::-1].tolist()


def test_expectations_that_are_not_met_make_no_hold_out() -> None:
    y = np.array([0, 1] * 10)
    splitter = StratifiedShuffleSplit(1, test_size=0.3)
    expected = list(StratifiedShuffleSplit(1, test_size=0.3, random_state=1).split(y, y))
    assert make_holdout(splitter, y, 1, expected) is not None
    assert make_holdout(splitter, y, 2, expected) is None
