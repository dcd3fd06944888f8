"""The toy committees of Lévesque 2018, Tables 4.1 and 4.2: the printed losses beside ours, which are computed now."""

import tomllib
from pathlib import Path

import numpy as np

from comitia.bench.report.layouts.typesetting import Table, Text
from comitia.committees.losses import C_BOUND, MARGIN, SIGMOID, SQUARED_MARGIN, ZERO_ONE
from comitia.committees.votes import Votes, make_rows

LOSSES = {"zero-one": ZERO_ONE, "margin": MARGIN, "squared margin": SQUARED_MARGIN, "sigmoid": SIGMOID}
LOSSES |= {"C-bound": C_BOUND}


def toy_tables(papers: Path) -> list[Table]:
    """Return one table per toy: a line for the committee, and one for each candidate that may join it."""
    header = ["committee", *(f"{side}: {name}" for side in ("paper", "ours") for name in LOSSES)]
    tables = []
    for toy in tomllib.loads(papers.read_text(encoding="utf-8"))["toy"]:
        printed = {"E": toy["alone"], **{f"E + {losses}": numbers for losses, numbers in toy["with"].items()}}
        ours = losses_of(toy["members"], list(toy["with"]))
        rows = [
            [Text(name), *(Text(f"{value:.2f}") for value in [*printed[name], *computed])]
            for name, computed in zip(printed, ours, strict=True)
        ]
        tables.append(Table(f"{toy['title']}: E = {', '.join(toy['members'])}", header, rows))
    return tables


def losses_of(members: list[str], candidates: list[str]) -> list[list[float]]:
    """Return each loss of a committee, then of the committee with each candidate.

    A model is written as its zero-one losses. The true class of every row is 0, so a loss of 1 is a vote for class 1.
    """
    committee, others = (np.array([[int(loss) for loss in text] for text in texts]) for texts in (members, candidates))
    rows = make_rows(np.zeros(committee.shape[1], dtype=int), 2)
    tallies = [Votes.empty(loss, rows).plus(committee) for loss in LOSSES.values()]
    alone = [float(tally.loss()) for tally in tallies]
    added = np.array([tally.losses_with(others) for tally in tallies])  # (n_losses, n_candidates)
    return [alone, *added.T.tolist()]
