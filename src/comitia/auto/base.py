"""What `AutoClassifier` and `AutoRegressor` share: parameters, a fit, and what is known after it."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from comitia.arrays import AnyArray, Json, Table
from comitia.auto.after_fit import Results
from comitia.auto.autofit import AutoFit, stacked, stacked_tables
from comitia.auto.estimate import Estimate, EstimateKind
from comitia.auto.fit_rows import FitRows, Refit, fit_rows, kept_splits, manner_of, weights_of_both
from comitia.auto.folds import affordable_fits, default_folds, recorded_folds
from comitia.auto.hindsight import Hindsight
from comitia.auto.methods_for import default_method, method_for, within
from comitia.auto.narration import heard
from comitia.auto.nested import N_FITS, check_nested, nested_predictions
from comitia.auto.presets import get_preset
from comitia.auto.refit import Refits, fit_again
from comitia.auto.temperature import is_tempered
from comitia.auto.validation import Validated
from comitia.errors import ChoiceError, check_int
from comitia.evaluation.checks import checked_metrics, checked_table
from comitia.evaluation.judged import Given
from comitia.evaluation.metrics import Target, check_task, scoring_for, with_positive
from comitia.evaluation.resampling import CV
from comitia.evaluation.scoring import LossLike, Scoring, Task, make_scoring
from comitia.execution import Workers
from comitia.execution.crew import ExecutorLike, with_limits
from comitia.execution.kept import kept_starter
from comitia.execution.machine import count_jobs
from comitia.learners.default import DefaultSpace, Include, default_space
from comitia.methods import Method, get_method
from comitia.seams import Member, Store
from comitia.seeds import seed_of
from comitia.study.budget import Budget
from comitia.study.study import Callback, Study
from comitia.tables.cleaner import Columns, Matrix, TableCleaner, column_names

TRIAL_SHARE = 0.4
"""Share of the time limit after which a trial is killed, unless the user says otherwise."""


class AutoBase(Results):
    """The face of a fit (`autofit`): it checks parameters, cleans the table and keeps the results."""

    _task: Task
    cleaner_: TableCleaner
    n_features_in_: int

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        n_trials: int | None = None,
        preset: str = "balanced",
        method: str | Method | None = None,
        scoring: LossLike | None = None,
        metrics: Sequence[LossLike] = (),
        decision_rule: str = "auto",
        estimate: EstimateKind = "auto",
        cv: CV | None = None,
        include: Include | None = None,
        exclude: Sequence[str] = (),
        refit: Refit = "full",
        n_jobs: int | None = -1,
        lag: int | None = None,
        executor: ExecutorLike | None = None,
        trial_time_limit: float | None = None,
        trial_memory_limit: float | None = None,
        storage: str | Path | Store | None = None,
        callbacks: Iterable[Callback] = (),
        verbose: int = 0,
        random_state: int | None = None,
    ) -> None:
        self.time_limit = time_limit
        self.n_trials = n_trials
        self.preset = preset
        self.method = method
        self.scoring = scoring
        self.metrics = metrics
        self.decision_rule = decision_rule
        self.estimate = estimate
        self.cv = cv
        self.include = include
        self.exclude = exclude
        self.refit = refit
        self.n_jobs = n_jobs
        self.lag = lag
        self.executor = executor
        self.trial_time_limit = trial_time_limit
        self.trial_memory_limit = trial_memory_limit
        self.storage = storage
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    # ---- fitting --------------------------------------------------------------------------------------------------

    def fit(
        self,
        X: Table | ArrayLike,
        y: ArrayLike | None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        X_val: Table | ArrayLike | None = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Search for the model that generalises best, and refit it on all rows.

        Parameters
        ----------
        X : array, sparse matrix, pandas, polars or pyarrow table of shape (n_rows, n_columns)
            Numbers, strings, dates, booleans, missing values.
        y : array of shape (n_rows,)
            Rows where it is missing are left out, with a warning; splits that name rows are renumbered.
        sample_weight : array of shape (n_rows,), optional
            Counts in the loss, and in the fit where the learner accepts weights.
        groups : array of shape (n_rows,), optional
            Rows of a group stay on one side of every split.
        X_val, y_val : optional
            Rows to judge on, instead of splits of `X`: `cv` and `groups` have no effect then, and each of these rows
            has the mean of the weights. Nothing is fitted on them, unless `refit="full+val"` asks for it.
        """
        self.check_parameters()
        if self.estimate == "nested":
            check_nested(self.cv, has_val=X_val is not None)
        meter = self._budget().start()
        self.cv = kept_splits(self.cv)
        rows = fit_rows(X, y, sample_weight, groups, self.cv)
        self.cleaner_ = TableCleaner(type(self).__name__).fit(rows.X)
        self.n_features_in_ = self.cleaner_.n_features_in_
        self._remember_names(rows.X)
        table = self.cleaner_.in_precision(self.cleaner_.transform(rows.X))
        target = self._encode_target(rows.y, table.shape[0])
        shown, groups, weights = rows.X, rows.groups, rows.sample_weight
        if X_val is None:
            if y_val is not None:
                raise ChoiceError("X_val and y_val go together. Got y_val alone. Give X_val, too.")
            cv = self._splits(rows, target, table.shape)
        else:
            if y_val is None:
                raise ChoiceError("X_val and y_val go together. Got X_val alone. Give y_val, too.")
            judged = fit_rows(X_val, y_val, name="y_val")
            more = self.cleaner_.transform(judged.X)
            weights = weights_of_both(weights, table.shape[0], more.shape[0])
            table, target, cv = stacked(table, target, more, self._encode_more(judged.y, more.shape[0]))
            shown, groups = stacked_tables(rows.X, judged.X), None
        manner = manner_of(self.refit, has_val=X_val is not None)
        with heard(self.verbose):
            auto = self._auto_fit(table, target, cv, groups, weights, shown)
        study = auto.open_study(seed_of(self.random_state), self.storage, self.lag)
        name = str(y.name) if isinstance(y, pd.Series) and y.name is not None else None
        with heard(self.verbose), ExitStack() as stack:
            executor = self._executor(stack)
            estimates, progress = self.estimate is not False, self.verbose == 1
            # workers of the user's own may be closed by the search; those of this fit are not
            is_ours = self.executor is None
            refits = Refits(study, auto.evaluator, manner, executor, is_local=True) if is_ours else None
            auto.search(study, executor, meter, manner, refits, self.callbacks, progress=progress, estimates=estimates)
            self.study_ = study
            told: list[Validated | None] = []

            def meanwhile(members: Sequence[Member]) -> None:
                if self.estimate != "nested":  # that fits by itself
                    told.append(self._tell(auto, rows, members, name))

            refitted = fit_again(study, auto.evaluator, manner, executor, meter, meanwhile=meanwhile, refits=refits)
        auto.warn(self.study_, refitted)
        self.members_ = refitted.members or [auto.fallback()]
        is_told = bool(told) and refitted.is_whole
        found = told[0] if is_told else self._tell(auto, rows, self.members_, name)
        self.ensemble_ = auto.ensemble(self.study_, self.members_, found)
        self.fit_seconds_ = meter.seconds
        return self

    def _budget(self) -> Budget:
        """Return the budget of one fit: nested cross-validation shares the time among several."""
        budget = Budget(self.time_limit, self.n_trials)
        if self.estimate != "nested" or budget.time_limit is None:
            return budget
        return replace(budget, time_limit=budget.time_limit / N_FITS)

    def _tell(self, auto: AutoFit, rows: FitRows, members: Sequence[Member], name: str | None) -> Validated | None:
        """Say how good members are together; return the rule that they decide by."""
        found = auto.validated(self.study_, members, tunes=self._tunes_decisions)
        self.validation_predictions_ = None if found is None else found.predictions
        self.validation_scores_ = auto.scores(found)
        self.validation_score_ = self.validation_scores_["score"]
        self.estimate_ = None if self.estimate is False else self._estimate(auto, rows, found)
        self.data_summary_ = auto.summary(rows.X, found, self._target.classes, self.cleaner_.names_, name)
        return found

    def _estimate(self, auto: AutoFit, rows: FitRows, found: Validated | None) -> Estimate | None:
        """Return how good what was returned will be on new rows; None where that cannot be told."""
        limit = self._budget().time_limit
        parts = auto.estimating(self.study_, found, tunes=self._tunes_decisions, time_limit=limit)
        if parts is None or self.estimate == "auto":
            return None if parts is None else parts.estimate()
        given = auto.evaluator.given
        told = nested_predictions(self, rows, given.y, given.classes, self._task, limit, self.study_.seeds.seed)
        return parts.nested(told)

    def hindsight(self) -> Hindsight | None:
        check_is_fitted(self, "ensemble_")
        truth, told = self.study_.history.truth, self.validation_predictions_
        scorer = make_scoring(self.scoring, self._task).scorer
        if truth is None or told is None or not scorer.is_of_answers:
            return None
        y = truth.y if told.classes is None else told.classes[truth.y.astype(np.intp)]
        weights = None
        if told.sample_weight is not None:
            weights = np.ones(len(y))
            weights[told.rows] = told.sample_weight
        return Hindsight(
            self.study_,
            self.members_,
            Given(y, told.classes),
            scoring_for(self.scoring, replace(self._target, y=y), None),
            weights,
            self.ensemble_.order,
            tunes=self._tunes_decisions and not self.ensemble_.votes,
            tempers=self._task == "classification"
            and not self.ensemble_.votes
            and is_tempered(self.study_.method.selection),
        )

    def adopt(self, study: Study) -> None:
        """Take a study that was read, with the method that this estimator searches by under the recorded name."""
        study.method = method_for(study.method, self._scoring())
        self.study_ = study

    def check_parameters(self) -> None:
        """Refuse wrong parameters, before anything is read or written."""
        manner_of(self.refit)
        check_task(make_scoring(self.scoring, self._task), self._task)
        checked_metrics(self.metrics)
        for metric in self.metrics:
            check_task(make_scoring(metric, self._task), self._task, "metrics")
        if self.decision_rule not in ("auto", self._plain_rule):
            raise ChoiceError(
                f"The 'decision_rule' parameter must be 'auto' or {self._plain_rule!r}. Got {self.decision_rule!r} "
                "instead."
            )
        if self.estimate not in get_args(EstimateKind):
            raise ChoiceError(
                f"The 'estimate' parameter must be 'auto', 'nested' or False. Got {self.estimate!r} instead."
            )
        if not isinstance(self.verbose, bool):
            check_int(type(self).__name__, "verbose", self.verbose, 0)
        Budget(self.time_limit, self.n_trials)
        get_preset(self.preset)
        if self.lag is not None:
            check_int(type(self).__name__, "lag", self.lag)
        if self.method is not None:
            get_method(self.method)
        default_space(Columns(1), self._task, 1, include=self._included, exclude=self.exclude)
        Workers(self.n_jobs, trial_time_limit=self.trial_time_limit, trial_memory_limit=self.trial_memory_limit)

    @property
    def _included(self) -> Include | None:
        """What to search: the user's choice, or the preset's."""
        return get_preset(self.preset).include if self.include is None else self.include

    _plain_rule: str
    """Name of the rule that is not tuned."""
    _plain_metrics: frozenset[str]
    """Metrics for which it is the right one."""

    @property
    def _tunes_decisions(self) -> bool:
        """Whether decisions are tuned for the metric."""
        return self.decision_rule == "auto" and self.metric not in self._plain_metrics

    @property
    @abstractmethod
    def _target(self) -> Target:
        """What is to be predicted: its classes and the positive one; known after the target was encoded."""

    def _scoring(self) -> Scoring:
        """Return what models are compared by, bound to the positive class."""
        scoring = make_scoring(self.scoring, self._task)
        return replace(scoring, scorer=with_positive(scoring.scorer, self._target))

    def _metrics(self) -> dict[str, Scoring]:
        """Return further metrics by their names."""
        found = [make_scoring(metric, self._task) for metric in self.metrics]
        bound = [replace(metric, scorer=with_positive(metric.scorer, self._target)) for metric in found]
        return {metric.scorer.name: metric for metric in bound}

    def _weights(self, target: AnyArray, sample_weight: ArrayLike | None) -> ArrayLike | None:
        """Return how much each row counts in fits and in the choice of members, if not as in scores."""
        return None

    def _tell_classes(self, target: AnyArray) -> None:
        """Say which class was taken as the positive one, where nobody said so, and which hardly counts."""

    def _shown(self, X: Table | ArrayLike | None) -> Table | None:
        """Return the user's table for scorers that look at it; None where there are none."""
        scorers = [make_scoring(one, self._task).scorer for one in (self.scoring, *self.metrics)]
        if X is None or all(scorer.is_of_answers for scorer in scorers):
            return None
        return checked_table(X)

    @abstractmethod
    def _given(self, target: AnyArray, X: Table | ArrayLike | None) -> Given:
        """Return what the user gave, for scorers that look at it."""

    def _auto_fit(
        self,
        table: Matrix,
        target: AnyArray,
        cv: CV,
        groups: ArrayLike | None,
        sample_weight: ArrayLike | None,
        X: Table | ArrayLike | None,
    ) -> AutoFit:
        known = self._target
        given = self._given(target, X)
        answered = replace(known, y=given.y)
        scoring = scoring_for(self.scoring, answered, given.X)
        metrics = {name: scoring_for(metric.scorer, answered, given.X) for name, metric in self._metrics().items()}
        self._tell_classes(target)
        return AutoFit(
            table=table,
            target=target,
            task=self._task,
            scoring=scoring,
            metrics=metrics,
            cv=cv,
            default=self._default_space(table.shape[0]),
            method=method_for(self._wanted_method(cv, is_grouped=groups is not None), scoring),
            groups=groups,
            sample_weight=sample_weight,
            fit_weight=self._weights(target, sample_weight),
            given=given,
            time_limit=self._budget().time_limit,
            trial_seconds=self._trial_limit(),
            folds=cv if self.cv is None and isinstance(cv, int | float) else None,
        )

    def _trial_limit(self) -> float | None:
        """Return the seconds after which a trial is killed: one that never ends must not take all of them."""
        limit = self._budget().time_limit
        return TRIAL_SHARE * limit if self.trial_time_limit is None and limit is not None else self.trial_time_limit

    def _wanted_method(self, cv: CV, *, is_grouped: bool) -> Method:
        """Return the method that was asked for, or the preset's; one that cools costs down has the time limit."""
        if self.method is None:
            return default_method(self._task, cv, is_grouped=is_grouped, preset=get_preset(self.preset))
        limit = self._budget().time_limit
        return within(get_method(self.method), None if limit is None else self._n_workers * limit, self.storage)

    def _splits(self, rows: FitRows, target: AnyArray, shape: tuple[int, int]) -> CV:
        """Return the user's splits, those of the stored study, or as many folds as rows and time allow."""
        if rows.cv is not None:
            return rows.cv
        recorded = recorded_folds(self.storage)
        if recorded is not None:
            return recorded
        n_classes = int(target.max()) + 1 if self._task == "classification" else 0
        learners = self._default_space(shape[0]).learners
        return default_folds(
            target,
            self._task,
            rows.groups,
            has_selection_split=self.method is not None and get_method(self.method).has_selection_split,
            wanted=get_preset(self.preset).n_folds,
            affordable=affordable_fits(learners, shape, n_classes, self._budget().time_limit, self._n_workers),
        )

    @property
    def _n_workers(self) -> int:
        """How many trials run side by side, as far as that is known."""
        return count_jobs(type(self).__name__, "n_jobs", self.n_jobs) if self.executor is None else 1

    def _default_space(self, n_rows: int) -> DefaultSpace:
        return default_space(self.cleaner_.columns_, self._task, n_rows, include=self._included, exclude=self.exclude)

    def _executor(self, stack: ExitStack) -> ExecutorLike:
        """Return where trials and refits run; the stack closes workers that are started here."""
        limit, memory_limit = self._trial_limit(), self.trial_memory_limit
        if self.executor is not None:
            return with_limits(self.executor, limit, memory_limit)
        workers = Workers(self.n_jobs, trial_time_limit=limit, trial_memory_limit=memory_limit, starter=kept_starter)
        return stack.enter_context(workers)

    @abstractmethod
    def _encode_target(self, y: ArrayLike | None, n_rows: int) -> AnyArray:
        """Return the target as learners get it, and remember its classes."""

    @abstractmethod
    def _encode_more(self, y: ArrayLike | None, n_rows: int) -> AnyArray:
        """Return further rows of the target, with the classes of the first."""

    # ---- predicting -----------------------------------------------------------------------------------------------

    def _remember_names(self, X: Table | ArrayLike) -> None:
        self.__dict__.pop("feature_names_in_", None)
        if (names := column_names(X)) is not None:
            self.feature_names_in_: AnyArray = np.asarray(names, dtype=object)

    def _table(self, X: Table | ArrayLike) -> Matrix:
        """Return a new table as learners get it."""
        check_is_fitted(self, "ensemble_")
        had_names, has_names = "feature_names_in_" in vars(self), column_names(X) is not None
        if had_names != has_names:
            here, there = ("does not have valid", "with") if had_names else ("has", "without")
            message = f"X {here} feature names, but {type(self).__name__} was fitted {there} feature names"
            warnings.warn(message, UserWarning, stacklevel=3)
        return self.cleaner_.transform(X)

    @property
    def metric(self) -> str:
        """Name of what counts."""
        return make_scoring(self.scoring, self._task).name

    def __getstate__(self) -> Json:
        state = dict(super().__getstate__())
        if "study_" in state:
            state["study_"] = state["study_"].in_memory()  # an open file cannot be pickled
        return state

    def __setstate__(self, state: Json) -> None:
        """Take a state; parameters that an earlier version did not have get their defaults."""
        super().__setstate__({**type(self)().get_params(deep=False), **state})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
