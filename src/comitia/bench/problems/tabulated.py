"""Pools: saved tables of evaluated configurations, on which methods run without training.

A pool is one dataset, one space and one or more *partitions*: test rows set aside, and folds of the others. On every
partition every configuration was fitted on each fold, and once more for the test. A method then chooses among the
tabulated configurations: what it proposes is moved to the nearest one that is left (`cells/pool_cells.py`). Hundreds of
seeded repetitions take minutes. `cells/make_pool.py` makes one.

Where that misleads: nothing between the tabulated points can be found, so methods that refine (local search, CMA-ES)
look worse than they are, and none gets beyond the best of the pool; near the end few points are left, so all methods
become alike; repetitions share the pool's partitions, so differences between them say nothing about other splits of the
data; a method that asks for fresh splits gets one of the few divisions into folds that the pool has, if it has several.
Use pools to compare selections and committees, and as a first look at searches.
"""

from __future__ import annotations

import base64
import io
import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from comitia.arrays import AnyArray, Array
from comitia.bench.files import replacing
from comitia.committees.combine import Answers
from comitia.errors import ExperimentError
from comitia.evaluation.scoring import Task
from comitia.history import Predictions, Status
from comitia.seams import Keep
from comitia.space import Space

VERSION = 3
"""Of the file. Version 1 had one partition and no probabilities beside classes, version 2 one division into folds."""
READABLE = ("2", "3")
CAVEAT = (
    "From a pool: only tabulated configurations could be chosen and repetitions share its splits of the data. Good for "
    "comparing selections and committees; searches that refine look worse than they are, late iterations alike."
)


@dataclass(frozen=True, eq=False)
class Entry:
    """What came of one configuration on one partition."""

    status: Status
    losses: tuple[float, ...] = ()
    """On each fold."""
    seconds: float = 0.0
    error: str = ""
    predictions: Predictions | None = None
    """Class codes or numbers out of fold; None if it failed."""
    probabilities: Array | None = None
    """Of the same rows, (n, n_classes)."""
    test: Answers | None = None
    """Of the test rows."""

    def kept(self, keep: Keep) -> Predictions | None:
        """Return what an evaluator that keeps so much would have kept."""
        if keep == "nothing" or self.predictions is None:
            return None
        if keep == "predictions" or self.probabilities is None:
            return self.predictions
        return replace(self.predictions, values=self.probabilities)

    def to_bytes(self) -> bytes:
        """Write as NumPy's own archive format, without pickles."""
        facts = json.dumps([self.status, self.losses, self.seconds, self.error])
        arrays = {"facts": np.array(facts), "probabilities": self.probabilities}
        if self.predictions is not None:
            arrays["predictions"] = np.frombuffer(self.predictions.to_bytes(), dtype=np.uint8)
        if self.test is not None:
            arrays |= {"test_values": self.test.values, "test_probabilities": self.test.probabilities}
        return _bytes(**{name: array for name, array in arrays.items() if array is not None})

    @classmethod
    def from_bytes(cls, data: bytes) -> Entry:
        """Read what `to_bytes` wrote."""
        arrays = _arrays(data)
        status, losses, seconds, error = json.loads(str(arrays["facts"]))
        has_test = "test_values" in arrays
        return cls(
            status=status,
            losses=tuple(losses),
            seconds=seconds,
            error=error,
            predictions=Predictions.from_bytes(arrays["predictions"].tobytes()) if "predictions" in arrays else None,
            probabilities=arrays.get("probabilities"),
            test=Answers(arrays["test_values"], arrays.get("test_probabilities")) if has_test else None,
        )


@dataclass(frozen=True, eq=False)
class Partition:
    """One split of the data, with what came of every configuration on it."""

    y_train: AnyArray
    y_test: AnyArray
    entries: list[Entry]
    shuffles: list[list[Entry]] = field(default_factory=list)
    """The same on further divisions of the training rows into folds, without answers for the test."""

    @property
    def divisions(self) -> list[list[Entry]]:
        """The entries of every division into folds, the first ones first."""
        return [self.entries, *self.shuffles]


