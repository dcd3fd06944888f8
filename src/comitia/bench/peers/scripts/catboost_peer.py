"""CatBoost with its defaults, no search; categories as it takes them itself."""

from catboost import CatBoostClassifier, CatBoostRegressor
from system_protocol import Fitted, numbers_and_levels, serve

MISSING = "missing"


def prepared(X, X_train):
    """Return a table with categories as texts, missing ones among them, and which columns those are."""
    table = numbers_and_levels(X, X_train)
    levels = list(table.select_dtypes("category"))
    return table.assign(**{name: table[name].astype(object).fillna(MISSING).astype(str) for name in levels}), levels


class Prepared:
    """A model that prepares tables as that of the training was."""

    def __init__(self, model, X_train):
        self.model, self.X_train = model, X_train

    def predict(self, X):
        return self.model.predict(prepared(X, self.X_train)[0])

    def predict_proba(self, X):
        return self.model.predict_proba(prepared(X, self.X_train)[0])


def fit(request, X_train, y_train):
    """Fit once; there is no limit."""
    kind = CatBoostClassifier if request["task"] == "classification" else CatBoostRegressor
    table, levels = prepared(X_train, X_train)
    model = kind(thread_count=request["n_jobs"], random_seed=request["seed"], verbose=False, allow_writing_files=False)
    model.fit(table, y_train, cat_features=levels)
    return Fitted(Prepared(model, X_train), "catboost", save=lambda path: model.save_model(str(path)))


if __name__ == "__main__":
    serve("catboost", fit)
