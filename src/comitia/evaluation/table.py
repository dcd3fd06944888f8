"""A trial in, an observation and predictions out: build, fit, predict, score, keep predictions by row index.

An evaluator is pickled once and called in another process; it shares nothing. A failure of the learner, whatever it
is, becomes an observation with its text.
"""

from __future__ import annotations

import contextlib
import math
import random
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import has_fit_parameter

from comitia.arrays import AnyArray, Array, Indices
from comitia.committees.ensemble import probabilities_of
from comitia.errors import ChoiceError
from comitia.evaluation.fingerprint import fingerprint
from comitia.evaluation.resampling import carve_selection, check_can_be_carved, make_resampling
from comitia.evaluation.scoring import Scorer, Task, make_loss, make_scorer
from comitia.evaluation.silence import quiet
from comitia.history import Observation, Predictions, Status, Trial, Truth
from comitia.seams import Judging, Keep, Resampling, Split
from comitia.seeds import Seeds
from comitia.space import Config

Build = Callable[[Config, int], Any]
"""`build(config, random_state)` returns an unfitted scikit-learn estimator."""
Quick = Callable[[Config, Array, Array, Array], AnyArray | None]
"""`quick(config, X, codes, X_new)`: the class codes that the model of `build` predicts for `X_new`, in a shorter way.

An attribute of `build`, where it has one. X and X_new are finite and in C order; a class may be missing from codes.
None leaves this one to the model. The answers must be the model's own, because a study may mix both ways.
"""
MOST_TEXT = 4000
"""Letters of an error that are kept."""
MOST_CLASSES = 50
"""Whole numbers with more different values than this, and than a twentieth of the rows, are numbers to predict."""
SELECTION_SPLIT = 0.2
"""Fraction that is set aside for methods with a selection split where nobody says another; T prints none."""


