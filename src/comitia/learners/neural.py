"""`mlp` (Lacoste et al. 2014, §6.1): a perceptron with two hidden layers, tanh, trained by L-BFGS."""

import ConfigSpace as CS
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline

from comitia.learners.learner_space import LearnerSpace, integer, log_real, space_of, standardised
from comitia.space import Config


def _space(n_features: int | None) -> CS.ConfigurationSpace:
    """Define two layers and an L2 weight.

    The paper has one weight for each of the three layers of connections; scikit-learn has one `alpha` for all, so three
    of the paper's five dimensions become one.
    """
    return space_of(integer("neurons_1", 1, 100), integer("neurons_2", 1, 100), log_real("alpha", 1e-5, 1.0))


def _build(config: Config, random_state: int) -> Pipeline:
    layers = config["neurons_1"], config["neurons_2"]
    options = {"activation": "tanh", "solver": "lbfgs", "alpha": config["alpha"]}
    return standardised(MLPClassifier(layers, **options, random_state=random_state))


MLP = LearnerSpace(
    name="mlp",
    define=_space,
    build=_build,
    paper="Lacoste et al. 2014, §6.1",
    summary="A perceptron with two hidden layers.",
)
