"""What a fit of each learner usually costs beside the others': a first guess, until a study has seen it take its time.

Seconds of a processor of the default on a thousand rows of twenty numbers, predictions for a quarter of them included,
and the power of the number of rows that they grow by; measured from 300 to 10,000 rows, both tasks in the geometric
mean. Only ratios count.
"""

from collections.abc import Mapping

COSTS: Mapping[str, tuple[float, float]] = {
    "linear": (0.008, 0.5),
    "lightgbm": (0.20, 0.9),
    "extra-trees": (0.46, 0.7),
    "random-forest": (0.92, 0.9),
    "svm": (0.04, 1.6),
    "knn": (0.008, 0.7),
    "mlp": (0.33, 0.7),
    "hist-boosting": (0.27, 0.8),
    "lightgbm-native": (0.39, 1.0),
    "lightgbm-extra": (1.5, 0.8),
    "naive-bayes": (0.006, 0.6),
    "lda": (0.005, 0.6),
    "qda": (0.005, 0.6),
    "gp-regression": (6.9, 3.0),
    "linear-wide": (0.02, 0.7),
    "mlp-robust": (1.6, 0.7),
    "lightgbm-linear": (0.65, 0.9),
    "extra-trees-linear": (0.57, 0.7),
    "lightgbm-encoded": (0.22, 0.9),
    "extra-trees-encoded": (0.5, 0.7),
    "xgboost": (0.75, 0.8),
    "catboost": (2.6, 0.6),
}
"""Seconds for a thousand rows, and the power. The last four are those of `lightgbm` and `extra-trees` times the median
ratio on 21 tables of `experiments/rows/portfolio.csv`, with powers that are guesses."""
UNKNOWN = "extra-trees"
"""What learners without an entry are taken to cost as much as."""


def typical_seconds(name: str, n_rows: int) -> float:
    """Return what a fit usually costs; users' own learners are taken for forests."""
    seconds, power = COSTS.get(name, COSTS[UNKNOWN])
    return float(seconds * (n_rows / 1_000) ** power)
