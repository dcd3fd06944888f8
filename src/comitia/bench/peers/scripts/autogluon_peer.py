"""AutoGluon's tabular predictor: from tables to predictions. Option: `presets`.

It has no seed: its models and splits are seeded by constants of its own, so `seed` changes nothing.
"""

from autogluon.tabular import TabularPredictor
from system_protocol import serve

LABEL = "__target__"
METRICS = {"mse": "mean_squared_error", "rmse": "root_mean_squared_error", "mae": "mean_absolute_error"}
"""Where its name of a metric is another."""


def run(request, X_train, y_train, X_test):
    """Fit what the presets say on this machine's processors."""
    is_class = request["task"] == "classification"
    kind = ("binary" if request["n_classes"] == 2 else "multiclass") if is_class else "regression"
    names = METRICS if kind == "binary" else METRICS | {"roc_auc": "roc_auc_ovr"}
    predictor = TabularPredictor(
        LABEL,
        problem_type=kind,
        eval_metric=names.get(request["metric"], request["metric"]),
        path="models",
        verbosity=2,
    )
    predictor.fit(
        X_train.assign(**{LABEL: y_train.to_numpy()}),
        time_limit=request["time_limit"],
        num_cpus=request["n_jobs"],
        num_gpus=0,
        **request["options"],
    )
    probabilities = None
    if is_class:
        probabilities = predictor.predict_proba(X_test)[list(range(request["n_classes"]))]
    board = predictor.leaderboard(display=False)
    details = {"models": board["model"].tolist(), "score": float(board["score_val"].iloc[0])}
    return predictor.predict(X_test), probabilities, predictor.model_best, details


if __name__ == "__main__":
    serve("autogluon.tabular", run)
