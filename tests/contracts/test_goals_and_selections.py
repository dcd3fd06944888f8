"""What every goal and every selection of the registry must do."""

import numpy as np
import pytest

from comitia import METHODS, Config, History, Observation, Predictions, Seeds, Space, Trial
from comitia.errors import NothingFound
from comitia.history import Truth
from comitia.methods import Method

SEEDS = Seeds(0)
SPACE = Space({"a": list(range(10))})


def kept_of(number: int, loss: float) -> Predictions:
    """Predictions with this error on ten rows."""
    values = (np.arange(10) + number) % 10 < 10 * loss
    return Predictions(np.arange(10), np.zeros(10, dtype=np.intp), values.astype(np.int16), values.astype(float))


def history_of(losses: list[float | None], pending: int = 0, *, is_kept: bool = False) -> History:
    """None is a failure; predictions were kept or not.

    All were judged on a selection split: methods that choose by one run with nothing else.
    """
    kept = {i: kept_of(i, loss) for i, loss in enumerate(losses) if loss is not None and is_kept}
    history = History(1, kept.get, space=SPACE)
    if is_kept:
        history.truth = Truth(np.zeros(10, dtype=np.int16), 2)
    for number in range(len(losses) + pending):
        config = Config({"a": number})
        history.append(Trial(number, 0, tuple(SPACE.encode([config])[0].tolist()), config))
    for number, loss in enumerate(losses):
        trial = history.trial(number)
        if loss is None:
            history.finish(Observation(trial, "failed", error="no"))
        else:
            folds = (0.9 * loss, loss, 1.1 * loss)
            seconds = float(1 + (number * 7) % 5)
            history.finish(Observation(trial, "ok", folds, seconds=seconds, selection_losses=folds))
    return history


@pytest.fixture(params=sorted(METHODS))
def method(request: pytest.FixtureRequest) -> Method:
    return METHODS[request.param]


@pytest.mark.parametrize("losses", [[], [0.5], [None], [None, None], [0.2, None, 0.9, 0.1], [0.3] * 5])
def test_a_goal_gives_one_finite_number_for_each_finished_trial(method: Method, losses: list[float | None]) -> None:
    for is_kept in (False, method.goal.needs.rows or method.goal.needs.row_losses):
        values = method.goal.values(history_of(losses, pending=2, is_kept=is_kept), SEEDS).now
        assert values.shape == (len(losses),)
        assert np.isfinite(values).all()


@pytest.mark.parametrize("is_kept", [False, True], ids=["losses alone", "predictions kept"])
def test_a_failed_trial_is_as_bad_as_the_worst_so_far(method: Method, is_kept: bool) -> None:
    values = method.goal.values(history_of([0.2, None, 0.9, 0.1], is_kept=is_kept), SEEDS).now
    assert values[1] == values.max()


@pytest.mark.parametrize("is_kept", [False, True], ids=["losses alone", "predictions kept"])
def test_values_of_the_first_trials_are_those_before_the_others_or_now(method: Method, is_kept: bool) -> None:
    losses = [0.2, None, 0.9, 0.1]
    values = method.goal.values(history_of(losses, is_kept=is_kept), SEEDS)
    assert values.of_first(2).shape == (2,)
    assert np.array_equal(values.of_first(4), values.now)
    if values.earlier is not None:
        then = method.goal.values(history_of(losses[:3], is_kept=is_kept), SEEDS)
        assert np.array_equal(values.of_first(3), then.now)


@pytest.mark.parametrize("is_kept", [False, True], ids=["losses alone", "predictions kept"])
def test_weights_of_members_sum_to_one(method: Method, is_kept: bool) -> None:
    history = history_of([0.2, None, 0.9, 0.1], pending=1, is_kept=is_kept)
    members = method.selection.members(history, method.make_optimizer(SPACE), SEEDS)
    assert sum(member.weight for member in members) == pytest.approx(1)
    assert all(member.weight > 0 for member in members)


@pytest.mark.parametrize("losses", [[], [None, None]])
def test_nothing_is_handed_over_when_nothing_succeeded(method: Method, losses: list[float | None]) -> None:
    with pytest.raises(NothingFound, match="At least one trial must succeed"):
        method.selection.members(history_of(losses), method.make_optimizer(SPACE), SEEDS)
