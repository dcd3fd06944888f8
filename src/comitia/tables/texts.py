"""Columns of strings as numbers: what is missing, positions among levels, counts of hashed letters."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pandas as pd

from comitia.arrays import AnyArray, Array

N_HASHED = 12
"""Counts of hashed pieces that a text becomes."""
MANY = 1_000
"""Strings from which it pays to find the different ones first."""
MISSING = ("", "na", "n/a", "nan", "null", "none", "?", "nat", "<na>")
"""What stands for a missing value in a column of strings, in upper or lower case."""


def known_texts(values: AnyArray) -> list[str | None]:
    """Return anything as stripped strings, None for what is missing; of many each different one is read once."""
    if len(values) > MANY and pd.api.types.infer_dtype(values, skipna=True) == "string":
        codes, different = pd.factorize(values)
        texts: AnyArray = np.array([*_each(different), None], dtype=object)  # the last for what is missing
        found: list[str | None] = texts[codes].tolist()
        return found
    return _each(values)


def _each(values: AnyArray) -> list[str | None]:
    texts = [None if missing else str(value).strip() for value, missing in zip(values, pd.isna(values), strict=True)]
    return [None if text is None or text.lower() in MISSING else text for text in texts]


def coded_texts(texts: Sequence[str | None], levels: Sequence[str]) -> Array:
    """Return the position of each text among the levels; NaN if missing or never seen."""
    places = _places(tuple(levels))
    if len(texts) > MANY:
        codes, different = pd.factorize(np.array(texts, dtype=object))
        return np.array([*(places.get(text, np.nan) for text in different), np.nan])[codes]
    return np.array([places.get(text, np.nan) for text in texts], dtype=np.float64)


@lru_cache(maxsize=256)
def _places(levels: tuple[str, ...]) -> dict[str | None, int]:
    return {level: place for place, level in enumerate(levels)}


def hashed(texts: Sequence[str | None]) -> Array:
    """Count the three-letter pieces of each text by their hash: similar texts get similar numbers."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    counts = np.zeros((len(places), N_HASHED))
    for text, row in zip(places, counts, strict=True):
        padded = "" if text is None else f" {text.lower()} "
        for i in range(len(padded) - 2):
            row[zlib.crc32(padded[i : i + 3].encode()) % N_HASHED] += 1
        if text is None:
            row[:] = np.nan
    return np.asarray(np.log1p(counts)[[places[text] for text in texts]])
