"""The seams on one page: start reading here.

A search has no state of its own. The next suggestion is a function of the history and a seed and of nothing else, so a
method is four choices that compose: *resampling* (which rows), *goal* (which number), *optimizer* (which
configuration), *selection* (what the user gets). Whatever an object remembers between calls is a cache of a fold over
the history, best kept by `History.remember`: throw it away and nothing changes.

A class joins a seam by having the methods; nothing is inherited. `tests/contracts` holds one suite per seam. Further
seams are inside one optimizer, Bayesian optimisation, in the second part of this page; a kernel is one class in
`comitia.gp.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from comitia.arrays import AnyArray, Array, Indices
from comitia.history import History, Observation, Predictions, Trial, Truth
from comitia.seeds import Seeds
from comitia.space import Config, Space

Split = tuple[Indices, Indices]
"""Row indices to train on and to judge on."""
Decode = Callable[[Array], list[Config]]
Keep = Literal["nothing", "predictions", "probabilities"]
"""What an evaluator keeps of the models' answers."""


@dataclass(frozen=True)
class Needs:
    """What a goal, an optimizer or a selection needs beside the losses; a method refuses what cannot give it."""

    generations: bool = False
    """Batches of trials are generations: an optimizer works by them and is asked for all that is left of one at once;
    a selection chooses among them, and needs such an optimizer."""
    fixed_values: bool = False
    """The value of a finished trial must not change when others finish: refused with a goal that moves."""
    rows: bool = False
    """Trials are compared row by row: predictions must be kept, and all trials judged on the same rows."""
    row_losses: bool = False
    """The loss of each row counts: predictions must be kept, but trials may be judged on different rows."""
    probabilities: bool = False
    """Class probabilities must be kept, not only classes."""
    selection_split: bool = False
    """Rows must be set aside for the final selection; see `History.selection_losses`."""
    own_points: bool = False
    """An optimizer waits for the very points that it asked for: they must not be moved, as a pool would do."""


@dataclass(frozen=True, eq=False)
class Values:
    """What a goal says of the finished trials, in the order of their numbers; smaller is better."""

    now: Array
    """The current values, (n_finished,); NaN for a trial that says nothing now, which Bayesian optimisation leaves
    out."""
    earlier: Callable[[int], Array] | None = None
    """`earlier(n)` returns the values that the first n finished trials had before the others finished, (n,). For a goal
    that moves and remembers them: a model then need not be tuned again for every suggestion."""

    have_moved: bool = False
    """Whether all of them are other numbers than before the last trial, and `earlier` ones are not remembered: what was
    tuned on those is of no use."""

    noise: Array | None = None
    """Known variance of each value, beside the noise that all have in common, (n_finished,): a trial that was judged on
    fewer rows than others counts for what it is worth."""
    earlier_noise: Callable[[int], Array] | None = None
    """The same for `earlier` values."""
    n_pending: int = 0
    """Trials without a value yet; when they end, their values come between others, in the order of numbers."""

    def of_first(self, n: int) -> Array:
        """Return the values of the first n finished trials, as they were before the others if that is remembered."""
        return self.now[:n] if self.earlier is None else self.earlier(n)

    def noise_of_first(self, n: int) -> Array | None:
        """Return the known variance of those."""
        if self.earlier_noise is not None:
            return self.earlier_noise(n)
        return None if self.noise is None else self.noise[:n]


@dataclass(frozen=True)
class Ask:
    """One point that an optimizer wants to know more about."""

    x: Array
    """Coordinates, (d,)."""
    repeats: int = 1
    """How many fresh resamplings to average (UH-CMA-ES)."""
    folds: tuple[int, ...] | None = None
    """Which folds to evaluate (lazy k-fold); None is all."""
    continues: int | None = None
    """Number of the earlier trial that it continues, on further folds or repeats of the same splits."""


@dataclass(frozen=True)
class Member:
    """One model of what is handed over."""

    config: Config
    weight: float
    """Its share; those of all members sum to 1."""
    trial: int | None
    """Number of its trial; None for a configuration that was never tried (posterior mean)."""
    temperature: float = 1.0
    """What its probabilities are tempered by before they are averaged; see `committees.tempering`."""


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


@runtime_checkable
class Goal(Protocol):
    """The number that the search minimises."""

    @property
    def needs(self) -> Needs:
        """What must be kept of a trial; `needs = Needs()` where losses are enough."""

    @property
    def moves(self) -> bool:
        """Whether the value of a finished trial may change when others finish."""

    def values(self, history: History, seeds: Seeds) -> Values:
        """Return one number per finished trial, failed ones included, in the order of their numbers."""