class TableEvaluator:
    """Fit and judge an estimator on the splits of a table.

    Parameters
    ----------
    build : callable (config, random_state) -> estimator
        How a configuration becomes an unfitted scikit-learn estimator; see `comitia.learners`.
    X : array, sparse matrix or DataFrame of shape (n_rows, n_columns)
    y : array of shape (n_rows,)
    task : {"classification", "regression"}, default: what the loss or the target says
        Whole numbers with more than 50 different values (and than a twentieth of the rows) are taken as numbers.
    loss : str or callable, default: zero-one for classes, squared error for numbers
        What is minimised: "zero-one", "log-loss", "squared-error", "absolute-error", or a scikit-learn scorer, whose
        sign is turned.
    metrics : iterable of str or callable
        Further scikit-learn scorers to report.
    cv : int, float, splitter, list of splits or `Resampling`, default 5
        5 is shuffled 5-fold, 0.3 a hold-out of 30 %; stratified for classes.
    reshuffled : bool
        Draw new splits for every trial.
    groups, sample_weight : arrays of shape (n_rows,), optional
        Weights count in the loss, and in the fit where the learner takes them.
    selection_split : float, optional
        Fraction of the rows set aside for the final selection (T §3.2.2): drawn once by the study's seed, the same for
        every trial, never trained on nor searched on. Methods such as "gp-sel" choose by them at the end.
    keep : {"nothing", "predictions", "probabilities"}
        What to keep of the models' answers.

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
        X: Any,
        y: Any,
        *,
        task: Task | None = None,
        loss: Any = None,
        metrics: Iterable[Any] = (),
        cv: Any = 5,
        reshuffled: bool = False,
        groups: Any = None,
        sample_weight: Any = None,
        selection_split: float | None = None,
        keep: Keep = "nothing",
    ) -> None:
        self._cache: dict[tuple[int, int], list[Split]] = {}
        self._carved: dict[int, _Parts] = {}
        self.build = _checked_build(build)
        self.X = _checked_table(X)
        self.y = _checked_target(self.X, y)
        self.groups = _column("groups", groups, len(self.y))
        self.sample_weight = _checked_weights(sample_weight, len(self.y))
        if task not in (None, "classification", "regression"):
            raise ChoiceError(f"The 'task' parameter must be 'classification' or 'regression'. Got {task!r} instead.")
        self.task: Task = task or task_of(self.y, loss)
        default_loss = "zero-one" if self.task == "classification" else "squared-error"
        self.loss = make_loss(default_loss if loss is None else loss)
        self.metrics = _checked_metrics(metrics)
        if keep not in ("nothing", "predictions", "probabilities"):
            raise ChoiceError(
                f"The 'keep' parameter must be 'nothing', 'predictions' or 'probabilities'. Got {keep!r} instead."
            )
        self.keep = keep
        if selection_split is not None and not (isinstance(selection_split, float) and 0 < selection_split < 1):
            raise ChoiceError(f"The 'selection_split' must be a fraction in (0, 1). Got {selection_split!r} instead.")
        self.selection_split = selection_split
        is_classification = self.task == "classification"
        self.classes = _classes_of(self.y) if is_classification else None
        self.codes = np.searchsorted(self.classes, self.y) if self.classes is not None else None
        if self.classes is not None and len(self.classes) < 2:
            raise ChoiceError(f"A classification target must have at least two classes. Got only {self.classes[0]!r}.")
        self.resampling: Resampling = make_resampling(
            cv, stratify=is_classification, grouped=self.groups is not None, reshuffled=reshuffled
        )
        if selection_split is not None:
            check_can_be_carved(self.resampling)
        self._quick = self._usable_quick()
        self._numbers = None if self.codes is None else self.codes.astype(np.float64)
        self.n_folds = len(self.splits(0, 0, Seeds(0)))  # also refuses splits that do not fit, before any trial

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        """Evaluate a trial on its splits; see `Evaluator`."""
        started = time.perf_counter()
        progress = _Progress({metric.name: [] for metric in self.metrics})
        status: Status = "ok"
        error = ""
        try:
            self._evaluate(trial, seeds, progress)
        except MemoryError as caught:
            status, error = "memory", _describe(caught, progress)
        except (Exception, SystemExit) as caught:  # a learner may raise anything
            status, error = "failed", _describe(caught, progress)
        observation = Observation(
            trial,
            status,
            tuple(progress.losses),
            {name: tuple(scores) for name, scores in progress.metrics.items()},
            time.perf_counter() - started,
            progress.n_fits,
            error,
            tuple(progress.selection_losses),
        )
        return observation, progress.predictions() if status == "ok" and self.keep != "nothing" else None

    def n_fits(self, trial: Trial) -> int:
        """Return how many fits the trial will take."""
        return trial.repeats * (self.n_folds if trial.folds is None else len(trial.folds))

    # ---- one trial --------------------------------------------------------------------------------------------

    def _evaluate(self, trial: Trial, seeds: Seeds, progress: _Progress) -> None:
        selection = self._parts(seeds).selection
        for repeat in range(trial.first_repeat, trial.first_repeat + trial.repeats):
            splits = self.splits(trial.root, repeat, seeds)
            for fold in range(len(splits)) if trial.folds is None else trial.folds:
                progress.where = f"fold {fold}" + (f" of repeat {repeat}" if repeat else "")
                if self._quick is not None and self._evaluate_quickly(trial.config, splits[fold], selection, progress):
                    continue
                random_state = seeds.integer("learner", trial.root, repeat, fold)
                with quiet(), seeded_globals(seeds, trial.root, repeat, fold):
                    self._evaluate_split(trial.config, splits[fold], selection, random_state, progress)

    def _usable_quick(self) -> Quick | None:
        """Return the learner's short way to its answers, if it has one and answers are all that is wanted."""
        quick: Quick | None = getattr(self.build, "quick", None)
        if self.task == "regression" or isinstance(self.loss, Scorer) or self.loss.needs_probabilities:
            return None
        if self.metrics or self.sample_weight is not None or self.keep == "probabilities":
            return None
        X = self.X
        is_plain = type(X) is np.ndarray and X.dtype == np.float64 and X.flags.c_contiguous
        return quick if is_plain and np.isfinite(X).all() else None

    def _evaluate_quickly(self, config: Config, split: Split, selection: Indices | None, progress: _Progress) -> bool:
        """Judge the answers of the learner's short way; tell whether it had any."""
        assert self._quick is not None
        assert self._numbers is not None
        assert not isinstance(self.loss, Scorer)
        train, test = split
        asked = test if selection is None else np.concatenate([test, selection])
        answers = self._quick(config, self.X.take(train, 0), self._numbers.take(train), self.X.take(asked, 0))
        if answers is None:
            return False
        progress.n_fits += 1
        row_losses = self.loss.rows(self._numbers.take(test), answers[: len(test)])
        if selection is not None:
            aside = self.loss.rows(self._numbers.take(selection), answers[len(test) :])
            progress.selection_losses.append(float(np.add.reduce(aside) / len(aside)))
        if self.keep != "nothing":
            codes = _compact(answers.astype(np.intp))
            chosen = None if selection is None else codes[len(test) :]
            # seconds of the fit and of the answers cannot be told apart here
            progress.keep(test, codes[: len(test)], row_losses, chosen, math.nan)
        progress.losses.append(float(np.add.reduce(row_losses) / len(row_losses)))
        return True

    def _evaluate_split(
        self,
        config: Config,
        split: Split,
        selection: Indices | None,
        random_state: int,
        progress: _Progress,
    ) -> None:
        train, test = split
        model = self.build(config, random_state)
        progress.n_fits += 1
        model.fit(take(self.X, train), self.y[train], **fit_parameters(model, self._weight(train)))
        judged = _Judged(self, model, test)
        loss = judged.loss()
        scores = {metric.name: metric(model, judged.X, self.y[test], self._weight(test)) for metric in self.metrics}
        # T §3.3: the loss on the selection split is the mean over the models of the folds, each judged by itself
        aside = None if selection is None else _Judged(self, model, selection)
        if aside is not None:
            progress.selection_losses.append(aside.loss())
        if self.keep != "nothing":
            wants = self.keep == "probabilities" and self.task == "classification"
            chosen = None if aside is None else _compact(aside.answer(wants))
            kept = _compact(judged.answer(wants))
            progress.keep(test, kept, judged.row_losses, chosen, judged.seconds[wants])
        progress.losses.append(loss)
        for name, score in scores.items():
            progress.metrics[name].append(score)

    def answer(self, model: Any, X: Any, probabilities: bool) -> AnyArray:
        """Return class codes, class probabilities over all the study's classes, or numbers.

        Where the loss itself needs no probabilities, a learner without any gives its margins or votes in their place,
        as `Ensemble` does.
        """
        if self.classes is None:
            predicted = np.asarray(model.predict(X), dtype=np.float64).reshape(-1)
            if not np.isfinite(predicted).all():
                raise ValueError("the learner predicted NaN or infinity")
            return predicted
        if not probabilities:
            return self._codes_of(np.asarray(model.predict(X)).reshape(-1))
        if getattr(self.loss, "needs_probabilities", False) and not hasattr(model, "predict_proba"):
            raise TypeError(
                f"{type(model).__name__} has no predict_proba, which {self.loss.name!r} needs; use a loss on classes "
                "such as 'zero-one'"
            )
        p = np.zeros((_n_rows(X), len(self.classes)))
        if hasattr(model, "classes_"):
            p[:, self._codes_of(np.asarray(model.classes_))] = probabilities_of(model, X)
        else:  # a learner of the user's own
            p[np.arange(len(p)), self._codes_of(np.asarray(model.predict(X)).reshape(-1))] = 1.0
        if not np.isfinite(p).all():
            raise ValueError("the learner predicted NaN or infinite probabilities")
        return p

    def _codes_of(self, labels: AnyArray) -> Indices:
        """Return the position of each label among the classes; a label that is none of them is an error."""
        assert self.classes is not None
        codes = np.minimum(np.searchsorted(self.classes, labels), len(self.classes) - 1)
        if (strange := self.classes[codes] != labels).any():
            raise ValueError(
                f"the learner predicted {labels[strange][0]!r}, which is not a class of y; is it a classifier?"
            )
        return np.asarray(codes)

    def fingerprint(self) -> str:
        """Return a hash of the data and of how trials are judged: results are comparable while it is the same."""
        judged = (self.y, self.groups, self.sample_weight, self.resampling, self.loss.name, self.selection_split)
        return fingerprint(self.X, *judged)

    @property
    def judging(self) -> Judging:
        if self.codes is None or self.classes is None:
            truth = Truth(self.y.astype(np.float64), 0, self.sample_weight)
        else:
            truth = Truth(_compact(self.codes), len(self.classes), self.sample_weight)
        return Judging(self.resampling, self.selection_split, self.keep, truth, self.fingerprint)

    def _weight(self, rows: Indices) -> Array | None:
        return None if self.sample_weight is None else self.sample_weight[rows]

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

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": {}, "_carved": {}}


