"""Ensemble optimisation: which trial sits in which slot of the committee, as a fold over the history.

Equations, sections and lines of Alg. 4.1 are those of Lévesque 2018. The search works on one slot at a time: trial k
was asked for slot k mod m, with the others as they are (eq. 4.4), so workers that ask one by one work on different
slots; trials of one `ask(n)` are all sought for the slot of the first. When trial k is there its slot, k mod m, is
filled again from the whole pool. The slots are a fold over the finished trials in the order of their numbers: a trial
that comes late changes what follows it.

Slots are filled without replacement (§4.2.2): E_i and {h} are joined as sets. With it, copies of an early model that
have the majority of votes stay for ever, because no single slot changes a vote. How a model that sits in another slot
is scored for the surrogate (line 5) is another question, see `SlotRules.inside`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from comitia.arrays import Array, Indices, Mask
from comitia.committees.greedy import argmin_with_ties, tolerance
from comitia.committees.losses import AverageLoss, CommitteeLoss
from comitia.committees.partial import parts_of
from comitia.committees.pool import Pool, loss_for, no_members, pool_of
from comitia.committees.votes import Averages, Tally
from comitia.errors import ChoiceError, check_int
from comitia.history import History

Inside = Literal["nothing", "again", "out"]
Places = slice | Indices
Slots = tuple[int, ...]
"""The trial in each slot; -1 in an empty one."""
EMPTY = -1


@dataclass(frozen=True)
class SlotRules:
    """How the slots are filled."""

    loss: CommitteeLoss | None
    """What the search minimises, and what decides between equals when a slot is filled; see `loss_for`."""
    refill: CommitteeLoss | None = None
    """What a slot is filled by; see `loss_for`."""
    n_slots: int | None = 12
    """m; None lets the committee grow and shrink: its slots take turns with one more that is offered, and one that no
    model improves is given up."""
    with_replacement: bool = False
    """Whether a model may sit in several slots."""
    inside: Inside = "again"
    """What a model that sits in another slot scores: its vote counts "again" (multisets, always so with replacement),
    "nothing" is added (sets), or it is left "out" of what the surrogate sees. Decided by `eo-scoring`."""

    def __post_init__(self) -> None:
        if self.inside not in get_args(Inside):
            raise ChoiceError(f"'inside' of SlotRules must be one of {get_args(Inside)}. Got {self.inside!r} instead.")
        if self.n_slots is not None:
            check_int("SlotRules", "n_slots", self.n_slots)

    def turn(self, number: int, slots: Slots) -> int:
        """Return the slot that a trial works on."""
        return number % (self.n_slots if self.n_slots is not None else len(slots) + 1)


class Beside(NamedTuple):
    """What a trial would join."""

    rest: Averages
    """The committee without the slot that the trial works on."""
    now: Averages
    """The committee as it is."""


class Committee:
    """The slots of one history, and the losses of the pool beside them."""

    def __init__(self, rules: SlotRules) -> None:
        self._rules = rules
        self._done: list[int] = []
        self._states: list[Slots] = [(EMPTY,) * (rules.n_slots or 0)]
        self._generations: tuple[int | None, ...] = ()
        self._past: tuple[object, Array] | None = None  # cache: the same past is asked for until the next checkpoint

    @property
    def slots(self) -> Slots:
        """The trial in each slot."""
        return self._states[-1]

    @property
    def members(self) -> list[int]:
        """Trials of the members, one for each slot that is filled."""
        return [number for number in self.slots if number != EMPTY]

    def update(self, history: History) -> None:
        """Fold in the trials that have finished since."""
        finished = history.finished.tolist()
        generations = self._generations_of(history)
        # a pool that began again, because a trial was continued or judged more rows, may have lost one in a slot
        n_same = len(self._done) if generations == self._generations else 0
        self._generations = generations
        while self._done[:n_same] != finished[:n_same]:
            n_same -= 1
        del self._done[n_same:], self._states[n_same + 1 :]
        for number in finished[n_same:]:
            self._states.append(self._after(history, number))
            self._done.append(number)

    def _generations_of(self, history: History) -> tuple[int | None, ...]:
        """Return which pools the slots are filled from."""
        losses = [loss_for(history, loss) for loss in (self._rules.loss, self._rules.refill)]
        return tuple(None if loss is None else pool_of(history, loss).generation for loss in losses)

    def losses(self, history: History, n: int | None = None) -> tuple[Indices, Array]:
        """Return the trials of the pool and the committee's loss with each in the slot whose turn it is (line 5).

        With n, as it was when the first n trials had finished and the next was to be asked.
        """
        loss = loss_for(history, self._rules.loss)
        if loss is None:
            return np.empty(0, dtype=np.intp), np.empty(0)
        pool = pool_of(history, loss)
        following = len(history) if n is None else self._done[n - 1] + 1
        slots = self.slots if n is None else self._states[n]
        known = slice(None) if n is None else _up_to(pool.numbers, following - 1)
        numbers = pool.numbers[known]
        if not len(numbers):
            return numbers, np.empty(0)
        if n is None:
            return numbers, self._losses_beside(pool, loss, slots, self._rules.turn(following, slots), known)
        key = (following, slots, self._generations, numbers.tobytes())
        if self._past is None or self._past[0] != key:
            self._past = key, self._losses_beside(pool, loss, slots, self._rules.turn(following, slots), known)
        return numbers, self._past[1]

    def losses_in(self, history: History, slot: int) -> tuple[Indices, Array]:
        """Return the trials of the pool and the committee's loss with each in this slot (eq. 4.3)."""
        loss = loss_for(history, self._rules.loss)
        assert loss is not None, "a committee has members only where predictions were kept"
        pool = pool_of(history, loss)
        return pool.numbers, self._losses_beside(pool, loss, self.slots, slot, slice(None))

    def partial_losses(self, history: History, n: int | None = None) -> tuple[Indices, Array, Array]:
        """Return the trials that were rejected, the committee's loss with each, and the variance of that.

        As `losses`, from the rows that they have; see `partial`. Votes have none.
        """
        loss = loss_for(history, self._rules.loss)
        if isinstance(loss, AverageLoss) and history.n_rejected:
            pool = pool_of(history, loss)
            following = len(history) if n is None else self._done[n - 1] + 1
            slots = self.slots if n is None else self._states[n]
            if len(pool):
                rest = _rest(pool, loss, slots, self._rules.turn(following, slots))
                assert isinstance(rest, Averages)
                return parts_of(history, loss, pool).losses_beside(rest, following)
        return np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)

    def beside(self, history: History, number: int) -> Beside | None:
        """Return the committee as it is, and without the slot that a trial works on; None for one that votes."""
        loss = loss_for(history, self._rules.loss)
        if not isinstance(loss, AverageLoss) or not self.members:
            return None
        pool = pool_of(history, loss)
        rest = _rest(pool, loss, self.slots, self._rules.turn(number, self.slots))
        now = _rest(pool, loss, self.slots, EMPTY)
        assert isinstance(rest, Averages)
        assert isinstance(now, Averages)
        return Beside(rest, now)

    def _losses_beside(self, pool: Pool, loss: CommitteeLoss, slots: Slots, turn: int, known: Places) -> Array:
        """Return the loss with each of the known models in a slot (line 5); NaN for one that is left out."""
        rest = _rest(pool, loss, slots, turn)
        losses = rest.losses_with(pool.answers[known])
        if self._rules.with_replacement or self._rules.inside == "again":
            return losses
        is_inside = _is_inside(pool.numbers[known], slots, turn)
        if self._rules.inside == "nothing":
            losses[is_inside] = rest.loss()
        elif not is_inside.all():  # something must be left to learn from
            losses[is_inside] = np.nan
        return losses

    def _after(self, history: History, number: int) -> Slots:
        """Fill the slot of a trial with the model that leaves the committee best off (lines 11 and 12)."""
        slots, rules = self.slots, self._rules
        loss, fill = loss_for(history, rules.loss), loss_for(history, rules.refill)
        if loss is None or fill is None:
            return slots
        pool, fill_pool = pool_of(history, loss), pool_of(history, fill)
        known = _up_to(pool.numbers, number)
        turn = rules.turn(number, slots)
        if not rules.with_replacement:
            known = _places(known, ~_is_inside(pool.numbers[known], slots, turn))
        if not len(pool.numbers[known]):
            return slots
        rest = _rest(fill_pool, fill, slots, turn)
        losses = rest.losses_with(fill_pool.answers[known])
        # beside many others one member seldom changes a vote: the smoother loss decides between equals
        smooth = losses if fill is loss else _rest(pool, loss, slots, turn).losses_with(pool.answers[known])
        chosen = argmin_with_ties(losses, smooth, pool.numbers[known].astype(np.float64))[0]
        if rules.n_slots is None:
            kept = slots[:turn] + slots[turn + 1 :]
            if kept and float(rest.loss()) <= losses[chosen] + tolerance(losses[chosen]):
                return kept
        return (*slots[:turn], int(pool.numbers[known][chosen]), *slots[turn + 1 :])


