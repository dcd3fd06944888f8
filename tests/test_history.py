"""The history: what was asked, what came of it, chains of trials."""

import io
import math
import pickle
from collections.abc import Iterable
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia import Config, History, Observation, Predictions, Trial
from comitia.history import Truth


def trial(number: int, **more: int | None) -> Trial:
    return Trial(number=number, batch=0, x=(number / 1000, 0.5), config=Config({"a": number}), **more)  # type: ignore[arg-type]


@given(st.lists(st.none() | st.floats(-1e6, 1e6), max_size=200), st.randoms())
def test_results_in_any_order_give_the_same_history(losses: list[float | None], shuffle: object) -> None:
    order = list(range(len(losses)))
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    history = History(2)
    for number in range(len(losses)):
        history.append(trial(number))
    for done, number in enumerate(order):
        loss = losses[number]
        observation = (
            Observation(trial(number), "ok", (loss,)) if loss is not None else Observation(trial(number), "failed")
        )
        history.finish(observation)
        assert history.n_finished == done + 1
        assert history.n_pending == len(losses) - done - 1
    assert history.X.shape == (len(losses), 2)
    assert [None if math.isnan(loss) else loss for loss in history.losses] == losses
    assert history.finished.tolist() == list(range(len(losses)))
    succeeded = [(loss, number) for number, loss in enumerate(losses) if loss is not None]
    assert (history.best.number if history.best else None) == (min(succeeded)[1] if succeeded else None)
    assert history.n_failed == len(losses) - len(succeeded)


def test_pending_trials_are_in_the_order_of_their_numbers() -> None:
    history = History(2)
    for number in range(4):
        history.append(trial(number))
    history.finish(Observation(trial(1), "ok", (0.5,)))
    assert [t.number for t in history.pending] == [0, 2, 3]
    assert history.observation(0) is None
    assert history.was_asked(Config({"a": 2}))
    assert not history.was_asked(Config({"a": 9}))


def test_a_trial_that_continues_another_counts_with_it() -> None:
    history = History(2)
    for t in (trial(0), trial(1), trial(2, continues=0, root=0), trial(3, continues=2, root=0)):
        history.append(t)
    history.finish(Observation(history.trial(0), "ok", (0.1,)))
    history.finish(Observation(history.trial(1), "ok", (0.3,)))
    assert history.best is not None
    assert history.best.number == 0
    history.finish(Observation(history.trial(2), "ok", (0.1, 0.6, 0.5)))  # the study puts the earlier losses first
    assert history.losses[2] == pytest.approx((0.1 + 0.6 + 0.5) / 3)
    assert history.is_superseded.tolist() == [True, False, False, False]
    assert history.best.number == 1  # the lucky first fold no longer counts
    history.finish(Observation(history.trial(3), "failed"))
    assert history.is_superseded.tolist() == [True, False, False, False]
    assert np.isnan(history.losses[3])


def test_what_is_read_cannot_be_changed() -> None:
    history = History(2)
    history.append(trial(0))
    with pytest.raises(ValueError, match="read-only"):
        history.X[0, 0] = 1
    with pytest.raises(AttributeError):
        trial(0).number = 3  # type: ignore[misc]


def test_predictions_travel_as_bytes() -> None:
    predictions = Predictions(
        np.array([3, 1]), np.array([0, 1]), np.array([[0.1, 0.9], [0.5, 0.5]], dtype=np.float32), np.array([0.0, 1.0])
    )
    again = Predictions.from_bytes(predictions.to_bytes())
    assert again.rows.tolist() == [3, 1]
    assert again.values.dtype == np.float32
    assert (again.values == predictions.values).all()
    assert again.seconds is None


def test_predictions_of_earlier_versions_are_read_without_those_of_the_selection_split() -> None:
    buffer = io.BytesIO()
    np.savez(
        buffer,
        rows=np.array([0, 1]),
        folds=np.array([0, 0]),
        values=np.array([1, 0], dtype=np.int16),
        selection=np.zeros((5, 30), dtype=np.int16),
        seconds=np.array([0.1]),
    )
    again = Predictions.from_bytes(buffer.getvalue())
    assert again.values.tolist() == [1, 0]
    assert again.seconds is not None