@dataclass(frozen=True, eq=False)
class Tabulated:
    """Evaluated configurations of one dataset and space."""

    name: str
    """Of the problem, as an experiment names it."""
    dataset: str
    """What it was made of: pools of one dataset count as one in tests over datasets."""
    space: Space
    task: Task
    loss: str
    X: Array
    """Coordinates, (n, d)."""
    partitions: list[Partition]

    def __len__(self) -> int:
        return len(self.X)

    def partition_of(self, repetition: int) -> Partition:
        """Return the partition of a repetition: the first ones differ, then they come again."""
        return self.partitions[repetition % len(self.partitions)]

    def distances_to(self, x: Array) -> Array:
        """Return the distance of every tabulated configuration: another branch is further than anything inside one."""
        space = self.space
        x = space.snap(x[None])  # relaxed searches propose categories between two values
        Z, z = space.impute(self.X), space.impute(x)
        labels = space.branches(np.vstack([self.X, x]))
        is_categorical = np.asarray(space.is_categorical)
        numbers = ((Z - z)[:, ~is_categorical] ** 2).sum(axis=1)
        categories = ((Z - z)[:, is_categorical] != 0).sum(axis=1)
        return np.asarray(numbers + categories + len(space) * (labels[:-1] != labels[-1]))


def write_pool(pool: Tabulated, path: Path) -> None:
    """Write a pool as one Parquet file: one row per partition and configuration."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    configs = [json.dumps(dict(config), default=str) for config in pool.space.decode(pool.X)]
    n_shuffles = len(pool.partitions[0].divisions)
    entries = [entry for p in pool.partitions for division in p.divisions for entry in division]
    n_parts = len(pool.partitions) * n_shuffles
    table = pa.table(
        {  # what other tools may want to read, and everything as bytes
            "partition": [k // n_shuffles for k in range(n_parts) for _ in pool.X],
            "shuffle": [k % n_shuffles for k in range(n_parts) for _ in pool.X],
            "config": configs * n_parts,
            "x": pool.X.tolist() * n_parts,
            "status": [entry.status for entry in entries],
            "loss": [float(np.mean(entry.losses)) if entry.status == "ok" else None for entry in entries],
            "seconds": [entry.seconds for entry in entries],
            "error": [entry.error for entry in entries],
            "entry": [entry.to_bytes() for entry in entries],
        }
    )
    targets = [[_text(p.y_train), _text(p.y_test)] for p in pool.partitions]
    header = {"space": pool.space.to_json(), "dataset": pool.dataset, "task": pool.task, "loss": pool.loss}
    more = {"targets": targets, "n_shuffles": n_shuffles}
    metadata = {"comitia.pool": str(VERSION), "comitia.header": json.dumps({**header, **more})}
    with replacing(path) as beside:
        pq.write_table(table.replace_schema_metadata(metadata), beside, compression="zstd")


def read_pool(path: Path) -> Tabulated:
    """Read a pool."""
    import pyarrow.parquet as pq

    if not path.is_file():
        raise ExperimentError(f"A pool must be a file. There is no {str(path)!r}. Make it with comitia bench pool.")
    try:
        table = pq.read_table(path)
    except (OSError, ValueError) as error:
        raise ExperimentError(f"{str(path)!r} must be a Parquet file. It could not be read: {error}.") from error
    metadata = table.schema.metadata or {}
    found = metadata.get(b"comitia.pool", b"none").decode()
    if found not in READABLE:
        raise ExperimentError(
            f"A pool must be a file of version {VERSION}. {str(path)!r} has version {found}. Make it again with "
            "comitia bench pool."
        )
    header = json.loads(metadata[b"comitia.header"])
    entries = [Entry.from_bytes(data) for data in table["entry"].to_pylist()]
    n_shuffles = header.get("n_shuffles", 1)
    n = len(entries) // (len(header["targets"]) * n_shuffles)
    divisions = [entries[k * n : (k + 1) * n] for k in range(len(entries) // n)]
    return Tabulated(
        name=f"pool:{path}",
        dataset=header["dataset"],
        space=Space.from_json(header["space"]),
        task=header["task"],
        loss=header["loss"],
        X=np.array(table["x"].to_pylist()[:n], dtype=np.float64),
        partitions=[
            Partition(
                _array(y_train),
                _array(y_test),
                divisions[k * n_shuffles],
                divisions[k * n_shuffles + 1 : (k + 1) * n_shuffles],
            )
            for k, (y_train, y_test) in enumerate(header["targets"])
        ],
    )


def _bytes(**arrays: AnyArray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _arrays(data: bytes) -> dict[str, AnyArray]:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _text(array: AnyArray) -> str:
    return base64.b64encode(_bytes(y=array)).decode()


def _array(text: str) -> AnyArray:
    return _arrays(base64.b64decode(text))["y"]
