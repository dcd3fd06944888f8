"""One immutable, hashable assignment of the active hyperparameters.

ConfigSpace's own `Configuration` is hashable *and* mutable, so comitia does not build on it.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, NoReturn, TypeAlias

Value: TypeAlias = Any
"""A value of a hyperparameter: a number, a string, or any object that a user put into a list of choices."""


class Config(Mapping[str, Value]):
    """An assignment of values to the active hyperparameters, in the space's order.

    Equal assignments are equal and have equal hashes, so a `Config` can be a dictionary key. Types count between two
    configurations (1, 1.0 and True are different values to a learner), but not in a comparison with a plain dictionary.

    Examples
    --------
    >>> from comitia import Config
    >>> config = Config({"kernel": "rbf", "C": 1.0})
    >>> config["C"], config == {"C": 1.0, "kernel": "rbf"}
    (1.0, True)
    """

    __slots__ = ("_hash", "_values")
    _values: dict[str, Value]
    _hash: int | None

    def __init__(self, values: Mapping[str, Value]) -> None:
        object.__setattr__(self, "_values", dict(values))
        object.__setattr__(self, "_hash", None)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    # the views of the dictionary: those of Mapping look up every value one by one
    def keys(self) -> KeysView[str]:
        return self._values.keys()

    def values(self) -> ValuesView[Value]:
        return self._values.values()

    def items(self) -> ItemsView[str, Value]:
        return self._values.items()

    def _key(self) -> frozenset[tuple[str, type, Value]]:
        """Return what tells configurations apart: to a learner 1, 1.0 and True are not the same."""
        items = [(name, type(value), value) for name, value in self._values.items()]
        try:
            return frozenset(items)
        except TypeError:  # a choice such as a list or an array: equal values have equal representations
            return frozenset((name, kind, repr(value)) for name, kind, value in items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Config):
            return hash(self) == hash(other) and self._key() == other._key()
        return self._values == other

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(self._key()))
        return self._hash  # type: ignore[return-value]

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A Config cannot be changed. Make a new one: Config({**config, name: value}).")

    def __reduce__(self) -> tuple[type[Config], tuple[dict[str, Value]]]:
        return Config, (self._values,)

    def __repr__(self) -> str:
        return "Config(" + ", ".join(f"{name}={value!r}" for name, value in self._values.items()) + ")"