def test_finished_numbers_are_right_with_and_without_pending_trials() -> None:
    history = History(1)
    for number in range(100):
        history.append(Trial(number=number, batch=0, x=(0.5,), config=Config({"x": number})))
    assert history.finished.tolist() == []
    for number in (3, 70, 1):
        history.finish(Observation(history.trial(number), "ok", (0.1,)))
    assert history.finished.tolist() == [1, 3, 70]
    for trial in history.pending:
        history.finish(Observation(trial, "ok", (0.1,)))
    assert history.finished.tolist() == list(range(100))


def test_what_is_remembered_is_made_once_for_a_history_and_left_out_of_its_copies() -> None:
    history, other = History(2, dict[int, Predictions]().get), History(2)
    made = history.remember("key", list[int])
    assert history.remember("key", list[int]) is made
    assert history.remember(("key", 1), list[int]) is not made
    assert other.remember("key", list[int]) is not made
    for copy in (pickle.loads(pickle.dumps(history)), deepcopy(history)):
        assert copy.remember("key", list[int]) is not made


def history_of(n: int) -> History:
    history = History(2)
    for number in range(n):
        history.append(trial(number))
    return history


def numbers(trials: Iterable[Trial]) -> list[int]:
    return [t.number for t in trials]


class TestStates:
    """A trial is waiting, begun or finished."""

    def test_a_trial_waits_until_somebody_begins_it(self) -> None:
        history = history_of(3)
        assert numbers(history.waiting) == [0, 1, 2]
        history.begin(1)
        assert numbers(history.waiting) == [0, 2]
        assert numbers(history.begun) == [1]
        assert numbers(history.pending) == [0, 1, 2]
        history.finish(Observation(trial(1), "ok", (0.5,)))
        assert numbers(history.begun) == []
        assert history.n_pending == 2

    def test_what_is_given_back_waits_in_the_order_of_numbers(self) -> None:
        history = history_of(4)
        for number in (0, 1, 2):
            history.begin(number)
        history.finish(Observation(trial(1), "ok", (0.5,)))
        history.give_back([2, 0, 1, 3])  # one is finished, one was not begun
        assert numbers(history.waiting) == [0, 2, 3]
        assert numbers(history.begun) == []
        assert history.n_finished == 1

    def test_a_trial_that_nobody_has_begun_can_be_finished(self) -> None:
        history = history_of(1)
        history.finish(Observation(trial(0), "ok", (0.5,)))
        assert history.n_pending == 0
        with pytest.raises(KeyError):
            history.finish(Observation(trial(0), "ok", (0.5,)))

    @given(st.lists(st.tuples(st.sampled_from(["begin", "give back", "finish"]), st.integers(0, 7)), max_size=40))
    def test_every_trial_is_in_exactly_one_state(self, steps: list[tuple[str, int]]) -> None:
        history = history_of(8)
        for step, number in steps:
            if step == "begin" and number in numbers(history.waiting):
                history.begin(number)
            elif step == "give back":
                history.give_back([number])
            elif step == "finish" and history.observation(number) is None:
                history.finish(Observation.failed(trial(number), "no"))
            states = [
                *numbers(history.waiting),
                *numbers(history.begun),
                *numbers(o.trial for o in history.observations()),
            ]
            assert sorted(states) == list(range(8))
            assert numbers(history.waiting) == sorted(numbers(history.waiting))
            assert numbers(history.pending) == sorted([*numbers(history.waiting), *numbers(history.begun)])


def test_an_observation_of_a_failure() -> None:
    failed = Observation.failed(trial(3), "too slow", status="timeout", seconds=2.0)
    assert (failed.number, failed.status, failed.error, failed.seconds, failed.losses) == (
        3,
        "timeout",
        "too slow",
        2.0,
        (),
    )
    assert not failed.is_ok
    assert math.isnan(failed.loss)


def test_the_mean_of_each_metric() -> None:
    observation = Observation(trial(0), "ok", (0.1, 0.3), metrics={"auc": (0.5, 1.0), "f1": ()})
    assert observation.mean_metrics == {"auc": 0.75}


def test_the_truth_comes_with_the_history_or_later() -> None:
    truth = Truth(y=np.zeros(3), n_classes=0)
    assert History(1, truth=truth).truth is truth
    history = History(1)
    assert history.truth is None
    history.truth = truth
    assert history.truth is truth
