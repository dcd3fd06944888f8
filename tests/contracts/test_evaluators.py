"""What every evaluator must do."""

import random
from dataclasses import replace
from typing import Any

import cloudpickle
import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from comitia import Config, FunctionEvaluator, Seeds, TableEvaluator, Trial, get_space
from comitia.seams import Evaluator
from tests import image_toys

SEEDS = Seeds(5)


def noisy(config: Any) -> float:
    return float(np.random.random() + random.random())  # noqa: NPY002 - a user's function may


def table(space: str, **options: Any) -> tuple[str, Evaluator]:
    X, y = load_iris(return_X_y=True) if get_space(space).task == "classification" else load_diabetes(return_X_y=True)
    return space, TableEvaluator(get_space(space).build, X, y, **options)


def few_rows(config: Config) -> int:
    return 60


EVALUATORS: dict[str, tuple[str, Evaluator]] = {
    "table": table("sklearn-cash"),
    "table, everything kept": table("random-forest", keep="probabilities", selection_split=0.2, loss="log-loss"),
    "table, reshuffled": table("random-forest", reshuffled=True, cv=0.3),
    "table, fewer rows": table("random-forest", keep="predictions", most_rows=few_rows),
    "regression": table("svr", keep="predictions"),
    "images": ("cnn", image_toys.evaluator()),
    "function": ("svm-rbf", FunctionEvaluator(noisy)),
}


@pytest.fixture(params=sorted(EVALUATORS))
def case(request: pytest.FixtureRequest) -> tuple[str, Evaluator]:
    return EVALUATORS[request.param]


def trial(space: str, number: int, **more: Any) -> Trial:
    definition = get_space(space).space
    x = definition.sample(1, SEEDS("test", number))
    return Trial(number, 0, tuple(x[0].tolist()), definition.decode(x)[0], **more)


def test_the_same_trial_gives_the_same_result_here_and_in_a_copy(case: tuple[str, Evaluator]) -> None:
    space, evaluator = case
    copy = cloudpickle.loads(cloudpickle.dumps(evaluator))
    for number in (0, 3):
        one, predictions = evaluator(trial(space, number), SEEDS)
        evaluator(trial(space, number + 1), SEEDS)
        two, again = copy(trial(space, number), SEEDS)
        assert one.is_ok, one.error
        assert (one.losses, one.metrics, one.selection_losses) == (two.losses, two.metrics, two.selection_losses)
        assert (predictions is None) == (again is None)
        if predictions is not None and again is not None:
            # all but how long they took
            assert replace(predictions, seconds=None).to_bytes() == replace(again, seconds=None).to_bytes()


def test_the_number_of_fits_is_foretold(case: tuple[str, Evaluator]) -> None:
    space, evaluator = case
    for more in ({}, {"repeats": 2}, {"folds": (0,)}):
        asked = trial(space, 1, **more)
        observation, _ = evaluator(asked, SEEDS)
        assert observation.n_evaluations == evaluator.n_fits(asked) == len(observation.losses)


def test_global_generators_are_left_as_they_were(case: tuple[str, Evaluator]) -> None:
    def states() -> Any:
        return repr(np.random.get_state()), random.getstate()  # noqa: NPY002

    space, evaluator = case
    before = states()
    evaluator(trial(space, 1), SEEDS)
    assert states() == before


def test_what_is_kept_is_what_the_judging_says(case: tuple[str, Evaluator]) -> None:
    space, evaluator = case
    _, predictions = evaluator(trial(space, 1), SEEDS)
    assert (predictions is None) == (evaluator.judging.keep == "nothing")
    if predictions is not None:
        assert evaluator.judging.truth is not None
        assert predictions.rows.max() < len(evaluator.judging.truth.y)


def test_a_copy_judges_alike(case: tuple[str, Evaluator]) -> None:
    judging, again = case[1].judging, cloudpickle.loads(cloudpickle.dumps(case[1])).judging
    assert (again.selection_split, again.keep) == (judging.selection_split, judging.keep)
    assert (judging.fingerprint is None) == (again.fingerprint is None)
    if judging.fingerprint is not None:
        assert judging.fingerprint() == again.fingerprint()
