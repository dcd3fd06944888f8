"""How good answers to the test rows are: of one model, of a committee, of a whole system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from comitia.arrays import AnyArray
from comitia.bench.problems.tabulated import Answers
from comitia.bench.report.statistics import macro_precision_recall_f
from comitia.bench.rows.row import Score
from comitia.committees.ensemble import of_most
from comitia.committees.tempering import tempered
from comitia.evaluation.scoring import LogLoss, RowLoss, Task
from comitia.seams import Member


def default_loss(task: Task) -> str:
    """Return what the papers report: the error rate, or the squared error."""
    return "zero-one" if task == "classification" else "squared-error"


def score_members(
    members: Sequence[Member],
    answers: Sequence[Answers],
    y_test: AnyArray,
    *,
    loss: RowLoss,
    classes: AnyArray | None,
    averages: bool,
) -> Score:
    """Score what would be handed over.

    Parameters
    ----------
    members : sequence of Member
    answers : sequence of Answers
        Of each member for the test rows.
    y_test : array of shape (n,)
    loss : RowLoss
    classes : array, optional
        Those that the codes stand for; None for numbers.
    averages : bool
        Predict the most probable class instead of the one with the most votes; of equals the first.
    """
    weights = [member.weight for member in members]
    if classes is None:
        mean = np.average([answer.values for answer in answers], axis=0, weights=weights)
        return Score(float(np.mean(loss.rows(y_test, mean))))
    ps = [
        tempered(answer.probabilities, member.temperature)
        for answer, member in zip(answers, members, strict=True)
        if answer.probabilities is not None
    ]
    p = np.average(ps, axis=0, weights=weights) if len(ps) == len(members) else None
    if averages:
        assert p is not None
        predicted = classes[of_most(p)]
    else:
        codes = np.arange(len(classes))
        votes = sum(w * (a.values[:, None] == codes) for a, w in zip(answers, weights, strict=True))
        predicted = classes[of_most(np.asarray(votes))]
    return score_classes(predicted, p, y_test, loss=loss, classes=classes)


def score_classes(
    predicted: AnyArray, p: AnyArray | None, y_test: AnyArray, *, loss: RowLoss, classes: AnyArray | None
) -> Score:
    """Score classes, and their probabilities where there are any."""
    precision, recall, _ = macro_precision_recall_f(y_test, predicted)
    log_loss = np.nan
    if p is not None and classes is not None:
        log_loss = float(np.mean(LogLoss().rows(*over_all_classes(p, classes, y_test))))
    error = log_loss if loss.needs_probabilities else float(np.mean(predicted != y_test))
    return Score(error, precision, recall, log_loss)


def over_all_classes(p: AnyArray, classes: AnyArray, y: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return codes and probabilities over the classes of both parts: one that was never trained on has 0."""
    every = np.union1d(classes, y)
    full = np.zeros((len(p), len(every)))
    full[:, np.searchsorted(every, classes)] = p
    return np.searchsorted(every, y), full
