"""The scikit-learn face: `AutoClassifier` and `AutoRegressor`."""

from __future__ import annotations

import json
import logging
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils.validation import check_is_fitted

from comitia.arrays import AnyArray, Array
from comitia.auto.folder import is_plain, read_folder, read_study, write_folder
from comitia.auto.refit import FittedMember, LeaveTimeToRefit, fit_again
from comitia.committees import Ensemble
from comitia.errors import ChoiceError, ComitiaWarning, ModelError, TableError
from comitia.evaluation.checks import checked_labels, checked_numbers
from comitia.evaluation.resampling import make_resampling
from comitia.evaluation.scoring import Scorer, Task, make_loss
from comitia.evaluation.table import SELECTION_SPLIT, TableEvaluator
from comitia.execution import Serial, Workers
from comitia.learners.default import DefaultSpace, default_space
from comitia.methods import METHODS, Method, get_method, kept_by
from comitia.seams import Member
from comitia.seeds import seed_of
from comitia.selections.committees import validation_loss
from comitia.space import Config
from comitia.study.budget import Budget, Meter
from comitia.study.study import Study
from comitia.tables.cleaner import Columns, TableCleaner

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("comitia")

SEARCH_SHARE = 0.8
"""Share of the time limit after which no search goes on: the rest is for the refit."""
MANY_ROWS = 20_000
"""From here on three folds instead of five: the estimate is good enough, the time is not."""
ROW_LOSS_OF = {"accuracy": "zero-one", "neg_log_loss": "log-loss", "neg_mean_squared_error": "squared-error"}
COMMITTEE_SCORINGS = frozenset((*ROW_LOSS_OF, *ROW_LOSS_OF.values(), "neg_root_mean_squared_error", "r2"))
"""What a committee that is chosen by the Brier score or the squared error is good at."""
TRIAL_SHARE = 0.4
"""Share of the time limit after which a trial is killed, unless the user says otherwise."""


class FallbackWarning(ComitiaWarning):
    """Nothing better than predicting the most frequent class, or the mean, could be fitted in the budget."""


class DroppedWarning(ComitiaWarning):
    """A member of the committee could not be fitted again, or not in time, and the others do without it."""


