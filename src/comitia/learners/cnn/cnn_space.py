"""`cnn` (Lévesque 2018, §4.4.3; Snoek et al. 2012): rates, decays and normalisation of a convolutional network."""

import ConfigSpace as CS

from comitia.learners.cnn.networks import ConvolutionalNetwork
from comitia.learners.learner_space import LearnerSpace, integer, log_real, real, space_of
from comitia.space import Config


def _space(n_features: int | None) -> CS.ConfigurationSpace:
    """Define the seven hyperparameters that both papers tune; neither prints their ranges.

    Ours lie around the values of cuda-convnet's `layer-params-18pct`: rates of .001, a decay of .004 for the
    convolutions and 1 for the softmax layer, normalisation of size 3, scale .00005 and power .75. The scale reaches
    higher, because images are standardised here. A softmax decay above 10 would make steps longer than the way back.
    """
    return space_of(
        *(log_real("conv_rate", 1e-5, 1e-1), log_real("softmax_rate", 1e-5, 1e-1)),
        *(log_real("conv_decay", 4e-5, 4e-1), log_real("softmax_decay", 1e-3, 1e1)),
        *(integer("norm_size", 1, 7), real("norm_power", 0.0, 2.0), log_real("norm_scale", 5e-6, 5.0)),
    )


def _build(config: Config, random_state: int) -> ConvolutionalNetwork:
    return ConvolutionalNetwork(**config, random_state=random_state)


CNN = LearnerSpace(
    name="cnn",
    define=_space,
    build=_build,
    paper="Lévesque 2018, §4.4.3; Snoek et al. 2012",
    summary="A convolutional network for images: rates, decays, normalisation.",
    learns_from="images",
)
