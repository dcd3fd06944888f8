"""Where the record of a study is kept: in memory, or in one SQLite file."""

from pathlib import Path

from comitia.errors import ChoiceError
from comitia.seams import Store
from comitia.study.store.memory import MemoryStore
from comitia.study.store.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore", "make_store"]


def make_store(storage: str | Path | Store | None) -> Store:
    """Return a store for a path; memory for None; a store as it is."""
    if storage is None:
        return MemoryStore()
    if isinstance(storage, str | Path):
        return SqliteStore(storage)
    if not isinstance(storage, Store):
        raise ChoiceError(f"The 'storage' parameter must be a path or a Store. Got {storage!r} instead.")
    return storage
