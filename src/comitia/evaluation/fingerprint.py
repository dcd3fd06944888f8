"""A hash of objects that is the same for the same content, in other processes and after our own modules have moved."""

import pickle

from joblib.hashing import NumpyHasher

RECORDED_MODULES = {"comitia.evaluation.resampling": "comitia.resampling"}
"""Modules that have moved, with their names in the hashes of studies that are recorded already."""


class _Hasher(NumpyHasher):  # type: ignore[misc]
    """joblib's hash, which is one of pickled content, with the recorded names of our own classes."""

    dispatch = NumpyHasher.dispatch.copy()

    def save_global(self, obj: type, name: str | None = None) -> None:
        if obj.__module__ not in RECORDED_MODULES:
            super().save_global(obj, name)
            return
        self.write(pickle.GLOBAL + f"{RECORDED_MODULES[obj.__module__]}\n{obj.__qualname__}\n".encode())
        self.memoize(obj)

    dispatch[type] = save_global


def fingerprint(*parts: object) -> str:
    """Return a hash of arrays, tables and objects."""
    return str(_Hasher(hash_name="md5").hash(parts))
