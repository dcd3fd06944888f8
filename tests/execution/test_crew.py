"""Crews: what every one of them must do, and which one an executor gets."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from comitia.errors import ChoiceError, ExecutionError
from comitia.execution import Serial
from comitia.execution.crew import Crew, FuturesCrew, HereCrew, make_crew


def half(number: int) -> float:
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number / 2


@pytest.fixture(params=["here", "threads"])
def make(request: pytest.FixtureRequest) -> Iterator[Callable[[Any], Crew[Any, Any]]]:
    """Return a function that makes a crew with three slots."""
    if request.param == "here":
        yield lambda function: HereCrew(function, 3)
        return
    with ThreadPoolExecutor(3) as executor:
        yield lambda function: FuturesCrew(function, executor, 3)


def all_of(crew: Crew[Any, Any]) -> list[Any]:
    outcomes = []
    while crew.tasks:
        assert crew.wait(math.inf)
        outcomes += crew.collect()
    return outcomes


class TestEveryCrew:
    def test_each_task_has_one_outcome_with_its_answer_or_its_error(self, make: Any) -> None:
        crew = make(half)
        for number in (4, -1, 5):
            crew.begin(number)
        assert list(crew.tasks) == [4, -1, 5]
        found = {outcome.task: outcome for outcome in all_of(crew)}
        assert found.keys() == {4, -1, 5}
        assert (found[4].answer, found[4].error) == (2.0, None)
        assert isinstance(found[-1].error, ValueError)
        assert all(outcome.seconds >= 0 for outcome in found.values())

    def test_nothing_to_wait_for_and_nothing_to_collect(self, make: Any) -> None:
        crew = make(half)
        assert crew.collect() == []
        crew.begin(1)
        all_of(crew)
        assert crew.collect() == []

    def test_a_task_stays_in_the_book_until_it_is_collected(self, make: Any) -> None:
        """So that whoever is interrupted in between can still see that it was begun."""
        crew = make(half)
        crew.begin(1)
        assert crew.wait(math.inf)
        assert list(crew.tasks) == [1]
        crew.collect()
        assert not crew.tasks

    def test_what_is_abandoned_is_out_of_the_book(self, make: Any) -> None:
        crew = make(half)
        crew.begin(1)
        crew.abandon()
        assert not crew.tasks
        crew.begin(2)
        assert [outcome.task for outcome in all_of(crew)] == [2]
        crew.close()


class TestHere:
    def test_no_task_starts_once_the_time_is_over(self) -> None:
        done: list[int] = []

        def slow(number: int) -> None:
            done.append(number)
            time.sleep(0.02)

        crew = HereCrew(slow, 3)
        for number in range(3):
            crew.begin(number)
        assert not crew.wait(0.0)
        assert crew.wait(0.001)
        assert done == [0]
        assert [outcome.task for outcome in crew.collect()] == [0]
        assert crew.tasks == [1, 2]
        assert crew.wait(math.inf)
        assert done == [0, 1, 2]

    def test_an_interruption_comes_out_and_leaves_the_tasks_in_the_book(self) -> None:
        def interrupted(number: int) -> None:
            raise KeyboardInterrupt

        crew = HereCrew(interrupted)
        crew.begin(1)
        with pytest.raises(KeyboardInterrupt):
            crew.wait(math.inf)
        assert crew.tasks == [1]


class TestFutures:
    def test_waiting_ends_after_the_seconds(self) -> None:
        gate = threading.Event()
        with ThreadPoolExecutor(1) as executor:
            crew: Crew[int, bool] = FuturesCrew(lambda number: gate.wait(), executor, 2)
            crew.begin(1)
            crew.begin(2)
            assert not crew.wait(0.01)
            # the second waits for its turn behind the first
            assert [outcome.task for outcome in crew.abandon()] == [1]
            gate.set()

    def test_an_executor_that_broke_is_an_execution_error(self) -> None:
        class Broken(Executor):
            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
                future: Future[Any] = Future()
                future.set_exception(BrokenExecutor("gone"))
                return future

        crew = make_crew(half, Broken())
        crew.begin(1)
        assert crew.wait(math.inf)
        [outcome] = crew.collect()
        assert isinstance(outcome.error, ExecutionError)
        assert "Use Workers" in str(outcome.error)


class TestChoice:
    def test_serial_runs_here_with_its_slots(self) -> None:
        assert isinstance(make_crew(half), HereCrew)
        assert make_crew(half, Serial(n_slots=7)).n_slots == 7

    def test_a_subclass_of_serial_submits_in_its_own_way(self) -> None:
        class Own(Serial):
            pass

        assert isinstance(make_crew(half, Own()), FuturesCrew)

    def test_an_executor_says_how_many_it_takes_unless_the_user_does(self) -> None:
        with ThreadPoolExecutor(5) as executor:
            assert make_crew(half, executor).n_slots == 5
            assert make_crew(half, executor, 2).n_slots == 2

    @pytest.mark.parametrize("executor", ["dask", ThreadPoolExecutor, 3])
    def test_what_is_no_executor_is_refused(self, executor: Any) -> None:
        with pytest.raises(ChoiceError, match=r"submit|address"):
            make_crew(half, executor)

    @pytest.mark.parametrize("n_slots", [0, -1, 1.5, True])
    def test_slots_are_a_positive_number(self, n_slots: Any) -> None:
        with pytest.raises(ChoiceError, match="'n_slots' parameter of Serial"):
            Serial(n_slots)