def _is_inside(numbers: Indices, slots: Slots, turn: int) -> Mask:
    """Tell which trials sit in another slot than the one whose turn it is."""
    return np.isin(numbers, [member for slot, member in enumerate(slots) if slot != turn and member != EMPTY])


def _places(known: Places, is_free: Mask) -> Places:
    """Return those of some places that are free."""
    if is_free.all():
        return known
    return np.flatnonzero(is_free) if isinstance(known, slice) else known[is_free]


def _up_to(numbers: Indices, number: int) -> Places:
    """Return the places of trials up to one; a slice, which copies nothing, where they are in order."""
    is_known = numbers <= number
    n = int(np.count_nonzero(is_known))
    return slice(n) if is_known[:n].all() else np.flatnonzero(is_known)


def _rest(pool: Pool, loss: CommitteeLoss, slots: Sequence[int], turn: int) -> Tally:
    """Return the committee without the slot whose turn it is (line 4)."""
    others = [member for slot, member in enumerate(slots) if slot != turn and member != EMPTY]
    return no_members(pool, loss).plus(pool.answers[pool.place_of(member)] for member in others)


def committee_of(history: History, rules: SlotRules) -> Committee:
    """Return the committee of a history, up to date; a goal and a selection with the same rules share it."""
    committee = history.remember((Committee, rules), lambda: Committee(rules))
    committee.update(history)
    return committee
