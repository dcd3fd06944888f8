"""How a committee answers: what its members say, weighted and put together.

A committee is asked in several places: as a fitted `Ensemble`, by what was kept of its members' predictions, on the
test rows of an experiment. All of them come here, so that the same members with the same weights give the same answer.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import softmax

from comitia.arrays import AnyArray, Array, Indices, Predictor, Table, has_classes, has_margins, has_probabilities
from comitia.committees.tempering import tempered

EQUAL = 1e-9
"""Sums of weights that differ by less are equal: thirds do not add up."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model, or a committee, says about some rows."""

    values: AnyArray
    """Numbers or class codes (n,): what it predicts itself, which need not be its most probable class."""
    probabilities: AnyArray | None = None
    """Of classes (n, n_classes); a learner without any gives margins or votes. None for numbers."""


def kept_answers(values: AnyArray, n_classes: int) -> Answers:
    """Return what was kept of a model's answers: numbers, class codes (n,) or probabilities (n, n_classes)."""
    if values.ndim == 2:
        return Answers(values.argmax(axis=1), values)
    return Answers(values, one_hot(values, n_classes) if n_classes else None)


def combined(
    answers: Sequence[Answers],
    weights: Sequence[float],
    *,
    n_classes: int,
    votes: bool = False,
    order: Sequence[int] | None = None,
    temperatures: Sequence[float] | None = None,
) -> Answers:
    """Return the answers of a committee: numbers, or class codes and, where all members have them, probabilities.

    There is one answer per member, about the same rows; `n_classes` is 0 for numbers. See `Ensemble` for the others. A
    committee of one always answers as its member does.
    """
    if not n_classes:
        return Answers(weighted_sum((one.values for one in answers), weights))
    known = [one.probabilities for one in answers if one.probabilities is not None]
    p = None
    if len(known) == len(answers):
        scales = [1.0] * len(answers) if temperatures is None else temperatures
        p = weighted_sum((tempered(*pair) for pair in zip(known, scales, strict=True)), weights)
    scores = p
    if votes or len(answers) == 1 or scores is None:
        scores = weighted_sum((one_hot(one.values, n_classes) for one in answers), weights)
    return Answers(argmax_in_order(scores, order), p)


def weighted_sum(arrays: Iterable[AnyArray], weights: Sequence[float]) -> Array:
    """Return the sum of arrays, each times its weight, in the order of members."""
    return np.asarray(sum(w * np.asarray(a, dtype=np.float64) for a, w in zip(arrays, weights, strict=True)))


def one_hot(codes: AnyArray, n_classes: int) -> Array:
    """Return 1 for the class of each row and 0 for others, (n, n_classes)."""
    return np.asarray(codes[:, None] == np.arange(n_classes), dtype=np.float64)


def argmax_in_order(scores: AnyArray, order: Sequence[int] | None = None) -> Indices:
    """Return the class with the greatest score of each row; of equals the first in an order."""
    classes = np.arange(scores.shape[1]) if order is None else np.asarray(order, dtype=np.intp)
    is_most = scores[:, classes] >= scores.max(axis=1, keepdims=True) - EQUAL
    return np.asarray(classes[is_most.argmax(axis=1)])


# ---- what one model says --------------------------------------------------------------------------------------------


def numbers(model: Predictor, X: Table) -> Array:
    """Return the numbers that a model predicts, (n,)."""
    return np.asarray(model.predict(X), dtype=np.float64).reshape(-1)


def codes(model: Predictor, X: Table, classes: AnyArray) -> Indices:
    """Return the positions among the classes of what a model predicts, (n,)."""
    return codes_of(np.asarray(model.predict(X)).reshape(-1), classes)


def codes_of(labels: AnyArray, classes: AnyArray) -> Indices:
    """Return the position of each label among the classes, which ascend; a label that is none of them is an error."""
    found = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    if (strange := classes[found] != labels).any():
        raise ValueError(
            f"the learner predicted {labels[strange].tolist()[0]!r}, which is not a class of y; is it a classifier?"
        )
    return np.asarray(found)


def probabilities(model: Predictor, X: Table, classes: AnyArray) -> Array:
    """Return a probability of every class, (n, n_classes); a class that the model does not know has none.

    A learner without probabilities gives its margins, squashed: in the order of confidence, not calibrated; one without
    margins its votes.
    """
    if not has_classes(model):  # a learner of the user's own
        return one_hot(codes(model, X, classes), len(classes))
    known = codes_of(np.asarray(model.classes_), classes)
    if has_probabilities(model):
        own = np.asarray(model.predict_proba(X), dtype=np.float64)
    elif has_margins(model):
        margins = np.asarray(model.decision_function(X), dtype=np.float64)
        own = softmax(np.column_stack([np.zeros(len(margins)), 2 * margins]) if margins.ndim == 1 else margins)
    else:
        return one_hot(codes(model, X, classes), len(classes))
    p = np.zeros((len(own), len(classes)))
    p[:, known] = own
    return p
