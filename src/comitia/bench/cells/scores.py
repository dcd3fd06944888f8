"""How good answers to the test rows are: of one model, of a committee, of a whole system."""

from collections.abc import Sequence

import numpy as np

from comitia.arrays import AnyArray
from comitia.bench.report.statistics import macro_precision_recall_f
from comitia.bench.rows.row import Score
from comitia.committees.combine import Answers, combined
from comitia.evaluation.scoring import ROW_LOSSES, RowLoss
from comitia.seams import Member


def score_members(
    members: Sequence[Member],
    answers: Sequence[Answers],
    y_test: AnyArray,
    *,
    loss: RowLoss,
    classes: AnyArray | None,
    averages: bool,
) -> Score:
    """Score what would be handed over: members with weights, and the answers of each to the test rows.

    `classes` are those that codes stand for, None for numbers. With `averages` the most probable class is predicted
    instead of the one with the most votes; of equals the first.
    """
    found = combined(
        answers,
        [member.weight for member in members],
        n_classes=0 if classes is None else len(classes),
        votes=not averages,
        temperatures=[member.temperature for member in members],
    )
    if classes is None:
        return Score(float(np.mean(loss.rows(y_test, found.values))))
    return score_classes(classes[found.values], found.probabilities, y_test, loss=loss, classes=classes)


def score_classes(
    predicted: AnyArray, p: AnyArray | None, y_test: AnyArray, *, loss: RowLoss, classes: AnyArray | None
) -> Score:
    """Score classes, and their probabilities where there are any."""
    precision, recall, _ = macro_precision_recall_f(y_test, predicted)
    log_loss = np.nan
    if p is not None and classes is not None:
        log_loss = float(np.mean(ROW_LOSSES["log-loss"].rows(*over_all_classes(p, classes, y_test))))
    error = log_loss if loss.needs_probabilities else float(np.mean(predicted != y_test))
    return Score(error, precision, recall, log_loss)


def over_all_classes(p: AnyArray, classes: AnyArray, y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return codes and probabilities over the classes of both parts: one that was never trained on has 0."""
    every = np.union1d(classes, y)
    full = np.zeros((len(p), len(every)))
    full[:, np.searchsorted(every, classes)] = p
    return np.searchsorted(every, y), full
