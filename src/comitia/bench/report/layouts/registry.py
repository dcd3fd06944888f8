"""The registry of layouts: one line each. How tables are written (Markdown, LaTeX, HTML) is `writers.py`'s."""

from collections.abc import Callable, Iterable, Iterator

from comitia.bench.report.layouts.comparison import comparison
from comitia.bench.report.layouts.errors_with_sd import errors_sd
from comitia.bench.report.layouts.mean_errors import errors
from comitia.bench.report.layouts.measures import measures
from comitia.bench.report.layouts.number_of_classes import classes
from comitia.bench.report.layouts.pairwise_tests import wilcoxon
from comitia.bench.report.layouts.quartiles import quartiles
from comitia.bench.report.layouts.summary import summary
from comitia.bench.report.layouts.typesetting import Table
from comitia.bench.report.layouts.win_counts import wins
from comitia.bench.report.layouts.win_frequency import win_frequency
from comitia.bench.report.results import Results

Layout = Callable[[Results], Iterator[Table]]
"""Makes as many tables as the results give: none where there is nothing to compare."""
LAYOUTS: dict[str, Layout] = {
    "summary": summary,
    "wins": wins,
    "errors": errors,
    "errors-sd": errors_sd,
    "wilcoxon": wilcoxon,
    "win-frequency": win_frequency,
    "quartiles": quartiles,
    "measures": measures,
    "classes": classes,
}


def make_tables(results: Results, layouts: Iterable[str]) -> list[Table]:
    """Make the tables of a report: those asked for, and a comparison of everything with the best."""
    found = [table for layout in layouts for table in LAYOUTS[layout](results)]
    return found + list(comparison(results))
