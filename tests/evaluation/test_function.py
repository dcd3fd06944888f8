"""A trial is a call of a function."""

from typing import Any

import pytest

from comitia import Config, FunctionEvaluator, Seeds, Trial
from comitia.errors import ChoiceError

SEEDS = Seeds(0)


def trial(**more: Any) -> Trial:
    return Trial(number=0, batch=0, x=(0.5,), config=Config({"k": 3}), **more)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "text", None])
def test_a_function_must_return_a_number(value: Any) -> None:
    observation, _ = FunctionEvaluator(lambda config: value)(trial(), SEEDS)
    assert observation.status == "failed"
    assert observation.error


def test_calls_before_the_failure_are_kept() -> None:
    answers = iter([0.5, 0.25])
    observation, _ = FunctionEvaluator(lambda config: next(answers))(trial(repeats=3), SEEDS)
    assert (observation.status, observation.losses, observation.n_evaluations) == ("failed", (0.5, 0.25), 2)
    assert "StopIteration" in observation.error


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(ChoiceError, match="function of a configuration"):
        FunctionEvaluator(3)  # type: ignore[arg-type]
