"""Where the record of a study is kept: in memory, or in one SQLite file that survives a kill at any moment.

Opening a file again is resuming. WAL with `synchronous=NORMAL` is safe against kill -9 and costs 0.05 ms per commit
(`FULL`, which is also safe against a power cut, costs 4 ms). Everything that belongs together is one transaction.
"""

import contextlib
import json
import sqlite3
import struct
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from comitia.errors import ChoiceError, StoreError, StoreMismatch
from comitia.history import Observation, Trial
from comitia.seams import Decode, Store

FORMAT = 2
"""Version of the tables below; older files are brought up to it, newer ones refused."""
APPLICATION_ID = 0x636F6D69  # "comi": tells a comitia study from any other SQLite file

_TABLES = """
CREATE TABLE trials (
    number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, x BLOB NOT NULL, config TEXT NOT NULL,
    repeats INTEGER NOT NULL, folds TEXT, continues INTEGER, root INTEGER NOT NULL, first_repeat INTEGER NOT NULL
);
CREATE TABLE observations (
    number INTEGER PRIMARY KEY REFERENCES trials(number), status TEXT NOT NULL, losses TEXT NOT NULL,
    metrics TEXT NOT NULL, seconds REAL NOT NULL, n_evaluations INTEGER NOT NULL, error TEXT NOT NULL,
    selection_losses TEXT NOT NULL
);
CREATE TABLE blobs (key TEXT PRIMARY KEY, value BLOB NOT NULL);
"""
_UPGRADES = {1: "ALTER TABLE observations ADD COLUMN selection_losses TEXT NOT NULL DEFAULT '[]'"}
"""What makes a file of one version one of the next."""
Row: TypeAlias = tuple[Any, ...]


def make_store(storage: str | Path | Store | None) -> Store:
    """Return a store for a path; memory for None; a store as it is."""
    if storage is None:
        return MemoryStore()
    if isinstance(storage, str | Path):
        return SqliteStore(storage)
    if not isinstance(storage, Store):
        raise ChoiceError(f"The 'storage' parameter must be a path or a Store. Got {storage!r} instead.")
    return storage


@contextlib.contextmanager
def looked_into(storage: str | Path | Store | None) -> Iterator[Store | None]:
    """Give the store of a study that may be there already, closed again if it was opened for this; None for none."""
    if storage is None or (isinstance(storage, str | Path) and not Path(storage).is_file()):
        yield None
        return
    store = make_store(storage)
    try:
        yield store
    finally:
        if isinstance(storage, str | Path):
            store.close()


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
            raise _written_twice("in memory")
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


