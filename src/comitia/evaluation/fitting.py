"""Fit one model: the one way to do it, for trials, for what is handed over, and for the test of an experiment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from joblib import parallel_config
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from comitia.arrays import AnyArray, Array, Estimator, Indices, Table
from comitia.evaluation.growth import of_size
from comitia.evaluation.isolation import quiet, seeded_globals
from comitia.seeds import Seeds
from comitia.space import Config

Build = Callable[[Config, int], Estimator]
"""`build(config, random_state)` returns an unfitted scikit-learn estimator."""
Quick = Callable[[Config, Array, Array, Array], Array | None]
"""`quick(config, X, codes, X_new)`: the class codes that the model of `build` predicts for `X_new`, in a shorter way.

X and X_new are finite and in C order; a class may be missing from codes. None leaves this one to the model. The answers
must be the model's own, because a study may mix both ways.
"""


@runtime_checkable
class HasQuick(Protocol):
    """A `Build` with a shorter way to the answers of its models."""

    quick: Quick


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows to learn from, or to be judged on."""

    X: Table
    y: AnyArray
    weights: Array | None = None
    """How much each counts; all alike if None."""

    def take(self, rows: Indices) -> Examples:
        """Return some of the rows."""
        return Examples(take(self.X, rows), self.y[rows], None if self.weights is None else self.weights[rows])


def fit(
    build: Build,
    config: Config,
    examples: Examples,
    seeds: Seeds,
    keys: tuple[int, ...] = (),
    n_threads: int = 1,
    size: int | None = None,
) -> Estimator:
    """Return a fitted model; weights of the examples count where the learner takes them.

    Keys are trial, repeat and fold of a model that is judged; the same keys and rows give the same model again. Without
    keys it is a model that is handed over. Threads are for learners that leave their number to joblib, such as forests,
    whose models do not depend on it. `size` is for learners that would find out how large their model must be.
    """
    threads = parallel_config(backend="threading", n_jobs=n_threads) if n_threads > 1 else nullcontext()
    with quiet(), seeded_globals(seeds, *keys), threads:
        model = build(config, seeds.integer("learner" if keys else "refit", *keys))
        model = model if size is None else of_size(model, size)
        model.fit(examples.X, examples.y, **fit_parameters(model, examples.weights))
        return model


def fit_parameters(model: Estimator, weights: Array | None) -> dict[str, Array]:
    """Return the keyword arguments that pass weights to a model, through pipelines; none where it takes none."""
    return {} if weights is None else dict.fromkeys(_weight_names(model, ""), weights)


def _weight_names(model: Estimator, prefix: str) -> list[str]:
    """Name the weights of a model, or of every step of a pipeline that takes them: scalers count rows too."""
    if isinstance(model, Pipeline):
        return [name for step, part in model.steps for name in _weight_names(part, f"{prefix}{step}__")]
    return [f"{prefix}sample_weight"] if has_fit_parameter(model, "sample_weight") else []


def take(X: Table, rows: Indices) -> Table:
    """Return rows of an array, a sparse matrix, a pandas or a polars frame."""
    taken: Table = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
    return taken
