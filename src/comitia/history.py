"""What was asked and what came of it: `Trial`, `Observation`, `Predictions`, `Truth` and their `History`.

The history is the whole state of a search. Optimizers, goals and selections read it; only the study changes it, and
that costs the same at trial 100 and at trial 100,000. It is also the one ledger of who works on what: a trial is
*waiting* (asked, not begun), *begun* (a run or the user works on it) or *finished*.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from comitia.arrays import Array, Indices, Mask
from comitia.space import Config, Space

Status = Literal["ok", "failed", "timeout", "memory", "crashed", "rejected"]
T = TypeVar("T", bound=np.generic)
Fold = TypeVar("Fold")
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True, slots=True)
class Trial:
    """One request to evaluate a configuration."""

    number: int
    """Position in the study, from 0; names the trial's random streams."""
    batch: int
    """The call of `ask` it came from: a generation, for optimizers that have them."""
    x: tuple[float, ...]
    """Coordinates in [0, 1]^d, inactive ones as sampled."""
    config: Config
    """What is tried: the active hyperparameters."""
    repeats: int = 1
    """How many resamplings to average."""
    folds: tuple[int, ...] | None = None
    """Which folds of the resampling to evaluate; None is all."""
    continues: int | None = None
    """Number of the earlier trial that this one continues, on further folds or repeats."""
    root: int = -1
    """Number of the first trial of that chain, which names the splits. -1 stands for the trial itself."""
    first_repeat: int = 0
    """How many repeats the chain had before."""

    def __post_init__(self) -> None:
        if self.root < 0:
            object.__setattr__(self, "root", self.number)


@dataclass(frozen=True, slots=True)
class Observation:
    """A trial and what came of it."""

    trial: Trial
    status: Status
    """How it ended: "ok", "failed", "timeout", "memory", "crashed", or "rejected": further folds were left out, because
    it was worse than what is there; see `LazyFolds`."""
    losses: tuple[float, ...] = ()
    """Loss on each split, those of the trial it continues first; smaller is better. Of a trial that was rejected: on
    the splits before that, in their order."""
    metrics: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Further scores on the same splits, with scikit-learn's sign."""
    seconds: float = 0.0
    """How long it took."""
    n_evaluations: int = 1
    """Number of fits."""
    error: str = ""
    """What went wrong; empty if nothing did."""
    selection_losses: tuple[float, ...] = ()
    """Loss on the selection split of each split's model: only for the final selection; () where none was set aside."""
    is_maximised: bool = False
    """Whether the losses are the user's numbers with their sign turned: the study maximises them."""

    @classmethod
    def failed(cls, trial: Trial, error: str, *, status: Status = "failed", seconds: float = 0.0) -> Observation:
        """Return the observation of a trial that gave no result."""
        return cls(trial=trial, status=status, seconds=seconds, error=error)

    def continuing(self, earlier: Observation) -> Observation:
        """Return it with the losses of the trial that it continues before its own; a failure as it is."""
        if not self.is_ok:
            return self
        return replace(
            self,
            losses=earlier.losses + self.losses,
            metrics={name: earlier.metrics.get(name, ()) + scores for name, scores in self.metrics.items()},
            selection_losses=earlier.selection_losses + self.selection_losses,
        )

    def turned(self) -> Observation:
        """Return it as a loss, where the evaluator gave a number to maximise."""
        return replace(self, losses=tuple(-number for number in self.losses), is_maximised=True)

    @property
    def number(self) -> int:
        return self.trial.number

    @property
    def config(self) -> Config:
        return self.trial.config

    def __repr__(self) -> str:
        name = "value" if self.is_maximised else "loss"
        what = f"{name}={self.value:.6g}" if self.is_ok else f"error={self.error!r}"
        return f"Observation(number={self.number}, status={self.status!r}, {what}, config={self.config})"

    @property
    def is_ok(self) -> bool:
        return self.status == "ok"

    @property
    def loss(self) -> float:
        """Mean loss; NaN if it failed or was rejected."""
        return math.fsum(self.losses) / len(self.losses) if self.is_ok else math.nan

    @property
    def value(self) -> float:
        """The mean loss as the user has it: with its own sign in a study that maximises; NaN if it failed."""
        return -self.loss if self.is_maximised else self.loss

    @property
    def selection_loss(self) -> float:
        """Mean loss of its models on the selection split; NaN if it failed or none was set aside."""
        losses = self.selection_losses
        return math.fsum(losses) / len(losses) if self.is_ok and losses else math.nan

    @property
    def mean_metrics(self) -> dict[str, float]:
        """Mean of each further metric over the splits."""
        return {name: float(np.mean(scores)) for name, scores in self.metrics.items() if scores}


