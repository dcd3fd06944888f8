"""The space that `AutoClassifier` and `AutoRegressor` search: a choice of learners with their tuning.

Every learner comes with the preprocessing of its family. Trees take codes and missing values as they are. The others
get medians and missing indicators, standardised columns, one-hot categories up to `MOST_ONE_HOT` levels and
cross-fitted target encoding above (`encoder`); all of that is fitted inside each fold.
"""

from comitia.learners.default.learners import LEARNERS
from comitia.learners.default.search_space import DefaultSpace, Include, default_space, first_trials

__all__ = ["LEARNERS", "DefaultSpace", "Include", "default_space", "first_trials"]
