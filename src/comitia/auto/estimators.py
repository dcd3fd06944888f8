"""The scikit-learn face: `AutoClassifier` and `AutoRegressor`. What a fit does is in `autofit`."""

import html
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from comitia.arrays import AnyArray, Array, Estimator, Json, Table
from comitia.auto.autofit import AutoFit, default_folds, default_method, leaderboard_of, stacked
from comitia.auto.folder import save
from comitia.auto.refit import FittedMember, Manner, fit_again
from comitia.committees import Ensemble
from comitia.errors import ChoiceError, TableError
from comitia.evaluation.checks import checked_labels, checked_numbers
from comitia.evaluation.resampling import CV
from comitia.evaluation.scoring import LossLike, Scorer, Scoring, Task, make_scoring
from comitia.execution import Workers
from comitia.execution.kept import kept_starter
from comitia.learners.default import default_space
from comitia.methods import Method, get_method
from comitia.seams import Store
from comitia.seeds import seed_of
from comitia.study.budget import Budget, Meter
from comitia.study.study import Callback, Study
from comitia.tables.cleaner import Columns, Matrix, TableCleaner, column_names

TRIAL_SHARE = 0.4
"""Share of the time limit after which a trial is killed, unless the user says otherwise."""
MANNERS = ("full", "folds", False)


