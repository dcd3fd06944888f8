"""A study's record that lives as long as the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from comitia.errors import StoreError
from comitia.history import Observation, Trial
from comitia.seams import Decode


class MemoryStore:
    """A record that lives as long as the program."""

    def __init__(self) -> None:
        self._trials: dict[int, Trial] = {}
        self._observations: dict[int, Observation] = {}
        self._blobs: dict[str, bytes] = {}

    def append(
        self,
        *,
        trials: Sequence[Trial] = (),
        observations: Sequence[Observation] = (),
        blobs: Mapping[str, bytes] | None = None,
    ) -> None:
        new_trials = {trial.number: trial for trial in trials}
        new = {observation.number: observation for observation in observations}
        if new_trials.keys() & self._trials.keys() or new.keys() & self._observations.keys():
            raise written_twice("in memory")
        if not all(number in self._trials or number in new_trials for number in new):
            raise StoreError("An observation must belong to a recorded trial. Got one that does not.")
        self._trials |= new_trials
        self._observations |= new
        self._blobs |= dict(blobs or {})

    def read(self, decode: Decode) -> tuple[list[Trial], list[Observation]]:
        return (
            [self._trials[number] for number in sorted(self._trials)],
            [self._observations[number] for number in sorted(self._observations)],
        )

    def put(self, key: str, value: bytes) -> None:
        self._blobs[key] = value

    def get(self, key: str) -> bytes | None:
        return self._blobs.get(key)

    def close(self) -> None:
        """Do nothing: what is in memory stays."""


def written_twice(where: str) -> StoreError:
    """Return the error of a store that has a trial, or its result, already."""
    return StoreError(
        f"A trial must be written once. Got one that the record {where} has already. "
        "Is another program running the same study? Let one of them finish, then open the study again."
    )
