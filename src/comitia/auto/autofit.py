"""One fit of `AutoClassifier` or `AutoRegressor` on a clean table: search, fit what the method hands over, judge it.

The estimators (`estimators`) are the face: they check parameters, clean the table and keep the results.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.model_selection import TimeSeriesSplit

from comitia.arrays import AnyArray, Json, Table
from comitia.auto.estimate import (
    N_DECISIONS,
    N_SLOW_DECISIONS,
    Estimating,
    affordable_decisions,
    decides_quickly,
    decision_seconds,
)
from comitia.auto.folds import record_folds
from comitia.auto.large import recorded_rows, rows_by_learner, whole_seconds
from comitia.auto.narration import TrialLines
from comitia.auto.noise import Told, stretches
from comitia.auto.refit import FittedMember, Refits, Refitted
from comitia.auto.reserve import SEARCH_SHARE, LeaveTimeToRefit, Manner, refit_costs
from comitia.auto.temperature import is_tempered
from comitia.auto.validation import Validated, validated
from comitia.committees import Ensemble
from comitia.errors import DroppedWarning, FallbackWarning
from comitia.evaluation.judged import Given
from comitia.evaluation.resampling import CV, Fixed
from comitia.evaluation.scoring import Scoring, Task
from comitia.evaluation.table import SELECTION_SPLIT, TableEvaluator
from comitia.execution.crew import ExecutorLike
from comitia.execution.machine import n_processors
from comitia.history import History, Observation
from comitia.learners.default import DefaultSpace
from comitia.learners.default.costs import typical_seconds
from comitia.methods import Method, kept_by
from comitia.seams import Keep, Member, Store
from comitia.space import Config
from comitia.study.budget import Meter
from comitia.study.progress import make_progress
from comitia.study.study import Callback, Study
from comitia.tables.cleaner import Matrix
from comitia.tables.survey import Judged, survey

log = logging.getLogger("comitia")

ESTIMATE_SHARE = 0.02
"""Part of the time limit that the estimate may take."""
N_DRAWN = 64
"""Random configurations among which is one that still ends in time, if it can be found so."""
MORE_TIME = "Give it more time."


@dataclass(frozen=True, eq=False)
class AutoFit:
    """A clean table with its target, and how models for it are searched, judged and fitted."""

    table: Matrix
    target: AnyArray
    """Numbers, or codes of classes from 0 on."""
    task: Task
    scoring: Scoring
    cv: CV
    default: DefaultSpace
    method: Method
    groups: ArrayLike | None = None
    sample_weight: ArrayLike | None = None
    fit_weight: ArrayLike | None = None
    """How much rows count in fits and in the choice of members, where that is not `sample_weight`."""
    given: Given | None = None
    """What the user gave, for scorers; the same as table and target if None."""
    metrics: Mapping[str, Scoring] = field(default_factory=dict)
    """Further metrics to report."""
    time_limit: float | None = None
    """Seconds of the whole fit, by which fits on large tables have fewer rows."""
    trial_seconds: float | None = None
    """How long a trial may be expected to take, before it is given up."""
    folds: int | float | None = None
    """What was chosen for `cv` where the user did not say."""

    @cached_property
    def evaluator(self) -> TableEvaluator:
        return TableEvaluator(
            self.default.build,
            self.table,
            self.target,
            task=self.task,
            loss=self.scoring.loss,
            metrics=[metric.scorer for metric in self.metrics.values()],
            cv=self.cv,
            reshuffled=self.method.is_reshuffled,
            groups=self.groups,
            sample_weight=self.sample_weight,
            fit_weight=self.fit_weight,
            keep=self._keep,
            selection_split=SELECTION_SPLIT if self.method.has_selection_split else None,
            given=self.given,
            least=self.scoring.least,
            trial_seconds=self.trial_seconds,
        )

    @property
    def _keep(self) -> Keep:
        """What is kept of answers: what the method needs, and in any case enough for validation predictions."""
        keep = kept_by(self.method, self.scoring.loss)
        return keep if keep != "nothing" else "probabilities"

    def open_study(self, seed: int | None, storage: str | Path | Store | None, lag: int | None = None) -> Study:
        """Return the study of this fit, with the default of every learner to begin with, or resume the stored one."""
        assert self.evaluator.n_folds  # splits that do not fit are refused before a file is made
        study = Study(self.default.space, self.method, seed=seed, storage=storage, lag=lag)
        most_rows = rows_by_learner(
            self.default, self.table.shape, self._n_classes, self.time_limit, self.evaluator.n_folds
        )
        self.evaluator.most_rows = recorded_rows(study, most_rows)
        if study.store.get("metric") is None:  # for whoever looks at the record while the search goes on
            metric = {"name": self.scoring.name, "best": self.scoring.best}
            study.store.put("metric", json.dumps(metric).encode())
        if self.folds is not None:
            record_folds(study, self.folds)
        if not len(study.history):
            for config in self.default.first:
                study.enqueue(config)
        return study

    def search(
        self,
        study: Study,
        executor: ExecutorLike,
        meter: Meter,
        manner: Manner,
        refits: Refits | None = None,
        callbacks: Iterable[Callback] = (),
        *,
        progress: bool = False,
        estimates: bool = True,
    ) -> None:
        """Run a study while the budget leaves time for the refit; `refits` may begin where workers are idle."""
        budget = meter.budget
        with ExitStack() as stack:
            more: list[Callback] = [TrialLines(self.scoring)]
            if progress:
                shown = make_progress(meter, self.scoring.score)
                more.append(stack.enter_context(shown).update)
            study.run(
                self.evaluator,
                n_trials=budget.n_trials,
                time_limit=None if budget.time_limit is None else max(meter.seconds_left, 1e-3),
                executor=executor,
                callbacks=[*callbacks, *more],
                pace=self._pace(study, meter, manner, refits, estimates=estimates),
            )

    def _pace(
        self, study: Study, meter: Meter, manner: Manner, refits: Refits | None, *, estimates: bool
    ) -> LeaveTimeToRefit:
        limit = meter.budget.time_limit

        def estimate_seconds(history: History) -> float:
            if limit is None or not estimates:
                return 0.0
            one = self._decision_seconds(history)
            return one * affordable_decisions(ESTIMATE_SHARE * limit, one)

        most_rows = self.evaluator.most_rows

        def typical(config: Config) -> float:
            most = None if most_rows is None else most_rows(config)
            n_rows = min(most or len(self.target), len(self.target))
            return typical_seconds(str(config.get("learner")), n_rows, self.table.shape[1], self._n_classes)

        return LeaveTimeToRefit(
            meter,
            refit_costs(self.evaluator, manner, study.seeds),
            study.members,
            self.evaluator.n_fits,
            estimate_seconds,
            N_SLOW_DECISIONS if estimates and not decides_quickly(study.method.selection) else 0,
            n_processors(),
            typical,
            refits if most_rows is None else None,  # on how many rows is known at the end
            lambda number: study.space.sample(N_DRAWN, study.seeds("instead", number)),
            # members that were looked at on a part of the rows are fitted again on as many as there is time for
            kept_seconds=0.0 if limit is None or most_rows is None else (1.0 - SEARCH_SHARE) * limit,
            whole_seconds=lambda members, n: whole_seconds(members, study.history, self.evaluator, n),
            leaves_out=study.lag is None,  # else later suggestions would wait for those that are left out
        )

    @property
    def _n_classes(self) -> int:
        """0 for numbers."""
        return 0 if self.evaluator.classes is None else len(self.evaluator.classes)

    def _decision_seconds(self, history: History) -> float:
        """Return about how long it takes to decide again who is a member."""
        return decision_seconds(max(history.n_finished, 1), len(self.target), max(self._n_classes, 1))

    def warn(self, study: Study, refitted: Refitted) -> None:
        """Warn the caller of `fit` of models that were left out."""
        messages = []
        if not refitted.members:
            messages.append(
                "No learner could be fitted within the budget, so the model only predicts "
                + ("the most frequent class. " if self.task == "classification" else "the mean. ")
                + _why_nothing(study.history.observations())
            )
        elif refitted.errors:
            messages.append(
                f"{len(refitted.errors)} of the models that were to be returned could not be fitted on all rows and "
                f"were left out. The first failure was: {refitted.errors[0]}"
            )
        if refitted.members and refitted.n_late:
            messages.append(
                f"{refitted.n_late} of the models that were to be returned were not ready in time and were left out. "
                + MORE_TIME
            )
        for message in messages:
            warnings.warn(message, DroppedWarning if refitted.members else FallbackWarning, stacklevel=3)

    def fallback(self) -> FittedMember:
        """Return the prior or the mean: there is always something to return."""
        model = DummyClassifier(strategy="prior") if self.task == "classification" else DummyRegressor()
        model.fit(np.zeros((len(self.target), 1)), self.target)
        return FittedMember(config=Config({}), weight=1.0, trial=None, pipeline=model)

    def tie_order(self, study: Study) -> list[int] | None:
        """Return the classes in the order in which they win ties: drawn, so that none is favoured by its name."""
        classes = self.evaluator.classes
        return None if classes is None else study.seeds("ties").permutation(len(classes)).tolist()

    def ensemble(self, study: Study, members: Sequence[FittedMember], found: Validated | None) -> Ensemble:
        """Return one predictor of all members, with what was tuned on validation rows."""
        order = self.tie_order(study)
        return Ensemble(
            [member.pipeline for member in members],
            [member.weight for member in members],
            n_classes=None if order is None else len(order),
            votes=self._votes,
            order=order,
            temperatures=[member.temperature for member in members],
            rule=None if found is None else found.rule,
            least=self.scoring.least,
            temperature=1.0 if found is None else found.temperature,
        )

    def validated(
        self, study: Study, members: Sequence[Member], *, tunes: bool, tempers: bool = True
    ) -> Validated | None:
        """Return what the members said together about the rows that each was judged on; None if it is not known."""
        found = validated(
            study.history,
            members,
            self.evaluator.given,
            self.scoring,
            self.evaluator.sample_weight,
            order=self.tie_order(study),
            tunes=tunes and not self._votes,
            tempers=tempers and self._tempers,
        )
        return replace(found, rule=None) if found is not None and self._votes else found

    def estimating(
        self, study: Study, found: Validated | None, *, tunes: bool, time_limit: float | None = None
    ) -> Estimating | None:
        """Return what an estimate of what was returned is made of; None where nothing is known of it."""
        if found is None:
            return None
        # as it is, without a rule: that is what somebody has who does not search
        default = self.validated(study, [Member(study.history.trial(0).config, 1.0, 0)], tunes=False, tempers=False)
        told, splits = found.predictions, self.evaluator.resampling
        units = None if self.evaluator.groups is None else np.unique(self.evaluator.groups, return_inverse=True)[1]
        if isinstance(splits, Fixed) and isinstance(splits.splitter, TimeSeriesSplit):
            units = stretches(len(self.target))
        n_decisions = N_DECISIONS
        if time_limit is not None:  # by sizes alone, so that it is the same on a busy machine
            n_decisions = affordable_decisions(ESTIMATE_SHARE * time_limit, self._decision_seconds(study.history))
        return Estimating(
            study,
            Told(told, self.evaluator.given, self.scoring),
            None if default is None else Told(default.predictions, self.evaluator.given, self.scoring),
            units=units,
            sample_weight=self.evaluator.sample_weight,
            order=self.tie_order(study),
            tunes=tunes and not self._votes,
            tempers=self._tempers,
            n_folds=self.evaluator.n_folds if splits.judges_every_row else 1,
            n_table_rows=len(self.target),
            n_decisions=n_decisions,
        )

    def scores(self, found: Validated | None) -> dict[str, float]:
        """Return the score of the metric, as "score", and of all further ones; NaN where nothing is known."""
        wanted = {"score": self.scoring, **self.metrics}
        if found is None:
            return dict.fromkeys(wanted, math.nan)
        return {name: found.predictions.score(one, self.evaluator.given) for name, one in wanted.items()}

    def summary(
        self,
        X: Table,
        found: Validated | None,
        classes: AnyArray | None,
        columns: list[str] | None,
        target_name: str | None,
    ) -> Json | None:
        """Describe the user's table for the report; None where it holds what cannot be described."""
        told = None if found is None else found.predictions
        judged = None if told is None else Judged(told.rows, told.folds)
        n = int(X.shape[0])  # rows of `X_val` come after these
        try:
            return {**survey(X, self.target[:n], classes, judged, columns), "target_name": target_name}
        except (ValueError, TypeError, ArithmeticError, LookupError) as error:  # no reason to lose a model
            log.warning("the table could not be described for the report: %s", error)
            return None

    @property
    def _tempers(self) -> bool:
        """Whether the probabilities of all members together are tempered."""
        return self.task == "classification" and not self._votes and is_tempered(self.method.selection)

    @property
    def _votes(self) -> bool:
        """Whether classes are decided for by a majority."""
        return self.task == "classification" and self.evaluator.keep == "predictions"