class _Auto(BaseEstimator, ABC):  # type: ignore[misc]
    """What both tasks share: parameters, a fit, and what is known after it."""

    _task: Task
    cleaner_: TableCleaner
    n_features_in_: int
    study_: Study
    members_: list[FittedMember]
    ensemble_: Ensemble
    validation_score_: float

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        n_trials: int | None = None,
        method: str | Method | None = None,
        scoring: LossLike | None = None,
        cv: CV | None = None,
        include: Sequence[object] | None = None,
        exclude: Sequence[str] = (),
        refit: Manner = "full",
        n_jobs: int | None = -1,
        executor: Executor | None = None,
        trial_time_limit: float | None = None,
        trial_memory_limit: float | None = None,
        storage: str | Path | Store | None = None,
        callbacks: Iterable[Callback] = (),
        verbose: int = 0,
        random_state: int | None = None,
    ) -> None:
        self.time_limit = time_limit
        self.n_trials = n_trials
        self.method = method
        self.scoring = scoring
        self.cv = cv
        self.include = include
        self.exclude = exclude
        self.refit = refit
        self.n_jobs = n_jobs
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
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Numbers, strings, dates, booleans, missing values.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            Counts in the loss, and in the fit where the learner accepts weights.
        groups : array of shape (n_rows,), optional
            Rows of a group stay on one side of every split.
        X_val, y_val : optional
            Rows to judge on, instead of splits of `X`.
        """
        self.check_parameters()
        meter = Budget(self.time_limit, self.n_trials).start()
        self.cleaner_ = TableCleaner(type(self).__name__).fit(X)
        self.n_features_in_ = self.cleaner_.n_features_in_
        self._remember_names(X)
        table = self.cleaner_.transform(X)
        target = self._encode_target(y, table.shape[0])
        if X_val is None:
            cv = self._splits(target, groups)
        elif sample_weight is None and groups is None:
            more = self.cleaner_.transform(X_val)
            table, target, cv = stacked(table, target, more, self._encode_more(y_val, more.shape[0]))
        else:
            raise ChoiceError(
                "X_val and y_val cannot be combined with sample_weight or groups. Got both. "
                "Give a predefined split as 'cv' instead."
            )
        auto = self._auto_fit(table, target, cv, groups, sample_weight)
        study = auto.open_study(seed_of(self.random_state), self.storage)
        with ExitStack() as stack:
            executor = self._executor(meter, stack)
            auto.search(study, executor, meter, self.refit, self.callbacks, progress=bool(self.verbose))
            self.study_ = study
            refitted = fit_again(study, auto.evaluator, self.refit, executor, meter)
        auto.warn(self.study_, refitted)
        self.members_ = refitted.members or [auto.fallback()]
        self.ensemble_ = auto.ensemble(self.study_, self.members_)
        self.validation_score_ = auto.validation_score(self.study_, self.members_)
        return self

    def check_parameters(self) -> None:
        """Refuse wrong parameters, before anything is read or written."""
        if self.refit not in MANNERS:
            raise ChoiceError(f"The 'refit' parameter must be 'full', 'folds' or False. Got {self.refit!r} instead.")
        self._scoring()
        Budget(self.time_limit, self.n_trials)
        if self.method is not None:
            get_method(self.method)
        default_space(Columns(1), self._task, 1, include=self.include, exclude=self.exclude)
        Workers(self.n_jobs, trial_time_limit=self.trial_time_limit, trial_memory_limit=self.trial_memory_limit)

    def _scoring(self) -> Scoring:
        return make_scoring(self.scoring, self._task)

    def _auto_fit(
        self, table: Matrix, target: AnyArray, cv: CV, groups: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> AutoFit:
        scoring = self._scoring()
        return AutoFit(
            table=table,
            target=target,
            task=self._task,
            scoring=scoring,
            cv=cv,
            default=default_space(
                self.cleaner_.columns_, self._task, table.shape[0], include=self.include, exclude=self.exclude
            ),
            method=default_method(scoring, self._task, cv, is_grouped=groups is not None)
            if self.method is None
            else get_method(self.method),
            groups=groups,
            sample_weight=sample_weight,
        )

    def _splits(self, target: AnyArray, groups: ArrayLike | None) -> CV:
        if self.cv is not None:
            return self.cv
        has_selection_split = self.method is not None and get_method(self.method).has_selection_split
        return default_folds(target, self._task, groups, has_selection_split=has_selection_split)

    def _executor(self, meter: Meter, stack: ExitStack) -> Executor:
        """Return where trials and refits run; the stack closes workers that are started here."""
        if self.executor is not None:
            return self.executor
        time_limit = meter.budget.time_limit
        limit = self.trial_time_limit
        if limit is None and time_limit is not None:
            limit = TRIAL_SHARE * time_limit  # one trial that never ends must not take all of it
        memory_limit = self.trial_memory_limit
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

    def _score(
        self, default: Callable[..., float], X: Table | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> float:
        """Return the score of `scoring`, or scikit-learn's own."""
        loss = self._scoring().loss
        if self.scoring is not None and isinstance(loss, Scorer):
            return loss(self, X, np.asarray(y), sample_weight)
        return float(default(X, y, sample_weight=sample_weight))

    # ---- after the fit --------------------------------------------------------------------------------------------

    def leaderboard(self) -> pd.DataFrame:
        """Return one row per finished trial, the best first."""
        check_is_fitted(self, "study_")
        return leaderboard_of(self.study_)

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
        return self._scoring().score(self.study_.best_trial.loss)

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

    def __getstate__(self) -> Json:
        state = dict(super().__getstate__())
        if "study_" in state:
            state["study_"] = state["study_"].in_memory()  # an open file cannot be pickled
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _repr_html_(self) -> str:
        """Show the members in notebooks once fitted."""
        if "members_" not in vars(self):
            return f"<pre>{html.escape(repr(self))}</pre>"
        rows = "".join(
            f"<tr><td>{member.weight:.2f}</td><td>{html.escape(str(member.config or 'fallback'))}</td></tr>"
            for member in self.members_
        )
        best = self.study_.history.best
        loss = "none succeeded" if best is None else f"best validation loss {best.loss:.4g}"
        return (
            f"<p><b>{type(self).__name__}</b>: {self.study_.history.n_finished} trials, {loss}</p>"
            f"<table><tr><th>weight</th><th>member</th></tr>{rows}</table>"
        )

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


