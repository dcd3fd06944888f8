"""XGBoost with native categories and early stopping; its model is kept as JSON, which can be checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from comitia.arrays import Array, Indices, Json, Table
from comitia.evaluation.fitting import Examples
from comitia.evaluation.scoring import Task
from comitia.learners.boosters.boosted import Boosted, both_classes, parts_of

PATIENCE = 50
"""Trees without anything better after which it ends."""


class XGBoost(Boosted):
    """An XGBoost model, kept as its JSON."""

    def __init__(
        self,
        *,
        task: Task = "classification",
        codes: Sequence[int] = (),
        learning_rate: float = 0.08,
        max_depth: int = 6,
        subsample: float = 1.0,
        colsample_bylevel: float = 1.0,
        min_child_weight: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 1.0,
        most_trees: int = 2_000,
        random_state: int = 0,
    ) -> None:
        self.task = task
        self.codes = codes
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.subsample = subsample
        self.colsample_bylevel = colsample_bylevel
        self.min_child_weight = min_child_weight
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.most_trees = most_trees
        self.random_state = random_state

    def _trained(self, examples: Examples, held: Indices | None) -> bytes:
        import xgboost

        train, judge = parts_of(examples, held)
        stopping: dict[str, Any] = {}
        if judge is not None:
            stopping = {"evals": [(self._matrix(judge), "held")], "early_stopping_rounds": PATIENCE}
        n_trees = self._n_trees if judge is None else self.most_trees
        model = xgboost.train(self._parameters(), self._matrix(train), n_trees, verbose_eval=False, **stopping)
        best = model if judge is None else model[: model.best_iteration + 1]
        return bytes(best.save_raw("json"))

    def _matrix(self, examples: Examples) -> Any:
        return self._table(examples.X, label=examples.y, weight=examples.weights)

    def _table(self, X: Table, **more: Any) -> Any:
        import xgboost

        kinds = ["c" if column in set(self.codes) else "q" for column in range(X.shape[1])]
        return xgboost.DMatrix(X, feature_types=kinds, enable_categorical=True, nthread=1, **more)

    def _parameters(self) -> dict[str, Any]:
        own = ("learning_rate", "max_depth", "subsample", "colsample_bylevel", "min_child_weight")
        of_task: dict[str, Any] = {"objective": "reg:squarederror"}
        if self.task == "classification":
            n = len(self.classes_)
            of_task = {"objective": "binary:logistic"} if n == 2 else {"objective": "multi:softprob", "num_class": n}
            of_task["eval_metric"] = "logloss" if n == 2 else "mlogloss"
        return {
            **of_task,
            **{name: getattr(self, name) for name in (*own, "reg_alpha", "reg_lambda")},
            "tree_method": "hist",
            "seed": self.random_state,
            "nthread": 1,
            "verbosity": 0,
        }

    def _opened(self) -> Any:
        import xgboost

        return xgboost.Booster({"nthread": 1, "verbosity": 0}, model_file=bytearray(self.model_))

    def _answers(self, model: Any, X: Table) -> Array:
        told: Array = model.predict(self._table(X))
        return both_classes(told) if self.task == "classification" else told


def is_sound(state: Mapping[str, Any]) -> bool:
    """Tell whether a model that comes from a file points nowhere outside itself: XGBoost follows it without looking."""
    learner = json.loads(state["model_"], object_pairs_hook=_without_twins)["learner"]
    sizes, booster = learner["learner_model_param"], learner["gradient_booster"]
    n_columns, n_groups = int(sizes["num_feature"]), max(1, int(sizes["num_class"]), int(sizes["num_target"]))
    model = booster["model"]
    trees, groups = model["trees"], np.asarray(model["tree_info"], dtype=np.int64)
    rounds = np.asarray(model["iteration_indptr"], dtype=np.int64)
    return bool(
        booster["name"] == "gbtree"
        and n_columns == state["n_features_in_"]
        and len(groups) == len(trees) == int(model["gbtree_model_param"]["num_trees"])
        and ((groups >= 0) & (groups < n_groups)).all()
        and rounds[0] == 0
        and rounds[-1] == len(trees)
        and (np.diff(rounds) >= 0).all()
        and all(_is_sound_tree(tree, n_columns) for tree in trees)
    )


def _without_twins(pairs: Sequence[tuple[str, Any]]) -> Json:
    """Refuse a key that comes twice: XGBoost might take another one than what is checked here."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key of a JSON object comes twice")
    return found


def _is_sound_tree(tree: Json, n_columns: int) -> bool:
    """Tell whether inner nodes have a column of the table, children that come after them, and categories that exist."""
    n = int(tree["tree_param"]["num_nodes"])
    whole = ("left_children", "right_children", "parents", "split_indices", "default_left", "split_type")
    columns = {name: np.asarray(tree[name]) for name in (*whole, "split_conditions", "base_weights")}
    is_whole = all(columns[name].dtype.kind == "i" for name in whole)
    is_scalar = int(tree["tree_param"]["size_leaf_vector"]) <= 1
    if n < 1 or not (is_whole and is_scalar) or any(len(column) != n for column in columns.values()):
        return False
    left, right, column = columns["left_children"], columns["right_children"], columns["split_indices"]
    is_inner = left != -1
    places = np.flatnonzero(is_inner)
    sizes, starts = np.asarray(tree["categories_sizes"]), np.asarray(tree["categories_segments"])
    by_category = np.asarray(tree["categories_nodes"], dtype=np.int64)
    return bool(
        (np.minimum(left, right)[is_inner] > places).all()
        and (np.maximum(left, right)[is_inner] < n).all()
        and ((column >= 0) & (column < n_columns))[is_inner].all()
        and np.array_equal(by_category, np.flatnonzero(columns["split_type"] == 1))
        and len(sizes) == len(starts) == len(by_category)
        and (starts >= 0).all()
        and (sizes >= 0).all()
        and (starts + sizes <= len(tree["categories"])).all()
    )
