"""Model files: any picklable object, written as JSON and numbers, read through an allow-list and never unpickled.

A file is a ZIP archive of two parts. `arrays` holds the numbers of every array, one after the other. `objects.json` is
a list: each entry describes one object by plain values and by the positions of earlier entries, so that a file is read
in one pass and cannot describe a cycle. What an object consists of is what it tells `pickle` (`__reduce_ex__`).

Reading first collects the names of all types and functions in the file and refuses it if one is not trusted, before
anything of it is imported or built. Trusted are `TRUSTED`, what the caller adds, scikit-learn's estimators and losses,
ufuncs, types of numbers and sparse matrices; of those, nothing but losses is called while a file is read. What indexes
memory is checked by `index_checks` before it is built.
"""

import copyreg
import importlib
import io
import json
import math
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from scipy import sparse, special
from sklearn.base import BaseEstimator
from sklearn.metrics._scorer import _Scorer

from comitia.arrays import AnyArray, Json
from comitia.auto.index_checks import Part, check_indices
from comitia.auto.trusted_types import EXTRAS, RANDOM, TRUSTED
from comitia.errors import ModelError

Value: TypeAlias = bool | int | float | str | list[int] | None
"""A plain value as it is, or the position of an entry as a list of one number."""
Entry: TypeAlias = list[Any]
"""The kind of an object, and what is needed to build it again."""
Order: TypeAlias = Literal["C", "F"]

OBJECTS, ARRAYS = "objects.json", "arrays"
PLAIN = (type(None), bool, int, float, str)
SEQUENCES: dict[str, type] = {kind.__name__: kind for kind in (list, tuple, set, frozenset)}
SPARSE = sparse.csr_matrix | sparse.csc_matrix | sparse.csr_array | sparse.csc_array
OF_NUMBERS = ("numpy", special.__name__, *{kind.__module__ for kind in get_args(SPARSE)})
LOSSES = ("sklearn._loss.", "sklearn.linear_model._sgd_fast.")
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What reading a file may raise that is not one of ours."""


def write_model(file: Path, content: object) -> None:
    """Write an object; `read_model` returns one that is equal to it, bit for bit."""
    writer = _Writer()
    writer.entries.append(["root", writer.value(content)])
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(OBJECTS, json.dumps(writer.entries, separators=(",", ":")))
        archive.writestr(ARRAYS, writer.numbers.getvalue())


def read_model(file: Path, trusted: Iterable[str] = ()) -> Part:
    """Read what `write_model` wrote.

    Parameters
    ----------
    trusted : iterable of str
        Names of types and functions that the file may hold beside `TRUSTED` and scikit-learn's estimators.

    Raises
    ------
    ModelError
        If the file is none of ours, is damaged, or holds a type that is not trusted; then nothing in it has run.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            reader = _Reader(archive.read(ARRAYS))
            entries = json.loads(archive.read(OBJECTS))
        known = {*TRUSTED, *RANDOM, *EXTRAS, *trusted}
        called = {str(entry[1]) for entry in entries if entry[0] == "call"}
        unknown = sorted(_names_in(entries) - known)
        untrusted = [name for name in unknown if not _is_harmless(name) or (name in called and not _is_of_loss(name))]
        if not untrusted:
            return reader.read(entries)
    except DAMAGE as error:
        raise ModelError(f"{str(file)!r} must be a model file of comitia. Got something else: {error}") from error
    raise ModelError(
        f"A model file must hold known types alone. {str(file)!r} holds others: {', '.join(untrusted)}. "
        "If you know where it is from, name them: comitia.load(path, trusted=[...])."
    )


def untrusted_names(file: Path) -> set[str]:
    """Return the types and functions in a file that are trusted only if they are named; nothing in it runs."""
    with zipfile.ZipFile(file) as archive:
        return {name for name in _names_in(json.loads(archive.read(OBJECTS))) if not _is_harmless(name)}


def _names_in(entries: Sequence[Entry]) -> set[str]:
    return {str(entry[1]) for entry in entries if entry[0] in ("new", "call", "name")}


def _is_harmless(name: str) -> bool:
    """Tell whether a name is that of an estimator, loss or metric of scikit-learn's, a ufunc, or a type of numbers."""
    module, _, last = name.rpartition(".")
    if module.startswith("sklearn."):
        try:
            importlib.import_module(".".join(module.split(".")[:2]))  # brings its modules; no other code is run
        except ImportError:
            return False
    elif module not in OF_NUMBERS:
        return False
    found = vars(sys.modules[module]).get(last) if module in sys.modules else None
    if module.startswith("sklearn.metrics.") and (isinstance(found, FunctionType) or found is _Scorer):
        return True  # a scorer, and the metric that it will call if it is asked to
    if not isinstance(found, type):
        return isinstance(found, np.ufunc) or (_is_of_loss(name) and last.startswith("__pyx_unpickle_"))
    if module.startswith("sklearn."):
        is_own = found.__module__.startswith("sklearn.")
        return is_own and (_is_of_loss(name) or issubclass(found, BaseEstimator))
    return issubclass(found, np.generic | SPARSE)


