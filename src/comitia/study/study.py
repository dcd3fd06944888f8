"""`Study`: history, method and record; with `loop.py` the only module that knows every seam.

One call of `ask` is one record in the store, however many points it gave, so a crash cannot cut a batch in two.
"""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from comitia.errors import (
    ChoiceError,
    ExhaustedError,
    SpaceError,
    StoreError,
    StoreMismatch,
    TellError,
    UnknownName,
    check_int,
)
from comitia.execution.crew import ExecutorLike, make_crew
from comitia.history import History, Observation, Trial
from comitia.learners.registry import SpaceLike, make_space
from comitia.methods import Method, get_method
from comitia.seams import Ask, Bar, Evaluator, Judging, Member, Store
from comitia.seeds import Seeds
from comitia.selections.single import found_best
from comitia.space import Config, Space
from comitia.study.budget import DEFAULT_SECONDS, Budget
from comitia.study.entries import checked_callbacks, make_observation, make_trials
from comitia.study.frame import frame_of
from comitia.study.interrupts import held_back, watched
from comitia.study.lagged import Lagged
from comitia.study.loop import Evaluate, Run
from comitia.study.pace import Pace
from comitia.study.record import DIRECTIONS, Direction, Result, StudyRecord
from comitia.study.store import MemoryStore, make_store

log = logging.getLogger("comitia")
Callback = Callable[["Study", Observation], object]


