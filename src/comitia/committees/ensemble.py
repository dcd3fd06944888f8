"""`Ensemble`: weighted fitted members that predict as one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import BaseEstimator

from comitia.arrays import AnyArray, Array, Predictor, Table
from comitia.committees.combine import Answers, codes, combined, kept_answers, numbers, probabilities
from comitia.committees.decisions import DecisionRule, LinearRule, Rule
from comitia.committees.tempering import tempered


@dataclass(eq=False, repr=False)
class Ensemble(BaseEstimator):  # type: ignore[misc]
    """Average the answers of fitted models."""

    models: Sequence[Predictor]
    weights: Sequence[float]
    """They sum to 1."""
    n_classes: int | None = None
    """Classes are codes 0 to n_classes - 1; None for numbers."""
    votes: bool = False
    """Predict the class with the most votes instead of the most probable one."""
    order: Sequence[int] | None = None
    """The classes; of equals the first here wins. 0, 1, ... if not given."""
    temperatures: Sequence[float] | None = None
    """What each one's probabilities are tempered by before they are averaged; see `tempering`."""
    rule: Rule | None = None
    """How a class is decided for by the probabilities of all; if not given, a single model decides by itself, and
    others for the most probable class, or by `votes`. For numbers, what becomes of their mean."""
    least: float | None = None
    """A model's numbers below are raised to it."""
    temperature: float = 1.0
    """What the probabilities of all together are tempered by."""

    def predict(self, X: Table) -> AnyArray:
        """Return a number, or the code of a class, for each row."""
        if self.n_classes is None:
            values = self._combined([Answers(self._numbers(model, X)) for model in self.models]).values
            return self._at_least(self.rule(values) if isinstance(self.rule, LinearRule) else values)
        if isinstance(self.rule, DecisionRule):
            return self.rule(self.predict_proba(X), self.order)
        if self.votes or len(self.models) == 1:  # one model's own answer, which need not be its most probable class
            classes = np.arange(self.n_classes)
            return self._combined([Answers(codes(model, X, classes)) for model in self.models]).values
        return self._averaged(X).values

    def predict_proba(self, X: Table) -> Array:
        """Return class probabilities (n, n_classes); a member without any gives margins or votes."""
        found = self._averaged(X).probabilities
        assert found is not None
        return tempered(found, self.temperature)

    def _numbers(self, model: Predictor, X: Table) -> Array:
        return self._at_least(numbers(model, X))

    def _at_least(self, values: Array) -> Array:
        return values if self.least is None else np.maximum(values, self.least)

    def _averaged(self, X: Table) -> Answers:
        n_classes = self.n_classes or 0
        found = [probabilities(model, X, np.arange(n_classes)) for model in self.models]
        return self._combined([kept_answers(p, n_classes) for p in found])

    def _combined(self, answers: Sequence[Answers]) -> Answers:
        return combined(
            answers,
            self.weights,
            n_classes=self.n_classes or 0,
            votes=self.votes,
            order=self.order,
            temperatures=self.temperatures,
        )


def only(ensemble: Ensemble, is_kept: Sequence[bool]) -> Ensemble:
    """Return some of the models, without a rule and a temperature that were tuned for all of them."""
    kept = [i for i, keep in enumerate(is_kept) if keep]
    total = sum(ensemble.weights[i] for i in kept)
    temperatures = ensemble.temperatures
    return replace(
        ensemble,
        models=[ensemble.models[i] for i in kept],
        weights=[ensemble.weights[i] / total for i in kept],
        temperatures=None if temperatures is None else [temperatures[i] for i in kept],
        rule=None,
        temperature=1.0,
    )
