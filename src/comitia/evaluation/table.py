"""`TableEvaluator`: build, fit, predict and score an estimator on the splits of a table; keep predictions by row.

An evaluator is pickled once and called in another process; it shares nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from comitia.arrays import AnyArray, Estimator, Indices, Table
from comitia.committees import combine
from comitia.evaluation import checks
from comitia.evaluation.fewer_rows import MostRows, fewer
from comitia.evaluation.fingerprint import fingerprint
from comitia.evaluation.fitting import Build, Examples, HasQuick, Quick, fit
from comitia.evaluation.growth import found_size, size_for
from comitia.evaluation.isolation import quiet, seeded_globals
from comitia.evaluation.judged import Given, Judged, pooled
from comitia.evaluation.measured import (
    KeptSplit,
    Measured,
    RejectedError,
    check_seconds,
    compact,
    observed,
    rejection,
    turned,
)
from comitia.evaluation.metrics import make_target, positive_of, with_positive
from comitia.evaluation.resampling import CV, carve_selection, check_can_be_carved, make_resampling
from comitia.evaluation.scoring import DEFAULT_LOSSES, LossLike, Scorer, Task, make_loss
from comitia.history import Observation, Predictions, Trial, Truth
from comitia.seams import Bar, Judging, Keep, Resampling, Split
from comitia.seeds import Seeds
from comitia.space import Config

SELECTION_SPLIT = 0.2
"""Default of the fraction that is set aside for methods with a selection split; Lévesque 2018 gives none."""


class TableEvaluator:
    """Fit and judge an estimator on the splits of a table.

    Parameters
    ----------
    build : callable (config, random_state) -> estimator
        How a configuration becomes an unfitted scikit-learn estimator; `get_space` has some.
    X : array, sparse matrix or DataFrame of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
    task : {"classification", "regression"}, default: what the loss or the target says
        Whole numbers with more than 50 different values (and than a twentieth of the rows) are taken as numbers.
    loss : str or callable, default: zero-one for classes, squared error for numbers
        What is minimised: "zero-one", "log-loss", "squared-error", "absolute-error", or a scikit-learn scorer, whose
        sign is turned. A trial's is the mean over its splits; where a scorer gives no number for some split, such as
        ROC AUC for rows of one class, it is that of all splits' predictions together.
    metrics : iterable of str or callable
        Further scikit-learn scorers to report.
    cv : int, float, splitter, list of splits or `Resampling`, default 5
        5 is shuffled 5-fold, 0.3 a hold-out of 30 %; stratified for classes.
    reshuffled : bool
        Draw new splits for every trial.
    groups, sample_weight : arrays of shape (n_rows,), optional
        Weights count in the loss, and in the fit where the learner takes them.
    selection_split : float, optional
        Fraction of the rows set aside for the final selection (Lévesque 2018, §3.2.2): drawn once by the study's seed,
        the same for every trial, never trained on nor searched on. Methods such as "gp-sel" choose by them at the end.
    keep : {"nothing", "predictions", "probabilities"}
        What to keep of the models' answers.
    fit_weight : array of shape (n_rows,), optional
        How much rows count in fits and in the choice of committees, where that is not `sample_weight`, which then
        counts in the scores alone: for weights of classes.
    given : Given, optional
        The table and the labels as the user gave them, where `X` was cleaned and `y` are codes: what scorers see.
    least : float, optional
        Predicted numbers below are raised to it, for metrics that are not defined there.
    most_rows : callable (config) -> int or None, optional
        On how many rows of a split's training part a configuration is fitted at most, drawn by the study's seed, of
        each class its part; None is all.
    trial_seconds : float, optional
        A trial that would take longer, at the pace of its first fits, is given up after them, with the status
        "timeout".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from comitia import Config, Seeds, TableEvaluator, Trial
    >>> X, y = load_iris(return_X_y=True)
    >>> def build(config, random_state):
    ...     return KNeighborsClassifier(config["k"])
    >>> evaluator = TableEvaluator(build, X, y)
    >>> observation, _ = evaluator(Trial(0, 0, (0.5,), Config({"k": 3})), Seeds(0))
    >>> observation.status, observation.loss < 0.1
    ('ok', True)
    """

    def __init__(
        self,
        build: Build,
        X: Table | ArrayLike,
        y: ArrayLike,
        *,
        task: Task | None = None,
        loss: LossLike | None = None,
        metrics: Iterable[LossLike] = (),
        cv: CV = 5,
        reshuffled: bool = False,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        selection_split: float | None = None,
        keep: Keep = "nothing",
        fit_weight: ArrayLike | None = None,
        given: Given | None = None,
        least: float | None = None,
        most_rows: MostRows | None = None,
        trial_seconds: float | None = None,
    ) -> None:
        self._cache: dict[tuple[int, int], list[Split]] = {}
        self._carved: dict[int, _Parts] = {}
        self.build = checks.checked_build(build)
        self.X = checks.checked_table(X)
        self.y = checks.checked_target(y, self.X.shape[0])
        self.groups = checks.checked_column("groups", groups, len(self.y))
        self.sample_weight = checks.checked_weights(sample_weight, len(self.y))
        self.fit_weight = self.sample_weight if fit_weight is None else checks.checked_weights(fit_weight, len(self.y))
        if task is not None:
            checks.check_option("task", task, get_args(Task))
        self.task: Task = task or checks.task_of(self.y, loss)
        checks.check_option("keep", keep, get_args(Keep))
        self.keep = keep
        self.selection_split = checks.checked_fraction(selection_split)
        is_classification = self.task == "classification"
        self.classes = checks.classes_of(self.y) if is_classification else None
        self.given = Given(self.y, self.classes) if given is None else given
        self.least = least
        self.most_rows = most_rows
        self.trial_seconds = trial_seconds
        target = make_target(self.given.y, self.given.classes)
        made = make_loss(DEFAULT_LOSSES[self.task] if loss is None else loss)
        self.loss = with_positive(made, target) if isinstance(made, Scorer) else made
        self._positive = positive_of(self.loss)
        self.metrics = [with_positive(metric, target) for metric in checks.checked_metrics(metrics)]
        self.codes = None if self.classes is None else np.searchsorted(self.classes, self.y)
        self.resampling: Resampling = make_resampling(
            cv, stratify=is_classification, grouped=self.groups is not None, reshuffled=reshuffled
        )
        if selection_split is not None:
            check_can_be_carved(self.resampling)
        self._quick = self._usable_quick()
        self._numbers = None if self.codes is None else self.codes.astype(np.float64)
        self.n_folds = len(self.splits(0, 0, Seeds(0)))  # also refuses splits that do not fit, before any trial

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        measured = Measured({metric.name: [] for metric in self.metrics})
        observation = observed(trial, measured, lambda: self._evaluate(trial, seeds, measured))
        return observation, measured.predictions() if observation.is_ok and self.keep != "nothing" else None

    def screened(self, trial: Trial, seeds: Seeds, bar: Bar) -> tuple[Observation, Predictions | None]:
        """Evaluate fold by fold, and leave out the others once the bar rejects the trial.

        Trials begin with different folds, in turn: else one fold would decide about all of them.
        """
        if self.keep == "nothing" or trial.repeats > 1 or trial.folds is not None or trial.continues is not None:
            return self(trial, seeds)
        measured = Measured({metric.name: [] for metric in self.metrics})
        observation = observed(trial, measured, lambda: self._evaluate(trial, seeds, measured, bar))
        is_told = observation.status in ("ok", "rejected")
        return observation, measured.predictions() if is_told else None

    def n_fits(self, trial: Trial) -> int:
        return trial.repeats * (self.n_folds if trial.folds is None else len(trial.folds))

    @property
    def judging(self) -> Judging:
        y, n_classes = (self.y.astype(np.float64), 0) if self.classes is None else (self.codes, len(self.classes))
        return Judging(
            resampling=self.resampling,
            selection_split=self.selection_split,
            keep=self.keep,
            truth=Truth(compact(np.asarray(y)), n_classes, self.fit_weight),
            fingerprint=self.fingerprint,
        )

    def fingerprint(self) -> str:
        """Return a hash of the data and of how trials are judged: results are comparable while it is the same."""
        loss = self.loss.name if self._positive is None else f"{self.loss.name} of {self._positive!r}"
        judged = (self.y, self.groups, self.fit_weight, self.resampling, loss, self.selection_split)
        return fingerprint(self.X, *judged, *(() if self.most_rows is None else (self.most_rows,)))

    # ---- one model ------------------------------------------------------------------------------------------------

    @property
    def examples(self) -> Examples:
        """All rows, as they count in scores."""
        return Examples(self.X, self.y, self.sample_weight)

    def fit(
        self,
        config: Config,
        rows: Indices,
        seeds: Seeds,
        keys: tuple[int, ...] = (),
        n_threads: int = 1,
        size: int | None = None,
    ) -> Estimator:
        """Return a model fitted on some rows; see `fitting.fit`."""
        examples = Examples(self.X, self.y, self.fit_weight).take(rows)
        return fit(self.build, config, examples, seeds, keys, n_threads, size)

    def rows_of_fit(
        self, config: Config, rows: Indices, seeds: Seeds, keys: tuple[int, ...] = (), growth: float = 1.0
    ) -> Indices:
        """Return those of the rows that a configuration is fitted on; with `growth` that many times as many at most.

        Keys are repeat and fold.
        """
        most = None if self.most_rows is None else self.most_rows(config)
        if most is None or most * growth >= len(rows):
            return rows
        return fewer(rows, None if self.codes is None else self.codes[rows], int(most * growth), seeds, *keys)

    def answer(self, model: Estimator, X: Table, probabilities: bool) -> AnyArray:
        """Return class codes, class probabilities over all the study's classes, or numbers.

        A learner without probabilities gives its margins or votes in their place, as in `Ensemble`.
        """
        if self.classes is None:
            predicted = combine.numbers(model, X)
            if not np.isfinite(predicted).all():
                raise ValueError("the learner predicted NaN or infinity")
            return predicted if self.least is None else np.maximum(predicted, self.least)
        if not probabilities:
            return combine.codes(model, X, self.classes)
        p = combine.probabilities(model, X, self.classes)
        if not np.isfinite(p).all():
            raise ValueError("the learner predicted NaN or infinite probabilities")
        return p

    # ---- one trial ------------------------------------------------------------------------------------------------

    def _evaluate(self, trial: Trial, seeds: Seeds, measured: Measured, bar: Bar | None = None) -> None:
        selection = self._parts(seeds).selection
        first = 0 if bar is None else trial.root % self.n_folds
        began, n_fits = time.perf_counter(), self.n_fits(trial)
        for repeat in range(trial.first_repeat, trial.first_repeat + trial.repeats):
            splits = self.splits(trial.root, repeat, seeds)
            for fold in turned(len(splits), first) if trial.folds is None else trial.folds:
                if bar is not None and measured.kept and bar.rejects(measured.predictions()):
                    raise RejectedError(rejection(len(measured.kept), len(splits)))
                check_seconds(time.perf_counter() - began, measured.n_fits, n_fits, self.trial_seconds)
                measured.where = f"fold {fold}" + (f" of repeat {repeat}" if repeat else "")
                train, test = splits[fold]
                train = self.rows_of_fit(trial.config, train, seeds, (repeat, fold))
                if self._quick is not None and self._evaluate_quickly(trial.config, (train, test), selection, measured):
                    continue
                keys = (trial.root, repeat, fold)
                with quiet(), seeded_globals(seeds, *keys):  # the model's answers may draw numbers, too
                    measured.n_fits += 1
                    model = self.fit(trial.config, train, seeds, keys, size=size_for(measured.sizes))
                    measured.sizes.append(found_size(model))
                    self._judge(model, test, selection, measured)
        measured.turn_back(first)
        if isinstance(self.loss, Scorer) and not np.isfinite(measured.losses).all():
            measured.losses = [-pooled(self.loss, measured.answered, self.given, self.sample_weight)]
        if not np.isfinite(measured.losses).all():
            raise ValueError(f"the loss must be a finite number, got {measured.losses}")
        for metric in self.metrics:
            if not np.isfinite(measured.metrics[metric.name]).all():
                measured.metrics[metric.name] = [self._pooled_or_nan(metric, measured)]

    def _pooled_or_nan(self, metric: Scorer, measured: Measured) -> float:
        try:
            return pooled(metric, measured.answered, self.given, self.sample_weight)
        except Exception:  # a metric that is only reported must not cost a trial
            return math.nan

    def _judge(self, model: Estimator, test: Indices, selection: Indices | None, measured: Measured) -> None:
        judged = Judged(self, model, test)
        loss = judged.loss()
        scores = {metric.name: judged.score_or_nan(metric) for metric in self.metrics}
        if isinstance(self.loss, Scorer) or self.metrics:
            measured.answered.append(judged.answered)
        if selection is not None:
            # Lévesque 2018, §3.3: the mean over the models of the folds, each judged by itself
            measured.selection_losses.append(Judged(self, model, selection).loss())
        if self.keep != "nothing":
            wants = self.keep == "probabilities" and self.task == "classification"
            values = compact(judged.answer(wants))
            measured.kept.append(KeptSplit(test, values, judged.row_losses, judged.seconds[wants]))
        measured.losses.append(loss)
        for name, score in scores.items():
            measured.metrics[name].append(score)

    def _usable_quick(self) -> Quick | None:
        """Return the learner's short way to its answers, if it has one and answers are all that is wanted."""
        if not isinstance(self.build, HasQuick) or self.task == "regression" or self.metrics:
            return None
        if isinstance(self.loss, Scorer) or self.loss.needs_probabilities or self.keep == "probabilities":
            return None
        X = self.X
        is_plain = type(X) is np.ndarray and X.dtype == np.float64 and X.flags.c_contiguous
        return self.build.quick if is_plain and self.fit_weight is None and np.isfinite(X).all() else None

    def _evaluate_quickly(self, config: Config, split: Split, selection: Indices | None, measured: Measured) -> bool:
        """Judge the answers of the learner's short way; tell whether it had any."""
        assert self._quick is not None
        assert self._numbers is not None
        assert isinstance(self.X, np.ndarray)
        assert not isinstance(self.loss, Scorer)
        train, test = split
        asked = test if selection is None else np.concatenate([test, selection])
        answers = self._quick(config, self.X.take(train, 0), self._numbers.take(train), self.X.take(asked, 0))
        if answers is None:
            return False
        measured.n_fits += 1
        row_losses = self.loss.rows(self._numbers.take(test), answers[: len(test)])
        if selection is not None:
            aside = self.loss.rows(self._numbers.take(selection), answers[len(test) :])
            measured.selection_losses.append(float(np.add.reduce(aside) / len(aside)))
        if self.keep != "nothing":
            # seconds of the fit and of the answers cannot be told apart here
            values = compact(answers[: len(test)].astype(np.intp))
            measured.kept.append(KeptSplit(test, values, row_losses, math.nan))
        measured.losses.append(float(np.add.reduce(row_losses) / len(row_losses)))
        return True

    # ---- rows -------------------------------------------------------------------------------------------------

    def _parts(self, seeds: Seeds) -> _Parts:
        """Return the rows that are searched on and those set aside; found once for a study."""
        if seeds.seed not in self._carved:
            rows, selection = np.arange(len(self.y)), None
            if self.selection_split is not None:
                rows, selection = carve_selection(
                    self.y, self.groups, self.selection_split, seeds, stratify=self.task == "classification"
                )
            y = self.y[rows]
            y.flags.writeable = False  # so that a resampling may remember what it found out about it
            self._carved[seeds.seed] = _Parts(rows, selection, y, None if self.groups is None else self.groups[rows])
        return self._carved[seeds.seed]

    def splits(self, number: int, repeat: int, seeds: Seeds) -> list[Split]:
        """Return the splits of one repeat of a trial, as rows of the whole table."""
        key = (seeds.seed, repeat)
        if key in self._cache:
            return self._cache[key]
        parts = self._parts(seeds)
        splits = list(self.resampling.splits(parts.y, parts.groups, number, repeat, seeds))
        if parts.selection is not None:
            splits = [(parts.rows[train], parts.rows[test]) for train, test in splits]
        if not self.resampling.is_reshuffled:
            self._cache[key] = splits
        return splits

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_cache": {}, "_carved": {}}


@dataclass(frozen=True)
class _Parts:
    """The rows that are searched on, with their target and groups, and those set aside for the selection."""

    rows: Indices
    selection: Indices | None
    y: AnyArray
    groups: AnyArray | None