class FunctionEvaluator:
    """Evaluate any black box: `function(config)` returns the number to minimise.

    Where a trial asks for repeats, the function is called that many times. A function that draws from the global
    generators of `random` or `numpy.random` draws the same numbers for the same trial.
    """

    judging = Judging()

    def __init__(self, function: Callable[[Config], float]) -> None:
        if not callable(function):
            raise ChoiceError(f"A black box must be a function of a configuration. Got {function!r} instead.")
        self.function = function

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, None]:
        """Evaluate a trial; see `Evaluator`."""
        started = time.perf_counter()
        losses: list[float] = []
        status: Status = "ok"
        error = ""
        try:
            for repeat in range(self.n_fits(trial)):
                with seeded_globals(seeds, trial.root, trial.first_repeat + repeat):
                    loss = float(self.function(trial.config))
                if not math.isfinite(loss):
                    raise ValueError(f"the function must return a finite number, got {loss}")
                losses.append(loss)
        except MemoryError as caught:
            status, error = "memory", _describe(caught)
        except (Exception, SystemExit) as caught:  # a user's function may raise anything
            status, error = "failed", _describe(caught)
        seconds = time.perf_counter() - started
        return Observation(trial, status, tuple(losses), {}, seconds, max(len(losses), 1), error), None

    def n_fits(self, trial: Trial) -> int:
        """Return how many calls the trial will take."""
        return trial.repeats * (1 if trial.folds is None else len(trial.folds))


