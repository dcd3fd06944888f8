"""A Ctrl-C waits for the end of what must not be cut, and for nothing else."""

import gc
import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from comitia import FunctionEvaluator, Space, Study
from comitia.study.interrupts import held_back, raise_if_lost, watched


def press_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("around", [nullcontext, watched])
def test_it_takes_effect_at_the_end_of_the_outermost_block(around: Callable[[], AbstractContextManager[None]]) -> None:
    done = []

    def work() -> None:
        with around():
            with held_back():
                with held_back():
                    press_ctrl_c()
                    done.append("inner")
                done.append("outer")
            done.append("after")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_blocks_of_a_watch_it_takes_effect_at_once() -> None:
    with watched():
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
        with held_back():
            pass
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()


def test_an_error_inside_gives_the_handler_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ZeroDivisionError), held_back():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is before


def test_one_in_the_middle_of_exchanging_handlers_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    exchange = signal.signal

    def interrupted(number: int, handler: Any) -> None:
        exchange(number, handler)
        raise KeyboardInterrupt

    try:
        with monkeypatch.context() as patch:
            patch.setattr(signal, "signal", interrupted)
            with pytest.raises(KeyboardInterrupt), watched():
                pass
        done = False
        with pytest.raises(KeyboardInterrupt), held_back():  # noqa: PT012 - what comes after it is the test
            press_ctrl_c()
            done = True
        assert done
        with pytest.raises(KeyboardInterrupt):
            press_ctrl_c()
    finally:
        exchange(signal.SIGINT, before)


def test_a_handler_of_the_users_own_is_called() -> None:
    came = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        with watched(), held_back():
            press_ctrl_c()
            assert came == []
        assert came == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_in_another_thread_it_does_nothing() -> None:
    done = []

    def work() -> None:
        with watched(), held_back():
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]


class Finalised:
    def __del__(self) -> None:
        press_ctrl_c()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_inside_a_finaliser_is_not_lost() -> None:
    with watched():
        raise_if_lost()  # nothing has come
        unwanted = Finalised()
        del unwanted
        gc.collect()
        with pytest.raises(KeyboardInterrupt):
            raise_if_lost()
        raise_if_lost()  # it is raised once


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_search_ends_though_python_dropped_the_interrupt() -> None:
    seen = []

    def objective(config: Any) -> float:
        seen.append(config)
        if len(seen) == 3:
            Finalised()
        return float(config["x"])

    study = Study(Space({"x": (0.0, 1.0)}), "rs")
    study.run(FunctionEvaluator(objective), n_trials=50)
    assert study.stop_reason == "interrupted"
    assert study.history.n_finished == len(seen) == 3
