"""`WordDirections`: what texts are about, learned from the counts of their words in the rows of a fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.extmath import randomized_svd

from comitia.arrays import AnyArray, Array, Indices

N_DIRECTIONS = 24
"""Columns that the words of a text become."""


class WordDirections(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace each block of columns of word counts by the directions in which its texts differ most.

    Rare words count for more than common ones (TF-IDF), each text has length 1, and the first right singular vectors
    are kept: latent semantic analysis (Deerwester et al. 1990). Other columns come first, as they are.

    Parameters
    ----------
    blocks : sequence of sequences of int
        Positions of the columns of each text.
    """

    def __init__(self, blocks: Sequence[Sequence[int]]) -> None:
        self.blocks = blocks

    def fit(self, X: Array, y: AnyArray | None = None) -> WordDirections:
        """Learn from the counts of these rows."""
        self.n_features_in_ = X.shape[1]
        self.rarities_, self.directions_ = [], []
        for block in self.blocks:
            counts = X[:, list(block)]
            rarity = np.log((1 + len(X)) / (1 + (counts > 0).sum(axis=0))) + 1
            found = np.zeros((n_directions(len(block)), len(block)))
            weighted = _weighted(counts, rarity)
            _, _, directions = randomized_svd(weighted, min(len(found), *weighted.shape), random_state=0)
            found[: len(directions)] = directions  # fewer rows than directions leave the rest 0
            self.rarities_.append(rarity)
            self.directions_.append(found)
        return self

    def transform(self, X: Array) -> Array:
        """Return other columns, and the directions of each text: (n, n_others + n_directions)."""
        parts = [X[:, others(self.blocks, X.shape[1])]]
        for block, rarity, directions in zip(self.blocks, self.rarities_, self.directions_, strict=True):
            parts.append(_weighted(X[:, list(block)], rarity) @ directions.T)
        return np.hstack(parts)


def n_directions(n_words: int) -> int:
    """Return how many columns a text with so many words becomes."""
    return min(N_DIRECTIONS, n_words)


def others(blocks: Sequence[Sequence[int]], n_columns: int) -> Indices:
    """Return the positions of the columns that are no counts of words."""
    return np.setdiff1d(np.arange(n_columns), np.concatenate([np.asarray(block, dtype=np.intp) for block in blocks]))


def _weighted(counts: Array, rarity: Array) -> Array:
    """Return counts times rarity, each text with length 1; texts without a word stay 0."""
    found = counts * rarity
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.where(lengths > 0, lengths, 1.0))
