"""Simulated workers: the real loop of a study under a virtual clock, for utilisation and regret at any size.

Arguments: methods, numbers of workers, shortest and longest trial in seconds, trials per worker, first seed, seeds.
Trials take no time here, but count as lasting uniformly between the two lengths; what the driver computes (suggestions,
values, the record) is measured as processor time and added to the clock, while trials go on. Utilisation is the part of
all workers' time that trials take until the last one begins: after that workers run empty, whoever searches. Regret is
that of the trial with the least loss on the conditional function of `synthetic`.
"""

import heapq
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from synthetic import Function

from comitia import FunctionEvaluator, Study
from comitia.execution.outcome import Outcome
from comitia.history import Trial
from comitia.space import Config
from comitia.study.budget import Budget
from comitia.study.loop import Evaluate, Run, Task
from comitia.study.record import Result

Length = Callable[[Trial], float]


@dataclass
class SimulatedCrew:
    """So many workers whose trials end when a virtual clock says so; see `comitia.execution.crew.Crew`."""

    function: Callable[[Task], Result]
    n_slots: int
    length: Length
    """Seconds that a trial takes."""
    driver_counts: bool = True
    """Whether the seconds that the driver computes are added to the clock."""
    is_here: bool = False
    clock: float = 0.0
    driver_seconds: float = 0.0
    spans: dict[int, tuple[float, float]] = field(default_factory=dict)
    """When each trial began and ends, by its number."""
    running: list[tuple[float, int, Task]] = field(default_factory=list)
    """A heap by the end."""
    mark: float = field(default_factory=time.thread_time)

    @property
    def tasks(self) -> list[Task]:
        return [task for _, _, task in self.running]

    def begin(self, task: Task) -> None:
        self._tick()
        end = self.clock + self.length(task.trial)
        self.spans[task.number] = (self.clock, end)
        heapq.heappush(self.running, (end, task.number, task))

    def wait(self, seconds: float) -> bool:
        self._tick()
        self.clock = max(self.clock, self.running[0][0])
        return True

    def collect(self) -> list[Outcome[Task, Result]]:
        self._tick()
        found = []
        while self.running and self.running[0][0] <= self.clock:
            end, number, task = heapq.heappop(self.running)
            found.append(Outcome(task, self.function(task), None, end - self.spans[number][0]))
        self.mark = time.thread_time()  # what the function took is not the driver's
        return sorted(found, key=lambda outcome: outcome.task.number)

    def abandon(self) -> list[Outcome[Task, Result]]:
        self.running = []
        return []

    def close(self) -> None:
        self.abandon()

    def _tick(self) -> None:
        """Add what this thread has computed since the last look."""
        now = time.thread_time()
        self.driver_seconds += now - self.mark
        if self.driver_counts:
            self.clock += now - self.mark
        self.mark = now

    @property
    def utilisation(self) -> float:
        last = max(began for began, _ in self.spans.values())
        worked = sum(min(end, last) - began for began, end in self.spans.values())
        return worked / (self.n_slots * last) if last else 1.0


def uniform_lengths(shortest: float, longest: float, seed: int) -> Length:
    """Return lengths that depend on a trial's number alone."""
    return lambda trial: float(np.random.default_rng((seed, trial.number)).uniform(shortest, longest))


def simulate(
    study: Study,
    function: Callable[[Config], float],
    n_workers: int,
    n_trials: int,
    length: Length,
    *,
    driver_counts: bool = True,
) -> SimulatedCrew:
    """Run a study to so many trials, and return the crew that worked on it."""
    evaluator = FunctionEvaluator(function)
    crew = SimulatedCrew(Evaluate(evaluator, study.seeds), n_workers, length, driver_counts)
    Run(study, crew, evaluator.n_fits, Budget(n_trials=n_trials).start(), lambda observation: None).loop()
    return crew


def main() -> None:
    methods = sys.argv[1].split(",") if len(sys.argv) > 1 else ["rs", "bayes"]
    sizes = [int(n) for n in sys.argv[2].split(",")] if len(sys.argv) > 2 else [1, 8, 32, 128]
    shortest, longest = (float(sys.argv[3]), float(sys.argv[4])) if len(sys.argv) > 4 else (0.5, 2.0)
    per_worker = int(sys.argv[5]) if len(sys.argv) > 5 else 20
    first = int(sys.argv[6]) if len(sys.argv) > 6 else 0
    seeds = range(first, first + (int(sys.argv[7]) if len(sys.argv) > 7 else 1))
    print(f"trials of {shortest:g} to {longest:g} s, {per_worker} per worker; medians of {len(seeds)} seeds")
    for method in methods:
        for n_workers in sizes:
            used, spent, regrets = [], [], []
            for seed in seeds:
                function = Function(seed)
                study = Study(function.space, method, seed=seed)
                n_trials = n_workers * per_worker
                crew = simulate(study, function, n_workers, n_trials, uniform_lengths(shortest, longest, seed))
                used.append(crew.utilisation)
                spent.append(1e3 * crew.driver_seconds / n_trials)
                regrets.append(function.regret(study.best_trial.config))
            print(
                f"{method:<8}{n_workers:>5} workers, {n_trials:>6} trials: {100 * np.median(used):5.1f} % used, "
                f"{np.median(spent):6.1f} ms of the driver per trial, regret {np.median(regrets):.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
