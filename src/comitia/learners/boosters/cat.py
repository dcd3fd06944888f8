"""CatBoost with native categories and early stopping; its model is kept as JSON, which can be checked."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from comitia.arrays import Array, Indices, Table
from comitia.evaluation.fitting import Examples
from comitia.evaluation.scoring import Task
from comitia.learners.boosters.boosted import PATIENCE, Boosted, parts_of

N_BORDERS = 64
"""Of each column of numbers. CatBoost's own 254 take twice as long and were no better on seven tables."""
MANY_CODES = 10
"""With more columns of categories than this, pairs of them are not combined: that takes three times as long."""


class CatBoost(Boosted):
    """A CatBoost model (Prokhorenkova et al. 2018), kept as its JSON."""

    def __init__(
        self,
        *,
        task: Task = "classification",
        codes: Sequence[int] = (),
        learning_rate: float = 0.08,
        depth: int = 6,
        l2_leaf_reg: float = 3.0,
        random_strength: float = 1.0,
        most_trees: int = 1_000,
        n_trees: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.task = task
        self.codes = codes
        self.learning_rate = learning_rate
        self.depth = depth
        self.l2_leaf_reg = l2_leaf_reg
        self.random_strength = random_strength
        self.most_trees = most_trees
        self.n_trees = n_trees
        self.random_state = random_state

    def _trained(self, examples: Examples, held: Indices | None) -> tuple[bytes, int]:
        import catboost

        train, judge = parts_of(examples, held)
        stopping: dict[str, Any] = {}
        if judge is not None:
            stopping = {"eval_set": self._pool(judge), "early_stopping_rounds": PATIENCE, "use_best_model": True}
        model = catboost.CatBoost(self._parameters(self._n_trees if judge is None else self.most_trees))
        model.fit(self._pool(train), **stopping)
        with tempfile.TemporaryDirectory() as folder:  # the one public way to its JSON
            model.save_model(str(Path(folder) / "model"), format="json", pool=self._pool(train))
            return (Path(folder) / "model").read_bytes(), int(model.tree_count_)

    def _pool(self, examples: Examples) -> Any:
        return self._table(examples.X, label=examples.y, weight=examples.weights)

    def _table(self, X: Table, **more: Any) -> Any:
        import catboost

        if not self.codes:
            return catboost.Pool(X, thread_count=1, **more)
        frame = pd.DataFrame(X)
        for column in self.codes:  # whole numbers alone are categories, so a missing one is another number
            frame[column] = frame[column].fillna(-1).astype(np.int64)
        return catboost.Pool(frame, cat_features=list(self.codes), thread_count=1, **more)

    def _parameters(self, n_trees: int) -> dict[str, Any]:
        of_task: dict[str, Any] = {"loss_function": "RMSE"}
        if self.task == "classification":
            n = len(self.classes_)
            of_task = {"loss_function": "Logloss"} if n == 2 else {"loss_function": "MultiClass", "classes_count": n}
        own = ("learning_rate", "depth", "l2_leaf_reg", "random_strength")
        return {
            **of_task,
            **{name: getattr(self, name) for name in own},
            "border_count": N_BORDERS,
            **({"max_ctr_complexity": 1} if len(self.codes) > MANY_CODES else {}),
            "iterations": n_trees,
            "random_seed": self.random_state,
            "thread_count": 1,
            "allow_writing_files": False,
            "logging_level": "Silent",
        }

    def _opened(self) -> Any:
        import catboost

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            path.write_bytes(self.model_)
            return catboost.CatBoost().load_model(str(path), format="json")

    def _answers(self, model: Any, X: Table) -> Array:
        kind = "Probability" if self.task == "classification" else "RawFormulaVal"
        told: Array = model.predict(self._table(X), prediction_type=kind, thread_count=1)
        return told
