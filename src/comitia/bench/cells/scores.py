"""How good answers to the test rows are: of one model, of a committee, of a whole system."""

from collections.abc import Sequence

import numpy as np

from comitia.arrays import AnyArray
from comitia.bench.report.calibration import calibration_error
from comitia.bench.report.statistics import macro_precision_recall_f
from comitia.bench.rows.row import Further, Score
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
        return score_numbers(found.values, y_test, loss=loss)
    return score_classes(classes[found.values], found.probabilities, y_test, loss=loss, classes=classes)


def score_numbers(predicted: AnyArray, y_test: AnyArray, *, loss: RowLoss) -> Score:
    """Score numbers."""
    losses = loss.rows(y_test, predicted)
    return Score(float(np.mean(losses)), losses=losses)


def score_classes(
    predicted: AnyArray, p: AnyArray | None, y_test: AnyArray, *, loss: RowLoss, classes: AnyArray | None
) -> Score:
    """Score classes, and their probabilities where there are any."""
    precision, recall, _ = macro_precision_recall_f(y_test, predicted)
    log_losses = None
    if p is not None and classes is not None:
        log_losses = ROW_LOSSES["log-loss"].rows(*over_all_classes(p, classes, y_test))
    log_loss = np.nan if log_losses is None else float(np.mean(log_losses))
    losses = log_losses if loss.needs_probabilities else ROW_LOSSES["zero-one"].rows(y_test, predicted)
    error = np.nan if losses is None else float(np.mean(losses))
    return Score(error, precision, recall, log_loss, losses)


def further_of_numbers(predicted: AnyArray, y_test: AnyArray) -> Further:
    """Return what is recorded of a whole system's numbers beside its score."""
    return Further(rmse=float(np.sqrt(np.mean((predicted - y_test) ** 2))))


def further_of_classes(predicted: AnyArray, p: AnyArray | None, y_test: AnyArray, classes: AnyArray | None) -> Further:
    """Return what is recorded of a whole system's classes beside its score."""
    is_right = predicted == y_test
    recalls = [is_right[y_test == label].mean() for label in np.unique(y_test)]
    calibration = np.nan
    if p is not None and classes is not None:
        codes, full = over_all_classes(p, classes, y_test)
        calibration = calibration_error(full, codes)
    return Further(float(1 - is_right.mean()), float(np.mean(recalls)), calibration)


def over_all_classes(p: AnyArray, classes: AnyArray, y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return codes and probabilities over the classes of both parts: one that was never trained on has 0."""
    every = np.union1d(classes, y)
    full = np.zeros((len(p), len(every)))
    full[:, np.searchsorted(every, classes)] = p
    return np.searchsorted(every, y), full
