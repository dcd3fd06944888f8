"""XGBoost with native categories and early stopping; its model is kept as JSON, which can be checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from comitia.arrays import Array, Indices, Table
from comitia.evaluation.fitting import Examples
from comitia.evaluation.scoring import Task
from comitia.learners.boosters.boosted import PATIENCE, Boosted, both_classes, parts_of


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
        n_trees: int | None = None,
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
        self.n_trees = n_trees
        self.random_state = random_state

    def _trained(self, examples: Examples, held: Indices | None) -> tuple[bytes, int]:
        import xgboost

        train, judge = parts_of(examples, held)
        stopping: dict[str, Any] = {}
        if judge is not None:
            stopping = {"evals": [(self._matrix(judge), "held")], "early_stopping_rounds": PATIENCE}
        n_trees = self._n_trees if judge is None else self.most_trees
        model = xgboost.train(self._parameters(), self._matrix(train), n_trees, verbose_eval=False, **stopping)
        best = model if judge is None else model[: model.best_iteration + 1]
        return bytes(best.save_raw("json")), best.num_boosted_rounds()

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
