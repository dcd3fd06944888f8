"""`Study`: history, method and store; with `loop.py` the only module that knows every seam.

One call of `ask` is one record in the store, however many points it gave, so a crash cannot cut a batch in two. A trial
without a result is submitted again under its own number, hence with its own splits, when the study is opened again; so
results of a generation may be recorded together, as long as little work is at risk.
"""

from __future__ import annotations

import json
import logging
import math
import platform
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from comitia.errors import ChoiceError, ExhaustedError, SpaceError, StoreError, StoreMismatch, TellError
from comitia.evaluation.table import failed, metrics_of
from comitia.history import History, Observation, Predictions, Trial, Truth
from comitia.learners import get_space
from comitia.methods import METHODS, Method, get_method
from comitia.seams import Ask, Evaluator, Judging, Member, Store
from comitia.seeds import Seeds, fresh_seed
from comitia.selections.single import nothing_found
from comitia.space import Config, Space
from comitia.study.budget import Budget
from comitia.study.interrupts import held_back, watched
from comitia.study.loop import Result, Run, Task, make_executor
from comitia.study.store import MemoryStore, make_store

if TYPE_CHECKING:
    import pandas as pd  # imported where it is used: it would be most of comitia's import time

log = logging.getLogger("comitia")
Callback = Callable[["Study", Observation], object]
MOST_SECONDS_AT_RISK = 0.25
"""A generation's results are recorded with the next one's asks, or when more than so many seconds went into them."""