class Study:
    """A search: what was tried, what came of it, and what to try next.

    Parameters
    ----------
    space : Space, ConfigSpace.ConfigurationSpace, dict or str
        What to search; a string names a ready-made space. May be left out when `storage` holds a study.
    method : str or Method
        A method, or its name in `comitia.METHODS`. If not given: what the storage was begun with, else "bayes".
    seed : int, optional
        The same seed and data give the same study. Drawn and recorded if not given.
    storage : str, Path or Store, optional
        Path of one SQLite file; opening it again resumes. In memory if not given.
    direction : {"minimize", "maximize"}, optional
        What is done with the numbers that are told, or that a function returns. Recorded; if not given: what the
        storage was begun with, else "minimize". With "maximize" everything called a *loss* is the number with its sign
        turned; `best_value`, `Observation.value`, `to_frame` and the progress bar have the user's sign.
    lag : int, optional
        Suggestion k knows the results of trials 0 to k - lag and takes the later ones as pending, so that the study is
        the same for one to `lag` workers. If not given: what the storage was begun with, else all results count.

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
        space: SpaceLike | None = None,
        method: str | Method | None = None,
        *,
        seed: int | None = None,
        storage: str | Path | Store | None = None,
        direction: Direction | None = None,
        lag: int | None = None,
    ) -> None:
        if direction is not None and direction not in DIRECTIONS:
            raise UnknownName("direction", direction, DIRECTIONS)
        wanted = None if method is None else get_method(method)
        given = None if space is None else make_space(space)
        if seed is not None:
            Seeds(seed)  # refuses what is not a seed before a file is made
        if lag is not None:
            check_int("Study", "lag", lag)
        self._record = StudyRecord(make_store(storage))
        self._header = self._record.begin_or_compare(given, wanted, seed, direction, lag)
        self.method = wanted or get_method(self._header.method)
        self.space = given if given is not None else Space.from_json(self._header.space)
        self.seeds = Seeds(self._header.seed)
        self.direction, self.lag = self._header.direction, self._header.lag
        self.history = self._record.history(self.space, self.direction)
        self.stop_reason: str | None = None
        self.is_stopped = False
        self._optimizer = self.method.make_optimizer(self.space)
        always_waits = self._optimizer.needs.generations  # for all of a generation, whoever works on it
        self._lagged = None if self.lag is None or always_waits else Lagged(self.history, self.lag)

    @classmethod
    def open(cls, storage: str | Path) -> Study:
        """Open a recorded study with the space, method and seed it was begun with."""
        if not Path(storage).is_file():
            raise StoreError(
                f"A study to open must be a file. There is no {str(storage)!r}. Begin one with Study(space)."
            )
        store = make_store(Path(storage))
        if StudyRecord(store).header() is None:
            store.close()
            raise StoreMismatch(
                f"{str(storage)!r} must hold a study. Got an empty record. Begin one with Study(space)."
            )
        return cls(storage=store)

    @property
    def store(self) -> Store:
        """Where the study is recorded."""
        return self._record.store

    def in_memory(self) -> Study:
        """Return a copy that has no file: it can be pickled, read and resumed, but is recorded nowhere."""
        store = MemoryStore()
        self.copy_to(store)
        copy = Study(self.space, self.method, storage=store)
        for trial in self.history.begun:
            copy.history.begin(trial.number)
        copy.stop_reason = self.stop_reason
        return copy

    def copy_to(self, store: Store) -> None:
        """Write the study into another store, which must be empty, with the predictions if its method needs them."""
        self._record.copy_to(store, self._header, self.history, with_rows=self.history.truth is not None)

    def close(self) -> None:
        """Write what is left and let go of the file."""
        self._record.close()

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
        check_int("ask", "n", n)
        trials = self.propose(int(n))
        for trial in trials:
            self.history.begin(trial.number)
        return trials

    def propose(self, n: int) -> list[Trial]:
        """Return what `ask` would return, without beginning it: the trials are still waiting."""
        trials = list(islice(self.history.waiting, n))
        if len(trials) < n:
            trials += self._suggest(n - len(trials))
        if not trials and not self.history.n_pending:
            raise ExhaustedError(
                f"A study can ask while there is something new to try. All {self.history.n_configs} configurations of "
                "the space were asked. Stop, or use a larger space."
            )
        return trials

    def _suggest(self, n: int) -> list[Trial]:
        if self._lagged is None:
            return self._suggest_by(self.history, n)
        trials: list[Trial] = []
        while len(trials) < n:
            # one that waits for results is asked again, when they must be there
            found = next(filter(None, (self._suggest_by(known, 1) for known in self._lagged.views())), None)
            if not found:
                break
            trials += found
        return trials

    def _suggest_by(self, history: History, n: int) -> list[Trial]:
        """Append up to `n` suggestions, by what a history says."""
        values = self.method.goal.values(history, self.seeds)
        # a generation is one record, whoever evaluates it and when: what is not wanted yet waits
        most = sys.maxsize if self._optimizer.needs.generations else n
        asks = list(self._optimizer.ask(history, values, most, self.seeds))
        if len(asks) > most:
            raise ChoiceError(f"An optimizer must return at most {n} asks. Got {len(asks)} from {self.method.name!r}.")
        if not asks:
            return []
        return self._append(asks, self.space.decode(np.array([ask.x for ask in asks])))[:n]

    def _append(self, asks: Sequence[Ask], configs: Sequence[Config]) -> list[Trial]:
        """Give asks their numbers and record them: one record, all or nothing."""
        trials = make_trials(self.history, asks, configs)
        with held_back():
            self._record.write(trials)
            for trial in trials:
                self.history.append(trial)
        return trials

    def tell(self, trial: Trial | int, loss: float | None = None, *, error: str | None = None) -> None:
        """Report the loss of a trial (in a study that maximises: its value), or with `error` that it failed.

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
            observation = make_observation(self.history, trial, result)
            if observation.number in checked:
                raise TellError(f"A trial must be told once. Got trial {observation.number} twice.")
            checked[observation.number] = (observation, None)
        self.record(list(checked.values()))

    def record(self, results: Sequence[Result], *, may_wait: bool = False) -> list[Observation]:
        """Take results into the history and the record, and return them as they are there: as losses.

        With `may_wait` those of a generation are written with the asks of the next one, or after a quarter of a second.
        """
        recorded = []
        with held_back():
            for result, predictions in results:
                loss = result if self.direction == "minimize" else result.turned()  # here, and nowhere else
                parent = result.trial.continues
                earlier = None if parent is None else self.history.observation(parent)
                observation = loss if earlier is None else loss.continuing(earlier)
                self.history.finish(observation)
                self._record.add(observation, predictions)
                recorded.append(observation)
            if not (may_wait and self._optimizer.needs.generations and self._record.may_wait):
                self._record.write()
        return recorded

    def bar_for(self, trial: Trial) -> Bar | None:
        """Return what a trial is compared with, fold by fold, as the method has it; None if all its folds count."""
        lazy = self.method.lazy if self.lag is None else None  # what a trial meets depends on who works how fast
        return None if lazy is None else lazy.bar(self.history, trial)

    def enqueue(self, config: Mapping[str, object]) -> Trial:
        """Have a configuration asked before any other; it is recorded at once.

        Reals keep ten significant digits. For a configuration that was asked already its trial is returned, so that a
        script can be run again.
        """
        if not isinstance(config, Mapping):
            raise SpaceError(f"A configuration must be a dict of hyperparameters. Got {config!r} instead.")
        X = self.space.encode([config])
        configs = self.space.decode(X)
        if (known := self.history.number_of(configs[0])) is not None:
            return self.history.trial(known)
        [trial] = self._append([Ask(X[0])], configs)
        return trial

    def warm_start(self, older: Study, n: int = 10) -> int:
        """Enqueue the best `n` configurations of an older study that this space allows; return how many are new."""
        if not isinstance(older, Study):
            raise ChoiceError(f"A warm start needs a Study. Got {older!r} instead. Use Study.open(path).")
        check_int("warm_start", "n", n)
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
        executor: ExecutorLike | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool = False,
        pace: Pace | None = None,
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
            Trials at a time; by default the executor's number of workers, else 1. -1 means all processors, -2 all but
            one. Without an executor, more than one, or a `time_limit`, means worker processes, which can be killed.
        executor : concurrent.futures.Executor, dask.distributed.Client or str, optional
            `Workers(2, trial_time_limit=10)` for limits on a trial; any other executor; a Dask client, or an address.
        callbacks : iterable of callable (study, observation)
            Called after each trial; `study.stop()` ends the run. `Patience(20)` is one.
        progress : bool
            Show a progress bar on standard error; a line every few seconds where that is no terminal.
        pace : Pace, optional
            Ends the run earlier, and keeps trials waiting that would not end in time; see `comitia.study.pace`.
        """
        meter = Budget(time_limit, n_trials, n_evaluations).start()
        if time_limit is n_trials is n_evaluations is None:
            log.warning("no budget was given, so the search takes %g s: set n_trials or time_limit", DEFAULT_SECONDS)
        callbacks = checked_callbacks(callbacks)
        self._check_evaluator(evaluator)
        must_kill = meter.budget.time_limit is not None
        crew = make_crew(Evaluate(evaluator, self.seeds), executor, n_jobs, must_kill=must_kill)
        self.is_stopped = False
        with ExitStack() as stack:
            stack.enter_context(watched())
            if progress:
                from comitia.study.progress import make_progress

                shown = stack.enter_context(make_progress(meter))
                callbacks.append(shown.update)
            log.info("running %s with %d at a time, at most %s", self.method.name, crew.n_slots, meter.budget)

            def notify(observation: Observation) -> None:
                for callback in callbacks:
                    callback(self, observation)

            try:
                self.stop_reason = Run(self, crew, evaluator.n_fits, meter, notify, pace).loop()
            except KeyboardInterrupt:
                self.stop_reason = "interrupted"
                log.warning("interrupted with %d trials finished; what was found is kept", self.history.n_finished)
            except BaseException:
                with suppress(StoreError):  # the first error is the one to report
                    self._record.write()
                raise
            finally:
                try:
                    # first: after a second Ctrl-C, while workers are stopped, the trials must wait again
                    with held_back():
                        self.history.give_back(task.number for task in crew.tasks)
                finally:
                    crew.close()
            self._record.write()
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
        if self.direction == "maximize" and judging.resampling is not None:
            raise ChoiceError(
                f"A study that maximises needs an evaluator whose numbers are yours. Got {type(evaluator).__name__}, "
                "which judges tables by losses. Leave out direction='maximize', and name a score as its loss."
            )
        if judging.resampling is not None:
            self.method.check_resampling(judging.resampling)
        if self.method.compares_rows or judging.keep != "nothing":
            self._take_truth(evaluator)
        self.method.check_selection_split(judging.selection_split)
        if judging.fingerprint is not None:
            self._record.compare_evaluator(judging.fingerprint)

    def _take_truth(self, evaluator: Evaluator) -> None:
        """Keep what the rows truly are, for a goal or selection that compares trials row by row."""
        truth = evaluator.judging.truth
        if truth is None and not self.method.compares_rows:
            return
        if truth is None or evaluator.judging.keep == "nothing":
            raise ChoiceError(
                f"The method {self.method.name!r} compares trials row by row, so it needs an evaluator that keeps "
                f"predictions and knows the truth. Got {type(evaluator).__name__}, which keeps none. Use "
                "TableEvaluator(..., keep='predictions') (or 'probabilities'), or another method."
            )
        self.history.truth = truth
        self._record.keep_truth(truth)

    def stop(self) -> None:
        """End the current run after the trial that just finished; for callbacks."""
        self.is_stopped = True

    # ---- results --------------------------------------------------------------------------------------------------

    @property
    def best_trial(self) -> Observation:
        """The finished trial with the smallest loss."""
        return found_best(self.history)

    @property
    def best_value(self) -> float:
        """The best number in the user's sign: the smallest loss, or the largest value of a study that maximises."""
        return self.best_trial.value

    def members(self, history: History | None = None) -> list[Member]:
        """Return what the method hands over: configurations with weights that sum to 1.

        With a `history`, what it would hand over if the same trials had ended like that.
        """
        known = self.history if history is None else history
        return list(self.method.selection.members(known, self._optimizer, self.seeds))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per trial: number, status, loss, metrics, seconds, error and the configuration.

        A study that maximises has the column "value" in place of "loss". A metric that is called as one of these
        columns is in the column "metrics.<name>".
        """
        return frame_of(self.history, "loss" if self.direction == "minimize" else "value")
