"""What a portfolio is worth, what each learner is, and how a committee is best chosen: the tables of `portfolio.py`.

Every line compares losses of committees on the same sets: the mean over sets of how much less is lost, with a 95 %
bootstrap interval over sets, and sets won and lost. A number below 0 is better.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from portfolio_orders import CHEAPEST, OFFERED, SECONDS, TASKS, Cover, after_entries, after_seconds, learner_of
from portfolio_pools import FLOOR, Pool, points, ratios, regrets, shown
from scipy.optimize import minimize_scalar

from comitia.arrays import AnyArray, Array, Indices
from comitia.committees.greedy import Greedy, argmin_with_ties
from comitia.committees.losses import BRIER, LOG_LOSS, SINGLE_LOG_LOSS, SQUARED_ERROR, AverageLoss
from comitia.committees.tempering import surprise, temperature_of, tempered
from comitia.committees.votes import empty, make_rows

COUNTS = (1, 2, 3, 5, 7, 12)


def of_task(pools: Iterable[Pool], task: str) -> list[Pool]:
    return [pool for pool in pools if pool.task == task]


# ---- portfolios -----------------------------------------------------------------------------------------------------


def portfolios(pools: Sequence[Pool]) -> None:
    """Compare orders that other sets made with the defaults of the default learners."""
    references = {pool.name: pool.loss_of(list(pool.seconds)) for pool in pools}
    for offered, is_offered in OFFERED.items():
        cover = Cover(pools, is_offered)
        for by_seconds in (False, True):
            together = cover.left_out(pools, by_seconds=by_seconds)
            for task in TASKS:
                those = of_task(pools, task)
                if len(those) < 3:
                    continue
                own = cover.left_out(those, by_seconds=by_seconds)
                called = "gain per second" if by_seconds else "gain"
                for made_of, orders in (("of the task's sets", own), ("of all sets", together)):
                    print(f"\n**{task}, {len(those)} sets: {offered}, by {called}, {made_of}**\n")
                    _against_defaults(those, orders, references)


def _against_defaults(pools: Sequence[Pool], orders: dict[str, list[str]], references: dict[str, float]) -> None:
    """Print what orders are worth after some entries, and after some seconds."""
    print("| after | loss, and its 95 % interval | won-lost | of what can be learned |\n|---|---|---|---|")
    found: dict[str, Callable[[Pool, list[str]], float]] = {}
    found |= {f"{n} entries": partial(after_entries, n=n) for n in COUNTS}
    found |= {f"{seconds:g} s": partial(after_seconds, seconds=seconds) for seconds in SECONDS}
    for after, loss in found.items():
        these = np.array([loss(pool, [name for name in orders[pool.name] if name in pool.seconds]) for pool in pools])
        those = np.array([loss(pool, CHEAPEST) for pool in pools])
        parts = [
            float(regrets(a, references[pool.name], pool.prior) - regrets(b, references[pool.name], pool.prior))
            for a, b, pool in zip(these, those, pools, strict=True)
        ]
        print(f"| {after} | {shown(ratios(these, those))} | {points(np.array(parts))} |")


GROUPS: dict[str, Callable[[Pool], bool]] = {
    "categories": lambda pool: bool(pool.facts["n_codes"] > 0),
    "fewer than 700 rows": lambda pool: bool(pool.facts["n_rows"] < 700),
    "more than 20 columns": lambda pool: bool(pool.facts["n_columns"] > 20),
}
"""By what tables may be told apart."""


def groups(pools: Sequence[Pool]) -> None:
    """Compare a portfolio of a task's sets with one of those sets alone that are alike."""
    print("\n**A portfolio for each kind of table**, against one for all of a task (gain per second, all entries)\n")
    print("| task | told apart by | sets | after | loss, and its 95 % interval | won-lost |\n|---|---|---|---|---|---|")
    for task in TASKS:
        those = of_task(pools, task)
        if len(those) < 3:
            continue
        cover = Cover(those)
        together = cover.left_out(those, by_seconds=True)
        for called, kind in GROUPS.items():
            apart = {}
            for pool in those:
                alike = [one for one in those if one is not pool and kind(one) == kind(pool)]
                if len(alike) >= 4:
                    apart[pool.name] = cover.order(alike, by_seconds=True)
            some = [pool for pool in those if pool.name in apart]
            for n in (3, 7):
                a = [after_entries(pool, apart[pool.name], n) for pool in some]
                b = [after_entries(pool, together[pool.name], n) for pool in some]
                told = shown(ratios(np.array(a), np.array(b))) if some else "- | -"
                print(f"| {task} | {called} | {len(some)} | {n} entries | {told} |")


