"""AutoGluon's tabular predictor: from tables to predictions. Option: `presets`.

It has no seed: its models and splits are seeded by constants of its own, so `seed` changes nothing.
"""

from autogluon.tabular import TabularPredictor
from system_protocol import Fitted, serve

LABEL = "__target__"
METRICS = {"mse": "mean_squared_error", "rmse": "root_mean_squared_error", "mae": "mean_absolute_error"}
"""Where its name of a metric is another."""


class Predicting:
    """A predictor whose probabilities are one column for each class, in order."""

    def __init__(self, predictor, n_classes):
        self.predictor, self.n_classes = predictor, n_classes

    def predict(self, X):
        return self.predictor.predict(X)

    def predict_proba(self, X):
        return self.predictor.predict_proba(X)[list(range(self.n_classes))]


def fit(request, X_train, y_train):
    """Fit what the presets say on this machine's processors."""
    is_class = request["task"] == "classification"
    kind = ("binary" if request["n_classes"] == 2 else "multiclass") if is_class else "regression"
    names = METRICS if kind == "binary" else METRICS | {"roc_auc": "roc_auc_ovr"}
    predictor = TabularPredictor(
        LABEL,
        problem_type=kind,
        eval_metric=names.get(request["metric"], request["metric"]),
        path="models/all",
        verbosity=2,
    )
    predictor.fit(
        X_train.assign(**{LABEL: y_train.to_numpy()}),
        time_limit=request["time_limit"],
        num_cpus=request["n_jobs"],
        num_gpus=0,
        **request["options"],
    )
    board = predictor.leaderboard(display=False)
    return Fitted(
        Predicting(predictor, request["n_classes"]),
        predictor.model_best,
        {"models": board["model"].tolist(), "score": float(board["score_val"].iloc[0])},
        save=lambda folder: predictor.clone_for_deployment(str(folder)),  # without the models that do not vote
    )


if __name__ == "__main__":
    serve("autogluon.tabular", fit)
