"""AutoGluon's tabular predictor: from tables to predictions. Option: `presets`.

It has no seed: its models and splits are seeded by constants of its own, so `seed` changes nothing.
"""

from autogluon.tabular import TabularPredictor
from system_protocol import serve

LABEL = "__target__"
METRICS = {
    "accuracy": "accuracy",
    "log_loss": "log_loss",
    "mse": "mean_squared_error",
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
    "r2": "r2",
}


def run(request, X_train, y_train, X_test):
    """Fit what the presets say on this machine's processors."""
    is_class = request["task"] == "classification"
    kind = ("binary" if request["n_classes"] == 2 else "multiclass") if is_class else "regression"
    roc_auc = "roc_auc" if kind == "binary" else "roc_auc_ovr"
    predictor = TabularPredictor(
        LABEL,
        problem_type=kind,
        eval_metric=(METRICS | {"roc_auc": roc_auc})[request["metric"]],
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
