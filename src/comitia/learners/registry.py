"""The ready-made spaces by name: a new one is a `LearnerSpace` in a file of its own, and one line here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from ConfigSpace import ConfigurationSpace

from comitia.errors import UnknownName
from comitia.learners.cash import CASH
from comitia.learners.cnn.cnn_space import CNN
from comitia.learners.default.search_space import CLASSIFICATION, REGRESSION
from comitia.learners.ensembles import SEVEN_KINDS
from comitia.learners.learner_space import LearnerSpace
from comitia.learners.neural import MLP
from comitia.learners.svm import ARD, KERNELS, NARROW, RBF
from comitia.learners.svm import REGRESSION as SVM_REGRESSION
from comitia.learners.trees import BOOSTING, BOOSTING_REGRESSION, FOREST, FOREST_REGRESSION, RANDOM_FOREST
from comitia.space import Space
from comitia.space.config import Value

SpaceLike: TypeAlias = Space | ConfigurationSpace | Mapping[str, Value] | Sequence[Mapping[str, Value]] | str
"""What a user may give for a space: a string is the name of a ready-made one."""
SPACES: dict[str, LearnerSpace] = {
    ready.name: ready
    for ready in (
        RBF,
        KERNELS,
        NARROW,
        SVM_REGRESSION,
        ARD,
        RANDOM_FOREST,
        FOREST,
        FOREST_REGRESSION,
        BOOSTING,
        BOOSTING_REGRESSION,
        MLP,
        CASH,
        SEVEN_KINDS,
        CNN,
        CLASSIFICATION,
        REGRESSION,
    )
}


def get_space(name: str, *, n_features: int | None = None) -> LearnerSpace:
    """Return a ready-made space with the learner it describes.

    Parameters
    ----------
    name : str
        Such as "svm-rbf" or "sklearn-cash"; upper and lower case are the same.
    n_features : int, optional
        Number of columns of the table, for spaces that depend on it ("svm-ard").

    Examples
    --------
    >>> from comitia.learners import get_space
    >>> ready = get_space("svm-rbf")
    >>> ready.space
    Space(C, gamma)
    """
    if not isinstance(name, str) or name.lower() not in SPACES:
        raise UnknownName("space", name, SPACES)
    ready = replace(SPACES[name.lower()], n_features=n_features)
    _ = ready.space  # a space that cannot be defined is refused here, not where it is first used
    return ready


def make_space(space: SpaceLike) -> Space:
    """Return the space that a user means: a ready-made one by its name, or one made of a definition."""
    if isinstance(space, str):
        return get_space(space).space
    return space if isinstance(space, Space) else Space(space)
