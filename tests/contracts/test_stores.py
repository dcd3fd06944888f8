"""What every store must do."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comitia import MemoryStore, Observation, Space, SqliteStore, Trial
from comitia.errors import StoreError
from comitia.seams import Store

SPACE = Space({"a": [1, 2, 3, 4], "b": ["x", "y"]})


def trial(number: int, **more: Any) -> Trial:
    X = SPACE.grid()[number % 8][None]
    return Trial(number=number, batch=number // 2, x=tuple(X[0].tolist()), config=SPACE.decode(X)[0], **more)


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder / "study.db"),
}
"""How a store in a folder is opened. A new one joins by one line."""


@pytest.fixture(params=STORES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Yield a function that opens the one store again, and close whatever a test has opened."""
    opened: list[Store] = []

    def open_again() -> Store:
        in_memory = bool(opened) and isinstance(opened[0], MemoryStore)
        opened.append(opened[0] if in_memory else STORES[request.param](tmp_path))
        return opened[-1]

    yield open_again
    for store in opened:
        store.close()


def test_what_was_appended_is_read_again(reopen: Callable[[], Store]) -> None:
    trials = [trial(0), trial(1, repeats=3), trial(2, folds=(1, 2), continues=0, root=0, first_repeat=1)]
    observations = [
        Observation(
            trial=trials[0],
            status="ok",
            losses=(0.1, 1e-300),
            metrics={"auc": (0.5, 0.25)},
            seconds=1.5,
            n_evaluations=2,
            selection_losses=(0.3, 1e-300),
        ),
        Observation(trials[2], "crashed", error="killed by signal 11, 'odd' \"text\" éß∑\n"),
    ]
    store = reopen()
    store.append(trials=trials)
    store.append(observations=observations, blobs={"k": b"\x00\xff"})
    store.close()
    again = reopen()
    assert again.read(SPACE.decode) == (trials, observations)
    assert again.get("k") == b"\x00\xff"
    assert again.get("other") is None
    again.close()


def test_an_empty_store_reads_as_empty(reopen: Callable[[], Store]) -> None:
    store = reopen()
    assert store.read(SPACE.decode) == ([], [])
    store.close()


def test_an_append_that_fails_leaves_nothing(reopen: Callable[[], Store]) -> None:
    store = reopen()
    store.append(trials=[trial(0)])
    with pytest.raises(StoreError):
        store.append(trials=[trial(1), trial(0)], blobs={"k": b"1"})
    with pytest.raises(StoreError):
        store.append(observations=[Observation(trial(5), "ok", (1.0,))])
    assert store.read(SPACE.decode) == ([trial(0)], [])
    assert store.get("k") is None
    store.append(trials=[trial(1)])  # and it goes on
    assert len(store.read(SPACE.decode)[0]) == 2
    store.close()


def test_a_result_is_written_once(reopen: Callable[[], Store]) -> None:
    store = reopen()
    store.append(trials=[trial(0)], observations=[Observation(trial(0), "ok", (1.0,))])
    with pytest.raises(StoreError):
        store.append(observations=[Observation(trial(0), "ok", (2.0,))])
    assert store.read(SPACE.decode)[1][0].loss == 1.0
    store.close()


def test_put_replaces(reopen: Callable[[], Store]) -> None:
    store = reopen()
    store.put("k", b"1")
    store.put("k", b"2")
    assert store.get("k") == b"2"
    store.close()


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=5), st.text(), st.floats(0, 1e6))
def test_numbers_and_texts_come_back_exactly(
    tmp_path_factory: Any, losses: list[float], text: str, seconds: float
) -> None:
    text = text.encode("utf-8", "replace").decode()
    for make in STORES.values():
        store = make(tmp_path_factory.mktemp("s"))
        failure = Observation(trial=trial(0), status="failed", losses=tuple(losses), seconds=seconds, error=text)
        store.append(trials=[trial(0)], observations=[failure])
        [observation] = store.read(SPACE.decode)[1]
        assert observation.losses == tuple(losses)
        assert observation.error == text
        assert observation.seconds == seconds
        store.close()


def test_a_missing_loss_is_not_a_number(reopen: Callable[[], Store]) -> None:
    store = reopen()
    store.append(trials=[trial(0)], observations=[Observation(trial(0), "failed", (math.nan,))])
    assert np.isnan(store.read(SPACE.decode)[1][0].losses[0])
    store.close()
