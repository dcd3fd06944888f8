"""`ImageEvaluator`: train networks on images, judge them on others, keep predictions by row as for tables.

What a network is, and how several are trained side by side, is the learner's; `learners/cnn` has one.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, get_args

import numpy as np
from numpy.typing import ArrayLike

from comitia.arrays import AnyArray, Indices
from comitia.errors import ChoiceError, TableError, TrialTimeout
from comitia.evaluation.checks import check_option, checked_target, classes_of
from comitia.evaluation.fingerprint import fingerprint
from comitia.evaluation.measured import KeptSplit, Measured, compact, described, observed
from comitia.evaluation.resampling import Fixed
from comitia.evaluation.scoring import LossLike, RowLoss, make_loss
from comitia.history import Observation, Predictions, Trial, Truth
from comitia.seams import Judging, Keep
from comitia.seeds import Seeds
from comitia.space import Config

Labelled = tuple[ArrayLike, ArrayLike]
"""Images and the class of each."""
WHERE = ("device", "at_a_time")
"""Options of a learner that say where networks are trained, and not which."""
MOST_ANSWERS = 512
"""Trials whose answers about the test images are remembered."""


class ImageLearner(Protocol):
    """Trains networks side by side; each as if it were alone, by its own seed."""

    def __call__(
        self,
        configs: Sequence[Config],
        random_states: Sequence[int],
        X: AnyArray,
        codes: Indices,
        n_classes: int,
        asked: Sequence[AnyArray],
        deadline: float = math.inf,
    ) -> Sequence[Sequence[AnyArray]]:
        """Return class probabilities, (n_images, n_classes), of each network for each set of images that is asked.

        Raises
        ------
        TrialTimeout
            If the deadline, a moment of `time.monotonic`, passes.
        MemoryError
            If not even one network fits into the memory.
        """


class ImageEvaluator:
    """Train networks on some images and judge them on others: a division that is given, the same for every trial.

    Parameters
    ----------
    learner : ImageLearner
        Such as `Networks(epochs=30)` of `comitia.learners.cnn`, for the space "cnn".
    training, validation : pairs (images, labels)
        Images are arrays of shape (n, height, width, channels), of whole numbers or of reals; all classes must occur
        among the training images.
    test : pair (images, labels), optional
        Images that are neither learnt from nor chosen by. Every network answers them when it is trained; see
        `test_answers`.
    loss : {"zero-one", "log-loss"}
        What is minimised.
    keep : {"nothing", "predictions", "probabilities"}
        What to keep of the answers about validation images; committees need them.
    trial_time_limit : float, optional
        Seconds for the networks that are trained side by side; what is over it is a trial with the status "timeout". A
        limit of memory is the device's: networks are trained in two halves where they do not fit together, and one
        that does not fit alone has the status "memory".
    """

    def __init__(
        self,
        learner: ImageLearner,
        training: Labelled,
        validation: Labelled,
        *,
        test: Labelled | None = None,
        loss: LossLike = "zero-one",
        keep: Keep = "predictions",
        trial_time_limit: float | None = None,
    ) -> None:
        check_option("keep", keep, get_args(Keep))
        made = make_loss(loss)
        if not isinstance(made, RowLoss) or made.task != "classification":
            raise ChoiceError(f"The 'loss' of ImageEvaluator must be 'zero-one' or 'log-loss'. Got {loss!r} instead.")
        if trial_time_limit is not None and not trial_time_limit > 0:
            raise ChoiceError(f"The 'trial_time_limit' must be a number of seconds > 0. Got {trial_time_limit!r}.")
        self.learner, self.loss, self.keep, self.trial_time_limit = learner, made, keep, trial_time_limit
        self.X, labels = _checked(training)
        self.X_validation, validation_labels = _checked(validation, like=self.X)
        self.X_test: AnyArray | None = None
        self.test_codes: Indices | None = None
        self.classes = classes_of(labels)
        self.codes = _codes(labels, self.classes)
        self.validation_codes = _codes(validation_labels, self.classes)
        if test is not None:
            self.X_test, test_labels = _checked(test, like=self.X)
            self.test_codes = _codes(test_labels, self.classes)
        n = len(labels)
        self.rows = np.arange(n, n + len(validation_labels))
        """Rows of the validation images: those of training come before them."""
        self.resampling = Fixed([(np.arange(n), self.rows)])
        self._answers: OrderedDict[tuple[int, Trial], AnyArray] = OrderedDict()

    @property
    def judging(self) -> Judging:
        return Judging(
            resampling=self.resampling,
            keep=self.keep,
            truth=Truth(compact(np.concatenate([self.codes, self.validation_codes])), len(self.classes)),
            fingerprint=self.fingerprint,
        )

    def fingerprint(self) -> str:
        """Return a hash of the images and of how trials are judged; on which device does not count."""
        judged = (self.codes, self.validation_codes, self.loss.name, _without_device(self.learner))
        return fingerprint(self.X, self.X_validation, *judged)

    def n_fits(self, trial: Trial) -> int:
        return trial.repeats * (1 if trial.folds is None else len(trial.folds))

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        return self.together([(trial, seeds)])[0]

    def together(self, tasks: Sequence[tuple[Trial, Seeds]]) -> list[tuple[Observation, Predictions | None]]:
        """Evaluate trials, of one study or of several, with all their networks trained side by side."""
        began = time.perf_counter()
        owners = [i for i, (trial, _) in enumerate(tasks) for _ in range(self.n_fits(trial))]
        asked = [self.X_validation] if self.X_test is None else [self.X_validation, self.X_test]
        found: dict[int, list[Sequence[AnyArray]]] = {}
        failure: BaseException | None = None
        try:
            configs = [tasks[i][0].config for i in owners]
            states = [state for trial, seeds in tasks for state in self._random_states(trial, seeds)]
            seconds = self.trial_time_limit
            deadline = math.inf if seconds is None else time.monotonic() + seconds
            every = self.learner(configs, states, self.X, self.codes, len(self.classes), asked, deadline)
            for i, answers in zip(owners, every, strict=True):
                found.setdefault(i, []).append(answers)
        except Exception as error:  # a learner may raise anything
            failure = error
        each = (time.perf_counter() - began) / len(tasks)  # side by side: every trial has its share of the seconds
        return [self._judged(task, found.get(i, []), failure, each) for i, task in enumerate(tasks)]

    def test_answers(self, trial: Trial, seeds: Seeds) -> AnyArray:
        """Return the class codes that a trial's network gives the test images.

        Those of the last few hundred trials are remembered; of another the network is trained again.
        """
        if self.X_test is None:
            raise ChoiceError(
                "Test answers need test images. Got none. Use ImageEvaluator(..., test=(images, labels))."
            )
        key = (seeds.seed, trial)  # the trial itself: studies with the same seed may share the evaluator
        if key not in self._answers:
            observation, _ = self(trial, seeds)
            if not observation.is_ok:
                raise ChoiceError(f"Test answers need a trial that succeeds. Trial {trial.number}: {observation.error}")
        return self._answers[key]

    def _random_states(self, trial: Trial, seeds: Seeds) -> list[int]:
        """Return the seed of each network; those of further folds, of which there is one, are of further repeats."""
        return [
            seeds.integer("learner", trial.root, trial.first_repeat + repeat, 0) for repeat in range(self.n_fits(trial))
        ]

    def _judged(
        self,
        task: tuple[Trial, Seeds],
        answers: Sequence[Sequence[AnyArray]],
        failure: BaseException | None,
        seconds: float,
    ) -> tuple[Observation, Predictions | None]:
        trial, seeds = task
        if isinstance(failure, TrialTimeout):
            return Observation.failed(trial, described(failure, ""), status="timeout", seconds=seconds), None
        measured = Measured()

        def judge() -> None:
            if failure is not None:
                raise failure
            for given in answers:
                self._judge(given[0], measured)

        observation = replace(observed(trial, measured, judge), seconds=seconds)
        if not observation.is_ok:
            return observation, None
        if self.X_test is not None:
            self._answers[seeds.seed, trial] = compact(answers[0][1].argmax(axis=1))
            if len(self._answers) > MOST_ANSWERS:
                self._answers.popitem(last=False)
        return observation, None if self.keep == "nothing" else measured.predictions()

    def _judge(self, p: AnyArray, measured: Measured) -> None:
        measured.n_fits += 1
        if not np.isfinite(p).all():
            raise ValueError("the network predicted NaN: its rates are too large")
        codes = p.argmax(axis=1)
        losses = self.loss.rows(self.validation_codes, p if self.loss.needs_probabilities else codes)
        measured.losses.append(float(losses.mean()))
        values = compact(p if self.keep == "probabilities" else codes)
        measured.kept.append(KeptSplit(self.rows, values, losses, math.nan))

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_answers": OrderedDict()}


def checked_images(X: ArrayLike) -> AnyArray:
    """Refuse what is no array of images."""
    images = np.asarray(X)
    if images.ndim != 4 or not len(images) or images.dtype.kind not in "uif":
        raise TableError(
            "Images must be numbers in an array of shape (n, height, width, channels). "
            f"Got {images.dtype} in shape {images.shape}. For one channel use X[..., None]."
        )
    if images.dtype.kind == "f" and not np.isfinite(images).all():
        raise TableError("Images must be finite numbers. Got NaN or infinity. Replace them.")
    return images


def checked_labels(y: ArrayLike, n_images: int) -> AnyArray:
    """Refuse what is not one class per image."""
    return checked_target(y, n_images)


def _checked(pair: Labelled, like: AnyArray | None = None) -> tuple[AnyArray, AnyArray]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TableError(f"Images must come with their labels, as a pair (images, labels). Got {type(pair).__name__}.")
    images = checked_images(pair[0])
    if like is not None and images.shape[1:] != like.shape[1:]:
        raise TableError(
            f"All images must have the shape of the training images, {like.shape[1:]}. Got {images.shape}."
        )
    return images, checked_labels(pair[1], len(images))


def _codes(labels: AnyArray, classes: AnyArray) -> Indices:
    codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    if not np.array_equal(classes[codes], labels):
        unknown = sorted({str(label) for label in labels} - {str(label) for label in classes})
        raise TableError(f"All classes must occur among the training images. Got {', '.join(unknown)} beside them.")
    return np.asarray(codes)


def _without_device(learner: ImageLearner) -> dict[str, object]:
    """Return what a learner is, for the fingerprint: the same networks on another device are comparable.

    What it remembers for itself, under names that begin with an underscore, does not count either.
    """
    options = {k: v for k, v in vars(learner).items() if k not in WHERE and not k.startswith("_")}
    return {"learner": type(learner).__qualname__, **options}