@dataclass(frozen=True)
class _Arrays:
    """A record of arrays that can be written and read without pickles."""

    def to_bytes(self) -> bytes:
        """Write as NumPy's own archive format."""
        arrays = {name: np.asarray(array) for name, array in vars(self).items() if array is not None}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote; what earlier versions kept beside it is left out."""
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {field.name: archive[field.name] for field in fields(cls) if field.name in archive}
        return cls(**{name: array if array.ndim else array.item() for name, array in arrays.items()})


@dataclass(frozen=True)
class Predictions(_Arrays):
    """What one trial's models said about rows they were not trained on."""

    rows: Indices
    """Row indices in the user's table; a row appears once for each time it was judged: (n,)"""
    folds: Indices
    """Running number of the split that each belongs to: (n,)"""
    values: NDArray[np.generic]
    """Class codes (n,), class probabilities (n, n_classes) or numbers (n,)."""
    losses: Array | None = None
    """Loss of each row, where the loss is a mean over rows: (n,)"""
    seconds: Array | None = None
    """Seconds that each split's answers took, NaN where not measured: (n_splits,)"""
    sizes: Array | None = None
    """How large the models of fits grew that found it out by themselves, NaN for others: (n_fits,)"""

    def of(self, some: Mask) -> Predictions:
        """Return what was said about some of the rows."""
        losses = None if self.losses is None else self.losses[some]
        return replace(self, rows=self.rows[some], folds=self.folds[some], values=self.values[some], losses=losses)


@dataclass(frozen=True)
class Truth(_Arrays):
    """What the rows of the user's table truly are: with it, predictions become votes and losses."""

    y: NDArray[np.generic]
    """Class codes or numbers: (n_rows,)"""
    n_classes: int
    """0 for numbers."""
    weights: Array | None = None
    """How much each row counts, all alike if None: (n_rows,)"""


