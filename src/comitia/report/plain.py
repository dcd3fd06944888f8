"""From whatever Python has to what JSON has: short numbers, no NaN, texts of everything else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from comitia.arrays import Array

DIGITS = 6
"""Significant digits of a number on the page."""
MOST_CHARACTERS = 2_000
"""Of one text: an error may hold a whole table."""


@dataclass(frozen=True)
class Scale:
    """How losses become the numbers that users know: `offset + sign * loss`."""

    name: str
    """Of the metric; "loss" or "value" for a function."""
    offset: float = 0.0
    sign: int = 1
    is_of_rows: bool = False
    """Whether trials are judged by rows of a table, which then chose the best of them; else by a function."""

    @property
    def is_greater_better(self) -> bool:
        return self.sign < 0

    def __call__(self, losses: Array) -> Array:
        return np.asarray(self.offset + self.sign * losses)


def plain(value: Any) -> Any:
    """Return a value that JSON can hold."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, str):
        return value if len(value) <= MOST_CHARACTERS else value[:MOST_CHARACTERS] + " …"
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return plain(str(value))


def short(value: object) -> str:
    """Return a value for people: four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def settings(config: Mapping[str, object], without: str | None = None) -> str:
    """Return a configuration as one line: "C=2.1, gamma=0.03"."""
    names = {name: name.split(":")[-1] for name in config if name != without}
    return ", ".join(f"{shown}={short(config[name])}" for name, shown in names.items())
