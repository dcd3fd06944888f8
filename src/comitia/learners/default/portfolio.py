"""Portfolios: which configurations to try first on a table, in the order that many other tables have shown.

They are plain data, printed by `benchmarks/studies/portfolio.py derive`, and points of the default space, so what comes
of them is known to the search. A space says by the meta of its hyperparameter `learner` which portfolio it has; without
one the default of every learner is tried first.
"""

from collections.abc import Collection
from dataclasses import dataclass

import ConfigSpace as CS

from comitia.evaluation.scoring import Task
from comitia.learners.default.learner import Values
from comitia.tables.cleaner import Columns

META = "portfolio"
"""Key in the meta of the hyperparameter `learner`."""


@dataclass(frozen=True, kw_only=True)
class Portfolio:
    """What is tried first on some tables."""

    name: str
    task: Task
    trials: tuple[Values, ...]
    """The first ones first. Those of learners that a space has not are left out."""
    least_rows: int = 0
    most_rows: int | None = None
    least_columns: int = 0
    most_columns: int | None = None
    has_categories: bool | None = None
    """None where that is all the same."""
    needs: frozenset[str] = frozenset()
    """Learners without which another portfolio is better."""

    def suits(self, columns: Columns, task: Task, n_rows: int, learners: Collection[str]) -> bool:
        """Tell whether it is for a table that these learners are searched on."""
        return (
            task == self.task
            and self.least_rows <= n_rows <= (self.most_rows or n_rows)
            and self.least_columns <= columns.n_columns <= (self.most_columns or columns.n_columns)
            and self.has_categories in (None, bool(columns.codes))
            and self.needs <= set(learners)
        )


PORTFOLIOS: tuple[Portfolio, ...] = ()
"""The first one that suits a table is taken. Empty until one is measured to be better than the learners' defaults."""


def portfolio_for(columns: Columns, task: Task, n_rows: int, learners: Collection[str]) -> Portfolio | None:
    """Return what to try first on a table, if anything is known of such tables."""
    return next((one for one in PORTFOLIOS if one.suits(columns, task, n_rows, learners)), None)


def portfolio_of(learner: CS.CategoricalHyperparameter) -> Portfolio | None:
    """Return the portfolio that a space names; one that is not known here any more counts as none."""
    name = (learner.meta or {}).get(META)
    return next((one for one in PORTFOLIOS if one.name == name), None)
