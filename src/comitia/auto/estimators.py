"""The scikit-learn face: `AutoClassifier` and `AutoRegressor`; what they share is in `base`, a fit in `autofit`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, RegressorMixin

from comitia.arrays import AnyArray, Array, Table
from comitia.auto.base import AutoBase
from comitia.auto.estimate import EstimateKind
from comitia.auto.fit_rows import Refit
from comitia.committees.decisions import DecisionRule
from comitia.errors import ChoiceError, ComitiaWarning, TableError
from comitia.evaluation.checks import checked_labels, checked_numbers, checked_weights
from comitia.evaluation.judged import Given
from comitia.evaluation.metrics import Target, make_target, needs_positive
from comitia.evaluation.resampling import CV
from comitia.evaluation.scoring import LossLike, make_scoring
from comitia.execution.crew import ExecutorLike
from comitia.learners.default import Include
from comitia.methods import Method
from comitia.seams import Store
from comitia.study.study import Callback

RARE = 0.25
"""A class is rare that has less than this part of an equal share of the rows."""
AS_ACCURACY = frozenset(
    ("accuracy", "f1_micro", "jaccard_micro", "precision_micro", "recall_micro", "recall_weighted", "top_k_accuracy")
)
"""Metrics of labels that are best where accuracy is, and one that ranks."""
OF_SQUARES = frozenset(("explained_variance", "neg_mean_squared_error", "neg_root_mean_squared_error", "r2"))
"""Metrics that the mean is right for."""


class AutoClassifier(ClassifierMixin, AutoBase):  # type: ignore[misc]
    """Find and fit the classifier that generalises best inside a budget.

    Parameters
    ----------
    time_limit : float, optional
        Seconds for everything, the refit included. With neither this nor `n_trials`, 60.
    n_trials : int, optional
        Number of configurations to try.
    preset : {"fast", "balanced", "best"}
        How much care to take, where `cv`, `include` and `method` do not say: "fast" has 3 folds and the learners
        "linear" and "lightgbm"; "best" has 10 folds, or as many as the rows allow, and a committee of up to 16 members,
        chosen in bags. "thorough" is another name of "best".
    method : str or Method, optional
        A method of the registry, `comitia.METHODS`. If not given: "committee", which returns up to eight models with
        weights. With a `cv` that judges each trial on other rows no committee can be chosen: then it is "bayes", which
        returns the best model.
    scoring : str or callable, default "accuracy"
        What counts: any classification scorer of scikit-learn's by its name, a short name ("auc", "mcc", "log-loss",
        "brier"), `sklearn.metrics.make_scorer(...)` or a callable `(estimator, X, y) -> score`. It sees your labels and
        your table. Every number that is shown is in this metric, and greater is better.
    metrics : list of str or callable
        Further metrics to report, at no extra fit.
    pos_label : label, optional
        The positive one of two classes, for metrics such as "f1" that have one. If not given: 1, as in scikit-learn,
        else the rarer class, with a warning.
    class_weight : dict or "balanced", optional
        Weights of classes, in every fit and in the choice of members, times `sample_weight`. Scores stay as they are,
        so that those of validation and of new rows can be compared.
    decision_rule : {"auto", "argmax"}
        "auto" tunes a threshold, or weights of classes, on validation rows where the metric is one of labels other than
        accuracy and it measures better; "argmax" always predicts the most probable class. Probabilities stay as they
        are.
    estimate : {"auto", "nested", False}
        How good what is returned will be on new rows, in `estimate_`. "auto" makes the decision again without the rows
        that judge it, and trains nothing. "nested" repeats the whole fit on five parts of the rows, and shares the
        time limit among all six fits; trials of `n_trials` are for each.
    cv : int, float, splitter or list of splits, optional
        If not given: stratified folds, 10 below 300 rows, 8 below 1,000, 5 below 20,000, 3 below 50,000 and for rows
        in groups; else a hold-out of 10,000 rows, and of at least a tenth of them.
    include : list, optional
        Names of learners (`comitia spaces` lists those of the default space), your own estimators, or pairs
        `(estimator, space)`.
    exclude : list of str
        Learners to leave out.
    refit : {"full", "full+val", "folds", False}
        Refit each member on all rows of `X`, on these and those of `X_val`, on the training part of each fold (their
        average predicts), or on the first one's. Members that fail or are not ready in time are left out, the lightest
        first.
    n_jobs : int
        Worker processes: -1 for all processors, -2 for all but one. With 1 the same `random_state` gives the same
        model; with more, suggestions depend on the order in which trials end, unless there is a `lag`.
    lag : int, optional
        With it, a suggestion knows the results of all trials but the latest `lag` - 1, even if those have ended: with
        `n_trials`, one to `lag` workers give the same model. 1 is the sequential search.
    executor : concurrent.futures.Executor, dask.distributed.Client or str, optional
        Where trials run, instead of `n_jobs` workers: a Dask client or the address of a scheduler, where limits of a
        trial hold as well; `Serial()` for this process, where a trial cannot be killed.
    trial_time_limit : float, optional
        Seconds after which a trial is killed. If not given: four tenths of the time limit.
    trial_memory_limit : float, optional
        Bytes beyond which a trial is killed. If not given: an equal share of the memory that is free (within the
        limits of a container).
    storage : str or Path, optional
        SQLite file of the study; fitting again with it resumes the study.
    callbacks : iterable of callable (study, observation)
        Called after each trial; `study.stop()` ends the search. `Patience(20)` and `NoiseFloor()` are two.
    verbose : int
        0 is silent, 1 shows a progress bar (or lines, where standard error is no terminal) and trials that failed, 2
        says what is tried, one line per trial, and why.
    random_state : int, optional
        The same number gives the same model, with `n_jobs=1` and without a time limit.

    Attributes
    ----------
    members_ : list of FittedMember
        What votes or is averaged: `config`, `weight`, `pipeline` (fitted; it takes the cleaned table), `trial`,
        `temperature` (what its probabilities are tempered by, see docs/methods/committees.md).
    validation_predictions_ : ValidationPredictions
        What the members said together about rows that they were not fitted on: `rows`, `y`, `predictions`,
        `probabilities`; `to_frame()` makes a table of it. Each fold's decisions are made by a rule that was tuned on
        the other folds.
    validation_score_ : float
        The metric of just these predictions: `best_score_` is that of the best single model, the mean over its folds.
        Both are optimistic, being the best of many. NaN where no predictions were kept.
    estimate_ : Estimate
        What to expect on new rows: `score`, its 90 % `interval`, the `optimistic` validation score beside it, and
        `beats_default`, whether it is better than the first trial beyond noise. None where trials did not keep what
        they predicted, or what is returned was never tried.
    validation_scores_ : dict
        The same for further `metrics`; the metric itself is "score".
    decision_rule_ : DecisionRule
        How `predict` decides by the probabilities: `threshold` of the second of two classes, or `weights` of classes.
    classes_ : array
        The labels, sorted; columns of `predict_proba` are in this order.
    pos_label_ : label
        The positive one of two classes; None for more.
    threshold_ : float
        The probability of `pos_label_` from which it is predicted; None for more classes, or where members vote.
    study_ : Study
        Every trial, and what came of it: `study_.to_frame()`, `study_.stop_reason`.
    ensemble_ : Ensemble
        What predicts: the members as one, for the cleaned table.
    cleaner_ : TableCleaner
        What turns a table of yours into the matrix that learners get.
    n_features_in_ : int
        Number of columns of your table.
    feature_names_in_ : array
        Their names, where it had any.
    fit_seconds_ : float
        Seconds of the whole fit.
    data_summary_ : dict
        What the table was like, with warnings in words: `data_summary_["warnings"]`; shown by `report`.

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
    _plain_rule = "argmax"
    _plain_metrics = AS_ACCURACY  # a tuned rule measured no better
    classes_: AnyArray

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        n_trials: int | None = None,
        preset: str = "balanced",
        method: str | Method | None = None,
        scoring: LossLike | None = None,
        metrics: Sequence[LossLike] = (),
        pos_label: object = None,
        class_weight: Mapping[object, float] | Literal["balanced"] | None = None,
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
        super().__init__(
            time_limit=time_limit,
            n_trials=n_trials,
            preset=preset,
            method=method,
            scoring=scoring,
            metrics=metrics,
            decision_rule=decision_rule,
            estimate=estimate,
            cv=cv,
            include=include,
            exclude=exclude,
            refit=refit,
            n_jobs=n_jobs,
            lag=lag,
            executor=executor,
            trial_time_limit=trial_time_limit,
            trial_memory_limit=trial_memory_limit,
            storage=storage,
            callbacks=callbacks,
            verbose=verbose,
            random_state=random_state,
        )
        self.pos_label = pos_label
        self.class_weight = class_weight

    def check_parameters(self) -> None:
        super().check_parameters()
        if isinstance(self.class_weight, str) and self.class_weight != "balanced":
            raise ChoiceError(
                f"'class_weight' must be 'balanced' or a weight for each class. Got {self.class_weight!r} instead."
            )

    def _encode_target(self, y: ArrayLike | None, n_rows: int) -> AnyArray:
        labels = checked_labels(y, n_rows)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise TableError(
                f"A classifier needs at least 2 classes in the target. Got one class: {self.classes_.tolist()[0]!r}. "
                "Check the target column."
            )
        target = make_target(labels, self.classes_, self.pos_label)
        self.pos_label_, self._is_positive_chosen = target.positive, target.is_chosen
        return codes.astype(np.intp)

    @property
    def threshold_(self) -> float | None:
        rule = self.decision_rule_
        found = rule.threshold if isinstance(rule, DecisionRule) else None
        return found if found is None or self.classes_[1] == self.pos_label_ else 1.0 - found

    @property
    def _target(self) -> Target:
        return Target(np.empty(0), self.classes_, self.pos_label_)

    def _given(self, target: AnyArray, X: Table | ArrayLike | None) -> Given:
        return Given(self.classes_[target], self.classes_, self._shown(X), self.cleaner_.transform)

    def _tell_classes(self, target: AnyArray) -> None:
        shares = np.bincount(target) / len(target)
        if self.metric == "accuracy" and self.class_weight is None and shares.min() < RARE / len(shares):
            warnings.warn(
                f"{100 * shares.min():.1f} % of the rows are {self.classes_.tolist()[int(shares.argmin())]!r}, which "
                "accuracy hardly counts; scoring='balanced_accuracy' and class_weight='balanced' count all classes "
                "alike.",
                ComitiaWarning,
                stacklevel=4,
            )
        unbound = [make_scoring(one, self._task).scorer for one in (self.scoring, *self.metrics)]
        names = [scorer.name for scorer in unbound if needs_positive(scorer)]
        if self._is_positive_chosen and names:
            warnings.warn(
                f"The class {self.pos_label_!r}, the rarer one, is taken as the positive class of {', '.join(names)}. "
                "Set pos_label to choose.",
                ComitiaWarning,
                stacklevel=4,
            )

    def _weights(self, target: AnyArray, sample_weight: ArrayLike | None) -> ArrayLike | None:
        if self.class_weight is None:
            return None
        own = checked_weights(sample_weight, len(target))
        weights = _class_weights(self.class_weight, self.classes_, target, own)[target]
        return weights if own is None else weights * own

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
        """Return the score of `scoring` on other rows, accuracy if none was given; greater is better."""
        return self._score(X, y, sample_weight)