# ---- learners -------------------------------------------------------------------------------------------------------


def learners(pools: Sequence[Pool]) -> None:
    """Compare the committee of all entries with one without a learner; and say what it takes and how often it is in."""
    for task in TASKS:
        those = of_task(pools, task)
        if not those:
            continue
        print(f"\n**{task}, {len(those)} sets**: the committee of all without a learner, against all; and of the")
        print("default learners with it, against those without\n")
        print(
            "| learner | of the seconds | of the weights | without it | won-lost | beside default ones | won-lost |\n"
            "|---|---|---|---|---|---|---|"
        )
        every = sorted({learner_of(entry) for pool in those for entry in pool.seconds})
        total = [sum(pool.seconds.values()) for pool in those]
        for learner in every:
            found: list[tuple[float, float, float, float]] = []
            shares, weights = [], []
            for pool, seconds in zip(those, total, strict=True):
                names = list(pool.seconds)
                own = [name for name in names if learner_of(name) == learner]
                usual = [name for name in names if learner_of(name) in CHEAPEST]
                shares.append(sum(pool.seconds[name] for name in own) / seconds)
                w = pool.committees(pool.allowed(names)[None])[0]
                weights.append(float(w[pool.allowed(own)].sum()))
                found.append(
                    (
                        pool.loss_of([name for name in names if name not in own]),
                        pool.loss_of(names),
                        pool.loss_of([*usual, *own]),
                        pool.loss_of([name for name in usual if name not in own] if learner in CHEAPEST else usual),
                    )
                )
            without, everything, beside, usually = np.array(found).T
            print(
                f"| `{learner}` | {100 * np.mean(shares):.1f} % | {100 * np.mean(weights):.1f} % "
                f"| {shown(ratios(without, everything))} | {shown(ratios(beside, usually))} |"
            )


# ---- committees -----------------------------------------------------------------------------------------------------

TEMPERED_BY_MEMBER, TEMPERED_AS_WHOLE, TEMPERED_ALIKE = "members", "whole", "alike"
EIGHT = Greedy(most_members=8)
MEASURES = ("loss", "error", "seconds", "members")


@dataclass(frozen=True, eq=False)
class Rule:
    """A way to choose a committee from a pool."""

    greedy: Greedy | None = EIGHT
    """None stands for agnostic Bayes."""
    loss: AverageLoss = BRIER
    tempers: frozenset[str] = frozenset({TEMPERED_BY_MEMBER})
    has_replacement: bool = True
    most_members: int = 8
    """Of agnostic Bayes, and of choices without replacement."""

    def weights(self, pool: Pool, answers: AnyArray) -> Array:
        """Return the weights of the models, (n_models,); answers are what they say out of fold."""
        loss = self.loss if pool.n_classes else SQUARED_ERROR
        rng = np.random.default_rng(0)
        if self.greedy is None:
            counts = self._agnostic(pool, answers, rng)
            return np.asarray(counts / counts.sum())
        nobody = empty(loss, make_rows(pool.y, pool.n_classes))
        kept = np.array([loss.keep(one, pool.y, pool.n_classes) for one in answers])
        if self.has_replacement:
            joined = self.greedy(nobody, kept, rng, pool.predict_seconds)
            return np.asarray(joined / joined.sum())
        tally, inside, best, least = nobody, np.zeros(len(kept), dtype=bool), np.zeros(len(kept)), np.inf
        for _ in range(min(self.most_members, len(kept))):
            totals = np.where(inside, np.inf, tally.losses_with(kept))
            chosen = int(totals.argmin())
            inside[chosen] = True
            tally = tally.plus(kept[[chosen]])
            if totals[chosen] < least:
                best, least = inside.astype(float), float(totals[chosen])
        return np.asarray(best / best.sum())

    def _agnostic(self, pool: Pool, answers: AnyArray, rng: np.random.Generator) -> Array:
        """Return how often each is the best of a bootstrap, by the log loss of models by themselves."""
        n = len(pool.y)
        if pool.n_classes:
            rows = np.array([SINGLE_LOG_LOSS.keep(one, pool.y, pool.n_classes) for one in answers], dtype=np.float64)
        else:
            rows = (answers - pool.y) ** 2
        drawn = np.stack([np.bincount(rng.integers(n, size=n), minlength=n) / n for _ in range(200)], axis=1)
        best = [int(argmin_with_ties(column, least=0.0)[0]) for column in (rows @ drawn).T]
        counts = np.bincount(best, minlength=len(answers)).astype(np.float64)
        counts[np.argsort(-counts, kind="stable")[self.most_members :]] = 0
        return counts


