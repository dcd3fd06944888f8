"""LightGBM with its defaults, no search; categories as it takes them itself."""

from lightgbm import LGBMClassifier, LGBMRegressor
from system_protocol import Fitted, numbers_and_levels, serve


class Prepared:
    """A model that prepares tables as that of the training was."""

    def __init__(self, model, X_train):
        self.model, self.X_train = model, X_train

    def predict(self, X):
        return self.model.predict(numbers_and_levels(X, self.X_train))

    def predict_proba(self, X):
        return self.model.predict_proba(numbers_and_levels(X, self.X_train))


def fit(request, X_train, y_train):
    """Fit once; there is no limit."""
    kind = LGBMClassifier if request["task"] == "classification" else LGBMRegressor
    model = kind(n_jobs=request["n_jobs"], random_state=request["seed"], verbosity=-1)
    model.fit(numbers_and_levels(X_train, X_train), y_train)
    return Fitted(Prepared(model, X_train), "lightgbm", save=model.booster_.save_model)


if __name__ == "__main__":
    serve("lightgbm", fit)
