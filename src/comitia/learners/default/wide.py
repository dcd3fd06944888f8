"""Linear models over wide ranges, trees that get their scores, networks behind robust scaling."""

from dataclasses import replace

from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from comitia.evaluation.scoring import Task
from comitia.learners.default.encoder import encoded
from comitia.learners.default.learner import Learner, Values
from comitia.learners.learner_space import choice, integer, log_real
from comitia.learners.linear_scores import LinearScores
from comitia.learners.perceptrons import Perceptrons
from comitia.learners.scaling import Hinges, Products, RobustScale
from comitia.tables.cleaner import Columns

COLUMNS = ("scaled", "raw", "splines", "products")
"""How a linear model sees columns of numbers: standardised, as they are, bent at quantiles, or with their products."""
SCORING_C = 100.0
"""Of the linear model whose scores trees get: a contrast of two columns that are much alike has large weights."""


def _linear(own: Values, task: Task, random_state: int) -> BaseEstimator:
    """`C` is the inverse of the penalty for both."""
    if task == "classification":
        return LogisticRegression(C=own["C"], max_iter=500, random_state=random_state)
    return Ridge(alpha=1 / own["C"], random_state=random_state)


def _for_columns(model: BaseEstimator, own: Values, columns: Columns, task: Task) -> BaseEstimator:
    numbers = {
        "scaled": StandardScaler(),
        "raw": "passthrough",
        "splines": make_pipeline(Hinges(), StandardScaler()),
        "products": make_pipeline(StandardScaler(), Products(task == "classification"), StandardScaler()),
    }
    return encoded(model, columns, task, numbers[own["columns"]])


def _with_scores(model: BaseEstimator, own: Values, columns: Columns, task: Task) -> BaseEstimator:
    linear = LogisticRegression(C=SCORING_C, max_iter=200) if task == "classification" else Ridge(1 / SCORING_C)
    return Pipeline([("scores", LinearScores(encoded(linear, columns, task), task)), ("learner", model)])


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
        default_for=(),
        transforms_target=True,
    ),
)


def with_scores(learner: Learner, *, default_for: tuple[Task, ...]) -> Learner:
    """Return a learner of trees that gets the scores of a linear model as further columns."""
    return replace(
        learner, name=f"{learner.name}-linear", prepare=_with_scores, default_for=default_for, transforms_target=True
    )
