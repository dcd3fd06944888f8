"""Sparse tables made dense, for learners that take no others."""

from __future__ import annotations

from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from comitia.arrays import AnyArray, Table


def dense(X: Table) -> Table:
    """Return a sparse table as an array; others as they are."""
    return X.toarray() if isinstance(X, sparse.spmatrix | sparse.sparray) else X


class Dense(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A step of a pipeline that does so."""

    def fit(self, X: Table, y: AnyArray | None = None) -> Dense:
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Table) -> Table:
        return dense(X)