@dataclass(eq=False)
class _Judged:
    """A model and rows that it was not trained on; it predicts them once for each kind of answer."""

    evaluator: TableEvaluator
    model: Any
    rows: Indices
    row_losses: Array | None = None
    answers: dict[bool, AnyArray] = field(default_factory=dict)
    """By whether they are probabilities."""
    seconds: dict[bool, float] = field(default_factory=dict)
    """What each kind of answer took."""

    def __post_init__(self) -> None:
        self.X = take(self.evaluator.X, self.rows)

    def answer(self, probabilities: bool) -> AnyArray:
        """See `TableEvaluator.answer`."""
        if probabilities not in self.answers:
            began = time.perf_counter()
            self.answers[probabilities] = self.evaluator.answer(self.model, self.X, probabilities)
            self.seconds[probabilities] = time.perf_counter() - began
        return self.answers[probabilities]

    def loss(self) -> float:
        """Return the weighted loss, and remember that of each row where it has a meaning."""
        e = self.evaluator
        weight = None if e.sample_weight is None else e.sample_weight[self.rows]
        if isinstance(e.loss, Scorer):
            loss = -e.loss(self.model, self.X, e.y[self.rows], weight)
        else:
            truth = (e.y if e.codes is None else e.codes)[self.rows]
            self.row_losses = e.loss.rows(truth, self.answer(e.loss.needs_probabilities))
            loss = float(np.average(self.row_losses, weights=weight))
        if not np.isfinite(loss):
            raise ValueError(f"the loss must be a finite number, got {loss}")
        return loss


