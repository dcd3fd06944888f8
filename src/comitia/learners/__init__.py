"""Ready-made spaces: one file per family, each with how a configuration becomes a scikit-learn estimator."""

from comitia.learners.recipe import LearnerSpace
from comitia.learners.registry import SPACES, get_space

__all__ = ["SPACES", "LearnerSpace", "get_space"]
