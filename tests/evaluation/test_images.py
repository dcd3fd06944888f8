"""An evaluator for images: a given division, predictions by row, failures that are observations."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from comitia import Config, ImageEvaluator, Seeds, Study
from comitia.errors import ChoiceError, TableError, TrialTimeout
from tests import image_toys
from tests.image_toys import TRAINING, VALIDATION, NearestMean, evaluator, trial

SEEDS = Seeds(3)


def raising(error: Exception) -> Any:
    def learner(*arguments: Any) -> Any:
        raise error

    return learner


def test_predictions_are_about_the_validation_images() -> None:
    e = evaluator()
    observation, predictions = e(trial(), SEEDS)
    assert predictions is not None
    assert predictions.rows.tolist() == list(range(60, 90))
    truth = e.judging.truth
    assert truth is not None
    wrong = truth.y[predictions.rows] != predictions.values
    assert observation.losses == (wrong.mean(),)
    np.testing.assert_array_equal(predictions.losses, wrong)


def test_trials_judged_together_are_as_if_each_were_alone() -> None:
    e, tasks = evaluator(), [(trial(0), SEEDS), (trial(1), Seeds(4)), (trial(2, repeats=2), SEEDS)]
    for (observation, kept), task in zip(e.together(tasks), tasks, strict=True):
        alone, alone_kept = evaluator()(*task)
        assert observation.losses == alone.losses
        assert kept is not None
        assert alone_kept is not None
        np.testing.assert_array_equal(kept.values, alone_kept.values)


def test_probabilities_are_kept_where_they_are_wanted() -> None:
    observation, predictions = evaluator(keep="probabilities", loss="log-loss")(trial(), SEEDS)
    assert observation.is_ok
    assert predictions is not None
    assert predictions.values.shape == (30, 3)


def test_answers_to_test_images_are_remembered_and_otherwise_found_again() -> None:
    learner = NearestMean()
    e = evaluator(learner)
    e(trial(), SEEDS)
    first = e.test_answers(trial(), SEEDS)
    assert learner.sizes == [1]
    assert evaluator().test_answers(trial(), SEEDS).tolist() == first.tolist()
    assert first.shape == (24,)
    with pytest.raises(ChoiceError, match="test images"):
        evaluator(test=None).test_answers(trial(), SEEDS)


def test_trials_of_two_studies_with_the_same_seed_and_number_have_their_own_test_answers() -> None:
    class AsConfigured(NearestMean):
        """Answers the class that a hyperparameter names."""

        def __call__(self, configs: Any, *arguments: Any) -> list[list[Any]]:
            asked = arguments[4]
            return [[np.eye(3)[np.full(len(X), int(config["norm_power"]))] for X in asked] for config in configs]

    e = evaluator(AsConfigured())
    trials = [replace(trial(), config=Config({"norm_power": power})) for power in (0.0, 1.0)]
    e.together([(one, SEEDS) for one in trials])
    assert [e.test_answers(one, SEEDS)[0] for one in trials] == [0, 1]


@pytest.mark.parametrize(
    ("error", "status"),
    [(TrialTimeout("late"), "timeout"), (MemoryError("full"), "memory"), (RuntimeError("no"), "failed")],
)
def test_a_failure_of_the_learner_is_an_observation_of_every_trial(error: Exception, status: str) -> None:
    for observation, predictions in evaluator(raising(error)).together([(trial(0), SEEDS), (trial(1), SEEDS)]):
        assert (observation.status, predictions) == (status, None)
        assert str(error) in observation.error


def test_a_network_that_diverged_fails_alone() -> None:
    class Diverging(NearestMean):
        def __call__(self, *arguments: Any) -> list[list[Any]]:
            found = super().__call__(*arguments)
            found[0][0][:] = np.nan
            return found

    (first, _), (second, _) = evaluator(Diverging()).together([(trial(0), SEEDS), (trial(1), SEEDS)])
    assert (first.status, second.status) == ("failed", "ok")


def test_methods_work_on_images_as_on_tables() -> None:
    study = Study("cnn", method="eo-sqm[slots=3]", seed=1).run(evaluator(), n_trials=8)
    assert study.best_value < 0.5
    assert sum(member.weight for member in study.members()) == pytest.approx(1)


def test_the_fingerprint_depends_on_images_and_learner_but_not_on_the_device() -> None:
    class OnSomeDevice(NearestMean):
        def __init__(self, device: str, epochs: int = 1) -> None:
            super().__init__()
            self.device, self.epochs = device, epochs

    here = evaluator(OnSomeDevice("cpu")).fingerprint()
    assert evaluator(OnSomeDevice("cuda")).fingerprint() == here
    assert evaluator(OnSomeDevice("cpu", epochs=2)).fingerprint() != here
    other = ImageEvaluator(OnSomeDevice("cpu"), image_toys.images(60, 9), VALIDATION)
    assert other.fingerprint() != here


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TRAINING[0][..., 0], TRAINING[1]), r"\(n, height, width, channels\)"),
        ((np.full((60, 8, 8, 3), np.nan), TRAINING[1]), "finite"),
        (TRAINING[0], "pair"),
        ((TRAINING[0], TRAINING[1][:5]), "same number"),
    ],
)
def test_what_are_no_images_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        ImageEvaluator(NearestMean(), arguments, VALIDATION)


def test_parts_that_do_not_fit_each_other_are_refused() -> None:
    with pytest.raises(TableError, match="shape of the training images"):
        ImageEvaluator(NearestMean(), TRAINING, image_toys.images(9, side=6))
    few = TRAINING[1] != "corner"
    with pytest.raises(TableError, match="corner"):
        ImageEvaluator(NearestMean(), (TRAINING[0][few], TRAINING[1][few]), VALIDATION)
    with pytest.raises(ChoiceError, match="loss"):
        evaluator(loss="squared-error")
    with pytest.raises(ChoiceError, match="trial_time_limit"):
        evaluator(trial_time_limit=0)
