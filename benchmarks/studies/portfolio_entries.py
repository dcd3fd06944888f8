"""The configurations that may be in a portfolio, and the tables that they are tried on: what `portfolio.py` runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from comitia.evaluation.scoring import Task
from comitia.learners.default import LEARNERS
from comitia.learners.default.learner import Values

SETS = (
    "elevators", "spambase", "puma32h", "cardiotocography_10", "pc4", "cal_housing", "thyroid_ann", "nursery", "pole",
    "wine_quality_red", "waveform_noise", "quake", "ailerons", "page_blocks", "kr_vs_kp", "abalone_rings",
    "steel_plates", "pima", "cpu_act", "ringnorm", "titanic", "kin8nm", "segment", "bank32nh", "letter",
    "blood_transfusion", "sklearn:diabetes", "fri_c1_1000_25", "optical_digits", "stock", "abalone", "vowel", "housing",
    "tic_tac_toe", "auto_mpg", "balance_scale", "machine_cpu", "ionosphere", "servo", "breast_cancer_wisc_diag",
    "semeion", "triazines", "banana", "audiology", "pyrimidines", "automobile", "ecoli", "dermatology",
    "congressional_voting", "libras", "glass", "primary_tumor", "breast_cancer", "flags",
)  # fmt: skip
"""In an order that has some of every kind, wherever it is cut off. The sets of classes are not those by which whole
systems are compared (experiments/systems.toml); there are too few sets of numbers for that."""
EXTRA_SHALLOW = {"learning_rate": 0.0127, "num_leaves": 5, "feature_fraction": 0.73, "min_data_in_leaf": 12}
NATIVE_LARGE = {"learning_rate": 0.018, "num_leaves": 180, "feature_fraction": 0.40, "bagging_fraction": 1.0,
                "min_data_in_leaf": 12, "lambda_l1": 0.77, "lambda_l2": 1.6}  # fmt: skip
PROPOSED: tuple[tuple[str, str, Values], ...] = (
    ("lightgbm", "shallow", {"n_estimators": 200, "num_leaves": 6, "learning_rate": 0.05, "colsample_bytree": 0.6}),
    ("lightgbm", "slow", {"n_estimators": 400, "learning_rate": 0.03, "subsample": 0.7, "colsample_bytree": 0.5,
                          "min_child_samples": 5}),
    ("lightgbm", "stiff", {"num_leaves": 15, "learning_rate": 0.05, "colsample_bytree": 0.5, "min_child_samples": 40,
                           "reg_lambda": 10.0}),
    ("lightgbm-extra", "shallow", EXTRA_SHALLOW),
    ("lightgbm-extra", "fast", {"learning_rate": 0.06}),
    ("lightgbm-native", "large", NATIVE_LARGE),
    ("catboost", "deep", {"learning_rate": 0.08, "depth": 7, "l2_leaf_reg": 1e-5}),
    ("catboost", "shallow", {"learning_rate": 0.1, "depth": 4}),
    ("catboost", "slow", {"learning_rate": 0.04, "l2_leaf_reg": 5.0}),
    ("catboost", "random", {"learning_rate": 0.1, "depth": 8, "random_strength": 5.0}),
    ("extra-trees", "few", {"max_features": 0.07}),
    ("extra-trees", "some", {"max_features": 0.2}),
    ("extra-trees", "smooth", {"min_samples_leaf": 4}),
    ("extra-trees", "all", {"max_features": 1.0}),
    ("hist-boosting", "slow", {"learning_rate": 0.04, "max_leaf_nodes": 15, "max_features": 0.5}),
    ("linear", "weak", {"C": 100.0}),
    ("linear", "strong", {"C": 0.01}),
    ("svm", "C10", {"C": 10.0}),
    ("svm", "smooth", {"C": 100.0, "gamma": 0.005}),
    ("svm", "narrow", {"C": 10.0, "gamma": 0.2}),
    ("knn", "few", {"n_neighbors": 5}),
    ("mlp", "flat", {"layers": 1, "neurons": 256, "alpha": 0.01}),
    ("mlp", "deep", {"layers": 3, "neurons": 256, "alpha": 0.1, "learning_rate": 5e-4}),
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