def _why_nothing(found: Sequence[Observation]) -> str:
    """Say why there is no model, and what to do."""
    if not found:
        return f"No trial had ended. {MORE_TIME}"
    failed = [one for one in found if not one.is_ok]
    if len(failed) < len(found):
        return f"Trials had succeeded, but there was no time left to fit their models on all rows. {MORE_TIME}"
    what = f"The first failure was: {failed[0].error.rstrip('.')}. "
    if all(one.status in ("failed", "crashed") for one in failed):
        return what + "All trials failed: mend what it names, the scoring or a learner."
    if any(one.status == "memory" for one in failed):
        return what + "Allow more memory (trial_memory_limit), or leave out learners that need so much."
    return what + MORE_TIME


def stacked(table: Matrix, target: AnyArray, more: Matrix, answers: AnyArray) -> tuple[Matrix, AnyArray, CV]:
    """Return rows to learn from and rows to judge on as one table, and the split between them."""
    n, m = table.shape[0], more.shape[0]
    both = sparse.vstack([table, more]).tocsr() if sparse.issparse(table) else np.vstack([table, more])
    return both, np.concatenate([target, answers]), [(np.arange(n), np.arange(n, n + m))]


def stacked_tables(X: Table | ArrayLike, more: Table | ArrayLike) -> Table:
    """Return two tables of the user's as one, for scorers that look at them."""
    if isinstance(X, pd.DataFrame) and isinstance(more, pd.DataFrame):
        return pd.concat([X, more], ignore_index=True)
    if sparse.issparse(X):
        return sparse.vstack([X, more]).tocsr()
    return np.concatenate([np.asarray(X), np.asarray(more)])
