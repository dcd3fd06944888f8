"""The temperature of a whole committee, found on rows that its members were not trained on.

Each member has one of its own, but an average of probabilities is less sure than its members are. One more number for
all of them together never changes which class is the most probable.
"""

from __future__ import annotations

import numpy as np

from comitia.arrays import Array, Indices
from comitia.auto.rule_tuning import parts_of
from comitia.committees.tempering import temperature_of, tempered
from comitia.seams import Selection
from comitia.selections.committees import GreedyCommittee


def is_tempered(selection: Selection) -> bool:
    """Tell whether committees of a selection have a temperature: those whose members do."""
    return isinstance(selection, GreedyCommittee) and selection.tempers


def tempered_by_parts(p: Array, codes: Indices, folds: Indices, weights: Array | None) -> tuple[float, Array]:
    """Return the temperature of all rows, and each fold's probabilities tempered by that of the others.

    `p` are the committee's probabilities (n, n_classes), `codes` the true classes (n,).
    """
    weights = np.ones(len(p)) if weights is None else weights
    found = p.copy()
    for part in parts_of(folds, codes):
        others = np.setdiff1d(np.arange(len(p)), part)
        if len(others):
            found[part] = tempered(p[part], temperature_of(p[others], codes[others], weights[others]))
    return temperature_of(p, codes, weights), found
