"""On which rows a trial is fitted and judged: any scikit-learn splitter, fixed or reshuffled every trial.

Row indices everywhere are those of the user's table.
"""

import copy
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    BaseShuffleSplit,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)

from comitia.arrays import AnyArray, Mask
from comitia.errors import ChoiceError, ResamplingError
from comitia.evaluation.holdout import HoldOut, make_holdout
from comitia.evaluation.isolation import quiet
from comitia.evaluation.rare_classes import hold_outs
from comitia.seams import Resampling, Split
from comitia.seeds import Seeds


@runtime_checkable
class Splitter(Protocol):
    """A scikit-learn splitter, or anything that is called in the same way."""

    def split(
        self, X: AnyArray, y: AnyArray | None = None, groups: AnyArray | None = None
    ) -> Iterable[tuple[AnyArray, AnyArray]]:
        """Yield the rows to train and to judge on."""


@runtime_checkable
class Shuffler(Splitter, Protocol):
    """A splitter that can draw its splits."""

    random_state: int | None


Splits = Iterable[tuple[AnyArray, AnyArray]]
"""Row indices to train and to judge on, given by the user; `make_splitter` makes a list of them."""
CV = int | float | Splitter | Splits | Resampling
"""A number of folds, a fraction to hold out, splits or what makes them."""


class _OfSplitter:
    """What resamplings that wrap a splitter have in common."""

    def __init__(self, splitter: Splitter | Splits) -> None:
        self.splitter = list(splitter) if isinstance(splitter, Iterator) else splitter  # which can be read once

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.splitter})"

    @property
    def judges_every_row(self) -> bool:
        """Whether the test parts are a partition of the rows; not known of a list of splits."""
        return isinstance(self.splitter, BaseCrossValidator) and not isinstance(
            self.splitter,
            TimeSeriesSplit | BaseShuffleSplit | LeavePOut | LeavePGroupsOut | PredefinedSplit,
        )


class Fixed(_OfSplitter):
    """The same splits for every trial.

    Parameters
    ----------
    splitter : scikit-learn splitter, or sequence of (train, test) index arrays
        Where it shuffles without a `random_state` of its own, the study's seed decides.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import KFold
    >>> from comitia.evaluation.resampling import Fixed
    >>> from comitia.seeds import Seeds
    >>> [test.tolist() for _, test in Fixed(KFold(2)).splits(np.zeros(4), None, 0, 0, Seeds(0))]
    [[0, 1], [2, 3]]
    """

    is_reshuffled = False

    def splits(self, y: AnyArray, groups: AnyArray | None, number: int, repeat: int, seeds: Seeds) -> Sequence[Split]:
        """Return the splits; those of repeats beyond the first are drawn anew where the splitter shuffles."""
        splitter = copy.copy(self.splitter)
        if isinstance(splitter, Shuffler) and getattr(splitter, "shuffle", True):
            is_given = isinstance(splitter.random_state, int | np.integer)
            if repeat > 0 or not is_given:
                splitter.random_state = seeds.integer("splits-fixed", repeat)
        return _split(splitter, y, groups)


