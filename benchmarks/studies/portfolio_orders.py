"""In which order to try configurations: greedy cover, and what an order is worth on a set that it did not see."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from portfolio_entries import entries
from portfolio_pools import Pool, regrets

from comitia.arrays import Array
from comitia.evaluation.scoring import Task
from comitia.learners.default import LEARNERS

TASKS: tuple[Task, ...] = ("classification", "regression")
SECONDS = (1.0, 3.0, 10.0, 30.0)
OVERHEAD = 0.2
"""Seconds that an entry costs beside its fits, so that a very fast one is not for nothing; a guess."""
LONGEST = 16
"""Entries of a portfolio."""
CHEAPEST = [name for name, learner in LEARNERS.items() if learner.default_for]
"""What is tried first without a portfolio: the default of every learner."""
EXTRAS = [name for name, learner in LEARNERS.items() if learner.package is not None]


def learner_of(entry: str) -> str:
    return entry.partition("/")[0]


OFFERED: dict[str, Callable[[str], bool]] = {
    "all entries": lambda entry: True,
    "without CatBoost and XGBoost": lambda entry: learner_of(entry) not in EXTRAS,
    "default learners alone": lambda entry: learner_of(entry) in CHEAPEST,
}
"""From what a portfolio may be made."""


@dataclass(eq=False)
class Cover:
    """Greedy orders over any part of some sets; what a beginning is worth on a set is computed once.

    An order begins with the entry that leaves the least regret in the mean over sets: of what can be learned, that is
    from the prior's loss to that of the committee of all entries, the part that was not. Each next one leaves the least
    beside those before; by seconds it gains most per second. Where none gains anything the defaults of the default
    learners that are not there follow, as in the default space.
    """

    pools: Sequence[Pool]
    offered: Callable[[str], bool] = lambda name: True
    known: dict[tuple[str, frozenset[str]], Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        every = {name for pool in self.pools for name in pool.seconds}
        self.names = sorted(name for name in every if self.offered(name))
        self.references = {pool.name: pool.loss_of(self.names) for pool in self.pools}

    def order(self, pools: Sequence[Pool], *, by_seconds: bool) -> list[str]:
        """Return names of entries, the first ones first."""
        chosen: list[str] = []
        left = 1.0
        price = np.array([np.mean([pool.seconds.get(name, 0.0) for pool in pools]) for name in self.names]) + OVERHEAD
        while len(chosen) < min(LONGEST, len(self.names)):
            then = np.mean([self._after(pool, chosen) for pool in pools], axis=0)
            gain = left - then
            gain[[self.names.index(name) for name in chosen]] = -np.inf
            best = int((np.where(gain > 0, gain / price, -np.inf) if by_seconds else gain).argmax())
            if gain[best] <= 0:
                break
            chosen.append(self.names[best])
            left = float(then[best])
        there = {learner_of(name) for name in chosen}
        return chosen + [name for name in CHEAPEST if name not in there and self.offered(name)]

    def _after(self, pool: Pool, chosen: list[str]) -> Array:
        """Return the regret that each entry would leave beside those chosen, (n_names,)."""
        key = pool.name, frozenset(chosen)
        if key not in self.known:
            masks = np.repeat(pool.allowed(chosen)[None], len(self.names), axis=0)
            for row, name in zip(masks, self.names, strict=True):
                if name in pool.places:
                    row[pool.places[name]] = True
            losses = pool.losses(pool.committees(masks))
            self.known[key] = regrets(losses, self.references[pool.name], pool.prior)
        return self.known[key]

    def left_out(self, pools: Sequence[Pool], *, by_seconds: bool) -> dict[str, list[str]]:
        """Return for each of some sets the order that the others of them make."""
        return {
            pool.name: self.order([one for one in pools if one is not pool], by_seconds=by_seconds) for pool in pools
        }


def after_entries(pool: Pool, order: list[str], n: int) -> float:
    """Return the test loss of the committee of the first n."""
    return pool.loss_of(order[:n])


def after_seconds(pool: Pool, order: list[str], seconds: float) -> float:
    """Return the test loss of the committee of all that have ended after some seconds of a processor."""
    ended, used = [], 0.0
    for name in order:
        used += pool.seconds.get(name, 0.0)
        if used > seconds:
            break
        ended.append(name)
    return pool.loss_of(ended)


def derive(pools: Sequence[Pool]) -> None:
    """Print orders of all sets, for each task and with what is offered, as data of the default space."""
    for task in TASKS:
        those = [pool for pool in pools if pool.task == task]
        points = {entry.name: entry.config for entry in entries(task)}
        for offered, is_offered in OFFERED.items():
            cover = Cover(those, is_offered)
            for by_seconds in (False, True):
                order = cover.order(those, by_seconds=by_seconds)
                print(f"# {task}, {offered}, {'gain per second' if by_seconds else 'gain'}: {', '.join(order)}")
                print(f'Portfolio(name="{task}", task="{task}", trials=(')
                for name in order:
                    print(f"    {points[name]},".replace("'", '"'))
                print("))\n")