@dataclass(frozen=True)
class _Parts:
    """The rows that are searched on, with their target and groups, and those set aside for the selection."""

    rows: Indices
    selection: Indices | None
    y: AnyArray
    groups: AnyArray | None


@dataclass
class _Progress:
    """What one trial has so far: kept apart so that a failure leaves what came before it."""

    metrics: dict[str, list[float]]
    losses: list[float] = field(default_factory=list)
    selection_losses: list[float] = field(default_factory=list)
    n_fits: int = 0
    where: str = ""
    kept: list[tuple[Any, ...]] = field(default_factory=list)

    def keep(self, rows: Any, values: Any, row_losses: Any, selection: Any, seconds: float) -> None:
        self.kept.append((rows, np.full(len(rows), len(self.kept)), values, row_losses, selection, seconds))

    def predictions(self) -> Predictions:
        rows, folds, values, losses, selection, seconds = zip(*self.kept, strict=True)
        return Predictions(
            np.concatenate(rows),
            np.concatenate(folds),
            np.concatenate(values),
            None if losses[0] is None else np.concatenate(losses),
            None if selection[0] is None else np.stack(selection),
            np.array(seconds),
        )


def fit_parameters(model: Any, weight: Array | None) -> dict[str, Any]:
    """Return the keyword arguments that pass weights to a model, through pipelines; none where it takes none."""
    if weight is None:
        return {}
    return dict.fromkeys(_weight_names(model, ""), weight)


def _weight_names(model: Any, prefix: str) -> list[str]:
    """Name the weights of a model, or of every step of a pipeline that takes them: scalers count rows too."""
    if isinstance(model, Pipeline):
        return [name for step, part in model.steps for name in _weight_names(part, f"{prefix}{step}__")]
    return [f"{prefix}sample_weight"] if has_fit_parameter(model, "sample_weight") else []


def take(X: Any, rows: Indices) -> Any:
    """Return rows of an array, a sparse matrix, a pandas or a polars frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _compact(answer: AnyArray) -> AnyArray:
    """Keep probabilities in single precision and class codes in 16 bits: they are most of a study's file."""
    if answer.ndim == 2:
        return answer.astype(np.float32)
    return answer.astype(np.int16) if answer.dtype.kind in "iu" and answer.max(initial=0) < 2**15 else answer


def _describe(error: BaseException, progress: _Progress | None = None) -> str:
    """Say what went wrong and where; the innermost frame is the learner's own."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" (at {frames[-1].name}, line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""
    where = f"{progress.where}: " if progress is not None and progress.where else ""
    text = str(error)
    if len(text) > MOST_TEXT:
        text = text[:MOST_TEXT] + "..."
    return f"{where}{type(error).__name__}: {text}{place}"


class _Globals:
    """numpy's global generator, lent to trials: the first to come saves it, the last to leave puts it back.

    Trials in threads of one process share it, as they share everything global.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._ours = np.random.MT19937(0)

    def enter(self, seed: int) -> None:
        with self._lock:
            if self._n_inside == 0:
                self._state = random.getstate()
                # an exchange of generators: much cheaper than of their states
                self._theirs = np.random.get_bit_generator()  # type: ignore[attr-defined]
                np.random.set_bit_generator(self._ours)  # type: ignore[attr-defined]
            self._n_inside += 1
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002 - the global generator is the point here

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                random.setstate(self._state)
                np.random.set_bit_generator(self._theirs)  # type: ignore[attr-defined]


_GLOBALS = _Globals()


@contextlib.contextmanager
def seeded_globals(seeds: Seeds, *keys: int) -> Iterator[None]:
    """Seed the global generators for a learner that has no `random_state`, and give them back as they were."""
    _GLOBALS.enter(seeds.integer("globals", *keys))
    try:
        yield
    finally:
        _GLOBALS.leave()