LOG = Rule(loss=LOG_LOSS)
WHOLE = frozenset({TEMPERED_AS_WHOLE})
BOTH = frozenset({TEMPERED_BY_MEMBER, TEMPERED_AS_WHOLE})
ALIKE = frozenset({TEMPERED_BY_MEMBER, TEMPERED_ALIKE})
RULES: dict[str, Rule] = {
    "8 members, Brier, each tempered (as now)": Rule(),
    "4 members": Rule(Greedy(most_members=4)),
    "16 members": Rule(Greedy(most_members=16)),
    "25 members": Rule(Greedy(most_members=25)),
    "the best 1 alone": Rule(Greedy(n_steps=1)),
    "the best 3 first": Rule(Greedy(most_members=8, n_warm=3)),
    "10 bags": Rule(Greedy(most_members=8, n_bags=10)),
    "10 bags, 25 members": Rule(Greedy(most_members=25, n_bags=10)),
    "25 steps": Rule(Greedy(n_steps=25, most_members=8)),
    "without replacement": Rule(has_replacement=False),
    "without replacement, 16": Rule(has_replacement=False, most_members=16),
    "log loss, each tempered": LOG,
    "log loss, not tempered": Rule(loss=LOG_LOSS, tempers=frozenset()),
    "Brier, not tempered": Rule(tempers=frozenset()),
    "Brier, tempered as a whole": Rule(tempers=WHOLE),
    "Brier, each and the whole": Rule(tempers=BOTH),
    "Brier, each, then all by one factor": Rule(tempers=ALIKE),
    "log loss, each and the whole": Rule(loss=LOG_LOSS, tempers=BOTH),
    "agnostic Bayes on the log loss, each tempered": Rule(None),
    "agnostic Bayes, 25 members": Rule(None, most_members=25),
    "a second of prediction costs .001": Rule(Greedy(most_members=8, per_second=0.001)),
    "a second of prediction costs .01": Rule(Greedy(most_members=8, per_second=0.01)),
    "a second of prediction costs .1": Rule(Greedy(most_members=8, per_second=0.1)),
}
N_DRAWS, N_DRAWN = 3, 25
"""From so many random parts of each pool committees are chosen: a search of a minute has about that many trials."""


