"""The exception tree."""

import inspect
import pickle

import pytest

from comitia import errors
from comitia.errors import ComitiaError, UnknownName

ERRORS = [
    c
    for _, c in inspect.getmembers(errors, inspect.isclass)
    if issubclass(c, Exception) and c.__module__ == "comitia.errors"
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda c: c.__name__)
def test_every_error_is_ours_and_a_builtin(error: type[Exception]) -> None:
    if issubclass(error, errors.ComitiaWarning):
        assert issubclass(error, UserWarning)
        return
    assert issubclass(error, ComitiaError)
    if error is not ComitiaError:
        assert issubclass(error, ValueError | LookupError | OSError | RuntimeError)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    names = {c.__name__ for c in ERRORS}
    assert all(name in (errors.__doc__ or "") for name in names)


def test_an_unknown_name_carries_what_it_knows_and_pickles() -> None:
    error = pickle.loads(pickle.dumps(UnknownName("method", "sobbol", ["sobol", "rs"])))
    assert error.near == ["sobol"]
    assert "Did you mean 'sobol'?" in str(error)
    assert "Known: a, b" in str(UnknownName("method", "zzzzz", ["b", "a"]))
    assert "and 5 more" in str(UnknownName("method", "?", [f"m{i}x" for i in range(25)]))