class Reshuffled(_OfSplitter):
    """New splits for every trial and every repeat (Lévesque 2018, §3.2.1): the search cannot overfit one split.

    Parameters
    ----------
    splitter : scikit-learn splitter
        It must be able to shuffle; time series, predefined and leave-one-out splits are refused.
    """

    is_reshuffled = True

    def __init__(self, splitter: Splitter | Splits) -> None:
        if not isinstance(splitter, Shuffler) or isinstance(splitter, TimeSeriesSplit):
            what = "a list of splits" if isinstance(splitter, list) else repr(splitter)
            raise ChoiceError(
                "Reshuffled must wrap a splitter that can be shuffled, such as KFold or ShuffleSplit. Got "
                f"{what} instead, whose splits mean something in their order. Use Fixed for it."
            )
        super().__init__(splitter)
        self._known: tuple[AnyArray, HoldOut | None] | None = None

    def __getstate__(self) -> dict[str, object]:
        # what is known of a target can be found again
        return {name: value for name, value in self.__dict__.items() if name != "_known"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _known=None)

    def splits(self, y: AnyArray, groups: AnyArray | None, number: int, repeat: int, seeds: Seeds) -> Sequence[Split]:
        """Return the splits; hold-outs of a read-only `y` are quick from the second call on, with the same rows."""
        if groups is None and self._known is not None and self._known[0] is y and self._known[1] is not None:
            return self._known[1].splits(seeds.integer("splits", number, repeat))
        splitter = self.splitter_of(number, repeat, seeds)
        found = _split(splitter, y, groups)
        if groups is None and not y.flags.writeable and (self._known is None or self._known[0] is not y):
            assert splitter.random_state is not None
            self._known = (y, make_holdout(splitter, y, splitter.random_state, found))
        return found

    def splitter_of(self, number: int, repeat: int, seeds: Seeds) -> Shuffler:
        """Return the scikit-learn splitter of one repeat of a trial."""
        splitter = copy.copy(self.splitter)
        assert isinstance(splitter, Shuffler)
        if hasattr(splitter, "shuffle"):
            splitter.shuffle = True
        splitter.random_state = seeds.integer("splits", number, repeat)
        return splitter


def make_splitter(cv: CV, *, stratify: bool, grouped: bool = False) -> Splitter | Splits:
    """Turn what a user gives into a splitter; numbers are those of `make_shuffler`."""
    if isinstance(cv, int | float | np.integer | np.floating) and not isinstance(cv, bool):
        return make_shuffler(cv, stratify=stratify, grouped=grouped)
    if isinstance(cv, Splitter) and not isinstance(cv, str | type):
        return cv
    if isinstance(cv, Iterable) and not isinstance(cv, str | bytes):
        pairs = list(cv)  # a generator can be read once
        if pairs and all(isinstance(pair, Sequence | np.ndarray) and len(pair) == 2 for pair in pairs):
            return pairs
    raise ChoiceError(
        "The 'cv' parameter must be a number of folds, a hold-out fraction, a scikit-learn splitter or (train, "
        f"test) index arrays. Got {cv!r} instead."
    )


def make_shuffler(cv: float | np.integer | np.floating, *, stratify: bool, grouped: bool = False) -> Shuffler:
    """Turn scikit-learn's shorthands into a splitter: 5 is shuffled 5-fold, 0.3 is a hold-out of 30 %.

    Proportions of classes are kept by `stratify`, the rows of a group on one side by `grouped`.
    """
    shuffler: Shuffler
    if isinstance(cv, int | np.integer):
        if cv < 2:
            raise ChoiceError(f"The 'cv' parameter must be an int >= 2. Got {cv} instead. For a hold-out use 0.3.")
        folds = (StratifiedGroupKFold, GroupKFold) if grouped else (StratifiedKFold, KFold)
        shuffler = folds[0 if stratify else 1](int(cv), shuffle=True)
        return shuffler
    if not 0 < cv < 1:
        raise ChoiceError(f"A hold-out fraction must be in (0, 1). Got {cv} instead.")
    kind = GroupShuffleSplit if grouped else StratifiedShuffleSplit if stratify else ShuffleSplit
    shuffler = kind(1, test_size=float(cv))
    return shuffler


def make_resampling(cv: CV, *, stratify: bool, grouped: bool = False, reshuffled: bool = False) -> Resampling:
    """Turn `cv` into a resampling; one that is a resampling already is returned as it is."""
    if isinstance(cv, Resampling):
        return cv
    splitter = make_splitter(cv, stratify=stratify, grouped=grouped)
    return Reshuffled(splitter) if reshuffled else Fixed(splitter)


def splits_of_rows(cv: CV, kept: Mask) -> CV:
    """Return what `cv` means for a table that has only the rows of `kept`.

    Splits that name rows are renumbered; a splitter is asked when the rows are known.
    """
    if isinstance(cv, Fixed):
        return Fixed(_renumbered(cv.splitter, kept))
    if isinstance(cv, int | float | np.integer | np.floating | Resampling):
        return cv
    return _renumbered(cv, kept)


