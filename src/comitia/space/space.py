"""`Space`: a ConfigSpace `ConfigurationSpace` compiled to arrays.

A configuration is a row of [0, 1]^d, inactive hyperparameters included (their coordinates are whatever was sampled,
so that the "no imputation" ablation is possible), or a `Config`, which holds the active ones only.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

import ConfigSpace as CS
import numpy as np
from numpy.typing import ArrayLike, NDArray

from comitia.arrays import Array, Indices, Mask
from comitia.errors import SpaceError, UnknownName
from comitia.space.conditions import (
    Branches,
    activity,
    columns_of,
    compile_condition,
    compile_forbidden,
    in_order_of_dependence,
    shared,
)
from comitia.space.config import Config, Value
from comitia.space.dicts import configspace_from_dicts, configspace_from_json, json_dict
from comitia.space.hyperparameters import STEP, Real, Reals, compile_hyperparameter

MOST_GRID_POINTS = 1_000_000
SAMPLING_ROUNDS = 200
"""Rounds of rejection after which forbidden clauses are taken to leave nothing."""


class Space:
    """A search space, vectorised over rows.

    Parameters
    ----------
    definition : ConfigSpace.ConfigurationSpace, mapping, list of mappings or Space
        A ConfigSpace space with conditions and forbidden clauses, or a dictionary as scikit-learn's searches take it:
        a list is a choice, `(low, high)` or `(low, high, "log")` a range; SciPy's distributions, Optuna's and skopt's
        have their own meaning. Of a list of dictionaries each configuration follows one.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia import Space
    >>> space = Space({"C": (1e-3, 1e3, "log"), "kernel": ["rbf", "linear"]})
    >>> X = space.sample(2, np.random.default_rng(0))
    >>> space.decode(X)[0]
    Config(C=6.63391838, kernel='rbf')
    """

    def __init__(
        self, definition: CS.ConfigurationSpace | Mapping[str, Value] | Sequence[Mapping[str, Value]] | Space
    ) -> None:
        if isinstance(definition, Space):
            definition = definition.configspace
        if not isinstance(definition, CS.ConfigurationSpace):
            if not isinstance(definition, Mapping | list):
                raise SpaceError(
                    "A space must be a ConfigSpace ConfigurationSpace, a Space, or a dict of lists, ranges and SciPy "
                    f"distributions. Got {type(definition).__name__} instead."
                )
            definition = configspace_from_dicts(definition if isinstance(definition, list) else [definition])
        if not len(definition):
            raise SpaceError("A space must have at least one hyperparameter. Got none.")
        self.configspace: CS.ConfigurationSpace = definition
        self.columns = [compile_hyperparameter(h) for h in definition.values()]
        self.names = [column.name for column in self.columns]
        self._index = {name: index for index, name in enumerate(self.names)}
        self._rules = shared(
            {self._index[c.child.name]: compile_condition(c, self.columns) for c in definition.conditions}
        )
        self._order = in_order_of_dependence(len(self.columns), self._rules)
        self._forbidden = [compile_forbidden(c, self.columns) for c in definition.forbidden_clauses]
        self._branches = Branches(self.columns, self._rules)
        rules = [*self._rules.values(), *self._forbidden]
        reals = [column for column in self.columns if isinstance(column, Real) and column.quantiles is None]
        self._reals = Reals(reals) if len(reals) == len(self.columns) and not self._rules else None
        self._looked_at = sorted(set().union(*map(columns_of, rules)))  # the columns that rules compare
        # all reals are cut off at once; these are not
        self._rounded = [j for j, column in enumerate(self.columns) if not isinstance(column, Real)]
        self._warped = [j for j, c in enumerate(self.columns) if not isinstance(c, Real) or c.shape is not None]

    # ---- what it is -------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of hyperparameters, active or not."""
        return len(self.columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and json_dict(self.configspace) == json_dict(other.configspace)

    def __hash__(self) -> int:
        return hash(tuple(self.names))

    def __repr__(self) -> str:
        return f"Space({', '.join(self.names)})"

    @property
    def forbids(self) -> bool:
        """Whether there are forbidden clauses."""
        return bool(self._forbidden)

    @cached_property
    def is_finite(self) -> bool:
        """Whether there is no real among the hyperparameters."""
        return all(math.isfinite(column.size) for column in self.columns)

    @cached_property
    def is_categorical(self) -> Mask:
        """Which columns have values without an order."""
        found = np.array([column.is_categorical for column in self.columns])
        found.setflags(write=False)
        return found

    def to_json(self) -> str:
        """Write the space as ConfigSpace's JSON."""
        return json.dumps(json_dict(self.configspace))

    @classmethod
    def from_json(cls, text: str) -> Space:
        """Read a space that `to_json`, or ConfigSpace itself, wrote."""
        return cls(configspace_from_json(text))

    # ---- values and coordinates -------------------------------------------------------------------------------

    def from_uniform(self, U: ArrayLike) -> Array:
        """Turn uniform points of [0, 1]^d into configurations that follow the space's distributions."""
        U = self._rows(U)
        X = np.clip(U, 0.0, 1.0)
        for j in self._warped:
            X[:, j] = self.columns[j].snap(self.columns[j].warp(U[:, j]))
        return X

    def snap(self, X: ArrayLike) -> Array:
        """Move every coordinate to that of the nearest valid value."""
        X = self._rows(X)
        found = np.clip(X, 0.0, 1.0)
        for j in self._rounded:
            found[:, j] = self.columns[j].snap(X[:, j])
        return found

    def _numbers(self, X: Array) -> Array:
        """Return what rules compare; zeros in columns that no rule compares."""
        numbers = np.zeros(X.shape)
        for j in self._looked_at:
            numbers[:, j] = self.columns[j].numbers(X[:, j])
        return numbers

    def decode(self, X: ArrayLike) -> list[Config]:
        """Return the configuration of each row, active hyperparameters only."""
        X = self._rows(X)
        if self._reals is not None:
            return [Config(dict(zip(self.names, row, strict=True))) for row in self._reals.values(X)]
        active = self.active(X)
        values: list[list[Value]] = []
        for j, column in enumerate(self.columns):
            if active[:, j].all():
                values.append(column.values(X[:, j]))
            else:  # decode only what is active: formatting reals is the costly part
                mixed = np.empty(len(X), dtype=object)
                decoded = column.values(X[active[:, j], j])
                mixed[active[:, j]] = np.fromiter(decoded, dtype=object, count=len(decoded))
                values.append(mixed.tolist())
        return [
            Config({name: v for name, v, is_on in zip(self.names, row, on, strict=True) if is_on})
            for row, on in zip(zip(*values, strict=True), active.tolist(), strict=True)
        ]

    def encode(self, configs: Iterable[Mapping[str, Value]]) -> Array:
        """Return the row of each configuration; inactive hyperparameters are in the middle.

        Raises
        ------
        SpaceError
            If a value is outside its range, a hyperparameter is missing, or one is given that is inactive.
        UnknownName
            If a hyperparameter is not in the space.
        """
        configs = list(configs)
        X = np.full((len(configs), len(self.columns)), 0.5)
        for row, config in zip(X, configs, strict=True):
            for name, value in config.items():
                if name not in self._index:
                    raise UnknownName("hyperparameter", name, self.names)
                index = self._index[name]
                row[index] = self.columns[index].coordinate(value)
        self._check_given(X, configs)
        return X

    def _check_given(self, X: Array, configs: list[Mapping[str, Value]]) -> None:
        """Refuse configurations that lack an active hyperparameter, have an inactive one, or are forbidden."""
        for config, active in zip(configs, self.active(X), strict=True):
            expected = {name for name, is_on in zip(self.names, active, strict=True) if is_on}
            if missing := sorted(expected - set(config)):
                raise SpaceError(
                    f"A configuration must have a value for every active hyperparameter. Got {dict(config)!r} "
                    f"without {', '.join(missing)}."
                )
            if extra := sorted(set(config) - expected):
                raise SpaceError(
                    f"A configuration must not have values for inactive hyperparameters. Got {dict(config)!r}, where "
                    f"{', '.join(extra)} cannot be active. Leave it out."
                )
        if len(configs) and not (allowed := self.is_allowed(X)).all():
            first = configs[int(np.argmin(allowed))]
            raise SpaceError(f"A configuration must not be forbidden. Got {dict(first)!r}, which the space forbids.")

    # ---- structure --------------------------------------------------------------------------------------------

    def active(self, X: ArrayLike) -> Mask:
        """Return which hyperparameters are active in each row, an (n, d) array."""
        X = self._rows(X)
        if not self._rules:
            return np.ones(X.shape, dtype=bool)
        return activity(self._numbers(X), self._order, self._rules)

    def is_allowed(self, X: ArrayLike) -> Mask:
        """Return which rows no forbidden clause excludes."""
        X = self._rows(X)
        allowed = np.ones(len(X), dtype=bool)
        if self._forbidden:
            numbers = self._numbers(X)
            active = activity(numbers, self._order, self._rules)
            for rule in self._forbidden:
                allowed &= ~rule.holds(numbers, active)
        return allowed

    def impute(self, X: ArrayLike, *, to: Literal["middle", "default"] = "middle") -> Array:
        """Set inactive hyperparameters to the middle of their range or to their default (Lévesque et al. 2017, §III-A).

        The "no imputation" ablation does not call it.
        """
        X = self._rows(X)
        return np.where(self.active(X), X, self._filler(to))

    def _filler(self, to: Literal["middle", "default"]) -> Array:
        """Return what inactive hyperparameters are set to."""
        return np.full(len(self.columns), 0.5) if to == "middle" else self.defaults

    @cached_property
    def defaults(self) -> Array:
        """Coordinates of every hyperparameter's default, active or not."""
        found = []
        for column, hyperparameter in zip(self.columns, self.configspace.values(), strict=True):
            default = hyperparameter.default_value
            meta = hyperparameter.meta or {}
            if "scipy" in meta:
                found.append(0.5)
            elif meta.get("literals") or "objects" in meta:
                assert isinstance(hyperparameter, CS.CategoricalHyperparameter)
                found.append(float(column.grid(1)[list(hyperparameter.choices).index(default)]))
            else:
                found.append(column.coordinate(default))
        return np.array(found)

    @property
    def default(self) -> Config:
        """The configuration in which every active hyperparameter has its default."""
        return self.decode(self.defaults[None])[0]

    def branches(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return one label per row: equal labels if and only if the rows are comparable."""
        X = self._rows(X)
        if not self._rules:
            return np.zeros(len(X), dtype=np.int64)
        numbers = self._numbers(X)
        return self._branches(numbers, activity(numbers, self._order, self._rules))

    def imputed_branches(
        self, X: ArrayLike, *, to: Literal["middle", "default"] = "middle"
    ) -> tuple[Array, NDArray[np.int64]]:
        """Return what `impute` and `branches` do, both at once."""
        X = self._rows(X)
        if not self._rules:
            return X, np.zeros(len(X), dtype=np.int64)
        numbers = self._numbers(X)
        active = activity(numbers, self._order, self._rules)
        return np.where(active, X, self._filler(to)), self._branches(numbers, active)

    def neighbours(self, X: ArrayLike, *, step: float = STEP) -> tuple[Array, Indices]:
        """Return the allowed one-exchange neighbours of all rows, and the row of each (Lévesque 2018, eq. 5.7-5.8).

        They are what local search looks at: one active hyperparameter is changed in every way that its kind allows. A
        real takes a step either way, an integer and an ordinal go to the next value either way, a categorical to every
        other value. A hyperparameter that becomes active keeps the coordinate it has in the row: the middle where the
        row was imputed.
        """
        X = self._rows(X)
        active = self.active(X)
        rows, origins = [np.empty((0, len(self.columns)))], [np.empty(0, dtype=np.intp)]
        for j, column in enumerate(self.columns):
            origin = np.flatnonzero(active[:, j])
            if not len(origin):
                continue
            for moved in column.neighbours(X[origin, j], step):
                exists = ~np.isnan(moved)
                changed = X[origin[exists]]
                changed[:, j] = moved[exists]
                rows.append(changed)
                origins.append(origin[exists])
        found = np.concatenate(rows)
        allowed = self.is_allowed(found)
        return found[allowed], np.concatenate(origins)[allowed]

    # ---- points -----------------------------------------------------------------------------------------------

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw `n` configurations that are not forbidden."""
        X = self.from_uniform(rng.random((n, len(self.columns))))
        if not self._forbidden:
            return X
        kept = X[self.is_allowed(X)]
        for _ in range(SAMPLING_ROUNDS):
            if len(kept) >= n:
                return kept[:n]
            more = self.from_uniform(rng.random((max(n, 100), len(self.columns))))
            kept = np.concatenate([kept, more[self.is_allowed(more)]])
        raise SpaceError(
            f"Forbidden clauses must leave something to sample. Got {len(kept)} allowed configurations in "
            f"{SAMPLING_ROUNDS * max(n, 100)} draws. Loosen them, or make impossible values impossible by conditions."
        )

    def grid(self, levels: int = 10, *, most: int = MOST_GRID_POINTS) -> Array:
        """Return every allowed combination of up to `levels` values for each *active* hyperparameter.

        Choices are never thinned out. Inactive coordinates are in the middle, so no configuration appears twice.
        """
        X = np.full((1, len(self.columns)), 0.5)
        for j in self._order:
            values = self.columns[j].grid(levels)
            active = self.active(X)[:, j]
            n_rows = int(active.sum()) * len(values) + int((~active).sum())
            if n_rows > most:
                raise SpaceError(
                    f"A grid must have at most {most:,} points. Got more than that with {levels} levels for each of "
                    f"{len(self)} hyperparameters. Use fewer levels, or 'rs' or 'sobol'."
                )
            expanded = np.repeat(X[active], len(values), axis=0)
            expanded[:, j] = np.tile(values, int(active.sum()))
            X = np.concatenate([expanded, X[~active]])
        return X[self.is_allowed(X)]

    @cached_property
    def all(self) -> Array | None:
        """Every configuration of a small finite space; None where there are too many to list."""
        if not self.is_finite:
            return None
        try:
            return self.grid(MOST_GRID_POINTS, most=100_000)
        except SpaceError:
            return None

    def _rows(self, X: ArrayLike) -> Array:
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or X.shape[1] != len(self.columns):
            raise SpaceError(
                f"Coordinates must be an array of shape (n, {len(self.columns)}). Got shape {X.shape} instead."
            )
        if not np.isfinite(X).all():
            raise SpaceError("Coordinates must be finite numbers in [0, 1]. Got NaN or infinity.")
        return X