class History:
    """Trials and their results in the order of trial numbers.

    Parameters
    ----------
    n_hyperparameters : int
        Number of columns of `X`.
    load : callable, optional
        Fetches the predictions of one trial by its number; None where none were kept.
    space : Space, optional
        What is searched, for selections that hand over configurations which were never tried.
    truth : Truth, optional
        What the rows that predictions speak of truly are; may come later.
    """

    def __init__(
        self,
        n_hyperparameters: int,
        load: Callable[[int], Predictions | None] = lambda number: None,
        *,
        space: Space | None = None,
        truth: Truth | None = None,
    ) -> None:
        self._load = load
        self.space = space
        self.truth = truth
        self._trials: list[Trial] = []
        # every trial is in one of these three, the waiting ones in the order of numbers
        self._waiting: dict[int, Trial] = {}
        self._begun: dict[int, Trial] = {}
        self._observations: dict[int, Observation] = {}
        self._seen: dict[Config, int] = {}
        self._X = np.empty((64, n_hyperparameters))
        self._numbers = np.arange(64)
        self._losses = np.full(64, np.nan)
        self._selection_losses = np.full(64, np.nan)
        self._is_finished = np.zeros(64, dtype=bool)
        self._is_superseded = np.zeros(64, dtype=bool)
        self._best: int | None = None
        self.n_evaluations = 0
        self.n_failed = 0
        self.n_rejected = 0
        self._folds: dict[Hashable, Any] = {}

    def remember(self, key: Hashable, make: Callable[[], Fold]) -> Fold:
        """Return what `make` made when this key came first: the one cache for what is worked out from a history.

        What is kept may be an object that follows the history as it grows. It can always be made again from the
        history, so it is left out of pickles and copies.
        """
        if key not in self._folds:
            self._folds[key] = make()
        found: Fold = self._folds[key]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_folds": {}}

    def __len__(self) -> int:
        """Return the number of trials, pending ones included."""
        return len(self._trials)

    @property
    def n_finished(self) -> int:
        """Number of trials with a result, failed ones included."""
        return len(self._observations)

    @property
    def X(self) -> Array:  # noqa: N802 - the name of the field
        """Coordinates of every trial, inactive ones as sampled: (n_trials, d)."""
        return _read_only(self._X[: len(self._trials)])

    @property
    def losses(self) -> Array:
        """Mean loss of every trial, with that of the trials it continues; NaN if it has none: (n_trials,)."""
        return _read_only(self._losses[: len(self._trials)])

    @property
    def selection_losses(self) -> Array:
        """Mean loss on the selection split of every trial, only for selections; NaN if it has none: (n_trials,)."""
        return _read_only(self._selection_losses[: len(self._trials)])

    @property
    def is_finished(self) -> Mask:
        """Which trials have a result, failed ones included: (n_trials,)."""
        return _read_only(self._is_finished[: len(self._trials)])

    @property
    def is_superseded(self) -> Mask:
        """Which trials a later, successful one continues: (n_trials,)."""
        return _read_only(self._is_superseded[: len(self._trials)])

    @property
    def finished(self) -> Indices:
        """Numbers of the trials with a result, ascending: (n_finished,)."""
        if not self.n_pending:
            return _read_only(self._numbers[: len(self._trials)])
        return np.flatnonzero(self.is_finished)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """Trials without a result, waiting or begun, in the order of their numbers."""
        return tuple(sorted([*self._waiting.values(), *self._begun.values()], key=lambda trial: trial.number))

    @property
    def n_pending(self) -> int:
        """Number of trials without a result."""
        return len(self._waiting) + len(self._begun)

    @property
    def waiting(self) -> Iterable[Trial]:
        """Trials that were asked and not begun, in the order of their numbers."""
        return self._waiting.values()

    @property
    def begun(self) -> Iterable[Trial]:
        """Trials that a run or the user works on, in the order in which they were begun."""
        return self._begun.values()

    def trial(self, number: int) -> Trial:
        return self._trials[number]

    def observation(self, number: int) -> Observation | None:
        """Return what came of one trial; None while it is pending."""
        return self._observations.get(number)

    def observations(self) -> list[Observation]:
        """Return every observation in the order of trial numbers."""
        return [self._observations[int(number)] for number in self.finished]

    def predictions(self, number: int) -> Predictions | None:
        """Fetch what one trial's models predicted; None where it was not kept."""
        return self._load(number)

    def number_of(self, config: Config) -> int | None:
        """Return the first trial with this configuration, pending or finished; None if there is none."""
        return self._seen.get(config)

    def was_asked(self, config: Config) -> bool:
        """Tell whether some trial, pending or finished, has this configuration."""
        return config in self._seen

    @property
    def n_configs(self) -> int:
        """Number of different configurations asked so far."""
        return len(self._seen)

    @property
    def best(self) -> Observation | None:
        """The finished trial with the smallest loss, the earliest of equals; None if none succeeded."""
        return None if self._best is None else self._observations[self._best]

    # ---- changing: only for the study --------------------------------------------------------------------------

    def append(self, trial: Trial) -> None:
        """Add a waiting trial; its number must be the next one."""
        assert trial.number == len(self._trials)
        if trial.number == len(self._losses):
            self._grow()
        self._X[trial.number] = trial.x
        self._trials.append(trial)
        self._waiting[trial.number] = trial
        self._seen.setdefault(trial.config, trial.number)

    def begin(self, number: int) -> None:
        """Note that a run or the user works on a waiting trial."""
        self._begun[number] = self._waiting[number]  # first: a Ctrl-C between the lines must not lose it
        del self._waiting[number]

    def give_back(self, numbers: Iterable[int]) -> None:
        """Let trials wait again that were begun and will not be finished by whoever began them."""
        again = {number: self._begun.pop(number) for number in numbers if number in self._begun}
        if again:
            self._waiting = dict(sorted({**self._waiting, **again}.items()))

    def finish(self, observation: Observation) -> None:
        """Turn a pending trial into a finished one."""
        number = observation.number
        was_waiting = self._waiting.pop(number, None) is not None
        if self._begun.pop(number, None) is None and not was_waiting:
            raise KeyError(number)
        self._observations[number] = observation
        self._is_finished[number] = True
        self.n_evaluations += observation.n_evaluations
        if not observation.is_ok:
            self.n_rejected += observation.status == "rejected"
            self.n_failed += observation.status != "rejected"
            return
        parent = observation.trial.continues
        if parent is not None:
            self._is_superseded[parent] = True
        self._losses[number] = observation.loss
        self._selection_losses[number] = observation.selection_loss
        if self._best is not None and self._best == parent:
            self._best = int(np.nanargmin(np.where(self.is_superseded, np.nan, self.losses)))
        elif self._best is None or (self._losses[number], number) < (self._losses[self._best], self._best):
            self._best = number

    def _grow(self) -> None:
        n = len(self._losses)
        self._X = np.concatenate([self._X, np.empty_like(self._X)])
        self._numbers = np.arange(2 * n)
        self._losses = np.concatenate([self._losses, np.full(n, np.nan)])
        self._selection_losses = np.concatenate([self._selection_losses, np.full(n, np.nan)])
        self._is_finished = np.concatenate([self._is_finished, np.zeros(n, dtype=bool)])
        self._is_superseded = np.concatenate([self._is_superseded, np.zeros(n, dtype=bool)])


def _read_only(view: NDArray[T]) -> NDArray[T]:
    view = view.view()
    view.flags.writeable = False
    return view
