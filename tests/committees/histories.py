"""Histories whose trials have predictions."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from comitia import Config, History, Observation, Predictions, Space, Trial
from comitia.history import Truth
from comitia.optimizers import RandomSearch

SEARCH = RandomSearch(Space({"a": [1]}))
"""An optimizer, for selections that do not ask it anything."""


class Played:
    """A history that grows trial by trial; None is a failure."""

    def __init__(self, y: Any, n_classes: int, *, weights: Any = None, rows: Any = None) -> None:
        self.y = np.asarray(y)
        self.rows = np.arange(len(self.y)) if rows is None else np.asarray(rows)
        self.kept: dict[int, Predictions] = {}
        self.history = History(1, self.kept.get)
        self.history.truth = Truth(self.y, n_classes, weights)

    def ask(self) -> Trial:
        number = len(self.history)
        trial = Trial(number, 0, (number / 1000,), Config({"a": number}))
        self.history.append(trial)
        return trial

    def tell(self, trial: Trial, answer: Any, *, rows: Any = None, seconds: float = 1.0) -> None:
        if answer is None:
            self.history.finish(Observation(trial, "failed", error="no"))
            return
        rows = self.rows if rows is None else np.asarray(rows)
        answer = np.asarray(answer)
        truth: Any = self.history.truth
        if truth.n_classes == 0:
            losses = (answer - self.y[rows]) ** 2
        else:
            codes = answer.argmax(axis=1) if answer.ndim == 2 else answer
            losses = (codes != self.y[rows]).astype(float)
        folds = np.zeros(len(rows), dtype=np.intp)
        self.kept[trial.number] = Predictions(rows, folds, answer, losses, seconds=np.array([seconds]))
        self.history.finish(Observation(trial, "ok", (float(losses.mean()),)))


def played(answers: Iterable[Any], y: Any, n_classes: int, *, weights: Any = None) -> History:
    game = Played(y, n_classes, weights=weights)
    for answer in answers:
        game.tell(game.ask(), answer)
    return game.history


def random_answers(seed: int, n_models: int = 12, n_rows: int = 30, n_classes: int = 3) -> tuple[Any, Any]:
    """Models that are right more often than not, and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    guesses = rng.integers(n_classes, size=(n_models, n_rows))
    return np.where(rng.random((n_models, n_rows)) < 0.5, y, guesses), y


def random_probabilities(seed: int, n_models: int = 12, n_rows: int = 30, n_classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    logits = rng.normal(size=(n_models, n_rows, n_classes))
    logits[:, np.arange(n_rows), y] += 1.0
    p = np.exp(logits)
    return (p / p.sum(axis=2, keepdims=True)).astype(np.float32), y
