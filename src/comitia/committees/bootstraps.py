"""Agnostic Bayes by bootstraps of the validation rows (Lacoste et al. 2014, §3-4, Alg. 2).

Which model is best depends on the rows that it was judged on. Each bootstrap of those rows has its own best model; how
often a model is the best of a bootstrap is how probable it is to be the best of all (Lacoste et al. 2014, eq. 5 and 6).
"""

from dataclasses import dataclass

import numpy as np

from comitia.arrays import Array
from comitia.committees.losses import SingleLoss
from comitia.committees.pool import Pool, pool_of
from comitia.committees.votes import chunks
from comitia.errors import check_int
from comitia.history import History
from comitia.seeds import Seeds


@dataclass(frozen=True)
class Bootstraps:
    """N bootstraps of the validation rows, and the risk of every model on them."""

    n: int | None = None
    """N; about 10 is enough when prediction time matters. None is half as many as there are trials (Lacoste et al.
    2014, §4), however many they become: the search then works on 1, 2, 4, 8, ... of them in turn, so that with M trials
    each of the first M/4 has had its turn with a history of at least M/4. With N given it is the paper's round robin.
    """
    loss: SingleLoss | None = None
    """Judge classes by this loss instead of the one that trials are judged by."""

    def __post_init__(self) -> None:
        if self.n is not None:
            check_int("Bootstraps", "n", self.n)

    def pool(self, history: History) -> Pool:
        """Return the pool of row losses."""
        has_classes = history.truth is not None and history.truth.n_classes > 0
        return pool_of(history, self.loss if has_classes else None)

    def turn(self, number: int) -> int:
        """Return the bootstrap that a trial works on."""
        return number % self.n if self.n is not None else number + 1 - 2 ** ((number + 1).bit_length() - 1)

    def count(self, history: History) -> int:
        """Return how many there are now."""
        return self.n if self.n is not None else max(1, history.n_finished // 2)

    def risks(self, pool: Pool, which: list[int], seeds: Seeds) -> Array:
        """Return the mean loss of each model on some bootstraps, (n_models, len(which))."""
        weights = np.stack([self._weights(pool, j, seeds) for j in which], axis=1)
        found = np.empty((len(pool), len(which)))
        for some in chunks(len(pool), pool.answers.shape[1]):
            losses = pool.answers[some].astype(np.float64)
            # one bootstrap is what the search sees: no matrix product, whose last digits depend on the other models
            found[some] = losses @ weights if len(which) > 1 else (losses * weights[:, 0]).sum(axis=1, keepdims=True)
        return found

    def _weights(self, pool: Pool, j: int, seeds: Seeds) -> Array:
        """Return how much each row counts in bootstrap j; the weights sum to 1."""
        assert pool.rows is not None
        n = len(pool.rows.weights)
        drawn = np.bincount(seeds("bootstrap", j).integers(n, size=n), minlength=n) * pool.rows.weights
        return np.asarray(drawn / drawn.sum() if drawn.sum() > 0 else pool.rows.weights)
