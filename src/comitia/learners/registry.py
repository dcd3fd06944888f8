"""The ready-made spaces by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ConfigSpace import ConfigurationSpace

from comitia.errors import UnknownName
from comitia.learners.cash import RECIPES as CASH
from comitia.learners.default import RECIPES as DEFAULT
from comitia.learners.ensembles import RECIPES as ENSEMBLES
from comitia.learners.neural import RECIPES as NEURAL
from comitia.learners.recipe import LearnerSpace, Recipe
from comitia.learners.svm import RECIPES as SVM
from comitia.learners.trees import RECIPES as TREES
from comitia.space import Space

SpaceLike: TypeAlias = Space | ConfigurationSpace | Mapping[str, Any] | str
"""What a user may give for a space: a string is the name of a ready-made one."""
SPACES: dict[str, Recipe] = {recipe.name: recipe for recipe in [*SVM, *TREES, *NEURAL, *CASH, *ENSEMBLES, *DEFAULT]}


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
    return SPACES[name.lower()].make(n_features)


def make_space(space: SpaceLike) -> Space:
    """Return the space that a user means: a ready-made one by its name, or one made of a definition."""
    if isinstance(space, str):
        return get_space(space).space
    return space if isinstance(space, Space) else Space(space)
