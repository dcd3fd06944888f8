"""`mlp` (Lacoste et al. 2014, §6.1): a perceptron with two hidden layers, tanh, trained by L-BFGS."""

from __future__ import annotations

from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline

from comitia.learners.learner_space import LearnerSpace, integer, log_real, space_of, standardised
from comitia.space import Config


def _build(config: Config, random_state: int) -> Pipeline:
    layers = config["neurons_1"], config["neurons_2"]
    options = {"activation": "tanh", "solver": "lbfgs", "alpha": config["alpha"]}
    return standardised(MLPClassifier(layers, **options, random_state=random_state))


MLP = LearnerSpace(
    name="mlp",
    define=lambda _: space_of(integer("neurons_1", 1, 100), integer("neurons_2", 1, 100), log_real("alpha", 1e-5, 1.0)),
    build=_build,
    paper="Lacoste et al. 2014, §6.1",
    summary="A perceptron with two hidden layers.",
)
"""The paper has one L2 weight for each of the three layers of connections; scikit-learn has one `alpha` for all, so
three of the paper's five dimensions become one."""