class SqliteStore:
    """A record in one SQLite file.

    Parameters
    ----------
    path : str or Path
        Created if it does not exist; its folder must exist.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from comitia import SqliteStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SqliteStore(pathlib.Path(folder) / "study.db")
    ...     store.put("greeting", b"hello")
    ...     print(store.get("greeting"))
    ...     store.close()
    b'hello'
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise StoreError(
                f"The folder of a study's record must exist. Got {str(self.path)!r}, whose folder is not there. "
                "Create it first."
            )
        with self._clear_errors("open"):
            # transactions are ours to begin and end (isolation_level=None); the study is the only writer
            self._connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10)
            self._finalizer = weakref.finalize(self, self._connection.close)
            self._check_ours()  # before anything is changed
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute("PRAGMA foreign_keys=ON")
            # fold the log back every 16 MiB instead of every 4: that waits for the disk, and most pages recur
            self._connection.execute("PRAGMA wal_autocheckpoint=4000")
            self._set_up()

    def _is_empty(self) -> bool:
        """Tell whether there is no table: the file is new, or was killed before its first transaction ended."""
        return bool(self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0)

    def _set_up(self) -> None:
        """Create the tables, or bring old ones up to date, in one transaction."""
        with self._transaction():
            if self._is_empty():
                for statement in _TABLES.split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            else:
                for version in range(self._version, FORMAT):
                    self._connection.execute(_UPGRADES[version])
            self._connection.execute(f"PRAGMA user_version={FORMAT}")

    @property
    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _check_ours(self) -> None:
        """Refuse a file of another program or version."""
        if self._is_empty():
            return
        [application] = self._connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            self.close()
            raise StoreMismatch(
                f"{str(self.path)!r} must be a comitia study. Got another program's SQLite file. Choose another path."
            )
        version = self._version
        if not min(_UPGRADES) <= version <= FORMAT:
            self.close()
            raise StoreMismatch(
                f"{str(self.path)!r} must be a study of format {FORMAT}. Got format {version}, written by "
                f"{'a newer' if version > FORMAT else 'an older'} comitia. Open it with that version."
            )

    def append(
        self,
        *,
        trials: Sequence[Trial] = (),
        observations: Sequence[Observation] = (),
        blobs: Mapping[str, bytes] | None = None,
    ) -> None:
        with self._clear_errors("write"), self._transaction():
            if trials:
                self._connection.executemany("INSERT INTO trials VALUES (?,?,?,?,?,?,?,?,?)", map(_trial_row, trials))
            if observations:
                self._connection.executemany(
                    "INSERT INTO observations VALUES (?,?,?,?,?,?,?,?)", map(_observation_row, observations)
                )
            if blobs:
                self._connection.executemany("INSERT OR REPLACE INTO blobs VALUES (?,?)", blobs.items())

    def read(self, decode: Decode) -> tuple[list[Trial], list[Observation]]:
        with self._clear_errors("read"):
            rows = self._connection.execute(
                "SELECT number, batch, x, repeats, folds, continues, root, first_repeat FROM trials ORDER BY number"
            ).fetchall()
            selection_losses = "selection_losses" if self._version > 1 else "'[]'"
            results = self._connection.execute(
                f"SELECT number, status, losses, metrics, seconds, n_evaluations, error, {selection_losses} "
                "FROM observations ORDER BY number"
            ).fetchall()
        try:
            trials = _trials(rows, decode)
            return trials, [_observation(trials[row[0]], row) for row in results]
        except (ValueError, LookupError, TypeError) as error:
            raise StoreError(
                f"Could not read the study's record {str(self.path)!r}: {type(error).__name__}: {error}. "
                "The file is damaged: restore a copy, or use another path."
            ) from error

    def put(self, key: str, value: bytes) -> None:
        self.append(blobs={key: value})

    def get(self, key: str) -> bytes | None:
        with self._clear_errors("read"):
            row = self._connection.execute("SELECT value FROM blobs WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """Let go of the file: the last connection to close folds the write-ahead log back into the one file."""
        self._finalizer()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # a full disk has rolled back by itself
                self._connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _clear_errors(self, doing: str) -> Iterator[None]:
        """Turn SQLite's errors into ours, with what to do."""
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise _written_twice(repr(str(self.path))) from error
        except (sqlite3.Error, UnicodeError) as error:
            advice = "Check that it is a file that you may write, on a disk with space left."
            if isinstance(error, sqlite3.ProgrammingError):
                advice = "It was closed: open the study again."
            elif "full" in str(error):
                advice = "Free some space and run again: everything that was finished before is kept."
            elif "locked" in str(error):
                advice = "Another program is using it: wait for that, or use another path."
            elif "not a database" in str(error) or "malformed" in str(error):
                advice = "The file is damaged or not a study: restore a copy, or use another path."
            raise StoreError(f"Could not {doing} the study's record {str(self.path)!r}: {error}. {advice}") from error


def _written_twice(where: str) -> StoreError:
    """Return the error of a store that has a trial, or its result, already."""
    return StoreError(
        f"A trial must be written once. Got one that the record {where} has already. "
        "Is another program running the same study? Let one of them finish, then open the study again."
    )


_CONFIGS = json.JSONEncoder(default=repr)  # made once: that takes longer than writing a small configuration


def _trial_row(trial: Trial) -> Row:
    folds = None if trial.folds is None else json.dumps(trial.folds)
    config = _CONFIGS.encode(dict(trial.config.items()))  # for people and other programs; we read x
    x = struct.pack(f"<{len(trial.x)}d", *trial.x)
    return (
        trial.number, trial.batch, x, config, trial.repeats, folds, trial.continues, trial.root, trial.first_repeat,
    )  # fmt: skip


def _observation_row(observation: Observation) -> Row:
    losses = json.dumps(observation.losses)
    metrics = json.dumps(dict(observation.metrics)) if observation.metrics else "{}"
    return (
        observation.number, observation.status, losses, metrics, observation.seconds, observation.n_evaluations,
        observation.error.encode("utf-8", "backslashreplace").decode(),  # lone surrogates cannot be written
        json.dumps(observation.selection_losses),
    )  # fmt: skip


def _trials(rows: list[Row], decode: Decode) -> list[Trial]:
    if not rows:
        return []
    X = np.array([np.frombuffer(row[2], dtype="<f8") for row in rows])
    return [
        Trial(
            number=number,
            batch=batch,
            x=tuple(x),
            config=config,
            repeats=repeats,
            folds=None if folds is None else tuple(json.loads(folds)),
            continues=continues,
            root=root,
            first_repeat=first_repeat,
        )
        for (number, batch, _, repeats, folds, continues, root, first_repeat), x, config in zip(
            rows, X.tolist(), decode(X), strict=True
        )
    ]


def _observation(trial: Trial, row: Row) -> Observation:
    _, status, losses, metrics, seconds, n_evaluations, error, selection_losses = row
    return Observation(
        trial=trial,
        status=status,
        losses=tuple(json.loads(losses)),
        metrics={name: tuple(values) for name, values in json.loads(metrics).items()},
        seconds=seconds,
        n_evaluations=n_evaluations,
        error=error,
        selection_losses=tuple(json.loads(selection_losses)),
    )
