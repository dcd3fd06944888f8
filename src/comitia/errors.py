"""The exception tree: one root, and each error is also the builtin a caller would expect.

::

    ComitiaError
    ├── SpaceError (ValueError)         a space that cannot be searched, a value outside it
    ├── UnknownName (ValueError)        no such method, space, scorer or hyperparameter; carries near matches
    ├── ChoiceError (ValueError)        an argument out of range, or choices that clash
    ├── ResamplingError (ValueError)    splits that do not fit the data
    ├── TableError (ValueError)         a table that cannot be learned from, or that does not match the first
    ├── TellError (ValueError)          a result for a trial that is not waiting for one, or not a number
    ├── ExhaustedError (LookupError)    nothing left to ask
    ├── NothingFound (LookupError)      no trial succeeded, so there is nothing to hand over
    ├── ExperimentError (ValueError)    an experiment, a problem or a pool that cannot be read or makes no sense
    ├── ModelError (OSError)            a model folder that cannot be written or trusted
    ├── StoreError (OSError)            the record cannot be opened, read or written
    │   └── StoreMismatch               it is another study's record
    ├── ExecutionError (RuntimeError)   workers cannot be started or cannot be reached
    │   ├── TrialTimeout                one trial went over its time limit and was killed
    │   ├── TrialMemory                 one trial went over its memory limit and was killed
    │   └── TrialCrashed                the process of one trial died by itself
    └── PeerError (RuntimeError)        another tool, run beside ours in a benchmark, failed
        └── PeerMissing                 its environment is not built

    ComitiaWarning (UserWarning)
    ├── FallbackWarning                 nothing could be fitted, so the model only predicts the prior
    ├── DroppedWarning                  members failed or were not ready in time
    └── VersionWarning                  a model was written by other versions

A message says what was expected, what came, and what to do.
"""

import difflib
from collections.abc import Iterable
from numbers import Integral


class ComitiaError(Exception):
    """Root of every error that comitia raises on purpose."""


class SpaceError(ComitiaError, ValueError):
    """A space cannot be searched, or a value lies outside it."""


class UnknownName(ComitiaError, ValueError):
    """A name is not in its registry; `near` holds the closest ones that are."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = sorted(known)
        lowered = {known_name.lower(): known_name for known_name in self.known}
        matches = difflib.get_close_matches(str(name).lower(), list(lowered), n=3, cutoff=0.5)
        self.near = [lowered[match] for match in matches]
        hint = f"Did you mean {_or(self.near)}?" if self.near else f"Known: {_listing(self.known)}."
        super().__init__(f"The {kind} must be a known name. Got {name!r} instead. {hint}")

    def __reduce__(self) -> tuple[type, tuple[str, object, list[str]]]:
        return type(self), (self.kind, self.name, self.known)


class ChoiceError(ComitiaError, ValueError):
    """An argument is out of range, or two choices cannot go together."""


class ResamplingError(ComitiaError, ValueError):
    """The splits that were asked for do not fit the data."""


class TableError(ComitiaError, ValueError):
    """A table cannot be learned from, or does not match the one a model was fitted on."""


class TellError(ComitiaError, ValueError):
    """A result came for a trial that is not waiting for one, or the result is not a number."""


class ExhaustedError(ComitiaError, LookupError):
    """Every configuration was tried and nothing is pending: there is nothing left to ask."""


class NothingFound(ComitiaError, LookupError):
    """No trial succeeded, so nothing can be handed over."""


class ModelError(ComitiaError, OSError):
    """A model folder cannot be written, read or trusted."""


class ExperimentError(ComitiaError, ValueError):
    """An experiment's file, or one of its problems or pools, cannot be read or makes no sense."""


class StoreError(ComitiaError, OSError):
    """The record of a study cannot be opened, read or written."""


class StoreMismatch(StoreError):
    """The record belongs to another study: other space, method, seed or version."""


class ExecutionError(ComitiaError, RuntimeError):
    """Workers cannot be started or cannot be reached."""


class TrialTimeout(ExecutionError):
    """One trial went over its time limit and was killed."""


class TrialMemory(ExecutionError):
    """One trial went over its memory limit and was killed."""


class TrialCrashed(ExecutionError):
    """The process of one trial died by itself: a segmentation fault, an exit, a kill from outside."""


class PeerError(ComitiaError, RuntimeError):
    """Another tool, run beside ours in a benchmark, failed, hung or could not be installed."""


class PeerMissing(PeerError):
    """The environment of another tool is not built."""


class ComitiaWarning(UserWarning):
    """Root of comitia's own warnings, so that a user can silence or escalate them by class."""


class FallbackWarning(ComitiaWarning):
    """Nothing better than predicting the most frequent class, or the mean, could be fitted in the budget."""


class DroppedWarning(ComitiaWarning):
    """A member of the committee could not be fitted again, or not in time, and the others do without it."""


class VersionWarning(ComitiaWarning):
    """A model was made by other versions of the libraries than those that load it."""


def check_int(of: str, name: str, value: object, least: int = 1) -> None:
    """Refuse a value that is not a whole number of at least `least`; `of` is the class or function it was given to."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ChoiceError(f"The {name!r} parameter of {of} must be an int >= {least}. Got {value!r} instead.")


def _or(names: list[str]) -> str:
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]


def _listing(names: list[str], most: int = 20) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
