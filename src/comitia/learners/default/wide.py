"""A linear model over a wide range of penalties and columns, and networks behind robust scaling; to be named, too."""

from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from comitia.evaluation.scoring import Task
from comitia.learners.default.encoder import encoded
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import choice, integer, log_real
from comitia.learners.perceptrons import Perceptrons
from comitia.learners.scaling import Hinges, RobustScale
from comitia.tables.cleaner import Columns

COLUMNS = ("scaled", "raw", "splines")
"""How a linear model sees columns of numbers: standardised, as they are, or bent at quantiles."""


def _linear(own: Values, task: Task, random_state: int) -> BaseEstimator:
    """`C` is the inverse of the penalty for both."""
    if task == "classification":
        return LogisticRegression(C=own["C"], max_iter=500, random_state=random_state)
    return Ridge(alpha=1 / own["C"], random_state=random_state)


def _for_columns(model: BaseEstimator, own: Values, columns: Columns, task: Task) -> BaseEstimator:
    numbers = {"scaled": StandardScaler(), "raw": "passthrough", "splines": make_pipeline(Hinges(), StandardScaler())}
    return encoded(model, columns, task, numbers[own["columns"]])


def _robustly(model: BaseEstimator, own: Values, columns: Columns, task: Task) -> BaseEstimator:
    return encoded(model, columns, task, RobustScale())


def _perceptrons(own: Values, task: Task, random_state: int) -> BaseEstimator:
    return Perceptrons(**own, task=task, random_state=random_state)


WIDE = (
    Learner(
        name="linear-wide",
        make=_linear,
        hyperparameters=lambda: [log_real("C", 1e-7, 1e7), choice("columns", list(COLUMNS))],
        default={"C": 1.0, "columns": "splines"},
        prepare=_for_columns,
        is_default=False,
        transforms_target=True,
    ),
    Learner(
        name="mlp-robust",
        make=_perceptrons,
        hyperparameters=lambda: [
            integer("layers", 1, 3),
            integer("neurons", 16, 256, log=True),
            log_real("alpha", 1e-6, 1.0),
            log_real("learning_rate", 1e-4, 1e-2),
        ],
        default={"layers": 2, "neurons": 128, "alpha": 1e-4, "learning_rate": 1e-3},
        prepare=_robustly,
        is_default=False,
        transforms_target=True,
    ),
)
