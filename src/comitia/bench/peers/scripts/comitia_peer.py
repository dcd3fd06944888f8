"""comitia's own estimators as they come, in a process of their own like every other system."""

from contextlib import suppress

import lightgbm  # noqa: F401 - imported before the clock starts, as the other tools import theirs
import sklearn.ensemble
import sklearn.linear_model
import sklearn.neighbors
import sklearn.neural_network
import sklearn.svm  # noqa: F401
from system_protocol import Fitted, serve

from comitia import AutoClassifier, AutoRegressor

with suppress(ImportError):
    import catboost  # noqa: F401

SCORINGS = {
    "accuracy": "accuracy",
    "log_loss": "neg_log_loss",
    "roc_auc": "roc_auc",
    "mse": "neg_mean_squared_error",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "r2": "r2",
}


def fit(request, X_train, y_train):
    """Fit within the time limit."""
    is_class = request["task"] == "classification"
    metric = "roc_auc_ovr" if request["metric"] == "roc_auc" and request["n_classes"] > 2 else request["metric"]
    model = (AutoClassifier if is_class else AutoRegressor)(
        time_limit=request["time_limit"],
        scoring=SCORINGS.get(metric, metric),
        random_state=request["seed"],
        n_jobs=request["n_jobs"],
        **request["options"],
    )
    model.fit(X_train, y_train.to_numpy())
    heaviest = max(model.members_, key=lambda member: member.weight)
    details = {"n_trials": model.study_.history.n_finished, "validation": model.validation_score_}
    return Fitted(model, heaviest.config.get("learner", ""), details, n_members=len(model.members_), save=model.save)


if __name__ == "__main__":
    serve("comitia", fit)
