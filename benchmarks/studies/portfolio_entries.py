"""The configurations that may be in a portfolio, and the tables that they are tried on: what `portfolio.py` runs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from comitia.errors import ChoiceError
from comitia.evaluation.scoring import Task
from comitia.learners.default import LEARNERS, default_space
from comitia.learners.default.learner import Values
from comitia.tables.cleaner import Columns

SETS = (
    "nursery", "quake", "ailerons", "balance_scale", "automobile", "stock", "pima", "auto_mpg", "german_credit",
    "housing", "blood_transfusion", "servo", "tic_tac_toe", "kin8nm", "pc4", "abalone_rings", "spambase",
    "machine_cpu", "car", "cpu_act", "sonar", "cal_housing", "splice", "bank32nh", "steel_plates", "triazines",
    "magic", "pole", "adult", "elevators", "ionosphere", "puma32h", "breast_cancer", "banana", "glass",
    "bank_marketing", "yeast", "lending_club", "kr_vs_kp", "segment", "waveform_noise", "oil_spill", "page_blocks",
    "thyroid_ann", "wine_quality_white", "vowel", "annealing", "cardiotocography_10", "arrhythmia", "chess_krvk",
)  # fmt: skip
"""In an order that has some of every kind, wherever it is cut off; those with many classes come late."""
DRAWN = {
    "lightgbm": 2, "extra-trees": 1, "random-forest": 1, "svm": 1, "mlp": 1, "lightgbm-extra": 1, "xgboost": 1,
    "catboost": 1, "hist-boosting": 1,
}  # fmt: skip
"""How many configurations are drawn at random, beside those that somebody proposed."""
EXTRA_SHALLOW = {"learning_rate": 0.0127, "num_leaves": 5, "feature_fraction": 0.73, "min_data_in_leaf": 12}
NATIVE_LARGE = {"learning_rate": 0.018, "num_leaves": 180, "feature_fraction": 0.40, "bagging_fraction": 1.0,
                "min_data_in_leaf": 12, "lambda_l1": 0.77, "lambda_l2": 1.6}  # fmt: skip
PROPOSED: tuple[tuple[str, str, Values], ...] = (
    ("lightgbm", "shallow", {"n_estimators": 200, "num_leaves": 6, "learning_rate": 0.05, "colsample_bytree": 0.6}),
    ("lightgbm", "slow", {"n_estimators": 400, "learning_rate": 0.03, "subsample": 0.7, "colsample_bytree": 0.5,
                          "min_child_samples": 5}),
    ("lightgbm-extra", "shallow", EXTRA_SHALLOW),
    ("lightgbm-native", "large", NATIVE_LARGE),
    ("catboost", "deep", {"learning_rate": 0.08, "depth": 7, "l2_leaf_reg": 1e-5}),
    ("extra-trees", "sqrt", {"max_features": 0.2}),
    ("extra-trees", "all", {"max_features": 1.0}),
    ("linear", "weak", {"C": 100.0}),
    ("linear", "strong", {"C": 0.01}),
    ("svm", "C10", {"C": 10.0}),
    ("svm", "smooth", {"C": 100.0, "gamma": 0.005}),
    ("knn", "few", {"n_neighbors": 5}),
    ("linear-wide", "products", {"columns": "products", "C": 0.01}),
    ("linear-wide", "stiff", {"columns": "splines", "C": 0.03}),
    ("linear-wide", "raw", {"columns": "raw", "C": 1e3}),
    ("qda", "pooled", {"pooling": 0.6, "shrinkage": 0.1}),
    ("gp-regression", "rough", {"smoothness": "1/2"}),
)  # fmt: skip
"""Learner, name, and what differs from its default."""
TRANSFORMED = ("catboost", "lightgbm-extra", "linear-wide", "gp-regression")
"""Of these, regression has the default with the logarithm of the target, too."""


@dataclass(frozen=True)
class Entry:
    """A configuration with a name, such as "svm" (the learner's default) or "svm/C10"."""

    name: str
    learner: str
    values: Values

    @property
    def config(self) -> Values:
        """The point of the default space."""
        return {"learner": self.learner, **{f"{self.learner}:{key}": value for key, value in self.values.items()}}


def entries(task: Task) -> list[Entry]:
    """Return all that may be tried on tables of a task; some need a package, or few rows."""
    return [entry for entry in _all_of(task) if task in LEARNERS[entry.learner].tasks]


def _all_of(task: Task) -> Iterator[Entry]:
    for name, learner in LEARNERS.items():
        yield Entry(name, name, learner.first(task))
    for name, called, changes in PROPOSED:
        yield Entry(f"{name}/{called}", name, {**LEARNERS[name].first(task), **changes})
    if task == "regression":
        for name in TRANSFORMED:
            yield Entry(f"{name}/log", name, {**LEARNERS[name].first(task), "target": "log"})
    for name, n in DRAWN.items():
        try:
            space = default_space(Columns(1), task, 1, include=[name]).space
        except ChoiceError:  # a package is not installed
            continue
        rng = np.random.default_rng([len(name), *name.encode()])
        for i, config in enumerate(space.decode(space.sample(n, rng))):
            values = {key.partition(":")[2]: value for key, value in config.items() if key != "learner"}
            yield Entry(f"{name}/drawn-{i + 1}", name, values)
