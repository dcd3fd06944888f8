"""The seams on one page: start reading here.

A search has no state of its own. The next suggestion is a function of the history, a seed and nothing else, so a
method is four choices that compose: *resampling* (which rows), *goal* (which number), *optimizer* (which
configuration), *selection* (what the user gets). Whatever an object remembers between calls is a cache of a fold over
the history: throw it away and nothing changes.

A class joins a seam by having the methods; nothing is inherited. `tests/contracts` holds one suite for each seam.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from comitia.arrays import AnyArray, Array, Indices
from comitia.history import History, Observation, Predictions, Trial, Truth
from comitia.seeds import Seeds
from comitia.space import Config

Split = tuple[Indices, Indices]
"""Row indices to train on and to judge on."""
Decode = Callable[[Array], list[Config]]
Keep = Literal["nothing", "predictions", "probabilities"]
"""What an evaluator keeps of the models' answers."""


@dataclass(frozen=True)
class Ask:
    """One point that an optimizer wants to know more about."""

    x: Array
    """Coordinates.  # (d,)"""
    repeats: int = 1
    """How many fresh resamplings to average (UH-CMA-ES)."""
    folds: tuple[int, ...] | None = None
    """Which folds to evaluate (lazy k-fold); None is all."""
    continues: int | None = None
    """Number of the earlier trial it goes on with, on further folds or repeats of the same splits."""


@dataclass(frozen=True)
class Member:
    """One model of what is handed over."""

    config: Config
    weight: float
    trial: int | None
    """None for a configuration that was never tried (posterior mean)."""
    temperature: float = 1.0
    """What its probabilities are tempered by before they are averaged; see `ensembles.calibration`."""


@runtime_checkable
class Resampling(Protocol):
    """On which rows a trial is fitted and judged."""

    @property
    def judges_every_row(self) -> bool:
        """Whether every row is judged exactly once by each repeat, as in k-fold."""

    @property
    def is_reshuffled(self) -> bool:
        """Whether every trial gets its own splits."""

    def splits(self, y: AnyArray, groups: AnyArray | None, number: int, repeat: int, seeds: Seeds) -> Sequence[Split]:
        """Return the splits of one repeat of trial `number`: a function of its arguments alone."""


class Goal(Protocol):
    """The number that the search minimises now."""

    @property
    def moves(self) -> bool:
        """Whether the value of an old trial may change when new ones finish."""

    @property
    def compares_rows(self) -> bool:
        """Whether trials are compared row by row, so that all must be judged on the same ones."""

    def values(self, history: History, seeds: Seeds) -> Array:
        """Return one finite number for every finished trial, failed ones included, in the order of numbers."""


class Optimizer(Protocol):
    """Which points next. Built as `SomeOptimizer(space)`."""

    @property
    def needs_generations(self) -> bool:
        """Whether it works by generations, so that the values of old trials must stay put."""

    def ask(self, history: History, values: Array, n: int, seeds: Seeds) -> Sequence[Ask]:
        """Return at most `n` points; none means "wait for results", or, if none is pending, "nothing is left".

        One that works by generations returns at most what is left of the present one; a study asks it for all of that
        at once, so that a generation is one batch of trials.
        A fresh object given the same history and seeds answers as one that lived through it.
        """


class Selection(Protocol):
    """What is handed to the user.

    One that reads `history.selection_losses` says `needs_selection_split = True`; one that reads generations, which
    are the batches of trials, says `needs_generations = True`. A method then refuses what cannot give them.
    """

    @property
    def compares_rows(self) -> bool:
        """Whether trials are compared row by row, so that all must be judged on the same ones."""

    def members(self, history: History, seeds: Seeds) -> Sequence[Member]:
        """Return the members with weights that sum to 1; raise `NothingFound` if no trial succeeded."""


@dataclass(frozen=True)
class Judging:
    """How an evaluator judges trials; what does not apply is left out.

    A study refuses an evaluator whose judging does not fit its method. Everything is cheap to make but the
    fingerprint, which reads the whole table and is needed only by studies on disk: it is a function.
    """

    resampling: Resampling | None = None
    """On which rows trials are judged."""
    selection_split: float | None = None
    """Fraction of the rows that are set aside for the final selection."""
    keep: Keep = "nothing"
    """What is returned of the models' answers, as `Predictions`."""
    truth: Truth | None = None
    """What the rows that those answers are about truly are."""
    fingerprint: Callable[[], str] | None = None
    """Returns a hash of the data and of how they are judged: losses are comparable while it is the same."""


@runtime_checkable
class Evaluator(Protocol):
    """A trial in, an observation and what was predicted out. It is pickled and called in another process."""

    @property
    def judging(self) -> Judging:
        """How trials are judged; `judging = Judging()` where there is nothing to say."""

    def __call__(self, trial: Trial, seeds: Seeds) -> tuple[Observation, Predictions | None]:
        """Evaluate; a failure is an observation, not an exception."""

    def n_fits(self, trial: Trial) -> int:
        """Return how many fits the trial will take."""


@runtime_checkable
class Store(Protocol):
    """The study's record. Opening it again is resuming."""

    def append(
        self,
        *,
        trials: Sequence[Trial] = (),
        observations: Sequence[Observation] = (),
        blobs: Mapping[str, bytes] | None = None,
    ) -> None:
        """Add everything or, on an error, nothing."""

    def read(self, decode: Decode) -> tuple[list[Trial], list[Observation]]:
        """Return all trials and all observations in the order of numbers.

        `decode` turns coordinates into configurations: the record keeps the coordinates.
        """

    def put(self, key: str, value: bytes) -> None:
        """Keep a named blob, replacing an older one."""

    def get(self, key: str) -> bytes | None:
        """Return a named blob."""

    def close(self) -> None:
        """Let go of the file."""
