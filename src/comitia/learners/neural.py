"""`mlp` (L §6.1): a perceptron with two hidden layers, tanh, trained by L-BFGS."""

from __future__ import annotations

from typing import Any

import ConfigSpace as CS
from sklearn.neural_network import MLPClassifier

from comitia.learners.recipe import Recipe, integer, log_real, space_of, standardised
from comitia.space import Config


def _space(n_features: int | None) -> CS.ConfigurationSpace:
    """L §6.1: 1 to 100 neurons in each of two layers, and an L2 weight in [1e-5, 1], log.

    L has one L2 weight for each of the three layers of connections; scikit-learn has one `alpha` for all, so three
    of L's five dimensions become one.
    """
    return space_of(integer("neurons_1", 1, 100), integer("neurons_2", 1, 100), log_real("alpha", 1e-5, 1.0))


def build_mlp(config: Config, random_state: int) -> Any:
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


RECIPES = [Recipe("mlp", _space, build_mlp, "classification", "L", "A perceptron with two hidden layers.")]
