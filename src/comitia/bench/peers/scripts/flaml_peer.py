"""FLAML: from tables to predictions."""

from flaml import AutoML
from system_protocol import Fitted, serve


def fit(request, X_train, y_train):
    """Fit with FLAML's own learners and resampling."""
    metric = request["metric"]  # all but one have the same name there
    automl = AutoML()
    automl.fit(
        X_train,
        y_train,
        task=request["task"],
        metric="roc_auc_ovr" if metric == "roc_auc" and request["n_classes"] != 2 else metric,
        time_budget=request["time_limit"],
        seed=request["seed"],
        n_jobs=request["n_jobs"],
        verbose=0,
        log_file_name="",
        **request["options"],
    )
    details = {
        "config": automl.best_config,
        "loss": automl.best_loss,
        "best_after_seconds": automl.time_to_find_best_model,
    }
    return Fitted(automl, automl.best_estimator, details)


if __name__ == "__main__":
    serve("flaml", fit)
