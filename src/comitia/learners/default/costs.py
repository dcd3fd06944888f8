"""What a fit of each learner usually costs, on a table of some rows, columns and classes.

By it the number of folds is chosen, large tables are looked at on fewer rows, and what a study has not tried yet is
expected to take some time beside what it has. `benchmarks/studies/costs.py` measures and prints the table: seconds of a
processor of the default for 1,000 rows of 20 columns and 2 classes, predictions for a quarter of the rows included, and
the powers of rows, columns and classes that they grow by. Fits of 400 to 6,400 rows of ten tables; single fits are off
by a factor of 1.2 to 2.
"""

from collections.abc import Mapping

COSTS: Mapping[str, tuple[float, float, float, float]] = {
    "linear": (0.012, 0.51, 0.42, 0.49),
    "lightgbm": (0.048, 0.62, 0.71, 0.79),
    "extra-trees": (0.3, 0.76, 0.5, 0.06),
    "random-forest": (0.46, 0.79, 0.6, 0.09),
    "svm": (0.042, 1.4, 0.38, 0.2),
    "knn": (0.022, 0.62, 0.33, 0.0),
    "mlp": (0.17, 0.96, 0.04, 0.13),
    "hist-boosting": (0.093, 0.61, 0.47, 0.75),
    "lightgbm-native": (0.084, 0.89, 0.56, 0.85),
    "lightgbm-extra": (0.26, 0.85, 0.37, 0.95),
    "naive-bayes": (0.012, 0.34, 0.32, 0.0),
    "lda": (0.012, 0.33, 0.45, 0.0),
    "qda": (0.011, 0.34, 0.5, 0.07),
    "gp-regression": (1.8, 2.5, 0.36, 0.0),
    "linear-wide": (0.017, 0.57, 0.66, 0.8),
    "mlp-robust": (1.1, 1.0, 0.0, 0.01),
    "lightgbm-linear": (0.086, 0.62, 0.71, 0.99),
    "extra-trees-linear": (0.32, 0.76, 0.5, 0.28),
    "lightgbm-encoded": (0.045, 0.62, 0.71, 0.92),
    "extra-trees-encoded": (0.28, 0.77, 0.5, 0.02),
    "xgboost": (0.3, 0.8, 0.7, 0.8),
    "catboost": (0.28, 0.7, 0.64, 0.87),
}
"""Where few shapes were fitted, powers are those of a learner that is alike. Of CatBoost the fits that
took too long are missing, so its power of the rows is a guess above .49. `xgboost` was not measured."""
MEASURED_ROWS = 6_400
"""Beyond them seconds are taken to grow at least in proportion: part of what small fits take is the same for all."""
UNKNOWN = "extra-trees"
"""What learners without an entry are taken to cost as much as."""


def typical_seconds(name: str, n_rows: int, n_columns: int = 20, n_classes: int = 0) -> float:
    """Return what a fit usually costs; users' own learners are taken for forests. There are 0 classes for numbers."""
    few = min(n_rows, MEASURED_ROWS) / 1_000
    return _of_thousand(name, n_columns, n_classes) * float(few ** _costs(name)[1]) * _beyond(name, n_rows)


def rows_within(seconds: float, name: str, n_columns: int, n_classes: int) -> int:
    """Return on how many rows a fit usually takes so long."""
    most = typical_seconds(name, MEASURED_ROWS, n_columns, n_classes)
    if seconds > most:
        return int(MEASURED_ROWS * (seconds / most) ** (1 / power_of_rows(name)))
    return int(1_000 * (seconds / _of_thousand(name, n_columns, n_classes)) ** (1 / _costs(name)[1]))


def power_of_rows(name: str) -> float:
    """Return the power of the number of rows that the seconds of fits on many rows grow by."""
    return max(_costs(name)[1], 1.0)


def _beyond(name: str, n_rows: int) -> float:
    return float(max(n_rows / MEASURED_ROWS, 1.0) ** power_of_rows(name))


def _costs(name: str) -> tuple[float, float, float, float]:
    return COSTS.get(name, COSTS[UNKNOWN])


def _of_thousand(name: str, n_columns: int, n_classes: int) -> float:
    seconds, _, by_columns, by_classes = _costs(name)
    return float(seconds * (n_columns / 20) ** by_columns * (max(n_classes, 2) / 2) ** by_classes)