def _renumbered(splitter: Splitter | Splits, kept: Mask) -> Splitter | Splits:
    if isinstance(splitter, PredefinedSplit):
        made: Splitter = PredefinedSplit(splitter.test_fold[kept])
        return made
    if isinstance(splitter, Splitter):
        return splitter
    new = np.cumsum(kept) - 1
    pairs = [_checked(train, test, len(kept)) for train, test in splitter]
    return [(new[train[kept[train]]], new[test[kept[test]]]) for train, test in pairs]


def carve_selection(y: AnyArray, groups: AnyArray | None, fraction: float, seeds: Seeds, *, stratify: bool) -> Split:
    """Set rows aside once for the final selection (Lévesque 2018, §3.2.2): never shuffled, never searched on.

    Classes keep their proportions where `stratify` says so and each has enough rows; else rows are drawn without, and
    not by `rare_classes`: studies that were recorded must have the same rows again. Returns the rows to search on and
    those set aside, each ascending.
    """
    if stratify and groups is None:
        _, counts = np.unique(y, return_counts=True)
        n_aside = math.ceil(fraction * len(y))
        # proportions can be kept where each class has a row for either side
        stratify = counts.min() >= 2 and len(counts) <= min(n_aside, len(y) - n_aside)
    splitter = make_shuffler(fraction, stratify=stratify, grouped=groups is not None)
    splitter.random_state = seeds.integer("selection-split")
    [(search, selection)] = _split(splitter, y, groups)
    return np.sort(search), np.sort(selection)


def check_can_be_carved(resampling: Resampling) -> None:
    """Refuse splits that name rows or follow time: without the rows set aside they would be other splits."""
    splitter = resampling.splitter if isinstance(resampling, _OfSplitter) else None
    if isinstance(splitter, list | PredefinedSplit | TimeSeriesSplit):
        raise ChoiceError(
            "A selection split needs a 'cv' that is drawn from the rows that are left, such as 5 or 0.3. Got "
            f"{type(splitter).__name__}, whose splits mean certain rows. Use another cv, or no selection split."
        )


def _split(splitter: Splitter | Splits, y: AnyArray, groups: AnyArray | None) -> list[Split]:
    n = len(y)
    if groups is not None and len(groups) != n:
        raise ResamplingError(f"'groups' must have one entry for each of the {n} rows. Got {len(groups)} instead.")
    pairs: Splits
    if not isinstance(splitter, Splitter):
        pairs = splitter
    else:
        try:
            # a class with fewer rows than folds: it is then absent from some folds, which is what we want
            with quiet("The least populated class"):
                pairs = _drawn(splitter, y, groups)
        except (ValueError, TypeError) as error:
            raise ResamplingError(
                f"Splits must fit the data. Got {splitter} for {n} rows: {str(error).rstrip('.')}. "
                "Use fewer folds or a smaller part, or check the groups."
            ) from error
    return [_checked(train, test, n) for train, test in pairs]


def _drawn(splitter: Splitter, y: AnyArray, groups: AnyArray | None) -> Splits:
    try:
        return list(splitter.split(np.zeros((len(y), 1)), y, groups))
    except ValueError:
        if not isinstance(splitter, StratifiedShuffleSplit):
            raise
        return hold_outs(splitter, y)


def _checked(train: AnyArray, test: AnyArray, n: int) -> Split:
    train, test = np.asarray(train), np.asarray(test)
    if train.dtype == bool:
        train, test = np.flatnonzero(train), np.flatnonzero(test)
    train, test = train.astype(np.intp), test.astype(np.intp)
    if not len(train) or not len(test):
        raise ResamplingError(
            f"A split must train on some rows and judge on others. Got {len(train)} and {len(test)} of {n} rows. "
            "Use fewer folds or a larger part."
        )
    low, high = min(train.min(), test.min()), max(train.max(), test.max())
    if low < 0 or high >= n:
        raise ResamplingError(
            f"Splits must be row indices from 0 to {n - 1}. Got {low if low < 0 else high}. "
            "Check that the splits were made for this table."
        )
    if len(np.intersect1d(train, test)):
        raise ResamplingError("A split must not judge on rows that it trains on. Got rows that are in both parts.")
    return train, test
