"""Refuse models of CatBoost that point outside themselves: what its JSON holds is followed without looking."""

import json
from collections.abc import Sequence

import numpy as np

from comitia.arrays import Json
from comitia.learners.boosters.xgb_checks import without_twins

DEEPEST = 16
"""Splits of a tree."""
PARTS = {"ctr_data", "features_info", "model_info", "oblivious_trees", "scale_and_bias"}
FEATURES = {"float_features", "categorical_features", "ctrs", "cat_features_hash"}
ELEMENTS = {"cat_feature_value", "cat_feature_exact_value", "float_feature"}
STRIDES = {"Counter": 2, "FeatureFreq": 2, "BinarizedTargetMeanValue": 3}
"""Numbers for each value of a category; of other kinds it is one more than there are classes of the target."""


def is_sound(text: bytes, n_columns: int) -> bool:
    """Tell whether the JSON of a model for so many columns holds trees over its own columns, each of which is whole."""
    model = json.loads(text, object_pairs_hook=without_twins)
    features = model["features_info"]
    numbers, categories = (_of(features, kind) for kind in ("float_features", "categorical_features"))
    ctrs = _of(features, "ctrs")
    scale, bias = model["scale_and_bias"]
    columns = [feature["flat_feature_index"] for feature in (*numbers, *categories)]
    n_splits = [sum(len(feature["borders"] or []) for feature in numbers)]
    n_splits += [sum(len(feature.get("values") or []) for feature in categories)]
    n_splits += [sum(len(ctr["borders"] or []) for ctr in ctrs)]
    return bool(
        set(model) <= PARTS
        and set(features) <= FEATURES
        and _are_in(columns, n_columns)
        and len(set(columns)) == len(columns)
        and all(_are_in_order(kind) for kind in (numbers, categories))
        and np.isfinite([scale, *bias]).all()
        and len(bias) > 0
        and all(_is_sound_ctr(ctr, model.get("ctr_data") or {}, len(numbers), len(categories)) for ctr in ctrs)
        and all(_is_whole_table(name, table) for name, table in (model.get("ctr_data") or {}).items())
        and all(
            _is_sound_tree(tree, sum(n_splits), len(numbers), len(categories), len(bias))
            for tree in model["oblivious_trees"]
        )
    )


def _of(features: Json, kind: str) -> Sequence[Json]:
    return features.get(kind) or ()


def _are_in_order(features: Sequence[Json]) -> bool:
    """Tell whether features of a kind are numbered from 0 on, with borders from small to large."""
    return [one["feature_index"] for one in features] == list(range(len(features))) and all(
        (np.diff(one.get("borders") or []) > 0).all() for one in features
    )


def _is_sound_tree(tree: Json, n_splits: int, n_numbers: int, n_categories: int, n_outputs: int) -> bool:
    """Tell whether splits are those of the model's features, and there is a leaf for each of their answers."""
    splits = tree["splits"] or []
    ends = {"FloatFeature": ("float_feature_index", n_numbers), "OneHotFeature": ("cat_feature_index", n_categories)}
    return bool(
        set(tree) <= {"leaf_values", "leaf_weights", "splits"}
        and len(splits) <= DEEPEST
        and len(tree["leaf_values"]) == n_outputs << len(splits)
        and len(tree.get("leaf_weights") or []) in (0, 1 << len(splits))
        and np.isfinite(tree["leaf_values"]).all()
        and _are_in([split["split_index"] for split in splits], n_splits)
        and all(
            split["split_type"] == "OnlineCtr"
            or _are_in([split[ends[split["split_type"]][0]]], ends[split["split_type"]][1])
            for split in splits
        )
    )


def _is_sound_ctr(ctr: Json, tables: Json, n_numbers: int, n_categories: int) -> bool:
    """Tell whether what replaces categories is made of the model's features, and has a table."""
    elements, named = ctr["elements"], json.loads(ctr["identifier"])
    return bool(
        ctr["identifier"] in tables
        and (np.diff(ctr["borders"] or []) > 0).all()
        and _are_in([ctr["target_border_idx"]], _n_target_classes(tables[ctr["identifier"]], ctr["ctr_type"]))
        and all(_is_sound_element(one, n_numbers, n_categories) for one in elements)
        and named == {"identifier": elements, "type": ctr["ctr_type"]}
    )


def _is_sound_element(element: Json, n_numbers: int, n_categories: int) -> bool:
    kind = element["combination_element"]
    if kind == "float_feature":
        return _are_in([element["float_feature_index"]], n_numbers)
    return kind in ELEMENTS and _are_in([element["cat_feature_index"]], n_categories)


def _n_target_classes(table: Json, kind: str) -> int:
    """Return how many borders of the target a table tells apart; 1 where it counts rows alone."""
    return 1 if kind in STRIDES else table["hash_stride"] - 1


def _is_whole_table(name: str, table: Json) -> bool:
    """Tell whether each value of a category has all its numbers."""
    stride, kind = table["hash_stride"], json.loads(name)["type"]
    return bool(
        set(table) <= {"counter_denominator", "hash_map", "hash_stride"}
        and type(stride) is int
        and stride == STRIDES.get(kind, max(stride, 3))
        and len(table["hash_map"]) % stride == 0
        and type(table["counter_denominator"]) is int
    )


def _are_in(values: Sequence[object], end: int) -> bool:
    return all(type(value) is int and 0 <= value < end for value in values)
