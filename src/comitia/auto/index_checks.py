"""Refuse what points outside itself: compiled code follows the numbers in trees and sparse matrices without looking."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.ensemble._forest import BaseForest
from sklearn.ensemble._gb import BaseGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.neighbors import BallTree, KDTree
from sklearn.tree import BaseDecisionTree
from sklearn.tree._tree import Tree

from comitia.arrays import AnyArray
from comitia.errors import ModelError
from comitia.learners.boosters import cat_checks, xgb_checks
from comitia.learners.boosters.cat import CatBoost
from comitia.learners.boosters.xgb import XGBoost

N_WORDS = 8
"""Of 32 bits, for the 256 bins of histogram boosting."""
Part: TypeAlias = Any
"""Whatever a model consists of."""


def check_indices(kind: type, arguments: Sequence[Part], state: Part) -> None:
    """Refuse what an object tells `pickle` (a state of None is none) if the object would be read beyond its end."""
    if issubclass(kind, Tree):
        is_sound = state is not None and _is_sound_tree(*arguments, **state)
    elif issubclass(kind, KDTree | BallTree):
        is_sound = state is not None and _is_sound_neighbour_tree(kind, *state[:4], *state[5:7])
    elif issubclass(kind, BaseDecisionTree) and "tree_" in state:
        is_sound = state["tree_"].n_features == state["n_features_in_"]
    elif issubclass(kind, BaseForest | BaseGradientBoosting) and "estimators_" in state:
        is_sound = _is_sound_forest(state)
    elif issubclass(kind, TreePredictor):
        is_sound = state is not None and _is_sound_predictor(**state)
    elif issubclass(kind, BaseHistGradientBoosting) and "_predictors" in state:
        is_sound = _is_sound_histogram_boosting(state)
    elif issubclass(kind, XGBoost) and "model_" in state:
        is_sound = xgb_checks.is_sound(state["model_"], state["n_features_in_"])
    elif issubclass(kind, CatBoost) and "model_" in state:
        is_sound = cat_checks.is_sound(state["model_"], state["n_features_in_"])
    elif issubclass(kind, sparse.csr_matrix | sparse.csc_matrix | sparse.csr_array | sparse.csc_array):
        is_sound = _is_sound_matrix(kind, state)
    else:
        return
    if not is_sound:
        raise ModelError(f"A {kind.__name__} in the model file points outside itself: the file was tampered with.")


def _is_sound_tree(
    n_features: int, n_classes: AnyArray, n_outputs: int, node_count: int, nodes: AnyArray, **_: object
) -> bool:
    """Tell whether every inner node has a column of the table, and children that come after it."""
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    is_inner = left != -1
    last_child, first_child = np.maximum(left, right)[is_inner], np.minimum(left, right)[is_inner]
    return bool(
        n_classes.shape == (n_outputs,)
        and 0 < node_count == len(nodes)
        and (last_child < node_count).all()
        and (first_child > np.flatnonzero(is_inner)).all()
        and (feature[is_inner] >= 0).all()
        and (feature[is_inner] < n_features).all()
    )


def _is_sound_neighbour_tree(
    kind: type, data: AnyArray, rows: AnyArray, nodes: AnyArray, bounds: AnyArray, n_levels: int, n_nodes: int
) -> bool:
    """Tell whether every node has rows of the data, and every inner one two children."""
    starts, ends = nodes["idx_start"], nodes["idx_end"]
    has_children = 2 * np.arange(n_nodes) + 2 < n_nodes
    return bool(
        rows.shape == data.shape[:1]
        and len(nodes) == n_nodes == 2**n_levels - 1
        and bounds.shape == (2 if issubclass(kind, KDTree) else 1, n_nodes, data.shape[1])
        and (rows >= 0).all()
        and (rows < len(data)).all()
        and (starts >= 0).all()
        and (ends <= len(data)).all()
        and (has_children | (nodes["is_leaf"] != 0)).all()
    )


def _is_sound_forest(state: Mapping[str, Part]) -> bool:
    """Tell whether all trees are for tables of the forest's width, which alone is compared with a new table's."""
    trees = np.asarray(state["estimators_"], dtype=object)
    is_wide = all(tree.n_features_in_ == state["n_features_in_"] for tree in trees.ravel())
    return is_wide and (trees.ndim == 1 or trees.shape[1] == state.get("n_trees_per_iteration_", trees.shape[1]))


def _is_sound_predictor(nodes: AnyArray, binned_left_cat_bitsets: AnyArray, raw_left_cat_bitsets: AnyArray) -> bool:
    """Tell whether inner nodes have a column, children that come after them, and sets of categories that exist."""
    is_inner = nodes["is_leaf"] == 0
    places, inner = np.flatnonzero(is_inner), nodes[is_inner]
    sets = inner["bitset_idx"][inner["is_categorical"] != 0]
    return bool(
        len(nodes) > 0
        and (np.minimum(inner["left"], inner["right"]) > places).all()
        and (np.maximum(inner["left"], inner["right"]) < len(nodes)).all()
        and (inner["feature_idx"] >= 0).all()
        and binned_left_cat_bitsets.shape == raw_left_cat_bitsets.shape
        and raw_left_cat_bitsets.shape[1:] == (N_WORDS,)
        and (sets < len(raw_left_cat_bitsets)).all()
    )


def _is_sound_histogram_boosting(state: Mapping[str, Part]) -> bool:
    """Tell whether all trees are for tables of the booster's width, and split by categories where there are any."""
    n, before = state["n_features_in_"], state["_preprocessor"]
    is_category = np.asarray(state["_bin_mapper"].is_categorical_, dtype=bool)
    if is_category.shape != (n,) or (before is not None and np.shape(before.transform(np.zeros((1, n)))) != (1, n)):
        return False
    inner = [tree.nodes[tree.nodes["is_leaf"] == 0] for trees in state["_predictors"] for tree in trees]
    return all((nodes["feature_idx"] < n).all() for nodes in inner) and all(
        is_category[nodes["feature_idx"][nodes["is_categorical"] != 0]].all() for nodes in inner
    )


def _is_sound_matrix(kind: type, state: Mapping[str, Part]) -> bool:
    matrix = kind((state["data"], state["indices"], state["indptr"]), shape=state["_shape"])
    try:
        matrix.check_format(full_check=True)
    except ValueError:
        return False
    return True
