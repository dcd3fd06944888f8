"""What every resampling must do, for every scikit-learn splitter."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from comitia import Fixed, Reshuffled, Seeds
from comitia.bench.plan.splits import Capped
from comitia.errors import ChoiceError
from comitia.seams import Resampling
from tests.ids import stable

N = 40
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
GROUPS = np.repeat(np.arange(10), 4)

CAN_SHUFFLE = [
    KFold(5, shuffle=True),
    KFold(4),
    StratifiedKFold(5, shuffle=True),
    StratifiedShuffleSplit(1, test_size=0.3),
    ShuffleSplit(2, test_size=0.2),
    RepeatedStratifiedKFold(n_splits=3, n_repeats=2),
    GroupShuffleSplit(1, test_size=0.3),
    StratifiedGroupKFold(3, shuffle=True),
    GroupKFold(5, shuffle=True),
]
CANNOT = [
    TimeSeriesSplit(4),
    PredefinedSplit(np.arange(N) % 4),
    LeaveOneOut(),
    [(np.arange(20), np.arange(20, 30)), (np.arange(10), np.arange(30, 40))],
]
RESAMPLINGS: list[Resampling] = [
    *[Fixed(splitter) for splitter in CAN_SHUFFLE + CANNOT],
    *[Reshuffled(splitter) for splitter in CAN_SHUFFLE],
    Capped(Fixed(KFold(4)), 10),
    Capped(Reshuffled(ShuffleSplit(1, test_size=0.2)), 10),
]
"""A new resampling joins by one line. Those with "Group" in their repr are given groups."""


def splits(resampling: Resampling, number: int = 0, repeat: int = 0, seed: int = 0) -> Any:
    groups = GROUPS if "Group" in repr(resampling) else None
    return resampling.splits(Y, groups, number, repeat, Seeds(seed))


def as_lists(found: Any) -> Any:
    return [(train.tolist(), test.tolist()) for train, test in found]


@pytest.fixture(params=RESAMPLINGS, ids=lambda r: repr(r)[:60])
def resampling(request: pytest.FixtureRequest) -> Resampling:
    found: Resampling = request.param
    return found


def test_never_judges_on_a_row_it_trains_on(resampling: Resampling) -> None:
    for number in range(3):
        for train, test in splits(resampling, number):
            assert not set(train) & set(test)
            assert len(train)
            assert len(test)
            assert set(train) | set(test) <= set(range(N))


def test_is_a_function_of_its_arguments(resampling: Resampling) -> None:
    copied = pickle.loads(pickle.dumps(resampling))
    for number, repeat in [(0, 0), (5, 0), (5, 2)]:
        first = as_lists(splits(resampling, number, repeat))
        splits(resampling, number + 1, repeat)  # what happens in between does not matter
        assert as_lists(splits(copied, number, repeat)) == first


def test_says_truly_whether_every_row_is_judged_once(resampling: Resampling) -> None:
    if resampling.judges_every_row:
        for number in range(3):
            assert sorted(np.concatenate([test for _, test in splits(resampling, number)])) == list(range(N))


@pytest.mark.parametrize("splitter", [KFold(4), StratifiedKFold(5), GroupKFold(5), LeaveOneOut()], ids=stable)
def test_folds_judge_every_row(splitter: Any) -> None:
    assert Fixed(splitter).judges_every_row


@pytest.mark.parametrize("splitter", [ShuffleSplit(2), TimeSeriesSplit(3), GroupShuffleSplit(1), CANNOT[-1]])
def test_hold_outs_and_lists_of_splits_do_not_judge_every_row(splitter: Any) -> None:
    assert not Fixed(splitter).judges_every_row


def test_groups_stay_on_one_side(resampling: Resampling) -> None:
    if "Group" not in repr(resampling):
        return
    for number in range(3):
        for train, test in splits(resampling, number):
            assert not set(GROUPS[train]) & set(GROUPS[test])


def test_fixed_is_the_same_for_every_trial_and_reshuffled_is_not(resampling: Resampling) -> None:
    same = as_lists(splits(resampling, 0)) == as_lists(splits(resampling, 1))
    assert same == (not resampling.is_reshuffled)


@pytest.mark.parametrize("splitter", CAN_SHUFFLE, ids=stable)
def test_repeats_of_a_reshuffled_trial_differ(splitter: Any) -> None:
    resampling = Reshuffled(splitter)
    assert as_lists(splits(resampling, 3, 0)) != as_lists(splits(resampling, 3, 1))


@pytest.mark.parametrize("splitter", CANNOT, ids=lambda s: repr(s)[:40])
def test_reshuffled_refuses_what_has_an_order(splitter: Any) -> None:
    with pytest.raises(ChoiceError, match="Use Fixed"):
        Reshuffled(splitter)


def test_the_users_splitter_is_not_changed() -> None:
    splitter = KFold(4)
    splits(Reshuffled(splitter))
    assert not splitter.shuffle
    assert splitter.random_state is None


def test_a_random_state_of_the_users_own_is_kept() -> None:
    splitter = KFold(4, shuffle=True, random_state=3)
    assert as_lists(splits(Fixed(splitter), seed=1)) == as_lists(splitter.split(np.zeros(N)))
