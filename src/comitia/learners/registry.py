"""The ready-made spaces by name."""

from __future__ import annotations

from comitia.errors import UnknownName
from comitia.learners.cash import RECIPES as CASH
from comitia.learners.default import RECIPES as DEFAULT
from comitia.learners.ensembles import RECIPES as ENSEMBLES
from comitia.learners.neural import RECIPES as NEURAL
from comitia.learners.recipe import LearnerSpace, Recipe
from comitia.learners.svm import RECIPES as SVM
from comitia.learners.trees import RECIPES as TREES

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