class AutoClassifier(ClassifierMixin, _Auto):  # type: ignore[misc]
    """Find and fit the classifier that generalises best inside a budget.

    Parameters
    ----------
    time_limit : float, optional
        Seconds for everything, the refit included. With neither this nor `n_trials`, 60.
    n_trials : int, optional
        Number of configurations to try.
    method : str or Method, optional
        A method of the registry, `comitia.METHODS`. If not given: "committee", which returns up to eight models with
        weights. Where no committee can be chosen it is "bayes", which returns the best model: with a `scoring` that is
        not an error, log loss or squared error, or a `cv` that judges each trial on other rows.
    scoring : str or callable, default "zero-one"
        A loss of comitia's ("zero-one", "log-loss") or a scikit-learn scorer. "log-loss" fails for learners without
        probabilities, such as "svm".
    cv : int, float, splitter or list of splits, optional
        If not given: up to five stratified folds, three from 20,000 rows on.
    include : list, optional
        Names of learners (`comitia.learners.default.LEARNERS`), your own estimators, or pairs `(estimator, space)`.
    exclude : list of str
        Learners to leave out.
    refit : {"full", "folds", False}
        Refit each member on all rows, on the training part of each fold (their average predicts), or on the first
        one's. Members that fail or are not ready in time are left out, the lightest first.
    n_jobs : int
        Worker processes: -1 for all processors, -2 for all but one. With 1 the same `random_state` gives the same
        model; with more, suggestions depend on the order in which trials end.
    executor : concurrent.futures.Executor, optional
        Where trials run, instead of `n_jobs` workers: `Serial()` for this process, where a trial cannot be killed.
    trial_time_limit, trial_memory_limit : float, optional
        Seconds and bytes after which a trial is killed. If not given: four tenths of the time limit, and an equal
        share of the memory that is free (within the limits of a container).
    storage : str or Path, optional
        SQLite file of the study; fitting again with it resumes the study.
    callbacks : iterable of callable (study, observation)
    verbose : int
        Show a progress bar if not 0.
    random_state : int, optional

    Attributes
    ----------
    members_ : list of FittedMember
        What votes or is averaged: `config`, `weight`, `pipeline` (fitted; it takes the cleaned table), `trial`,
        `temperature` (what its probabilities are tempered by, see docs/committees.md).
    validation_score_ : float
        Score of the members together on the rows that each was judged on, with scikit-learn's sign: `best_score_` is
        that of the best single model. Both are optimistic. NaN where `scoring` cannot be computed from what is kept.
    study_ : Study

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from comitia import AutoClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = AutoClassifier(n_trials=3, include=["linear"], random_state=0).fit(X, y)
    >>> clf.predict(X[:2])
    array([0, 0])
    """

    _task = "classification"
    classes_: AnyArray

    def _encode_target(self, y: ArrayLike | None, n_rows: int) -> AnyArray:
        labels = checked_labels(y, n_rows)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise TableError(
                f"A classifier needs at least 2 classes in the target. Got one class: {self.classes_[0]!r}. "
                "Check the target column."
            )
        return codes.astype(np.intp)

    def _encode_more(self, y: ArrayLike | None, n_rows: int) -> AnyArray:
        labels = checked_labels(y, n_rows)
        if not np.isin(labels, self.classes_).all():
            raise TableError("y_val must hold the classes of y. Got others. Drop those rows.")
        return np.searchsorted(self.classes_, labels)

    def predict(self, X: Table | ArrayLike) -> AnyArray:
        """Return the class of each row, (n,)."""
        table = self._table(X)
        return np.asarray(self.classes_[self.ensemble_.predict(table)])

    def predict_proba(self, X: Table | ArrayLike) -> Array:
        """Return the probability of each class, in the order of `classes_`, (n, n_classes)."""
        table = self._table(X)
        return self.ensemble_.predict_proba(table)

    def decision_function(self, X: Table | ArrayLike) -> Array:
        """Return log-odds: of the second class if there are two, else of each class against the rest."""
        p = np.clip(self.predict_proba(X), 1e-15, 1 - 1e-15)
        odds = np.log(p) - np.log1p(-p)
        return np.asarray(odds[:, 1] if odds.shape[1] == 2 else odds)

    def score(self, X: Table | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or the score of `scoring`."""
        return self._score(super().score, X, y, sample_weight)


class AutoRegressor(RegressorMixin, _Auto):  # type: ignore[misc]
    """Find and fit the regressor that generalises best inside a budget.

    Parameters are those of `AutoClassifier`; `scoring` is "squared-error" if not given.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from comitia import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> reg = AutoRegressor(n_trials=3, include=["linear"], random_state=0).fit(X, y)
    >>> reg.predict(X).shape
    (442,)
    """

    _task = "regression"

    def _encode_target(self, y: ArrayLike | None, n_rows: int) -> AnyArray:
        return checked_numbers(y, n_rows)

    _encode_more = _encode_target

    def predict(self, X: Table | ArrayLike) -> Array:
        """Return the prediction for each row, (n,)."""
        table = self._table(X)
        return np.asarray(self.ensemble_.predict(table), dtype=np.float64)

    def score(self, X: Table | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R squared, or the score of `scoring`."""
        return self._score(super().score, X, y, sample_weight)