class AutoRegressor(RegressorMixin, AutoBase):  # type: ignore[misc]
    """Find and fit the regressor that generalises best inside a budget.

    Parameters and attributes are those of `AutoClassifier`, but for what is about classes; `scoring` is "r2" if not
    given, and may be any regression scorer of scikit-learn's, or a short name ("rmse", "mae", "mape", "rmsle").
    `decision_rule` is "auto", which tunes a line through the members' mean on validation rows where the metric is not
    one of squared errors, or "mean".

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
    _plain_rule = "mean"
    _plain_metrics = OF_SQUARES

    def _encode_target(self, y: ArrayLike | None, n_rows: int) -> AnyArray:
        return checked_numbers(y, n_rows)

    _encode_more = _encode_target

    @property
    def _target(self) -> Target:
        return Target(np.empty(0))

    def _given(self, target: AnyArray, X: Table | ArrayLike | None) -> Given:
        return Given(target, None, self._shown(X), self.cleaner_.transform)

    def predict(self, X: Table | ArrayLike) -> Array:
        """Return the prediction for each row, (n,)."""
        table = self._table(X)
        return np.asarray(self.ensemble_.predict(table), dtype=np.float64)

    def score(self, X: Table | ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of `scoring` on other rows, R squared if none was given; greater is better."""
        return self._score(X, y, sample_weight)


def _class_weights(
    asked: Mapping[object, float] | str, classes: AnyArray, codes: AnyArray, sample_weight: Array | None
) -> Array:
    """Return the weight of each class; those that are not named have 1."""
    if isinstance(asked, str):
        counts = np.bincount(codes, sample_weight, minlength=len(classes))
        return np.asarray(counts.sum() / (len(classes) * np.maximum(counts, 1e-300)))
    unknown = set(asked) - set(classes.tolist())
    if unknown:
        raise ChoiceError(
            f"'class_weight' must name classes of the target, {classes.tolist()}. Got {sorted(map(str, unknown))}."
        )
    weights = np.array([float(asked.get(label, 1.0)) for label in classes.tolist()])
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ChoiceError(f"'class_weight' must hold numbers >= 0, not all of them 0. Got {dict(asked)!r}.")
    return weights
