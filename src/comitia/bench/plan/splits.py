"""Splits with a limit on the training part, which scikit-learn's splitters do not have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from comitia.arrays import AnyArray, Indices
from comitia.evaluation.resampling import make_resampling
from comitia.seams import Resampling, Split
from comitia.seeds import Seeds


@dataclass(frozen=True)
class Capped:
    """Train on at most `most` rows (Lévesque 2018, §3.3: 5,000).

    With a hold-out, rows over the limit join the validation part, as in that thesis; with folds they are left out of
    that fold's training, so that every row is still judged once.
    """

    resampling: Resampling
    most: int

    @property
    def judges_every_row(self) -> bool:
        return self.resampling.judges_every_row

    @property
    def is_reshuffled(self) -> bool:
        return self.resampling.is_reshuffled

    def splits(self, y: AnyArray, groups: AnyArray | None, number: int, repeat: int, seeds: Seeds) -> Sequence[Split]:
        found = self.resampling.splits(y, groups, number, repeat, seeds)
        key = number if self.is_reshuffled else 0
        return [self._cap(split, seeds("cap", key, repeat, fold)) for fold, split in enumerate(found)]

    def _cap(self, split: Split, rng: np.random.Generator) -> Split:
        train, test = split
        if len(train) <= self.most:
            return split
        order = rng.permutation(train)
        kept, rest = np.sort(order[: self.most]), order[self.most :]
        return kept, test if self.judges_every_row else np.sort(np.concatenate([test, rest]))


def make_validation(
    cv: float | int,
    y: AnyArray,
    *,
    is_classes: bool,
    reshuffled: bool,
    most: int | None,
    selection_split: float | None = None,
    stratified: bool = True,
) -> Resampling:
    """Return the resampling of a cell; classes keep their proportions where each has two rows to be split.

    Where not all have, no class keeps them, as in all recorded rows; `TableEvaluator` itself would keep the others'.
    """
    smallest = int(np.unique(y, return_counts=True)[1].min()) if is_classes else 0
    if selection_split is not None:
        smallest -= int(selection_split * smallest) + 1  # what a stratified draw may take of it
    stratify = stratified and (smallest >= 2 or (is_classes and cv >= 2))
    resampling = make_resampling(cv, stratify=stratify, reshuffled=reshuffled)
    return resampling if most is None else Capped(resampling, most)


def capped_rows(n_rows: int, most: int | None, seeds: Seeds) -> Indices:
    """Return the rows that what is returned is fitted on: all, or a sample of the limit's size."""
    if most is None or n_rows <= most:
        return np.arange(n_rows)
    return np.sort(seeds("cap-refit").permutation(n_rows)[:most])
