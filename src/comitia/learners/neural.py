"""`mlp` (Lacoste et al. 2014, §6.1): a perceptron with two hidden layers, tanh, trained by L-BFGS."""

from __future__ import annotations

import ConfigSpace as CS
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline

from comitia.learners.learner_space import LearnerSpace, integer, log_real, space_of, standardised
from comitia.space import Config


def _space(n_features: int | None) -> CS.ConfigurationSpace:
    """Define 1 to 100 neurons in each of two layers, and an L2 weight in [1e-5, 1], log.

    Lacoste et al. 2014, §6.1, have one L2 weight for each of the three layers of connections; scikit-learn has one
    `alpha` for all, so three of their five dimensions become one.
    """
    return space_of(integer("neurons_1", 1, 100), integer("neurons_2", 1, 100), log_real("alpha", 1e-5, 1.0))


def build_mlp(config: Config, random_state: int) -> Pipeline:
    """Build the perceptron on standardised columns."""
    return standardised(
        MLPClassifier(
            (config["neurons_1"], config["neurons_2"]),
            activation="tanh",
            solver="lbfgs",
            alpha=config["alpha"],
            random_state=random_state,
        )
    )


MLP = LearnerSpace(
    name="mlp",
    define=_space,
    build=build_mlp,
    task="classification",
    paper="Lacoste et al. 2014, §6.1",
    summary="A perceptron with two hidden layers.",
)
