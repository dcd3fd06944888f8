"""What is known after a fit: the leaderboard, importances, the best configuration, what notebooks show."""

from __future__ import annotations

import copy
import html
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Protocol

import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from comitia.arrays import Estimator, Json, Table
from comitia.auto.boards import leaderboard_of
from comitia.auto.card import card
from comitia.auto.estimate import Estimate
from comitia.auto.fit_rows import known_target
from comitia.auto.folder import save
from comitia.auto.hindsight import Hindsight
from comitia.auto.importance import permutation_importance
from comitia.auto.refit import FittedMember
from comitia.auto.validation import ValidationPredictions
from comitia.committees import Ensemble
from comitia.committees.decisions import Rule
from comitia.committees.ensemble import only
from comitia.errors import ChoiceError
from comitia.evaluation.checks import checked_weights
from comitia.evaluation.scoring import Scoring
from comitia.study.study import Study


class Reporter(Protocol):
    """What writes the page of a fitted model."""

    def __call__(
        self, source: Results, path: str | Path, /, *, X: Table | ArrayLike | None, y: ArrayLike | None
    ) -> Path: ...


class Results(BaseEstimator, ABC):  # type: ignore[misc]
    """The part of `AutoClassifier` and `AutoRegressor` that reads what a fit has found."""

    study_: Study
    members_: list[FittedMember]
    ensemble_: Ensemble
    validation_score_: float
    validation_scores_: dict[str, float]
    validation_predictions_: ValidationPredictions | None
    estimate_: Estimate | None = None
    fit_seconds_: float | None = None
    """Seconds of the whole fit; None for a model of an earlier version."""
    data_summary_: Json | None = None
    """What the table was like (`tables.survey`); None for a model of an earlier version."""

    reporter: ClassVar[Reporter]
    """`comitia.report.write_report`, which imports this room; `comitia/__init__.py` puts the two together."""

    @abstractmethod
    def _scoring(self) -> Scoring:
        """Return what models are compared by, bound to the positive class."""

    @property
    def bound_scoring(self) -> Scoring:
        """What models are compared by; it knows the positive class."""
        return self._scoring()

    @abstractmethod
    def _metrics(self) -> dict[str, Scoring]:
        """Return further metrics by their names."""

    def scores(self, X: Table | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> dict[str, float]:
        """Return the score, as "score", and all further metrics on other rows."""
        check_is_fitted(self, "ensemble_")
        truth = known_target(y)
        found = {"score": self._scoring(), **self._metrics()}
        return {name: scoring.of(self, X, truth, sample_weight) for name, scoring in found.items()}

    @property
    def decision_rule_(self) -> Rule | None:
        """What `predict` makes of probabilities, or of the mean of numbers; None where that is what is predicted."""
        check_is_fitted(self, "ensemble_")
        return self.ensemble_.rule

    def _score(self, X: Table | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> float:
        check_is_fitted(self, "ensemble_")
        return self._scoring().of(self, X, known_target(y), sample_weight)

    @abstractmethod
    def hindsight(self) -> Hindsight | None:
        """Return what can be told of other choices among the same trials; None where trials kept no answers."""

    @property
    @abstractmethod
    def metric(self) -> str:
        """Name of what counts."""

    def leaderboard(
        self,
        X: Table | ArrayLike | None = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> pd.DataFrame:
        """Return one row per finished trial and one for the committee, the best first.

        The columns are the score of `scoring` and of further `metrics` on validation rows, for what was returned the
        `estimate` for new rows, seconds of one fit and of predicting 1,000 rows, the weight in the committee, and the
        configuration. With labelled rows `X, y` the members and the committee also have a `test_score`, and further
        metrics as `test_NAME`.
        """
        check_is_fitted(self, "study_")
        if (X is None) != (y is None):
            raise ChoiceError("Rows to test on are X and y together. Got one of them. Give both, or none.")
        test_scores = None if X is None or y is None else self._test_scores(X, y, sample_weight)
        metrics = list(self._metrics())
        together, expected = self.validation_scores_, None if self.estimate_ is None else self.estimate_.score
        return leaderboard_of(self.study_, self._scoring(), metrics, self.members_, together, test_scores, expected)

    def _test_scores(
        self, X: Table | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> dict[int | None, dict[str, float]]:
        """Return the scores of each member by itself, by its trial, and of all together as None."""
        scores: dict[int | None, dict[str, float]] = {None: self.scores(X, y, sample_weight)}
        for trial in {member.trial for member in self.members_} - {None}:
            alone = copy.copy(self)
            alone.ensemble_ = only(self.ensemble_, [member.trial == trial for member in self.members_])
            scores[trial] = alone.scores(X, y, sample_weight)
        return scores

    def feature_importance(
        self,
        X: Table | ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        n_repeats: int = 5,
        random_state: int | None = 0,
    ) -> pd.DataFrame:
        """Return how much worse the score becomes if a column's values are shuffled, the most important first.

        Parameters
        ----------
        X, y : table and array
            Labelled rows, best those that the model was not fitted on. Columns that the model does not know are left
            out.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts in the score.
        n_repeats : int
            How often each column is shuffled.
        random_state : int, optional
            For the shuffles.

        Returns
        -------
        DataFrame
            With `column`, `importance` (the mean loss of score, in units of the metric) and `low`, `high`, an interval
            that 90 of 100 other tables of as many rows would give.
        """
        check_is_fitted(self, "ensemble_")
        weights = checked_weights(sample_weight, len(known_target(y)))
        return permutation_importance(self, X, known_target(y), self._scoring(), n_repeats, random_state, weights)

    @property
    def _heaviest(self) -> FittedMember:
        check_is_fitted(self, "members_")
        return max(self.members_, key=lambda member: member.weight)

    @property
    def best_params_(self) -> Json:
        """Configuration of the member with the largest weight; empty for the fallback."""
        return dict(self._heaviest.config)

    @property
    def best_score_(self) -> float:
        """Validation score of the best trial, with scikit-learn's sign: optimistic, being the best of many."""
        check_is_fitted(self, "members_")
        return self.score_of_loss(self.study_.best_trial.loss)

    def score_of_loss(self, loss: float) -> float:
        """Turn the loss of a trial of `study_` into a score of the metric."""
        return self._scoring().score(loss)

    @property
    def best_index_(self) -> int:
        """Number of the best trial."""
        check_is_fitted(self, "members_")
        return self.study_.best_trial.number

    @property
    def best_estimator_(self) -> Estimator:
        """Fitted pipeline of the member with the largest weight; it takes the cleaned table."""
        return self._heaviest.pipeline

    def save(self, path: str | Path) -> None:
        """Write a model folder that `comitia.load` reads."""
        if "ensemble_" not in vars(self):
            raise ChoiceError(f"A model must be fitted before it is saved. Got {type(self).__name__} without a fit.")
        save(self, Path(path))

    def report(self, path: str | Path, *, X: Table | ArrayLike | None = None, y: ArrayLike | None = None) -> Path:
        """Write one HTML page of what was found, how sure it is and why; it needs no network.

        Needs plotly and jinja2: `pip install "comitia[report]"`.

        Parameters
        ----------
        path : str or Path
            File to write, such as "report.html".
        X, y : optional
            Labelled rows, best those that the model was not fitted on: the page then also has the score on them and how
            much each column matters.

        Returns
        -------
        Path
            The file.
        """
        check_is_fitted(self, "ensemble_")
        return type(self).reporter(self, path, X=X, y=y)

    def _repr_html_(self) -> str:
        """Show the members in notebooks once fitted."""
        return card(self) if "members_" in vars(self) else f"<pre>{html.escape(repr(self))}</pre>"

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
