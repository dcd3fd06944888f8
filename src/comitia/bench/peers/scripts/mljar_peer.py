"""mljar-supervised: from tables to predictions. Option: `mode`."""

import shutil

from supervised import AutoML
from system_protocol import Fitted, serve

METRICS = {"log_loss": "logloss", "roc_auc": "auc"}
"""Where its name of a metric is another."""


def fit(request, X_train, y_train):
    """Fit in the mode asked for, without explanations."""
    is_class = request["task"] == "classification"
    is_binary = request["n_classes"] == 2
    kind = ("binary_classification" if is_binary else "multiclass_classification") if is_class else "regression"
    metric = METRICS.get(request["metric"], request["metric"])
    if metric == "auc" and not is_binary:
        metric = "logloss"  # it has no area under the curve for several classes
    automl = AutoML(
        results_path="models/all",
        total_time_limit=max(1, int(request["time_limit"])),
        ml_task=kind,
        eval_metric=metric,
        n_jobs=request["n_jobs"],
        random_state=request["seed"],
        explain_level=0,
        **request["options"],
    )
    automl.fit(X_train, y_train)
    board = automl.get_leaderboard()
    best = board.loc[board["metric_value"].astype(float).idxmin()] if len(board) else {}
    details = {"models": board["name"].tolist() if len(board) else [], "loss": best.get("metric_value")}
    return Fitted(
        automl,
        best.get("model_type", ""),
        details,
        save=lambda folder: shutil.copytree("models/all", folder),
    )


if __name__ == "__main__":
    serve("mljar-supervised", fit)
