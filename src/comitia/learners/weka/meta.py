"""Boosting by weights or by resampling (WEKA's AdaBoostM1), and voting by six rules (WEKA's Vote)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from comitia.arrays import Array
from comitia.learners.weka.weka_classifier import Codes, WekaClassifier, normalised, one_hot

Rule = Literal["avg", "prod", "maj", "min", "max", "med"]
RULES: dict[Rule, Callable[[Array], Array]] = {
    "avg": lambda P: P.mean(axis=0),
    "prod": lambda P: P.prod(axis=0),
    "maj": lambda P: np.eye(P.shape[2])[P.argmax(axis=2)].mean(axis=0),
    "min": lambda P: P.min(axis=0),
    "max": lambda P: P.max(axis=0),
    "med": lambda P: np.median(P, axis=0),
}
LEAST_ERROR = 1e-10


@dataclass(eq=False, repr=False)
class Boosted(WekaClassifier):
    """AdaBoost for several classes (SAMME): rows that were wrong count more for the next member.

    A member with weighted error e has the vote `log((1 - e) / e) + log(K - 1)`, and the weights of the rows that it got
    wrong grow by its exponential.
    """

    estimator: BaseEstimator
    n_iterations: int = 10
    """Members at most; a perfect one, or one that is no better than chance, ends it."""
    resample: bool = False
    """Draw rows by their weights instead of weighing them. Learners that take no weights are always trained so."""
    mass: float = 1.0
    """Leave out the lightest rows beyond this share of the weight, in (0, 1], before rows are weighed or drawn."""
    random_state: int = 0

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        rng = np.random.default_rng(self.random_state)
        chance = 1 - 1 / len(self.classes_)
        w = np.full(len(X), 1 / len(X))
        self.estimators_: list[BaseEstimator] = []
        votes: list[float] = []
        for _ in range(self.n_iterations):
            model = self._member(X, codes, w, rng)
            wrong = model.predict(X) != codes
            e = float(w[wrong].sum())
            if e >= chance:
                if not self.estimators_:  # one that is no better than chance is better than none
                    self.estimators_, votes = [model], [1.0]
                break
            e = max(e, LEAST_ERROR)
            self.estimators_.append(model)
            votes.append(float(np.log((1 - e) / e) + np.log(len(self.classes_) - 1)))
            if e == LEAST_ERROR:
                break
            w = w * np.exp(votes[-1] * wrong)
            w /= w.sum()
        self.votes_ = np.array(votes) / np.sum(votes)

    def _member(self, X: Array, codes: Codes, w: Array, rng: np.random.Generator) -> BaseEstimator:
        model = reseeded(self.estimator, int(rng.integers(2**31)))
        rows = heaviest_rows(w, self.mass)
        share = w[rows] / w[rows].sum()
        if self.resample or not has_fit_parameter(model, "sample_weight"):
            rows = rng.choice(rows, len(rows), p=share)
            return model.fit(X[rows], codes[rows])
        return model.fit(X[rows], codes[rows], sample_weight=share * len(rows))

    def _answer(self, X: Array) -> Array:
        pairs = zip(self.votes_, self.estimators_, strict=True)
        return np.asarray(sum(vote * one_hot(model.predict(X), len(self.classes_)) for vote, model in pairs))


def heaviest_rows(w: Array, mass: float) -> Codes:
    """Return the heaviest rows that make up more than a share of the weight, in their order; all for a share of 1.

    Weights sum to 1. As in WEKA, rows as heavy as the lightest of them are among them too: which of equal rows are left
    out would depend on the order of the table. So equal weights, those of the first member, leave out nothing.
    """
    if mass >= 1:
        return np.arange(len(w))
    falling = np.sort(w)[::-1]
    last = min(int(np.searchsorted(np.cumsum(falling), mass, side="right")), len(w) - 1)
    return np.flatnonzero(w >= falling[last])


@dataclass(eq=False, repr=False)
class Vote(WekaClassifier):
    """A rule combines the probabilities of the members: mean, product, most votes, least, greatest or median."""

    estimators: list[tuple[str, BaseEstimator]]
    copies: list[int]
    """How often each counts."""
    rule: Rule = "avg"

    def _fit(self, X: Array, codes: Codes, weight: Array | None) -> None:
        self.estimators_ = [clone(model).fit(X, codes) for _, model in self.estimators]

    def _answer(self, X: Array) -> Array:
        P = np.stack([model.predict_proba(X) for model in self.estimators_])
        return combined(np.repeat(P, self.copies, axis=0), self.rule)


def combined(P: Array, rule: Rule) -> Array:
    """Combine probabilities (n_members, n_rows, n_classes); where a rule leaves every class at 0 the mean decides."""
    mean = P.mean(axis=0)
    found = np.asarray(RULES[rule](P))
    return normalised(np.where(found.sum(axis=1, keepdims=True) > 0, found, mean))


def reseeded(estimator: BaseEstimator, seed: int) -> BaseEstimator:
    """Return a copy of an estimator in which everything random draws from this seed."""
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "random_state"]
    return clone(estimator).set_params(**dict.fromkeys(names, seed))