def _judged(rule: Rule, pool: Pool, part: Indices) -> tuple[float, float, float, float]:
    """Return the test loss, the error, the seconds to predict 1,000 rows and the number of members."""
    answers, test = pool.out_of_fold[part], pool.test[part]
    if pool.n_classes and TEMPERED_BY_MEMBER in rule.tempers:
        by = pool.temperatures[part]
        answers = np.stack([tempered(p, t) for p, t in zip(answers, by, strict=True)])
        test = np.stack([tempered(p, t) for p, t in zip(test, by, strict=True)])
    weights = rule.weights(_part(pool, part), answers)
    if pool.n_classes and TEMPERED_ALIKE in rule.tempers:
        inside = weights > 0
        factor = one_factor(answers[inside], weights[inside], pool.y)
        test = np.stack([tempered(p, factor) for p in test])
    mixed = np.tensordot(weights, test, axes=1)
    seconds, members = float(pool.predict_seconds[part][weights > 0].sum()), float((weights > 0).sum())
    if not pool.n_classes:
        loss = float(np.mean((mixed - pool.y_test) ** 2)) / float(pool.y.var())
        return max(loss, FLOOR * pool.prior), loss**0.5, seconds, members
    if TEMPERED_AS_WHOLE in rule.tempers:
        together = np.tensordot(weights, answers, axes=1)
        mixed = tempered(mixed, temperature_of(together, pool.y, np.full(len(pool.y), 1 / len(pool.y))))
    right = np.maximum(mixed[np.arange(len(pool.y_test)), pool.y_test], 1e-7)
    loss = max(float(-np.log(right).mean()), FLOOR * pool.prior)
    return loss, float(np.mean(mixed.argmax(axis=1) != pool.y_test)), seconds, members


def one_factor(answers: AnyArray, weights: Array, y: AnyArray) -> float:
    """Return the most probable factor of all temperatures, by the log loss of the committee out of fold."""

    def surprised(log_factor: float) -> float:
        mixed = np.tensordot(weights, np.stack([tempered(p, float(np.exp(log_factor))) for p in answers]), axes=1)
        right = np.maximum(mixed[np.arange(len(y)), y], 1e-7)
        return float(-np.log(right).mean() + surprise(log_factor) / len(y))

    found = minimize_scalar(surprised, bounds=(-2.0, 2.0), method="bounded", options={"xatol": 0.01})
    return float(np.exp(found.x))


@dataclass(frozen=True, eq=False)
class _Part:
    y: AnyArray
    n_classes: int
    predict_seconds: Array


def _part(pool: Pool, part: Indices) -> Pool:
    return _Part(pool.y, pool.n_classes, pool.predict_seconds[part])  # type: ignore[return-value]


def committees(pools: Sequence[Pool]) -> None:
    """Compare ways to choose a committee from the same random parts of the pools."""
    found = []
    for pool in pools:
        n = len(pool.places)
        parts = [np.sort(np.random.default_rng(i).permutation(n)[:N_DRAWN]) for i in range(N_DRAWS)]
        for name, rule in RULES.items():
            if pool.n_classes or (rule.loss is BRIER and not (rule.tempers - {TEMPERED_BY_MEMBER})):
                loss, error, seconds, members = np.mean([_judged(rule, pool, part) for part in parts], axis=0)
                found.append((pool.name, pool.task, name, loss, error, seconds, members))
    frame = pd.DataFrame(found, columns=["set", "task", "rule", "loss", "error", "seconds", "members"])
    for task, part in frame.groupby("task"):
        tables = {what: part.pivot(index="set", columns="rule", values=what) for what in MEASURES}
        usual = next(iter(RULES))
        print(f"\n**{task}, {len(tables['loss'])} sets**: committees from {N_DRAWN} models, against the first line\n")
        print(
            "| rule | members | s for 10,000 rows | loss | won-lost | error | won-lost |\n|---|---|---|---|---|---|---|"
        )
        for name in RULES:
            if name not in tables["loss"]:
                continue
            columns = [f"{tables['members'][name].mean():.1f}", f"{10 * tables['seconds'][name].mean():.2f}"]
            for what in ("loss", "error"):
                least = 1e-3 if what == "error" else 0.0
                these, those = (tables[what][one].to_numpy() + least for one in (name, usual))
                columns.append("- | -" if name == usual else shown(ratios(these, those)))
            print(f"| {name} | {' | '.join(columns)} |")


PARTS: dict[str, Callable[[Sequence[Pool]], None]] = {
    "portfolios": portfolios,
    "groups": groups,
    "learners": learners,
    "committees": committees,
}