@runtime_checkable
class Optimizer(Protocol):
    """Which points next. Built as `SomeOptimizer(space)`."""

    @property
    def needs(self) -> Needs:
        """What it needs of the goal and the study; `needs = Needs()` where it works trial by trial."""

    def ask(self, history: History, values: Values, n: int, seeds: Seeds) -> Sequence[Ask]:
        """Return at most `n` points; none means "wait for results", or, if none is pending, "nothing is left".

        One that works by generations returns at most what is left of the present one; a study asks it for all of that
        at once, so that a generation is one batch of trials.
        A fresh object given the same history and seeds answers as one that lived through it.
        """


@runtime_checkable
class Selection(Protocol):
    """What is handed to the user."""

    @property
    def needs(self) -> Needs:
        """What it chooses by; `needs = Needs()` where losses are enough."""

    def members(self, history: History, optimizer: Optimizer, seeds: Seeds) -> Sequence[Member]:
        """Return the members with weights that sum to 1; raise `NothingFound` if no trial succeeded.

        `optimizer` is the one that searched: some can say more of a history than its trials do.
        """


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


class Bar(Protocol):
    """What a trial must not fall behind if its next fold is to be fitted. It is pickled and travels with the trial."""

    def rejects(self, so_far: Predictions) -> bool:
        """Tell whether what a trial's first folds predicted is enough to leave out the others."""


@runtime_checkable
class Screener(Protocol):
    """An evaluator that can leave out folds; one that cannot evaluates all of them, whatever the method wants."""

    def screened(self, trial: Trial, seeds: Seeds, bar: Bar) -> tuple[Observation, Predictions | None]:
        """Evaluate fold by fold; a trial that is rejected has the status "rejected", and what it has until then."""


@runtime_checkable
class Together(Protocol):
    """An evaluator that evaluates many trials in less time than one after the other; `TrialStack` gathers them."""

    def together(self, tasks: Sequence[tuple[Trial, Seeds]]) -> list[tuple[Observation, Predictions | None]]:
        """Evaluate trials, of one study or of several, as if each were alone."""


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
        """Add everything or, on an error, nothing.

        Raise `StoreError` for a trial or a result that is there already, and for a result without its trial.
        """

    def read(self, decode: Decode) -> tuple[list[Trial], list[Observation]]:
        """Return all trials and all observations in the order of numbers.

        A store keeps every field of a trial but its configuration, which `decode` makes from the coordinates `x`.
        """

    def put(self, key: str, value: bytes) -> None:
        """Keep a named blob, replacing an older one."""

    def get(self, key: str) -> bytes | None:
        """Return a named blob."""

    def close(self) -> None:
        """Let go of the file."""


# ---- inside Bayesian optimisation: what `Bayes` is made of ----------------------------------------------------------


class Belief(Protocol):
    """What is believed after some observations. Rows are coordinates as they are asked, inactive ones included."""

    def score(self, X: Array) -> Array:
        """Return how much each row promises, (n,); greater is better."""

    def mean(self, X: Array) -> Array:
        """Return the value expected at each row, (n,), in the model's own units."""

    def believe(self, X: Array) -> Belief:
        """Return what would be believed if each row were found to be as expected: how pending trials count."""


@runtime_checkable
class SmoothBelief(Belief, Protocol):
    """A belief whose promise has a gradient."""

    def score_gradient(self, X: Array) -> tuple[Array, Array]:
        """Return how much each row promises, (n,), and how that changes with each coordinate, (n, d)."""

    def mean_gradient(self, X: Array) -> tuple[Array, Array]:
        """Return the value expected at each row, (n,), and its gradient, (n, d)."""


class Surrogate(Protocol):
    """A model of the values over a space. Built as `SomeSurrogate(space)`."""

    def belief(self, X: Array, values: Values, number: int, seeds: Seeds) -> Belief:
        """Return what is believed after the values were observed at the rows of `X`, before trial `number` is asked.

        A fresh object given the same arguments answers as one that lived through what came before.
        """


class Maximiser(Protocol):
    """Looks for the rows that a belief promises most of."""

    def __call__(self, belief: Belief, space: Space, tried: Array, rng: np.random.Generator) -> Array:
        """Return candidates, (n, d), the best first; `tried` are the best rows so far, the best first."""