class Study:
    """A search: what was tried, what came of it, and what to try next.

    Parameters
    ----------
    space : Space, ConfigSpace.ConfigurationSpace, dict or str
        What to search; a string names a ready-made space. May be left out when `storage` holds a study.
    method : str or Method
        A row of the registry, see `comitia.methods.registry`. If not given: what the storage was begun with, else "rs".
    seed : int, optional
        The same seed and data give the same study. Drawn and recorded if not given.
    storage : str, Path or Store, optional
        Path of one SQLite file; opening it again resumes. In memory if not given.

    Examples
    --------
    >>> from comitia import Study
    >>> study = Study({"x": [1, 2, 3]}, method="grid", seed=0)
    >>> for _ in range(3):
    ...     [trial] = study.ask()
    ...     study.tell(trial, (trial.config["x"] - 2) ** 2)
    >>> study.best_trial.config
    Config(x=2)
    """

    def __init__(
        self,
        space: Any = None,
        method: str | Method | None = None,
        *,
        seed: int | None = None,
        storage: str | Path | Store | None = None,
    ) -> None:
        wanted = None if method is None else get_method(method)
        given = None if space is None else _make_space(space)
        if seed is not None:
            Seeds(seed)  # refuses what is not a seed before a file is made
        self.store: Store = make_store(storage)
        header = self._header(given, wanted, seed)
        self.method = wanted or get_method(header["method"])
        self.space = given if given is not None else Space.from_json(header["space"])
        self.seeds = Seeds(header["seed"])
        self.stop_reason: str | None = None
        self._optimizer = self.method.make_optimizer(self.space)
        self.is_stopped = False
        self._outbox: list[Result] = []  # results that the store has not got yet
        self._seconds_at_risk, self._recorded_at = 0.0, time.monotonic()
        self.history = History(len(self.space), self._load_predictions, space=self.space)
        if (truth := self.store.get("truth")) is not None:
            self.history.truth = Truth.from_bytes(truth)
        trials, observations = self.store.read(self.space.decode)
        for trial in trials:
            self.history.append(trial)
        for observation in observations:
            self.history.finish(observation)
        self._n_batches = trials[-1].batch + 1 if trials else 0
        self._waiting = {trial.number: trial for trial in self.history.pending}  # asked, in nobody's hands
        if trials:
            log.info("resuming with %d trials, %d of them finished", len(trials), len(observations))

    def _header(self, space: Space | None, method: Method | None, seed: int | None) -> dict[str, Any]:
        """Read what the record says of its study and compare, or write it if the record is new."""
        data = self.store.get("study")
        if data is None:
            if space is None:
                raise ChoiceError("A new study needs a space. Got none, and the storage holds no study.")
            header = {
                "space": space.to_json(),
                "method": "rs" if method is None else method.name,
                "seed": fresh_seed() if seed is None else int(seed),
                "versions": versions(),
            }
            self.store.put("study", json.dumps(header).encode())
            return header
        try:
            header = json.loads(data)
        except ValueError as error:
            raise StoreError(f"The study's record is damaged: {error}. Restore a copy, or use another path.") from error
        if space is not None and json.loads(header["space"]) != json.loads(space.to_json()):
            there = ", ".join(h["name"] for h in json.loads(header["space"])["hyperparameters"])
            raise self._mismatch("space", f"one over {there}", f"{space} with its ranges and conditions")
        if method is not None and header["method"] != method.name:
            raise self._mismatch("method", repr(header["method"]), repr(method.name))
        if method is None and header["method"] not in METHODS:
            self.store.close()
            raise ChoiceError(
                f"The study was begun with a method of your own, {header['method']!r}, which must be given again. "
                "Got none. Use Study(space, method, storage=...)."
            )
        if seed is not None and header["seed"] != seed:
            raise self._mismatch("seed", header["seed"], seed)
        if header["versions"] != versions():
            log.warning("the study was begun with other versions: %s", header["versions"])
        return header  # type: ignore[no-any-return]

    def _mismatch(self, what: str, there: object, here: object) -> StoreMismatch:
        self.store.close()
        return StoreMismatch(
            f"A study is resumed with the {what} it was begun with, which is {there}. Got {here} instead. "
            "Use the same, or another storage."
        )

    @classmethod
    def open(cls, storage: str | Path) -> Study:
        """Open a recorded study with the space, method and seed it was begun with."""
        if not Path(storage).is_file():
            raise StoreError(
                f"A study to open must be a file. There is no {str(storage)!r}. Begin one with Study(space)."
            )
        store = make_store(Path(storage))
        data = store.get("study")
        if data is None:
            store.close()
            raise StoreMismatch(
                f"{str(storage)!r} must hold a study. Got an empty record. Begin one with Study(space)."
            )
        return cls(storage=store)

    def in_memory(self) -> Study:
        """Return a copy that has no file: it can be pickled, read and gone on with, but is recorded nowhere."""
        copy = Study(self.space, self.method, seed=self.seeds.seed)
        trials = [self.history.trial(number) for number in range(len(self.history))]
        observations = self.history.observations()
        copy.store.append(trials=trials, observations=observations, blobs=self.kept())
        copy.history.truth = self.history.truth
        for trial in trials:
            copy.history.append(trial)
        for observation in observations:
            copy.history.finish(observation)
        copy._n_batches, copy._waiting = self._n_batches, dict(self._waiting)
        copy.stop_reason = self.stop_reason
        return copy

    def kept(self) -> dict[str, bytes]:
        """Return what a method that compares rows needs beside the trials: predictions, and the truth."""
        if not self.method.compares_rows:
            return {}
        keys = ["truth", *(f"predictions/{number}" for number in range(len(self.history)))]
        return {key: blob for key in keys if (blob := self.store.get(key)) is not None}

    def close(self) -> None:
        """Write what is left and let go of the file."""
        try:
            self._flush()
        finally:
            self.store.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.method.name!r} over {self.space}: {self.history.n_finished} trials finished>"

    # ---- asking and telling ---------------------------------------------------------------------------------------

    def ask(self, n: int = 1) -> list[Trial]:
        """Return up to `n` trials to evaluate: enqueued and interrupted ones first, then the method's suggestions.

        Fewer than `n` may come; none means that results must be told first.

        Raises
        ------
        ExhaustedError
            If nothing is left to ask and nothing is pending.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ChoiceError(f"The 'n' parameter of ask must be an int >= 1. Got {n!r} instead.")
        ready = list(islice(self._waiting.values(), n))
        if len(ready) < n:
            ready += self._suggest(int(n) - len(ready))
        for trial in ready:
            self._waiting.pop(trial.number, None)
        if not ready and not self.history.n_pending:
            raise ExhaustedError(
                f"A study can ask while there is something new to try. All {self.history.n_configs} configurations of "
                "the space were asked. Stop, or use a larger space."
            )
        return ready

    def _suggest(self, n: int) -> list[Trial]:
        values = self.method.goal.values(self.history, self.seeds)
        # a generation is one record, whoever evaluates it and when: what is not wanted yet waits
        most = sys.maxsize if self._optimizer.needs.generations else n
        asks = list(self._optimizer.ask(self.history, values, most, self.seeds))
        if len(asks) > most:
            raise ChoiceError(f"An optimizer must return at most {n} asks. Got {len(asks)} from {self.method.name!r}.")
        if not asks:
            return []
        trials = self._begin(asks, self.space.decode(np.array([ask.x for ask in asks])))
        self._waiting |= {trial.number: trial for trial in trials[n:]}
        return trials[:n]

    def _begin(self, asks: Sequence[Ask], configs: Sequence[Config]) -> list[Trial]:
        """Give asks their numbers and record them: one record, all or nothing."""
        first = len(self.history)
        trials = [
            self._number(first + i, ask, config) for i, (ask, config) in enumerate(zip(asks, configs, strict=True))
        ]
        with held_back():
            self._flush(trials)
            for trial in trials:
                self.history.append(trial)
            self._n_batches += 1
        return trials

    def _number(self, number: int, ask: Ask, config: Config) -> Trial:
        root, first_repeat = number, 0
        if ask.continues is not None:
            observation = self.history.observation(ask.continues)
            if observation is None or not observation.is_ok:
                raise ChoiceError(
                    f"A trial must continue one that succeeded. Got an ask that continues trial {ask.continues}, which "
                    f"{'is pending' if observation is None else 'failed'}."
                )
            parent = observation.trial
            root = parent.root
            # further folds belong to the parent's own resamplings, further repeats come after them
            first_repeat = parent.first_repeat + (parent.repeats if ask.folds is None else 0)
        return Trial(
            number,
            self._n_batches,
            tuple(np.asarray(ask.x, dtype=np.float64).tolist()),
            config,
            ask.repeats,
            ask.folds,
            ask.continues,
            root,
            first_repeat,
        )

    def tell(self, trial: Trial | int, loss: float | None = None, *, error: str | None = None) -> None:
        """Report the loss of a trial, or with `error` that it failed.

        Raises
        ------
        TellError
            If the trial was never asked, has a result already, or the loss is not a finite number.
        """
        if error is not None and loss is not None:
            raise TellError(f"A trial either has a loss or failed. Got loss={loss!r} and error={error!r}.")
        if error is None and isinstance(loss, str):
            raise TellError(f"The loss of a trial must be a finite number. Got {loss!r}. Use tell(trial, error=...).")
        self.tell_all([(trial, loss if error is None else error)])

    def tell_all(self, results: Iterable[tuple[Trial | int, float | str | None]]) -> None:
        """Report many results in one transaction; a string is the text of a failure."""
        checked: dict[int, Result] = {}
        for trial, result in results:
            observation = self._observation_of(trial, result)
            if observation.number in checked:
                raise TellError(f"A trial must be told once. Got trial {observation.number} twice.")
            checked[observation.number] = (observation, None)
        self.record(list(checked.values()))

    def _observation_of(self, trial: Trial | int, result: float | str | None) -> Observation:
        number = trial.number if isinstance(trial, Trial) else trial
        if not isinstance(number, int | np.integer) or not 0 <= number < len(self.history):
            raise TellError(
                f"A result must be told for a trial that this study asked, 0 to {len(self.history) - 1}. "
                f"Got {number!r} instead. Use the trials that ask() returns."
            )
        asked = self.history.trial(int(number))
        if self.history.observation(asked.number) is not None:
            raise TellError(f"A trial must be told once. Got a second result for trial {number}.")
        if isinstance(trial, Trial) and trial != asked:
            raise TellError(f"Trial {number} must be the one that this study asked. Got another study's trial.")
        if isinstance(result, str):
            return failed(asked, "failed", result, 0.0)
        if isinstance(result, np.ndarray) and result.ndim == 0:
            result = result.item()
        if not isinstance(result, float | int | np.number) or not math.isfinite(result):
            raise TellError(
                f"The loss of a trial must be a finite number. Got {result!r} for trial {number}. "
                "If it failed, use tell(trial, error='what happened')."
            )
        return Observation(asked, "ok", (float(result),))

    def record(self, results: Sequence[Result], *, may_wait: bool = False) -> None:
        """Take results into the history and the store.

        With `may_wait` those of a generation are written with the asks of the next one, or after a quarter of a second.
        """
        with held_back():
            for result, predictions in results:
                observation = self._with_earlier(result)
                self.history.finish(observation)
                self._waiting.pop(observation.number, None)
                self._outbox.append((observation, predictions))
                self._seconds_at_risk += observation.seconds
            # an evaluator may leave the seconds out: what the clock says counts too
            at_risk = max(self._seconds_at_risk, time.monotonic() - self._recorded_at)
            if not (may_wait and self._optimizer.needs.generations) or at_risk > MOST_SECONDS_AT_RISK:
                self._flush()

    def put_back(self, trials: Sequence[Trial]) -> None:
        """Take trials back that were asked and not begun: they are the first to be asked again."""
        self._waiting = {t.number: t for t in sorted([*self._waiting.values(), *trials], key=lambda t: t.number)}

    def _with_earlier(self, observation: Observation) -> Observation:
        """Put the losses of the trial that this one continues before its own."""
        parent = observation.trial.continues
        if parent is None or not observation.is_ok:
            return observation
        earlier = self.history.observation(parent)
        assert earlier is not None
        metrics = {name: earlier.metrics.get(name, ()) + scores for name, scores in observation.metrics.items()}
        return replace(
            observation,
            losses=earlier.losses + observation.losses,
            metrics=metrics,
            selection_losses=earlier.selection_losses + observation.selection_losses,
        )

    def _flush(self, trials: Sequence[Trial] = ()) -> None:
        """Write what the store has not got yet, and new trials; if it cannot, keep the results for the next time."""
        if not self._outbox and not trials:
            return
        blobs = {
            f"predictions/{observation.number}": predictions.to_bytes()
            for observation, predictions in self._outbox
            if predictions is not None
        }
        observations = [observation for observation, _ in self._outbox]
        with held_back():
            self.store.append(trials=trials, observations=observations, blobs=blobs)
            self._outbox = []
            self._seconds_at_risk, self._recorded_at = 0.0, time.monotonic()

    def _load_predictions(self, number: int) -> Predictions | None:
        for observation, predictions in self._outbox:
            if observation.number == number:
                return predictions
        data = self.store.get(f"predictions/{number}")
        return None if data is None else Predictions.from_bytes(data)

    def enqueue(self, config: Mapping[str, Any]) -> Trial:
        """Ask for a configuration of the user's before any other; it is recorded at once.

        Reals keep ten significant digits. One that was asked already is not asked again, so that a script can be run
        again: its trial is returned.
        """
        if not isinstance(config, Mapping):
            raise SpaceError(f"A configuration must be a dict of hyperparameters. Got {config!r} instead.")
        X = self.space.encode([config])
        configs = self.space.decode(X)
        if (known := self.history.number_of(configs[0])) is not None:
            return self.history.trial(known)
        [trial] = self._begin([Ask(X[0])], configs)
        self._waiting[trial.number] = trial
        return trial

    def warm_start(self, older: Study, n: int = 10) -> int:
        """Enqueue the best `n` configurations of an older study that this space allows; return how many are new."""
        if not isinstance(older, Study):
            raise ChoiceError(f"A warm start needs a Study. Got {older!r} instead. Use Study.open(path).")
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise ChoiceError(f"The 'n' parameter of warm_start must be an int >= 1. Got {n!r} instead.")
        usable = np.where(older.history.is_superseded, np.nan, older.history.losses)
        order = [int(i) for i in np.argsort(usable, kind="stable") if not math.isnan(usable[i])]
        n_fitting, before = 0, len(self.history)
        for number in order:
            try:
                self.enqueue(older.history.trial(number).config)
            except ValueError:  # not of this space: older studies may have had other ranges
                continue
            n_fitting += 1
            if n_fitting == n:
                break
        return len(self.history) - before

    # ---- running --------------------------------------------------------------------------------------------------

    def run(
        self,
        evaluator: Evaluator,
        *,
        n_trials: int | None = None,
        time_limit: float | None = None,
        n_evaluations: int | None = None,
        n_jobs: int | None = None,
        executor: Executor | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool = False,
    ) -> Study:
        """Search until the budget is spent, the space is exhausted, or Ctrl-C.

        Parameters
        ----------
        evaluator : Evaluator
            What a trial means: `TableEvaluator`, `FunctionEvaluator`, or your own.
        n_trials, n_evaluations : int, optional
            Trials, and fits, that the study holds at the end: those of earlier runs count.
        time_limit : float, optional
            Seconds for everything in this call. With no limit at all, 60 s.
        n_jobs : int, optional
            Trials at a time; by default the executor's number of workers, else 1. Without an executor, more than one,
            or a `time_limit`, means worker processes, which can be killed.
        executor : concurrent.futures.Executor, optional
            `Workers(2, trial_time_limit=10)` for limits on a trial; or any other executor.
        callbacks : iterable of callable (study, observation)
            Called after each trial; `study.stop()` ends the run.
        progress : bool
            Show a progress bar on standard error.
        """
        meter = Budget(time_limit, n_trials, n_evaluations).start()
        callbacks = _checked_callbacks(callbacks)
        self._check_evaluator(evaluator)
        pool, n_slots = make_executor(executor, n_jobs, needs_kill=meter.budget.time_limit is not None)
        self.is_stopped = False
        with ExitStack() as stack:
            stack.enter_context(watched())
            if progress:
                from comitia.study.progress import ProgressBar

                bar = stack.enter_context(ProgressBar(meter))
                callbacks.append(bar.update)
            log.info("running %s with %d at a time, %s", self.method.name, n_slots, meter.budget)
            in_hands = {trial.number for trial in self.history.pending} - set(self._waiting)
            notify = partial(_notify, callbacks, self)
            run = Run(self, Task(evaluator, self.seeds), pool, n_slots, meter, notify)
            try:
                self.stop_reason = run.loop()
            except KeyboardInterrupt:
                self.stop_reason = "interrupted"
                log.warning(
                    "interrupted with %d trials finished; what was found is kept, run again to go on",
                    self.history.n_finished,
                )
            except BaseException:
                with suppress(StoreError):  # the first error is the one to report
                    self._flush()
                raise
            finally:
                # first: an impatient second Ctrl-C while workers are stopped must not leave trials in nobody's hands
                self.put_back([trial for trial in self.history.pending if trial.number not in in_hands])
                run.give_up()
            self._flush()
        log.info("stopped (%s) after %d trials in %.1f s", self.stop_reason, self.history.n_finished, meter.seconds)
        return self

    def _check_evaluator(self, evaluator: Evaluator) -> None:
        """Refuse what is not an evaluator, or judges trials in another way than those that are recorded."""
        if not isinstance(evaluator, Evaluator) or not isinstance(evaluator.judging, Judging):
            raise ChoiceError(
                "An evaluator must be a TableEvaluator, a FunctionEvaluator, or be called as evaluator(trial, seeds) "
                f"and have n_fits(trial) and judging. Got {evaluator!r} instead. For a function of a configuration use "
                "FunctionEvaluator(function), or minimize; a class of your own with nothing to say about how it judges "
                "has the line judging = Judging(), from comitia.seams."
            )
        judging = evaluator.judging
        if judging.resampling is not None:
            self.method.check_resampling(judging.resampling)
        if self.method.compares_rows:
            self._take_truth(evaluator)
        self.method.check_selection_split(judging.selection_split)
        if judging.fingerprint is not None and not isinstance(self.store, MemoryStore):
            here = judging.fingerprint().encode()
            there = self.store.get("evaluator")
            if there is None:
                self.store.put("evaluator", here)
            elif there != here:
                raise StoreMismatch(
                    "A study must be resumed with the table, splits and loss that it was begun with, else its trials "
                    "cannot be compared. Got others. Use the same, or another storage."
                )

    def _take_truth(self, evaluator: Evaluator) -> None:
        """Keep what the rows truly are, for a goal or selection that compares trials row by row."""
        truth = evaluator.judging.truth
        if truth is None or evaluator.judging.keep == "nothing":
            raise ChoiceError(
                f"The method {self.method.name!r} compares trials row by row, so it needs an evaluator that keeps "
                f"predictions and knows the truth. Got {type(evaluator).__name__}, which keeps none. Use "
                "TableEvaluator(..., keep='predictions') (or 'probabilities'), or another method."
            )
        self.history.truth = truth
        if self.store.get("truth") is None:
            self.store.put("truth", truth.to_bytes())

    def stop(self) -> None:
        """End the current run after the trial that just finished; for callbacks."""
        self.is_stopped = True

    # ---- results --------------------------------------------------------------------------------------------------

    @property
    def best_trial(self) -> Observation:
        """The finished trial with the smallest loss."""
        best = self.history.best
        if best is None:
            raise nothing_found(self.history)
        return best

    def members(self) -> list[Member]:
        """Return what the method hands over: configurations with weights that sum to 1."""
        return list(self.method.selection.members(self.history, self._optimizer, self.seeds))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a trial: number, status, loss, metrics, seconds, error and the configuration."""
        import pandas as pd

        rows = []
        for number in range(len(self.history)):
            trial = self.history.trial(number)
            observation = self.history.observation(number)
            row: dict[str, Any] = {"number": number, "status": "pending", "loss": math.nan}
            if observation is not None:
                row |= {"status": observation.status, "loss": float(self.history.losses[number])}
                row |= metrics_of(observation)
                row |= {"seconds": observation.seconds, "error": observation.error}
            rows.append(row | {f"config.{name}": value for name, value in trial.config.items()})
        return pd.DataFrame(rows)


def _notify(callbacks: Sequence[Callback], study: Study, observation: Observation) -> None:
    for callback in callbacks:
        callback(study, observation)


def _checked_callbacks(callbacks: Any) -> list[Callback]:
    found = list(callbacks) if isinstance(callbacks, Iterable) else [callbacks]
    if not isinstance(callbacks, Iterable) or not all(callable(callback) for callback in found):
        raise ChoiceError(f"'callbacks' must be a list of functions (study, observation). Got {callbacks!r} instead.")
    return found


def _make_space(space: Any) -> Space:
    if isinstance(space, str):
        return get_space(space).space
    return space if isinstance(space, Space) else Space(space)


def versions() -> dict[str, str]:
    """Return the versions of what results depend on."""
    packages = {name: version(name) for name in ("comitia", "numpy", "scipy", "scikit-learn", "ConfigSpace")}
    return {"python": platform.python_version(), **packages}