def _checked_target(X: Any, y: Any) -> AnyArray:
    import pandas as pd

    target = np.asarray(y)
    n = _n_rows(X)
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1 or len(target) != n:
        raise ChoiceError(f"'y' must have shape ({n},), one entry a row of X. Got shape {target.shape} instead.")
    missing = np.asarray(pd.isna(target))
    if missing.any() or (target.dtype.kind == "f" and not np.isfinite(target).all()):
        raise ChoiceError(
            f"'y' must have no missing or infinite values. Got {max(int(missing.sum()), 1)} of {n}. Drop those rows."
        )
    return target


def _checked_build(build: Any) -> Build:
    if not callable(build) or isinstance(build, type) or hasattr(build, "fit"):
        raise ChoiceError(
            "'build' must be a function (config, random_state) that returns an unfitted estimator. "
            f"Got {build!r} instead. For one estimator and its parameters: "
            "lambda config, random_state: SVC(**config)."
        )
    found: Build = build
    return found


def _checked_table(X: Any) -> Any:
    """Return a table whose rows can be taken by position."""
    from scipy import sparse

    if sparse.issparse(X):
        return X.tocsr()
    if not hasattr(X, "shape") and not hasattr(X, "iloc"):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ChoiceError(
            f"'X' must be a table of shape (n_rows, n_columns). Got shape {X.shape} instead. "
            "For one column use X.reshape(-1, 1)."
        )
    return X


RESERVED = ("number", "status", "loss", "seconds", "error")
"""Columns of `Study.to_frame`, which no metric may be called."""


def _checked_metrics(metrics: Iterable[Any]) -> list[Scorer]:
    if isinstance(metrics, str):
        raise ChoiceError(f"'metrics' must be a list of scorers. Got the text {metrics!r}. Write [{metrics!r}].")
    scorers = [make_scorer(metric) for metric in metrics]
    names = [scorer.name for scorer in scorers]
    bad = {name for name in names if names.count(name) > 1 or name in RESERVED}
    if bad:
        raise ChoiceError(
            f"Metrics must have different names, and none of {', '.join(RESERVED)}. Got {', '.join(sorted(bad))}. "
            "Give the functions other names."
        )
    return scorers


def _classes_of(y: AnyArray) -> AnyArray:
    try:
        return np.unique(y)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise ChoiceError(f"Class labels must be of one type. Got {' and '.join(kinds)}. Convert them.") from error


def _column(name: str, values: Any, n: int) -> AnyArray | None:
    if values is None:
        return None
    column = np.asarray(values)
    if column.shape != (n,):
        raise ChoiceError(f"'{name}' must have shape ({n},), one entry a row. Got shape {column.shape} instead.")
    return column


def _checked_weights(values: Any, n: int) -> Array | None:
    weights = _column("sample_weight", values, n)
    if weights is None:
        return None
    try:
        weights = weights.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ChoiceError(f"'sample_weight' must be numbers. Got {weights[0]!r} and others.") from error
    if not np.isfinite(weights).all() or weights.min() < 0 or weights.sum() <= 0:
        raise ChoiceError(
            "'sample_weight' must be finite numbers >= 0 that are not all zero. Got a sample_weight with negative, "
            "infinite or missing ones, or zero alone. Leave it out to weigh all rows alike."
        )
    return weights


def task_of(y: AnyArray, loss: Any) -> Task:
    """Tell classes from numbers: by the loss where it says so, else by the target."""
    named = make_loss(loss) if loss is not None else None
    task = getattr(named, "task", None)
    if task is not None:
        if task == "regression" and y.dtype.kind not in "fiub":
            raise ChoiceError(f"The loss {named.name!r} needs a numeric 'y'. Got dtype {y.dtype}.")  # type: ignore[union-attr]
        found: Task = task
        return found
    try:
        kind = type_of_target(y)
    except (ValueError, TypeError) as error:
        raise ChoiceError(f"'y' must be classes or numbers, of one type. Got something else: {error}") from error
    if kind == "continuous":
        return "regression"
    # whole numbers, which are counts or grades where there are many different ones
    n_different = len(np.unique(y)) if y.dtype.kind in "fiu" else 0
    return "regression" if n_different > max(MOST_CLASSES, 0.05 * len(y)) else "classification"
