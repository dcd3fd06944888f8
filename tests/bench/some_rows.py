"""Cells and rows as an experiment would give them; also for tests that start another process."""

from comitia.arrays import Json
from comitia.bench.plan.plan import Cell
from comitia.bench.rows.row import Row

PROTOCOL: Json = {"name": "e", "title": "t", "budget": {"n_trials": 3}}


def cell(method: str = "rs", repetition: int = 0) -> Cell:
    return Cell("p", "s", "v", method, repetition)


def rows(n: int = 3, loss: float = 0.5) -> list[Row]:
    return [Row(iteration=i + 1, test_loss=loss, learner="svm") for i in range(n)]
