"""Learners with their spaces: how a configuration becomes a scikit-learn estimator.

One file per family of ready-made spaces, listed in `registry.py`. `default/` has the space that the Auto classes
search; `weka/` has learners that scikit-learn lacks.
"""

from comitia.learners.learner_space import LearnerSpace
from comitia.learners.registry import SPACES, get_space

__all__ = ["SPACES", "LearnerSpace", "get_space"]
