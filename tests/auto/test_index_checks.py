"""Trees of a model file whose numbers point outside themselves are refused: compiled code would follow them."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import BallTree, KDTree
from sklearn.tree import DecisionTreeClassifier

from comitia.auto.index_checks import check_indices
from comitia.auto.model_file import OBJECTS, read_model, write_model
from comitia.errors import ModelError
from comitia.learners.boosters.cat import CatBoost
from comitia.learners.boosters.xgb import XGBoost
from tests.ids import stable

X, Y = load_iris(return_X_y=True)


def parts_of(model: Any) -> tuple[type, tuple[Any, ...], Any]:
    """Return the type, arguments and a state that may be changed."""
    function, arguments, state = model.__reduce_ex__(2)[:3]
    if function.__name__ != type(model).__name__:
        arguments = arguments[1:]
    state = list(state) if isinstance(state, tuple) else dict(state)
    return type(model), arguments, state


def test_sound_trees_pass() -> None:
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    stump = DecisionTreeClassifier(max_depth=1).fit(X, np.zeros(len(Y)))
    for model in (tree.tree_, stump.tree_, tree, KDTree(X), BallTree(X, leaf_size=3), KDTree(X[:1])):
        check_indices(*parts_of(model))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("left_child", 1000),
        ("right_child", 1000),
        ("left_child", -7),
        ("left_child", 0),
        ("feature", 4),
        ("feature", -2),
    ],
)
def test_nodes_that_point_outside(column: str, value: int) -> None:
    kind, arguments, state = parts_of(DecisionTreeClassifier(max_depth=3).fit(X, Y).tree_)
    state["nodes"] = state["nodes"].copy()
    state["nodes"][column][0] = value
    with pytest.raises(ModelError, match="tampered"):
        check_indices(kind, arguments, state)


def test_sizes_that_are_not_those_of_the_arrays() -> None:
    kind, (n_features, n_classes, n_outputs), state = parts_of(DecisionTreeClassifier().fit(X, Y).tree_)
    for arguments, changed in [
        ((n_features, n_classes, 2), state),
        ((n_features, n_classes, n_outputs), {**state, "node_count": 1000}),
        ((n_features, n_classes, n_outputs), None),
    ]:
        with pytest.raises(ModelError, match="tampered"):
            check_indices(kind, arguments, changed)


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (DecisionTreeClassifier(), "n_features_in_"),
        (RandomForestClassifier(2), "n_features_in_"),
        (GradientBoostingClassifier(n_estimators=2), "n_features_in_"),
        (GradientBoostingClassifier(n_estimators=2), "n_trees_per_iteration_"),
    ],
    ids=stable,
)
def test_a_forest_must_have_the_width_of_its_trees(model: Any, attribute: str, tmp_path: Path) -> None:
    setattr(model.fit(X, Y), attribute, 2)
    write_model(tmp_path / "file", model)
    with pytest.raises(ModelError, match="tampered"):
        read_model(tmp_path / "file")


@pytest.mark.parametrize("kind", [KDTree, BallTree])
@pytest.mark.parametrize(
    ("place", "column", "value"), [(1, None, 1000), (1, None, -1), (2, "idx_end", 1000), (2, "idx_start", -1)]
)
def test_rows_that_are_not_there(kind: Any, place: int, column: str | None, value: int) -> None:
    kind, arguments, state = parts_of(kind(X, leaf_size=5))
    state[place] = np.array(state[place])
    (state[place] if column is None else state[place][column])[1] = value
    with pytest.raises(ModelError, match="tampered"):
        check_indices(kind, arguments, state)


def test_a_last_level_with_children() -> None:
    kind, arguments, state = parts_of(KDTree(X, leaf_size=5))
    state[2] = np.array(state[2])
    state[2]["is_leaf"][-1] = 0
    with pytest.raises(ModelError, match="tampered"):
        check_indices(kind, arguments, state)


def test_a_tree_that_was_tampered_with_in_its_file(tmp_path: Path) -> None:
    write_model(tmp_path / "file", DecisionTreeClassifier(max_depth=2).fit(X, Y))
    with zipfile.ZipFile(tmp_path / "file") as archive:
        entries, numbers = json.loads(archive.read(OBJECTS)), bytearray(archive.read("arrays"))
    nodes = next(entry for entry in entries if entry[0] == "array" and isinstance(entry[1], dict))
    numbers[nodes[4]] = 100  # the left child of the first node
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr(OBJECTS, json.dumps(entries))
        archive.writestr("arrays", bytes(numbers))
    with pytest.raises(ModelError, match="tampered"):
        read_model(tmp_path / "file")


def histogram_boosting() -> Any:
    table = np.column_stack([X, np.arange(len(X)) % 5])
    return HistGradientBoostingClassifier(max_iter=2, categorical_features=[X.shape[1]]).fit(table, Y)


@pytest.mark.parametrize(
    ("column", "value"), [("left", 1000), ("right", 0), ("feature_idx", -1), ("bitset_idx", 9), ("is_leaf", 0)]
)
def test_histogram_trees_that_point_outside_themselves(column: str, value: int) -> None:
    kind, arguments, state = parts_of(histogram_boosting()._predictors[0][0])
    check_indices(kind, arguments, state)
    state = {**state, "nodes": np.array(state["nodes"])}
    state["nodes"]["is_categorical"] = 1
    state["nodes"][column] = value
    with pytest.raises(ModelError, match="tampered"):
        check_indices(kind, arguments, state)


def test_histogram_trees_of_other_tables() -> None:
    kind, arguments, state = parts_of(histogram_boosting())
    check_indices(kind, arguments, state)
    nodes = [tree.nodes for trees in state["_predictors"] for tree in trees]
    state["_bin_mapper"].is_categorical_ = np.ones(X.shape[1] + 1, dtype=np.uint8)
    check_indices(kind, arguments, state)
    nodes[0]["feature_idx"][0] = X.shape[1] + 1
    with pytest.raises(ModelError, match="tampered"):
        check_indices(kind, arguments, state)


def xgboost_parts() -> tuple[type, tuple[Any, ...], Any]:
    pytest.importorskip("xgboost")
    table = np.column_stack([X, np.arange(len(X)) % 5])
    return parts_of(XGBoost(codes=[X.shape[1]], most_trees=3).fit(table, (Y + (table[:, -1] == 1)) % 3))


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("left_children", 1000),
        ("right_children", 0),
        ("split_indices", 99),
        ("parents", -1),
        ("id", 3),
        ("categories_segments", 10_000),
        ("categories", -1),
        ("tree_info", 7),
    ],
)
def test_models_of_xgboost_that_point_outside_themselves(change: str, value: int) -> None:
    kind, arguments, state = xgboost_parts()
    check_indices(kind, arguments, state)
    content = json.loads(state["model_"])
    inner = content["learner"]["gradient_booster"]["model"]
    tree = next(tree for tree in inner["trees"] if tree["categories_segments"])
    if change == "id":
        tree["id"] = value
    else:
        (inner if change == "tree_info" else tree)[change][0] = value
    with pytest.raises(ModelError, match="tampered"):
        check_indices(kind, arguments, {**state, "model_": json.dumps(content).encode()})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"name":"gbtree"', b'"name":"gbtree","name":"gbtree"', "twice"),
        (b'"split_indices":[', b'"split_indices":[0.5,', "whole"),
    ],
)
def test_models_of_xgboost_that_others_might_read_in_another_way(old: bytes, new: bytes, message: str) -> None:
    kind, arguments, state = xgboost_parts()
    with pytest.raises(ValueError, match=message):
        check_indices(kind, arguments, {**state, "model_": state["model_"].replace(old, new)})


def catboost_parts() -> tuple[type, tuple[Any, ...], Any]:
    pytest.importorskip("catboost")
    table = np.column_stack([X, np.arange(len(X)) % 5, np.arange(len(X)) % 3])
    codes = [X.shape[1], X.shape[1] + 1]
    return parts_of(CatBoost(codes=codes, most_trees=40).fit(table, (Y + (table[:, -1] == 1)) % 3))


def places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where a number that others are found by stands."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        is_place = type(value) is int and str(key).endswith(("_index", "_idx", "_stride"))
        yield from [(*path, key)] if is_place else places(value, (*path, key))


def changed(text: bytes, path: tuple[Any, ...], value: Any) -> bytes:
    content = json.loads(text)
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return json.dumps(content).encode()


@pytest.mark.parametrize("value", [-1, 10_000, 0.5, None])
def test_models_of_catboost_that_point_outside_themselves(value: Any) -> None:
    kind, arguments, state = catboost_parts()
    check_indices(kind, arguments, state)
    found = list(places(json.loads(state["model_"])))
    names = {path[-1] for path in found}
    assert {"split_index", "float_feature_index", "flat_feature_index", "target_border_idx", "hash_stride"} <= names
    for path in [next(path for path in found if path[-1] == name) for name in sorted(names)]:
        if path[-1] == "ctr_target_border_idx":
            continue  # of the split; that of the feature counts
        with pytest.raises((ModelError, TypeError)):
            check_indices(kind, arguments, {**state, "model_": changed(state["model_"], path, value)})


@pytest.mark.parametrize("part", ["leaf_values", "splits"])
def test_trees_of_catboost_that_are_not_whole(part: str) -> None:
    kind, arguments, state = catboost_parts()
    content = json.loads(state["model_"])
    content["oblivious_trees"][0][part].pop()
    with pytest.raises(ModelError, match="tampered"):
        check_indices(kind, arguments, {**state, "model_": json.dumps(content).encode()})