def _is_of_loss(name: str) -> bool:
    return name.startswith(LOSSES)


def _find(name: str) -> Part:
    module, _, last = name.rpartition(".")
    return vars(importlib.import_module(module))[last]


def _name_of(value: Part) -> str:
    """Return the name by which a type or a function is found again."""
    module, last = value.__module__, value.__name__
    if isinstance(value, np.ufunc):
        module = "numpy" if vars(np).get(last) is value else special.__name__
    name = f"{module}.{last}"
    try:
        is_found = _find(name) is value
    except (ImportError, KeyError):
        is_found = False
    if not is_found:
        raise ModelError(
            f"A model that is saved must be made of types and functions that a module has by name. Got {name!r}. "
            "Define it at the top of a module that can be imported."
        )
    return name


class _Writer:
    """The entries of an object and of all it consists of, the parts first."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.numbers = io.BytesIO()
        self._positions: dict[int, int | None] = {}
        self._seen: list[object] = []  # kept alive, so that no other object gets the same id

    def value(self, value: Part) -> Value:
        if type(value) in PLAIN:
            return value  # type: ignore[no-any-return]
        if id(value) not in self._positions:
            self._seen.append(value)
            self._positions[id(value)] = None
            entry = self._entry(value)
            self._positions[id(value)] = len(self.entries)
            self.entries.append(entry)
        position = self._positions[id(value)]
        if position is None:
            raise ModelError(f"A model that is saved must not hold itself. Got {type(value)} that does.")
        return [position]

    def _values(self, values: Iterable[object]) -> list[Value]:
        return [self.value(value) for value in values]

    def _entry(self, value: Part) -> Entry:
        kind = type(value)
        if kind.__name__ in SEQUENCES and kind is SEQUENCES[kind.__name__]:
            return [kind.__name__, self._values(value)]
        if kind is dict:
            return ["dict", self._values(part for item in value.items() for part in item)]
        if kind is bytes:
            start = self.numbers.tell()
            return ["bytes", start, self.numbers.write(value)]
        if kind is slice:
            return ["slice", self._values((value.start, value.stop, value.step))]
        if kind is np.ndarray or kind is np.memmap:
            return self._array(value)
        if isinstance(value, np.generic):
            return ["scalar", self.value(np.asarray(value))]
        if isinstance(value, np.dtype):
            return ["dtype", _spelled(value)]
        if isinstance(value, type | np.ufunc | FunctionType | BuiltinFunctionType):
            return ["name", _name_of(value)]
        return self._reduced(value)

    def _array(self, array: AnyArray) -> Entry:
        if array.dtype.hasobject:
            return ["objects", array.shape, self._values(array.ravel().tolist())]
        order: Order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        columns = [array] if array.dtype.names is None else [array[name] for name in array.dtype.names]
        narrow = [_narrow(column.ravel(order)) for column in columns]
        start = self.numbers.tell()
        for column in narrow:
            self.numbers.write(column.tobytes())
        return ["array", _spelled(array.dtype), array.shape, order, start, [column.dtype.str for column in narrow]]

    def _reduced(self, value: Part) -> Entry:
        """Return the entry of an object by what it would tell pickle."""
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            reduced = value.__reduce_ex__(2) if reduce is None else reduce(value)
        except TypeError as error:
            raise ModelError(f"A model that is saved must be made of what can be pickled. Got {value!r}.") from error
        if isinstance(reduced, str):
            return ["name", _name_of(value)]
        function, arguments, *more = reduced
        state, items, pairs = [*more, None, None, None][:3]
        kind = "call"
        if arguments[:1] == (type(value),) and function.__name__ in ("__newobj__", "newObj"):
            kind, function, arguments = "new", type(value), arguments[1:]
        return [
            kind,
            _name_of(function),
            self._values(arguments),
            self.value(state),
            None if items is None else self._values(items),
            None if pairs is None else self._values(part for pair in pairs for part in pair),
        ]


def _narrow(column: AnyArray) -> AnyArray:
    """Return numbers in the smallest type that holds all of them exactly."""
    if column.dtype.kind in "iuf":
        exact = column.tobytes()
        with np.errstate(all="ignore"):
            for kind in (np.int8, np.int16, np.int32, np.float32):
                narrow = column.astype(kind)
                if narrow.itemsize < column.itemsize and narrow.astype(column.dtype).tobytes() == exact:
                    return narrow
    return column


def _spelled(dtype: np.dtype[Any]) -> str | Json:
    if dtype.names is None:
        return dtype.str
    fields = [dtype[name] for name in dtype.names]
    if any(field.names or field.shape for field in fields):
        raise ModelError(f"A model that is saved must have arrays of simple fields. Got {dtype}.")
    offsets = [dtype.fields[name][1] for name in dtype.names] if dtype.fields else []
    return {
        "names": list(dtype.names),
        "formats": [field.str for field in fields],
        "offsets": offsets,
        "itemsize": dtype.itemsize,
    }


class _Reader:
    """Build the objects of a file, the parts before the whole."""

    def __init__(self, numbers: bytes) -> None:
        self._numbers = numbers
        self._built: list[Part] = []
        self._found: dict[str, Part] = {}
        self._build: dict[str, Callable[..., object]] = {
            **{name: lambda values, kind=kind: kind(self._values(values)) for name, kind in SEQUENCES.items()},
            "dict": lambda values: dict(self._pairs(values)),
            "bytes": lambda start, size: self._numbers[start : start + size],
            "root": self._value,
            "slice": lambda values: slice(*self._values(values)),
            "array": self._array,
            "objects": self._objects,
            "scalar": lambda value: np.asarray(self._value(value))[()],
            "dtype": np.dtype,
            "name": self._name,
            "new": self._new,
            "call": self._call,
        }

    def read(self, entries: Sequence[Entry]) -> Part:
        """Return the last object, which consists of the others."""
        for kind, *rest in entries:
            self._built.append(self._build[kind](*rest))
        return self._built[-1]

    def _value(self, value: Value) -> Part:
        if not isinstance(value, list):
            return value
        if value[0] < 0:
            raise ValueError("an entry refers to one that comes later")
        return self._built[value[0]]

    def _values(self, values: Sequence[Value]) -> list[Part]:
        return [self._value(value) for value in values]

    def _pairs(self, values: Sequence[Value]) -> Iterable[tuple[Part, Part]]:
        parts = iter(self._values(values))
        return zip(parts, parts, strict=True)

    def _array(self, spelled: Part, shape: Sequence[int], order: Order, start: int, narrow: Sequence[str]) -> AnyArray:
        dtype, n = np.dtype(spelled), math.prod(shape)
        if min(shape, default=0) < 0:
            raise ValueError(f"an array has the shape {shape}")
        columns = []
        for kept in narrow:
            columns.append(np.frombuffer(self._numbers, kept, n, start))
            start += columns[-1].nbytes
        if dtype.names is None:
            [column] = columns
            return column.astype(dtype).reshape(shape, order=order)
        array: AnyArray = np.zeros(n, dtype)
        for name, column in zip(dtype.names, columns, strict=True):
            array[name] = column
        return array.reshape(shape, order=order)

    def _objects(self, shape: Sequence[int], values: Sequence[Value]) -> AnyArray:
        array = np.empty(len(values), dtype=object)
        array[:] = self._values(values)
        return array.reshape(shape)

    def _name(self, name: str) -> Part:
        if name not in self._found:
            self._found[name] = _find(name)
        return self._found[name]

    def _new(self, name: str, arguments: Sequence[Value], state: Value, *more: Sequence[Value] | None) -> object:
        kind, parts, full = self._name(name), self._values(arguments), self._value(state)
        check_indices(kind, parts, full)
        return self._completed(kind.__new__(kind, *parts), full, *more)

    def _call(self, name: str, arguments: Sequence[Value], state: Value, *more: Sequence[Value] | None) -> object:
        function, parts, full = self._name(name), self._values(arguments), self._value(state)
        if isinstance(function, type):
            check_indices(function, parts, full)
        return self._completed(function(*parts), full, *more)

    def _completed(
        self, made: Part, state: Part, items: Sequence[Value] | None, pairs: Sequence[Value] | None
    ) -> object:
        """Give an object its state, as unpickling would."""
        if items is not None:
            made.extend(self._values(items))
        if pairs is not None:
            made.update(self._pairs(pairs))
        if state is None:
            return made
        if hasattr(made, "__setstate__"):
            made.__setstate__(state)
            return made
        attributes, slots = state if isinstance(state, tuple) else (state, {})
        if attributes:
            made.__dict__.update(attributes)
        for name, value in (slots or {}).items():
            setattr(made, name, value)
        return made
