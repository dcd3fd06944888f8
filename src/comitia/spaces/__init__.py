"""Ready-made spaces: one file a family, each with how a configuration becomes a scikit-learn estimator."""

from comitia.spaces.learners import LearnerSpace
from comitia.spaces.registry import SPACES, get_space

__all__ = ["SPACES", "LearnerSpace", "get_space"]
