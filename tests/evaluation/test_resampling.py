"""Shorthands, the selection split, and splits that do not fit; the contract suite has the rest."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from comitia import Fixed, Reshuffled, Seeds
from comitia.errors import ChoiceError, ResamplingError
from comitia.evaluation.resampling import carve_selection, make_resampling, make_splitter

Y = np.array([0] * 30 + [1] * 10)


@pytest.mark.parametrize(
    ("cv", "stratify", "grouped", "kind"),
    [
        (5, True, False, StratifiedKFold),
        (5, False, False, KFold),
        (np.int64(3), False, True, GroupKFold),
        (0.3, True, False, StratifiedShuffleSplit),
        (0.3, False, False, ShuffleSplit),
        (KFold(3), True, False, KFold),
    ],
)
def test_shorthands(cv: Any, stratify: bool, grouped: bool, kind: type) -> None:
    assert isinstance(make_splitter(cv, stratify=stratify, grouped=grouped), kind)


def test_a_resampling_is_taken_as_it_is() -> None:
    resampling = Reshuffled(KFold(3))
    assert make_resampling(resampling, stratify=True) is resampling
    assert isinstance(make_resampling(3, stratify=True, reshuffled=True), Reshuffled)


@pytest.mark.parametrize("cv", [1, 0, -3, 0.0, 1.0, 1.5, "five", None, [], True])
def test_what_is_not_a_splitter_is_refused(cv: Any) -> None:
    with pytest.raises(ChoiceError):
        make_splitter(cv, stratify=False)


def test_the_selection_split_is_carved_once_and_stratified() -> None:
    search, selection = carve_selection(Y, None, 0.2, Seeds(0), stratify=True)
    assert sorted([*search, *selection]) == list(range(40))
    assert len(selection) == 8
    assert Y[selection].sum() == 2
    again = carve_selection(Y, None, 0.2, Seeds(0), stratify=True)
    assert (again[1] == selection).all()
    other = carve_selection(Y, None, 0.2, Seeds(1), stratify=True)
    assert (other[1] != selection).any()


@pytest.mark.parametrize("y", [np.array([0] * 20 + [1]), np.arange(20) // 2], ids=["one row", "many classes"])
def test_a_selection_split_is_carved_where_proportions_cannot_be_kept(y: Any) -> None:
    search, selection = carve_selection(y, None, 0.2, Seeds(0), stratify=True)
    assert sorted([*search, *selection]) == list(range(len(y)))
    assert len(selection) == np.ceil(0.2 * len(y))


def test_the_selection_split_respects_groups() -> None:
    groups = np.repeat(np.arange(10), 4)
    search, selection = carve_selection(Y, groups, 0.3, Seeds(0), stratify=True)
    assert not set(groups[search]) & set(groups[selection])


@pytest.mark.parametrize(
    ("splitter", "groups", "message"),
    [
        (KFold(50), None, "Use fewer folds"),
        (StratifiedKFold(35), None, "Use fewer folds"),
        (ShuffleSplit(1, test_size=60), None, "40 rows"),
        (GroupKFold(3), None, "groups"),
        (GroupKFold(3), np.arange(39), "one entry for each of the 40 rows"),
        ([(np.arange(10), np.arange(5, 15))], None, "in both parts"),
        ([(np.arange(10), np.arange(90, 95))], None, "from 0 to 39"),
        ([(np.arange(10), np.array([], dtype=int))], None, "judge on others"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_splits_that_do_not_fit_say_so(splitter: Any, groups: Any, message: str) -> None:
    with pytest.raises(ResamplingError, match=message):
        Fixed(splitter).splits(Y, groups, 0, 0, Seeds(0))


def test_a_class_with_fewer_rows_than_folds_is_no_obstacle() -> None:
    y = np.array([0] * 30 + [1] * 3)
    splits = Fixed(StratifiedKFold(5, shuffle=True)).splits(y, None, 0, 0, Seeds(0))
    assert len(splits) == 5


def test_boolean_masks_are_splits() -> None:
    mask = np.arange(40) < 30
    [(train, test)] = Fixed([(mask, ~mask)]).splits(Y, None, 0, 0, Seeds(0))
    assert (len(train), len(test)) == (30, 10)


def test_splits_may_be_any_iterable_and_are_read_once() -> None:
    folds = list(KFold(4).split(Y))
    for cv in (iter(folds), tuple(folds), dict(enumerate(folds)).values(), KFold(4).split(Y), map(list, folds)):
        resampling = make_resampling(cv, stratify=True)  # type: ignore[arg-type]
        for _ in range(2):
            found = resampling.splits(Y, None, 0, 0, Seeds(0))
            assert [test.tolist() for _, test in found] == [test.tolist() for _, test in folds]
    assert len(Fixed(iter(folds)).splits(Y, None, 0, 0, Seeds(0))) == 4
