"""The learners of the default space by name, the cheapest defaults first."""

from __future__ import annotations

from comitia.learners.default import forests, lightgbm_trees, linear, nearest, perceptron, radial_svm
from comitia.learners.default.learner import Learner

LEARNERS: dict[str, Learner] = {
    learner.name: learner
    for learner in (
        linear.LINEAR,
        lightgbm_trees.LIGHTGBM,
        forests.EXTRA_TREES,
        forests.RANDOM_FOREST,
        radial_svm.SVM,
        nearest.KNN,
        perceptron.MLP,
    )
}
