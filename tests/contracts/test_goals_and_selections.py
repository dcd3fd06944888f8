"""What every goal and every selection of the registry must do."""

import numpy as np
import pytest

from comitia import METHODS, Config, History, Observation, Seeds, Space, Trial
from comitia.errors import NothingFound
from comitia.methods import Method

SEEDS = Seeds(0)
SPACE = Space({"a": list(range(10))})


def history_of(losses: list[float | None], pending: int = 0) -> History:
    """None is a failure. All were judged on a selection split: methods that choose by one run with nothing else."""
    history = History(1, space=SPACE)
    for number in range(len(losses) + pending):
        config = Config({"a": number})
        history.append(Trial(number, 0, tuple(SPACE.encode([config])[0].tolist()), config))
    for number, loss in enumerate(losses):
        trial = history.trial(number)
        if loss is None:
            history.finish(Observation(trial, "failed", error="no"))
        else:
            history.finish(Observation(trial, "ok", (loss,), selection_losses=(loss,)))
    return history


@pytest.fixture(params=sorted(METHODS))
def method(request: pytest.FixtureRequest) -> Method:
    return METHODS[request.param]


@pytest.mark.parametrize("losses", [[], [0.5], [None], [None, None], [0.2, None, 0.9, 0.1], [0.3] * 5])
def test_a_goal_gives_one_finite_number_for_each_finished_trial(method: Method, losses: list[float | None]) -> None:
    values = method.goal.values(history_of(losses, pending=2), SEEDS)
    assert values.shape == (len(losses),)
    assert np.isfinite(values).all()


def test_a_failed_trial_is_as_bad_as_the_worst_so_far(method: Method) -> None:
    values = method.goal.values(history_of([0.2, None, 0.9, 0.1]), SEEDS)
    assert values[1] == values.max()


def test_weights_of_members_sum_to_one(method: Method) -> None:
    members = method.selection.members(history_of([0.2, None, 0.9, 0.1], pending=1), SEEDS)
    assert sum(member.weight for member in members) == pytest.approx(1)
    assert all(member.weight > 0 for member in members)


@pytest.mark.parametrize("losses", [[], [None, None]])
def test_nothing_is_handed_over_when_nothing_succeeded(method: Method, losses: list[float | None]) -> None:
    with pytest.raises(NothingFound, match="At least one trial must succeed"):
        method.selection.members(history_of(losses), SEEDS)