class _Auto(BaseEstimator, ABC):  # type: ignore[misc]
    """What both tasks share: clean the table, search, refit inside the budget."""

    _task: Task
    _default_scoring: str

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        n_trials: int | None = None,
        method: str | Method | None = None,
        scoring: Any = None,
        cv: Any = None,
        include: Sequence[Any] | None = None,
        exclude: Sequence[str] = (),
        refit: Any = "full",
        n_jobs: int = 1,
        executor: Executor | None = None,
        trial_time_limit: float | None = None,
        trial_memory_limit: float | None = None,
        storage: Any = None,
        callbacks: Iterable[Any] = (),
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
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Any:
        """Search for the model that generalises best, and refit it on all rows.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame of shape (n_rows, n_columns)
            Numbers, strings, dates, booleans, missing values.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            Counts in the loss, and in the fit where the learner takes it.
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
            cv = self._splitter(target, groups)
        else:
            self._check_alone(sample_weight, groups)
            table, target, cv = self._with_validation(table, target, X_val, y_val)
        fallback = self._fallback(table, target)
        default = default_space(
            self.cleaner_.columns_, self._task, table.shape[0], include=self.include, exclude=self.exclude
        )
        method = self._method(cv, groups is not None)
        evaluator = TableEvaluator(
            default.build,
            table,
            target,
            task=self._task,
            loss=self._loss(),
            cv=cv,
            reshuffled=method.is_reshuffled,
            groups=groups,
            sample_weight=sample_weight,
            keep=kept_by(method, ROW_LOSS_OF.get(self._scoring_name(), self._loss())),
            selection_split=SELECTION_SPLIT if method.has_selection_split else None,
        )
        self.study_ = self._search(default, method, evaluator, meter)
        self._refit(evaluator, fallback, meter)
        return self

    def check_parameters(self) -> None:
        """Refuse wrong parameters, before anything is read or written."""
        if self.refit not in ("full", "folds", False):
            raise ChoiceError(f"The 'refit' parameter must be 'full', 'folds' or False. Got {self.refit!r} instead.")
        make_loss(self._loss())
        Budget(self.time_limit, self.n_trials)
        if self.method is not None:
            get_method(self.method)
        default_space(Columns(1), self._task, 1, include=self.include, exclude=self.exclude)
        Workers(self.n_jobs, trial_time_limit=self.trial_time_limit, trial_memory_limit=self.trial_memory_limit)

    def _loss(self) -> Any:
        return self._default_scoring if self.scoring is None else self.scoring

    def _method(self, cv: Any, is_grouped: bool) -> Method:
        """Return the user's method; if there is none a committee, or a single model where none can be chosen."""
        if self.method is not None:
            return get_method(self.method)
        method = METHODS["committee"]
        if (scoring := self._scoring_name()) not in COMMITTEE_SCORINGS:
            log.info("bayes instead of a committee, which cannot be chosen by %s", scoring)
            return METHODS["bayes"]
        try:
            is_classes = self._task == "classification"
            method.check_resampling(make_resampling(cv, stratify=is_classes, grouped=is_grouped, reshuffled=False))
        except ChoiceError as error:
            log.info("bayes instead of a committee: %s", error)
            return METHODS["bayes"]
        return method

    def _scoring_name(self) -> str:
        """Return the name of a loss, or of a scorer of scikit-learn's; a function of the user's has none."""
        scoring = self._loss()
        if isinstance(scoring, str):
            return scoring.lower()
        loss = make_loss(scoring)
        return "a function" if isinstance(loss, Scorer) else loss.name

    def _remember_names(self, X: Any) -> None:
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if _has_names(X):
            self.feature_names_in_: AnyArray = np.asarray(X.columns, dtype=object)

    def _splitter(self, target: AnyArray, groups: Any) -> Any:
        """Return the user's `cv`, or as many folds, up to five (three for many rows), as the rows allow."""
        if self.cv is not None:
            return self.cv
        n = len(target) if groups is None else len(np.unique(np.asarray(groups)))
        if self._task == "classification":
            n = min(n, int(np.bincount(target).max()))
        if self.method is not None and get_method(self.method).has_selection_split:
            n -= math.ceil(SELECTION_SPLIT * n)
        if n < 2:
            raise TableError(
                f"Folds need at least 2 samples of a class, or groups. Got n_samples={len(target)}: too few rows. "
                "Give more rows, or X_val and y_val."
            )
        return min(3 if len(target) >= MANY_ROWS else 5, n)

    def _with_validation(self, table: Any, target: AnyArray, X_val: Any, y_val: Any) -> tuple[Any, Any, Any]:
        from scipy import sparse

        more = self.cleaner_.transform(X_val)
        answers = self._encode_more(y_val, more.shape[0])
        n, m = table.shape[0], more.shape[0]
        stacked = sparse.vstack([table, more]).tocsr() if sparse.issparse(table) else np.vstack([table, more])
        return stacked, np.concatenate([target, answers]), [(np.arange(n), np.arange(n, n + m))]

    def _check_alone(self, sample_weight: Any, groups: Any) -> None:
        if sample_weight is not None or groups is not None:
            raise ChoiceError(
                "X_val and y_val cannot be combined with sample_weight or groups. Got both. "
                "Give a predefined split as 'cv' instead."
            )

    def _fallback(self, table: Any, target: AnyArray) -> Any:
        """Fit the prior or the mean: there is always something to return."""
        model = DummyClassifier(strategy="prior") if self._task == "classification" else DummyRegressor()
        return model.fit(np.zeros((table.shape[0], 1)), target)

    def _search(self, default: DefaultSpace, method: Method, evaluator: TableEvaluator, meter: Meter) -> Study:
        study = Study(default.space, method, seed=seed_of(self.random_state), storage=self.storage)
        if not len(study.history):
            for config in default.first:
                study.enqueue(config)
        self._pool = self._executor(meter)
        seconds = None if self.time_limit is None and meter.budget.time_limit is None else meter.seconds_left
        try:
            study.run(
                evaluator,
                n_trials=self.n_trials,
                time_limit=None if seconds is None else max(SEARCH_SHARE * seconds, 1e-3),
                executor=self._pool,
                callbacks=[*self.callbacks, LeaveTimeToRefit(meter, self.refit == "full", evaluator.n_folds)],
                progress=bool(self.verbose),
            )
        except BaseException:
            self._close()
            raise
        return study

    def _executor(self, meter: Meter) -> Executor:
        if self.executor is not None:
            return self.executor
        is_limited = self.time_limit is not None or self.n_trials is None or self.trial_time_limit is not None
        if self.n_jobs == 1 and not is_limited and self.trial_memory_limit is None:
            return Serial()
        limit = self.trial_time_limit
        if limit is None and meter.budget.time_limit is not None:
            limit = TRIAL_SHARE * meter.budget.time_limit  # one that never ends must not take all of it
        pool = Workers(self.n_jobs, trial_time_limit=limit, trial_memory_limit=self.trial_memory_limit)
        return pool.__enter__()  # kept for the refit

    def _close(self) -> None:
        if isinstance(self._pool, Workers) and self.executor is None:
            self._pool.__exit__(None, None, None)
        del self._pool

    def _refit(self, evaluator: TableEvaluator, fallback: Any, meter: Meter) -> None:
        """Fit the members again within what is left of the time, and make one predictor of them."""
        n_classes = None if evaluator.classes is None else len(evaluator.classes)
        try:
            fitted, errors, n_late = fit_again(self.study_, evaluator, self.refit, self._pool, meter)
        finally:
            self._close()
        if not fitted:
            warnings.warn(
                "No learner could be fitted within the budget, so the model only predicts "
                + ("the most frequent class." if n_classes else "the mean.")
                + f" {self._why()} Give it more time.",
                FallbackWarning,
                stacklevel=3,
            )
            fitted = [FittedMember(None, 1.0, fallback, None)]
        elif errors:
            warnings.warn(
                f"{len(errors)} of the models that were to be returned could not be fitted on all rows and were left "
                f"out. The first failure was: {errors[0]}",
                DroppedWarning,
                stacklevel=3,
            )
        if n_late and fitted[0].config is not None:
            warnings.warn(
                f"{n_late} of the models that were to be returned were not ready in time and were left out. Give it "
                "more time.",
                DroppedWarning,
                stacklevel=3,
            )
        self.members_ = fitted
        # which class wins a tie is drawn once, so that no class is favoured by its name
        order = None if n_classes is None else self.study_.seeds("ties").permutation(n_classes).tolist()
        is_vote = evaluator.keep == "predictions"
        self.ensemble_ = _ensemble(fitted, n_classes, is_vote, order)
        self.validation_score_ = self._validation_score(evaluator, order)

    def _validation_score(self, evaluator: TableEvaluator, order: list[int] | None) -> float:
        """Return the score of the members together on the rows that each was judged on."""
        history = self.study_.history
        by_trial: dict[int, Member] = {}
        for m in self.members_:
            if m.trial is not None:  # its folds share its weight
                weight = m.weight + (by_trial[m.trial].weight if m.trial in by_trial else 0.0)
                by_trial[m.trial] = Member(history.trial(m.trial).config, weight, m.trial, m.temperature)
        if not by_trial:
            return math.nan
        members = list(by_trial.values())
        name = self._scoring_name()
        loss = make_loss(ROW_LOSS_OF.get(name, evaluator.loss))
        if len(members) == 1 and (members[0].temperature == 1.0 or not getattr(loss, "needs_probabilities", False)):
            return -float(history.losses[members[0].trial])
        return (name == "accuracy") - validation_loss(history, members, loss, order)

    def _why(self) -> str:
        errors = [o.error for o in self.study_.history.observations() if o.error]
        return f"The first failure was: {errors[0]}." if errors else "No trial had ended."

    # ---- predicting -----------------------------------------------------------------------------------------------

    def _table(self, X: Any) -> Any:
        check_is_fitted(self, "ensemble_")
        if hasattr(self, "feature_names_in_") and not _has_names(X):
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names",
                UserWarning,
                stacklevel=3,
            )
        elif not hasattr(self, "feature_names_in_") and _has_names(X):
            warnings.warn(
                f"X has feature names, but {type(self).__name__} was fitted without feature names",
                UserWarning,
                stacklevel=3,
            )
        return self.cleaner_.transform(X)

    def leaderboard(self) -> pd.DataFrame:
        """Return one row a finished trial, the best first."""
        check_is_fitted(self, "study_")
        frame = self.study_.to_frame()
        frame = frame[frame["status"] != "pending"]
        frame.insert(0, "rank", frame["loss"].rank(method="first"))
        return frame.sort_values("loss", kind="stable", na_position="last").reset_index(drop=True)

    @property
    def best_params_(self) -> dict[str, Any]:
        """Configuration of the member with the largest weight; empty for the fallback."""
        check_is_fitted(self, "members_")
        best = max(self.members_, key=lambda member: member.weight)
        return {} if best.config is None else dict(best.config)

    @property
    def best_score_(self) -> float:
        """Validation score of the best trial, in scikit-learn's sign: optimistic, being the best of many."""
        check_is_fitted(self, "members_")
        return -self.study_.best_trial.loss

    @property
    def best_index_(self) -> int:
        """Number of the best trial."""
        check_is_fitted(self, "members_")
        return self.study_.best_trial.number

    @property
    def best_estimator_(self) -> Any:
        """Fitted pipeline of the member with the largest weight; it takes the cleaned table."""
        check_is_fitted(self, "members_")
        return max(self.members_, key=lambda member: member.weight).pipeline

    def save(self, path: str | Path) -> None:
        """Write a model folder that `comitia.load` reads."""
        if not hasattr(self, "ensemble_"):
            raise ChoiceError(f"A model must be fitted before it is saved. Got {type(self).__name__} without a fit.")
        members = [
            {
                "config": None if member.config is None else json.dumps(dict(member.config), default=repr),
                "weight": member.weight,
                "trial": member.trial,
                "temperature": member.temperature,
            }
            for member in self.members_
        ]
        content = {
            "kind": type(self).__name__,
            "params": {name: value for name, value in self.get_params(deep=False).items() if is_plain(value)},
            "cleaner": self.cleaner_,
            "ensemble": self.ensemble_,
            "classes": getattr(self, "classes_", None),
            "feature_names": list(getattr(self, "feature_names_in_", [])),
            "members": members,
            "validation_score": self.validation_score_,
        }
        write_folder(Path(path), content, self.study_)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_pool", None)
        if "study_" in state:
            state["study_"] = state["study_"].in_memory()  # an open file cannot be pickled
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    @abstractmethod
    def _encode_target(self, y: Any, n_rows: int) -> AnyArray:
        """Return the target as learners get it, and remember its classes."""

    @abstractmethod
    def _encode_more(self, y: Any, n_rows: int) -> AnyArray:
        """Return further rows of the target, with the classes of the first."""

    def _repr_html_inner(self) -> str:
        rows = "".join(
            f"<tr><td>{member.weight:.2f}</td><td>{member.config or 'fallback'}</td></tr>" for member in self.members_
        )
        best = self.study_.history.best
        loss = "none succeeded" if best is None else f"best validation loss {best.loss:.4g}"
        return (
            f"<p><b>{type(self).__name__}</b>: {self.study_.history.n_finished} trials, {loss}</p>"
            f"<table><tr><th>weight</th><th>member</th></tr>{rows}</table>"
        )

    def _repr_html_(self) -> str:
        """Show the members in notebooks once fitted."""
        return self._repr_html_inner() if hasattr(self, "members_") else f"<pre>{self!r}</pre>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
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
        A row of the registry: `comitia.METHODS`. If not given "committee", which returns up to eight models with
        weights. Where none can be chosen it is "bayes", which returns the best one: with a `scoring` that is not an
        error, log loss or squared error, or a `cv` that judges each trial on other rows.
    scoring : str or callable, default "zero-one"
        A loss of comitia's ("zero-one", "log-loss") or a scikit-learn scorer. "log-loss" fails for learners without
        probabilities, such as "svm".
    cv : int, float, splitter or list of splits, optional
        Up to five stratified folds if not given, three from 20,000 rows on.
    include : list, optional
        Names of learners (`comitia.learners.default.LEARNERS`), your own estimators, or pairs `(estimator, space)`.
    exclude : list of str
        Learners to leave out.
    refit : {"full", "folds", False}
        Refit each member on all rows, on the training part of each fold (their average predicts), or on the first
        one's. Members that fail or are not ready in time are left out, the lightest first.
    n_jobs : int
        Worker processes.
    executor : concurrent.futures.Executor, optional
        Where trials run, instead of `n_jobs` workers.
    trial_time_limit, trial_memory_limit : float, optional
        Seconds and bytes after which a trial is killed. If not given: four tenths of the time limit, and an equal
        share of the memory that is free.
    storage : str or Path, optional
        SQLite file of the study; fitting again with it goes on.
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
        Score of the members together on the rows that each was judged on, in scikit-learn's sign: `best_score_` is
        that of the best single model. Both are optimistic. NaN where `scoring` cannot be told from what is kept.
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
    _default_scoring = "zero-one"

    def _encode_target(self, y: Any, n_rows: int) -> AnyArray:
        labels = checked_labels(y, n_rows)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise TableError(
                f"A classifier needs at least 2 classes in the target. Got one class: {self.classes_[0]!r}. "
                "Check the target column."
            )
        return codes.astype(np.intp)

    def _encode_more(self, y: Any, n_rows: int) -> AnyArray:
        labels = checked_labels(y, n_rows)
        if not np.isin(labels, self.classes_).all():
            raise TableError("y_val must hold the classes of y. Got others. Drop those rows.")
        return np.searchsorted(self.classes_, labels)

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row.  # (n,)."""
        table = self._table(X)
        return np.asarray(self.classes_[self.ensemble_.predict(table)])

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, in the order of `classes_`.  # (n, n_classes)."""
        table = self._table(X)
        return self.ensemble_.predict_proba(table)

    def decision_function(self, X: Any) -> Array:
        """Return log-odds: of the second class if there are two, else of each class against the rest."""
        p = np.clip(self.predict_proba(X), 1e-15, 1 - 1e-15)
        odds = np.log(p) - np.log1p(-p)
        return np.asarray(odds[:, 1] if odds.shape[1] == 2 else odds)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or the score of `scoring`."""
        return _score(self, super().score, X, y, sample_weight)


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
    _default_scoring = "squared-error"

    def _encode_target(self, y: Any, n_rows: int) -> AnyArray:
        return checked_numbers(y, n_rows)

    def _encode_more(self, y: Any, n_rows: int) -> AnyArray:
        return checked_numbers(y, n_rows)

    def predict(self, X: Any) -> Array:
        """Return the prediction for each row.  # (n,)."""
        table = self._table(X)
        return np.asarray(self.ensemble_.predict(table), dtype=np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R squared, or the score of `scoring`."""
        return _score(self, super().score, X, y, sample_weight)


KINDS: dict[str, Any] = {"AutoClassifier": AutoClassifier, "AutoRegressor": AutoRegressor}


def load(path: str | Path, *, trusted: Sequence[str] = ()) -> Any:
    """Load a model folder.

    Parameters
    ----------
    path : str or Path
    trusted : sequence of str
        Exact names of further types that the file may hold, such as "my_module.MyEstimator" for a learner of your own.

    Raises
    ------
    ModelError
        If there is no model, or the file holds a type that is not trusted; then nothing in it has run.
    """
    content = read_folder(Path(path), trusted)
    if content.get("kind") not in KINDS:
        raise ModelError(f"{str(path)!r} must hold an AutoClassifier or AutoRegressor. Got {content.get('kind')!r}.")
    estimator = KINDS[content["kind"]](**content["params"])
    estimator.cleaner_ = content["cleaner"]
    estimator.n_features_in_ = content["cleaner"].n_features_in_
    estimator.ensemble_ = content["ensemble"]
    estimator.members_ = [
        FittedMember(
            None if member["config"] is None else Config(json.loads(member["config"])),
            member["weight"],
            model,
            member["trial"],
            member["temperature"],
        )
        for member, model in zip(content["members"], content["ensemble"].models, strict=True)
    ]
    estimator.validation_score_ = content["validation_score"]
    if content["classes"] is not None:
        estimator.classes_ = content["classes"]
    if content["feature_names"]:
        estimator.feature_names_in_ = np.asarray(content["feature_names"], dtype=object)
    if (study := read_study(Path(path))) is not None:
        estimator.study_ = study
    return estimator


def _ensemble(members: list[FittedMember], n_classes: int | None, is_vote: bool, order: list[int] | None) -> Ensemble:
    models, weights, temperatures = zip(*((m.pipeline, m.weight, m.temperature) for m in members), strict=True)
    return Ensemble(list(models), list(weights), n_classes, is_vote, order, list(temperatures))


def _has_names(X: Any) -> bool:
    """Tell whether a table names its columns by texts: what scikit-learn calls feature names."""
    return hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns)


def _score(estimator: Any, default: Any, X: Any, y: Any, sample_weight: Any) -> float:
    loss = make_loss(estimator._loss())
    if estimator.scoring is not None and isinstance(loss, Scorer):
        return loss(estimator, X, y, sample_weight)
    return float(default(X, y, sample_weight=sample_weight))
