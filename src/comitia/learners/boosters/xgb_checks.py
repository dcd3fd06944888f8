"""Refuse models of XGBoost that point outside themselves: XGBoost follows the numbers of its JSON without looking."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from comitia.arrays import AnyArray, Json

ROOT = 2**31 - 1
"""What the root has for a parent."""
MOST_CODES = 2**24
"""Codes of categories are exact in 32-bit reals up to here."""


def is_sound(text: bytes, n_columns: int) -> bool:
    """Tell whether the JSON of a model for so many columns is that of plain trees, each of which is whole."""
    learner = json.loads(text, object_pairs_hook=without_twins)["learner"]
    sizes, booster = learner["learner_model_param"], learner["gradient_booster"]
    model = booster["model"]
    trees, groups, rounds = model["trees"], _whole(model["tree_info"]), _whole(model["iteration_indptr"])
    n_groups = max(1, int(sizes["num_class"]), int(sizes["num_target"]))
    return bool(
        booster["name"] == "gbtree"
        and int(sizes["num_feature"]) == n_columns
        and len(groups) == len(trees) == int(model["gbtree_model_param"]["num_trees"])
        and _are_in(groups, n_groups)
        and rounds[0] == 0
        and rounds[-1] == len(trees)
        and (np.diff(rounds) >= 0).all()
        and not any(model.get("cats", {}).values())  # tables hold codes: nothing is coded again
        and all(tree["id"] == place and _is_sound_tree(tree, n_columns) for place, tree in enumerate(trees))
    )


def _is_sound_tree(tree: Json, n_columns: int) -> bool:
    """Tell whether inner nodes have a column of the table, children that come after them, and categories that exist."""
    sizes = {name: int(value) for name, value in tree["tree_param"].items()}
    n = sizes["num_nodes"]
    names = ("left_children", "right_children", "parents", "split_indices", "default_left", "split_type")
    left, right, parents, column, default, kind = (_whole(tree[name]) for name in names)
    numbers = [np.asarray(tree[name], dtype=np.float64) for name in ("split_conditions", "base_weights")]
    if any(len(found) != n for found in (left, right, parents, column, default, kind, *numbers)):
        return False
    inner = np.flatnonzero(left != -1)
    is_child = (np.minimum(left, right)[inner] > inner) & (np.maximum(left, right)[inner] < n)
    if not is_child.all():
        return False
    expected = np.full(n, ROOT)
    expected[left[inner]] = expected[right[inner]] = inner
    return bool(
        n > 0
        and sizes["size_leaf_vector"] in (0, 1)
        and sizes["num_deleted"] == 0
        and sizes["num_feature"] == n_columns
        and np.array_equal(parents, expected)
        and _are_in(column, n_columns)
        and _are_in(default, 2)
        and _are_in(kind, 2)
        and _has_sound_categories(tree, np.flatnonzero(kind == 1))
    )


def _has_sound_categories(tree: Json, nodes: AnyArray) -> bool:
    """Tell whether the nodes that split by categories, and no others, have a stretch of the list of categories."""
    starts, sizes = _whole(tree["categories_segments"]), _whole(tree["categories_sizes"])
    categories = _whole(tree["categories"])
    return bool(
        np.array_equal(_whole(tree["categories_nodes"]), nodes)
        and len(starts) == len(sizes) == len(nodes)
        and _are_in(starts, len(categories) + 1)
        and _are_in(sizes, len(categories) + 1)
        and (starts + sizes <= len(categories)).all()
        and _are_in(categories, MOST_CODES)
    )


def _whole(values: Sequence[int]) -> AnyArray:
    """Return whole numbers as an array; others are refused."""
    if not all(type(value) is int for value in values):
        raise ValueError("whole numbers were expected")
    return np.array(values, dtype=np.int64)


def _are_in(values: AnyArray, end: int) -> bool:
    return bool(((values >= 0) & (values < end)).all())


def without_twins(pairs: Sequence[tuple[str, Any]]) -> Json:
    """Refuse a key that comes twice: XGBoost might take another one than what is checked here."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key of a JSON object comes twice")
    return found
