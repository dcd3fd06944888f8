"""What a study leaves in its store: which study it is, its trials and results, predictions, and the truth.

A trial without a result is evaluated again under its own number when the study is opened again, so results may wait a
moment here and be written together, as long as little work is at risk.
"""

import json
import logging
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, get_args

from comitia.errors import ChoiceError, StoreError, StoreMismatch
from comitia.history import History, Observation, Predictions, Trial, Truth
from comitia.methods import Method, is_method
from comitia.seams import Store
from comitia.seeds import fresh_seed
from comitia.space import Space
from comitia.study.interrupts import held_back
from comitia.study.store import MemoryStore

log = logging.getLogger("comitia")
Result = tuple[Observation, Predictions | None]
Direction = Literal["minimize", "maximize"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
DEFAULT_METHOD = "bayes"
MOST_SECONDS_AT_RISK = 0.25
"""Results wait for the next record until more than so many seconds went into them."""
PACKAGES = ("comitia", "numpy", "scipy", "scikit-learn", "ConfigSpace")
"""What results depend on, beside Python."""


@dataclass(frozen=True)
class Header:
    """Which study a record holds."""

    space: str
    """As JSON."""
    method: str
    seed: int
    versions: dict[str, str]
    direction: Direction = "minimize"
    lag: int | None = None

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()


class StudyRecord:
    """A store with what a study needs of it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._outbox: list[Result] = []
        self._seconds_at_risk, self._written_at = 0.0, time.monotonic()

    def header(self) -> Header | None:
        """Read which study the record holds; None if it is new."""
        data = self.store.get("study")
        if data is None:
            return None
        try:
            return Header(**json.loads(data))
        except (ValueError, TypeError) as error:
            raise StoreError(f"The study's record is damaged: {error}. Restore a copy, or use another path.") from error

    def begin_or_compare(
        self,
        space: Space | None,
        method: Method | None,
        seed: int | None,
        direction: Direction | None,
        lag: int | None = None,
    ) -> Header:
        """Write which study this is if the record is new, else compare; return what the record says."""
        header = self.header()
        if header is not None:
            self._compare(header, space, method, seed)
            if direction is not None and header.direction != direction:
                raise self._mismatch("direction", repr(header.direction), repr(direction))
            if lag is not None and header.lag != lag:
                raise self._mismatch("lag", "none" if header.lag is None else str(header.lag), str(lag))
        elif space is None:
            raise ChoiceError("A new study needs a space. Got none, and the storage holds no study.")
        else:
            header = Header(
                space=space.to_json(),
                method=DEFAULT_METHOD if method is None else method.name,
                seed=fresh_seed() if seed is None else int(seed),
                versions=versions(),
                direction=direction or "minimize",
                lag=None if lag is None else int(lag),
            )
            self.store.put("study", header.to_bytes())
        return header

    def _compare(self, header: Header, space: Space | None, method: Method | None, seed: int | None) -> None:
        there = json.loads(header.space)
        if space is not None and there != json.loads(space.to_json()):
            names = ", ".join(hyperparameter["name"] for hyperparameter in there["hyperparameters"])
            raise self._mismatch("space", f"one over {names}", f"{space} with its ranges and conditions")
        if method is not None and header.method != method.name:
            raise self._mismatch("method", repr(header.method), repr(method.name))
        if method is None and not is_method(header.method):
            self.store.close()
            raise ChoiceError(
                f"The study was begun with a method of your own, {header.method!r}, which must be given again. "
                "Got none. Use Study(space, method, storage=...)."
            )
        if seed is not None and header.seed != seed:
            raise self._mismatch("seed", str(header.seed), str(seed))
        if header.versions != versions():
            log.warning("the study was begun with other versions: %s", header.versions)

    def compare_evaluator(self, fingerprint: Callable[[], str]) -> None:
        """Write how trials are judged if nothing says so yet, else compare; a study in memory has no other."""
        if isinstance(self.store, MemoryStore):
            return
        here = fingerprint().encode()
        there = self.store.get("evaluator")
        if there is None:
            self.store.put("evaluator", here)
        elif there != here:
            raise StoreMismatch(
                "A study must be resumed with the table, splits and loss that it was begun with, else its trials "
                "cannot be compared. Got others. Use the same, or another storage."
            )

    def _mismatch(self, what: str, there: str, here: str) -> StoreMismatch:
        self.store.close()
        return StoreMismatch(
            f"A study must be resumed with the {what} it was begun with, which is {there}. Got {here} instead. "
            "Use the same, or another storage."
        )

    def history(self, space: Space, direction: Direction) -> History:
        """Read everything that was asked and what came of it; what has no result waits."""
        truth = self.store.get("truth")
        history = History(
            len(space), self.predictions, space=space, truth=None if truth is None else Truth.from_bytes(truth)
        )
        trials, observations = self.store.read(space.decode)
        for trial in trials:
            history.append(trial)
        for observation in observations:
            history.finish(replace(observation, is_maximised=True) if direction == "maximize" else observation)
        if trials:
            log.info("resuming with %d trials, %d of them finished", len(trials), len(observations))
        return history

    def predictions(self, number: int) -> Predictions | None:
        """Return what a trial's models predicted, if it was kept."""
        for observation, predictions in self._outbox:
            if observation.number == number:
                return predictions
        data = self.store.get(_key(number))
        return None if data is None else Predictions.from_bytes(data)

    def add(self, observation: Observation, predictions: Predictions | None) -> None:
        """Take a result that the next `write` writes."""
        self._outbox.append((observation, predictions))
        self._seconds_at_risk += observation.seconds

    def keep_truth(self, truth: Truth) -> None:
        """Write what the rows truly are, once."""
        if self.store.get("truth") is None:
            self.store.put("truth", truth.to_bytes())

    @property
    def may_wait(self) -> bool:
        """Whether little would be lost if the program were killed now."""
        # an evaluator may leave the seconds out: what the clock says counts too
        return max(self._seconds_at_risk, time.monotonic() - self._written_at) <= MOST_SECONDS_AT_RISK

    def write(self, trials: Sequence[Trial] = ()) -> None:
        """Write new trials and every result that waits, in one transaction; if that fails the results wait on."""
        if not self._outbox and not trials:
            return
        blobs = {_key(o.number): predictions.to_bytes() for o, predictions in self._outbox if predictions is not None}
        with held_back():
            self.store.append(trials=trials, observations=[o for o, _ in self._outbox], blobs=blobs)
            self._outbox = []
            self._seconds_at_risk, self._written_at = 0.0, time.monotonic()

    def close(self) -> None:
        """Write what waits and let go of the store."""
        try:
            self.write()
        finally:
            self.store.close()

    def copy_to(self, store: Store, header: Header, history: History, *, with_rows: bool) -> None:
        """Write the study into another store, which must be empty; with predictions and truth if `with_rows`."""
        keys = ["metric"]
        if with_rows:
            self.write()
            keys += ["truth", *(_key(number) for number in range(len(history)))]
        blobs = {key: blob for key in keys if (blob := self.store.get(key)) is not None}
        blobs["study"] = header.to_bytes()
        trials = [history.trial(number) for number in range(len(history))]
        store.append(trials=trials, observations=history.observations(), blobs=blobs)


def _key(number: int) -> str:
    return f"predictions/{number}"


def versions(packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """Return the versions of Python and of packages, "none" for one that is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
