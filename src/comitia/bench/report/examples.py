"""The losses of single test rows: which of two methods lost less on each, as the Poisson-binomial test counts."""

from collections.abc import Hashable, Iterator

import numpy as np
import pandas as pd

from comitia.arrays import Array
from comitia.bench.report.results import Paired, Results
from comitia.bench.rows.packing import unpacked

KEY = ["problem", "method", "repetition"]
Examples = dict[tuple[Hashable, ...], Array]
"""The loss of each test row, by problem, method and repetition."""


def final_losses(results: Results, paired: Paired) -> Examples | None:
    """Return the losses at the end, averaged over the last iterations row by row; None if a cell does not have them."""
    part = _compared(results.last_tested, paired)
    if not len(part) or part["test_losses"].isna().any():
        return None
    return {
        key: np.mean([unpacked(text) for text in cell["test_losses"]], axis=0)
        for key, cell in part.groupby(KEY, sort=False)
    }


def losses_by_iteration(results: Results, paired: Paired) -> Iterator[tuple[int, Examples]]:
    """Yield iterations at which every cell has the losses of its test rows, and these."""
    part = _compared(results.rows, paired)
    part = part[part["test_losses"].notna()]
    n_cells = sum(map(len, paired.repetitions)) * len(paired.methods)
    for _, at in part.groupby("iteration"):
        if len(at) == n_cells:
            keys = zip(*(at[name] for name in KEY), strict=True)
            yield int(at["iteration"].iloc[0]), dict(zip(keys, map(unpacked, at["test_losses"]), strict=True))


def example_counts(examples: Examples, paired: Paired, a: str, b: str) -> tuple[Array, Array]:
    """Return on how many test rows of each dataset method `a` lost less than `b`, and on how many it lost more.

    With several repetitions the mean over them: a dataset has the weight of one test set, as in Lacoste et al. 2014,
    who have one repetition; the test rows of several are partly the same, so their sum would be too sure.
    """
    wins, losses = [], []
    for repetitions in paired.repetitions:
        pairs = [(examples[p, a, r], examples[p, b, r]) for p, r in repetitions]
        wins.append(np.mean([(first < second).sum() for first, second in pairs]))
        losses.append(np.mean([(first > second).sum() for first, second in pairs]))
    return np.array(wins), np.array(losses)


def _compared(rows: pd.DataFrame, paired: Paired) -> pd.DataFrame:
    """Return the rows of the cells that are compared."""
    pairs = [pair for pairs in paired.repetitions for pair in pairs]
    is_here = (rows["space"] == paired.setting.space) & (rows["validation"] == paired.setting.validation)
    part = rows[is_here & rows["method"].isin(paired.methods)]
    return part[pd.MultiIndex.from_frame(part[["problem", "repetition"]]).isin(pairs)]
