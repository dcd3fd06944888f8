"""Tables in the layouts of the papers, from results. How they are written (Markdown, LaTeX, HTML) is `writers.py`'s."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from comitia.arrays import Array
from comitia.bench.report import statistics as st
from comitia.bench.report.results import Paired, Results
from comitia.errors import ComitiaError
from comitia.methods import METHODS

ALPHA = 0.05
ROPE = 0.005
"""Differences of error rates up to half a point are practically nothing; of other losses, half a per cent."""
LEAST_COUNTED = 5
"""Repetitions without which the Poisson-binomial test says nothing beyond the sign test."""


@dataclass(frozen=True)
class Text:
    """One entry of a table."""

    text: str
    bold: bool = False
    underlined: bool = False
    grey: bool = False


@dataclass(frozen=True)
class Table:
    """Something to print: a header, and rows whose first entry names them."""

    title: str
    header: list[str]
    rows: list[list[Text]]
    notes: list[str] = field(default_factory=list)


def make_tables(results: Results, layouts: list[str]) -> list[Table]:
    """Make the tables of a report: those asked for, and a comparison of everything with the best."""
    found = [table for layout in layouts for table in LAYOUTS[layout](results)]
    return found + list(comparison(results))


def spelled(method: str) -> str:
    """Return the paper's own spelling of a method's name."""
    row = METHODS.get(method)
    return row.spelling if row is not None and row.spelling else method


# ---- T Tables 3.1 and 3.5 -------------------------------------------------------------------------------------------


def summary(results: Results) -> Iterator[Table]:
    """Median error with its quartile range, win rate and rank, settings side by side; best last, as in T Table 3.1."""
    parts = [paired for paired in map(results.paired, results.settings) if _is_comparable(paired)]
    if not parts:
        return
    header = ["Method"]
    numbers: dict[str, list[str]] = {}
    order: dict[str, float] = {}
    every = list(dict.fromkeys(method for paired in parts for method in paired.methods))
    for paired in parts:
        label = paired.setting.label([p.setting for p in parts])
        header += [f"{label} {name}".strip() for name in ("Med (Q3-Q1)", "Winrate", "Rank")]
        errors, ranks = _shown(results, paired.comparable), st.mean_ranks(paired.errors)
        rates = 100 * st.win_rates(paired.errors)
        for j, method in enumerate(paired.methods):
            q1, median, q3 = np.quantile(errors[:, j], [0.25, 0.5, 0.75])
            entry = [f"{_number(results, median)} ({_number(results, q3 - q1)})", f"{rates[j]:.2f}", f"{ranks[j]:.2f}"]
            numbers.setdefault(method, []).extend(entry)
            order[method] = float(ranks[j])  # of the last setting that has it
        for method in every:
            if method not in paired.methods:
                numbers.setdefault(method, []).extend(["-"] * 3)
    rows = [[Text(spelled(m)), *map(Text, numbers[m])] for m in sorted(every, key=lambda m: -order[m])]
    notes = [_size_note(paired, [p.setting for p in parts]) for paired in parts]
    last = parts[-1].setting.label([p.setting for p in parts])
    yield Table(
        "Summary of performance metrics at the final iteration",
        header,
        rows,
        [*notes, f"Sorted by {last} rank.".replace("  ", " ")],
    )


# ---- T Tables 3.2 to 3.4 --------------------------------------------------------------------------------------------


def wins(results: Results) -> Iterator[Table]:
    """Wins minus losses by dataset; bold and underlined where a Wilcoxon test is significant (T Tables 3.2-3.4)."""
    for paired in _comparable(results):
        order = np.argsort(-st.mean_ranks(paired.errors), kind="stable")
        counts = st.win_loss_counts(paired.errors)[np.ix_(order, order)]
        p = st.wilcoxon_matrix(paired.comparable)[np.ix_(order, order)]
        rows = []
        for i, j in enumerate(order):
            entries = [_marked(f"{counts[i, k]}", i != k and p[i, k] < ALPHA) for k in range(len(order))]
            rows.append([Text(f"({i + 1}) {spelled(paired.methods[j])}"), *entries])
        yield Table(
            _titled("Win/loss counts by dataset", paired, results),
            ["Method", *(str(i + 1) for i in range(len(order)))],
            rows,
            [f"Bold: p < {ALPHA} in a Wilcoxon signed-rank test over datasets. Sorted by mean rank, best last."],
        )


# ---- T Tables 4.4, 4.6, 5.2; C Table I ------------------------------------------------------------------------------


def errors(results: Results) -> Iterator[Table]:
    """Mean test error of every method on every dataset, with mean ranks (C Table I)."""
    for paired in _comparable(results):
        shown = _shown(results, paired.errors)
        ranks = st.mean_ranks(paired.errors)
        best = paired.errors.argmin(axis=1)
        order = np.argsort(-ranks, kind="stable")
        rows = []
        for j in order:
            entries = []
            for i, values in enumerate(paired.values["test_loss"]):
                is_best = paired.errors[i, j] == paired.errors[i, best[i]]
                is_worse = not is_best and st.wilcoxon(values[:, j], values[:, best[i]]) < ALPHA
                entries.append(Text(_number(results, shown[i, j]), bold=is_best, underlined=is_worse))
            rows.append([Text(spelled(paired.methods[j])), *entries, Text(f"{ranks[j]:.2f}")])
        least, most = paired.n_repetitions
        few = "" if most >= 6 else " Fewer than six repetitions cannot be significant."
        yield Table(
            _titled(
                "Average test loss" if not results.is_error_rate else "Average test error in per cent", paired, results
            ),
            ["Method", *paired.problems, "rank"],
            rows,
            [
                f"Mean over {_range(least, most)} repetitions. Bold: best; underlined: worse than the best, "
                f"p < {ALPHA} in a Wilcoxon signed-rank test over repetitions.{few}",
                _friedman_note(paired),
            ],
        )


# ---- T Tables 4.3, 4.5, 5.3; C Table II -----------------------------------------------------------------------------


def wilcoxon(results: Results) -> Iterator[Table]:
    """Pairwise Wilcoxon tests over datasets; parentheses where the row is worse (T Table 5.3)."""
    for paired in _comparable(results):
        ranks = st.mean_ranks(paired.errors)
        order = np.argsort(-ranks, kind="stable")
        p = st.wilcoxon_matrix(paired.comparable)
        rows = []
        for i, j in enumerate(order):
            entries = []
            for k in order:
                text = "-" if j == k else f"({p[j, k]:.2f})" if ranks[j] > ranks[k] else f"{p[j, k]:.2f}"
                entries.append(Text(text, bold=j != k and p[j, k] <= ALPHA))
            rows.append([Text(f"{i + 1} - {spelled(paired.methods[j])}"), *entries])
        yield Table(
            _titled("Pairwise Wilcoxon signed-rank tests", paired, results),
            ["", *(str(i + 1) for i in range(len(order)))],
            rows,
            [f"p values over {len(paired.problems)} datasets; bold: p <= {ALPHA}; parentheses: the row is worse."],
        )


# ---- L Tables 2 and 3 -----------------------------------------------------------------------------------------------


def win_frequency(results: Results) -> Iterator[Table]:
    """Win frequencies of each pair and expected ranks, one table for each space (L Tables 2-3)."""
    for paired in _comparable(results):
        frequency = st.win_frequency(paired.errors)
        ranks = st.mean_ranks(paired.errors)
        order = np.argsort(ranks, kind="stable")
        rows = []
        for i, j in enumerate(order):
            entries = [_frequency(paired, frequency, j, k, is_redundant=c <= i) for c, k in enumerate(order)]
            rows.append([Text(spelled(paired.methods[j])), *entries, Text(f"{ranks[j]:.2f}")])
        yield Table(
            _titled("Pairwise win frequency", paired, results),
            ["", *(spelled(paired.methods[j]) for j in order), "E[rank]"],
            rows,
            [
                "How often the row is better than the column. First mark: Poisson-binomial test, second: sign test; "
                "· not significant, ◦ lightly, • significant, ● highly (L Table 1).",
                f"The Poisson-binomial test counts repetitions, where L counts test examples, and is left out below "
                f"{LEAST_COUNTED} of them.",
                f"Test losses are averaged over the last {results.protocol.get('average_last', 1)} iterations.",
            ],
        )


def _frequency(paired: Paired, frequency: Array, j: int, k: int, *, is_redundant: bool) -> Text:
    if j == k:
        return Text("0.50", grey=True)
    first = [values[:, j] for values in paired.values["test_loss"]]
    second = [values[:, k] for values in paired.values["test_loss"]]
    if frequency[j, k] < frequency[k, j]:
        first, second, better, worse = second, first, k, j
    else:
        better, worse = j, k
    has_counts = paired.n_repetitions[0] >= LEAST_COUNTED
    mark = st.pb_mark(st.pb_test(*st.paired_counts(first, second))) if has_counts else ""
    p = st.sign_test(paired.errors[:, better], paired.errors[:, worse])
    return Text(f"{frequency[j, k]:.2f} {mark or '·'}{st.sign_mark(p) or '·'}", grey=is_redundant)


# ---- U Table 1 ------------------------------------------------------------------------------------------------------


def quartiles(results: Results) -> Iterator[Table]:
    """Quartiles over trials and one-sided Mann-Whitney tests, one table for each problem (U Table 1)."""
    for setting in results.settings:
        paired = results.paired(setting)
        for name, values in zip(paired.problems, paired.values["test_loss"], strict=True):
            rows = []
            for j, method in enumerate(paired.methods):
                q = [Text(f"{value:.3f}") for value in np.quantile(values[:, j], [0.25, 0.5, 0.75])]
                marks = [
                    Text("—" if j == k else st.mann_whitney_mark(values[:, j], values[:, k]))
                    for k in range(len(paired.methods))
                ]
                rows.append([Text(f"({j + 1}) {spelled(method)}"), *q, *marks])
            yield Table(
                _titled(f"Quartiles of the test error on {name}", paired, results),
                ["method", "q25", "q50", "q75", *(f"({k + 1})" for k in range(len(paired.methods)))],
                rows,
                [
                    f"Over {len(values)} trials. <, <<, <<<: the row is better at 0.05, 0.01, 0.001 in a one-sided "
                    "Mann-Whitney U test, >: worse; else the p value.",
                    *_paired_notes(paired, values),
                ],
            )


def _paired_notes(paired: Paired, values: Array) -> list[str]:
    """Say what a paired test finds: trials share their data, which U's test does not use."""
    best = int(np.median(values, axis=0).argmin())
    others = [j for j in range(len(paired.methods)) if j != best]
    tests = [f"{spelled(paired.methods[j])} {st.wilcoxon(values[:, best], values[:, j]):.3f}" for j in others]
    return [f"Paired Wilcoxon of {spelled(paired.methods[best])} against: {', '.join(tests)}."] if tests else []


# ---- P Tables 7 to 10 -----------------------------------------------------------------------------------------------


def measures(results: Results) -> Iterator[Table]:
    """Error, precision, recall, F-measure and log loss by dataset, with wins and average ranks (P Tables 7-10)."""
    for paired in _comparable(results):
        precision, recall = paired.means("test_precision"), paired.means("test_recall")
        total = precision + recall
        f = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
        what = "Error rate" if results.is_error_rate else "Loss"
        named = [(what, paired.errors, 1), ("Average precision", precision, -1), ("Average recall", recall, -1)]
        named += [("Average F-measure", f, -1), ("Log loss", paired.means("test_log_loss"), 1)]
        for name, values, sign in named:
            if np.isnan(values).any():
                continue
            yield _by_dataset(name, values, sign, paired, results)


def _by_dataset(name: str, values: Array, sign: int, paired: Paired, results: Results) -> Table:
    costs = sign * values
    is_best = costs == costs.min(axis=1, keepdims=True)
    rows = [
        [Text(problem), *(Text(f"{v:.4f}", bold=bool(b)) for v, b in zip(values[i], is_best[i], strict=True))]
        for i, problem in enumerate(paired.problems)
    ]
    n_wins = is_best.sum(axis=0)
    rows.append([Text("Number of wins"), *(Text(f"{n}/{len(values)}") for n in n_wins)])
    rows.append([Text("Average rank"), *(Text(f"{rank:.2f}") for rank in st.mean_ranks(costs))])
    notes = [f"Mean over {_range(*paired.n_repetitions)} runs for each dataset."]
    if len(paired.methods) > 2 and len(paired.problems) > 1:
        notes.append(f"Friedman p = {st.friedman(costs).p:.4f}. " + _nemenyi_note(costs, paired.methods))
    return Table(
        _titled(f"{name} on the test set", paired, results), ["Dataset", *map(spelled, paired.methods)], rows, notes
    )


def _nemenyi_note(costs: Array, methods: list[str]) -> str:
    p, ranks = st.nemenyi(costs), st.mean_ranks(costs)
    pairs = [
        f"{spelled(methods[i])} better than {spelled(methods[j])} (p = {p[i, j]:.4f})"
        for i in range(len(methods))
        for j in range(len(methods))
        if ranks[i] < ranks[j] and p[i, j] < ALPHA
    ]
    return "Nemenyi: " + ("; ".join(pairs) if pairs else "no pair differs") + "."


# ---- ours -----------------------------------------------------------------------------------------------------------


def comparison(results: Results) -> Iterator[Table]:
    """Every method against the one with the best mean rank: how much, how sure, and what it cost."""
    for paired in _comparable(results):
        ranks = st.mean_ranks(paired.errors)
        best = int(ranks.argmin())
        seconds = results.cells_of(paired).groupby("method")[["train_seconds", "optimizer_seconds"]].mean()
        rows = []
        for j in np.argsort(ranks, kind="stable"):
            method = paired.methods[j]
            own = [f"{ranks[j]:.2f}", *(f"{value:.3g}" for value in seconds.loc[method])]
            if j == best:
                rows.append([Text(spelled(method), bold=True), *map(Text, own), Text("-"), Text("-")])
                continue
            rng = np.random.default_rng(0)
            a, b = paired.errors[:, j], paired.errors[:, best]
            median, low, high = st.bootstrap_median_difference(a, b, rng=rng)
            a, b = paired.comparable[:, j], paired.comparable[:, best]
            left, same, right = st.bayesian_signed_rank(a, b, rope=ROPE, rng=rng, n_samples=5_000)
            difference = f"{100 * median:+.1f} % [{100 * low:+.1f}, {100 * high:+.1f}]"
            rows.append(
                [
                    Text(spelled(method)),
                    *map(Text, own),
                    Text(difference),
                    Text(f"{left:.2f} / {same:.2f} / {right:.2f}"),
                ]
            )
        rope = "half a point of error" if results.is_error_rate else "half a per cent of the larger loss"
        yield Table(
            _titled(f"Against {spelled(paired.methods[best])}, which has the best mean rank", paired, results),
            ["Method", "rank", "s training", "s search", "median relative difference", "P(better / same / worse)"],
            rows,
            [
                "Relative difference of test losses over datasets with a 95 % bootstrap interval; Bayesian signed-rank "
                f"test, where up to {rope} is the same. Seconds are means of a cell.",
                _size_note(paired, results.settings),
            ],
        )


# ---- shared ---------------------------------------------------------------------------------------------------------


def _is_comparable(paired: Paired) -> bool:
    return len(paired.methods) > 1 and len(paired.problems) > 0


def _comparable(results: Results) -> Iterator[Paired]:
    return (paired for paired in map(results.paired, results.settings) if _is_comparable(paired))


def _titled(title: str, paired: Paired, results: Results) -> str:
    label = paired.setting.label(results.settings)
    return f"{title} ({label})" if label else title


def _shown(results: Results, values: Array) -> Array:
    return 100 * values if results.is_error_rate else values


def _number(results: Results, value: float) -> str:
    return f"{value:.2f}" if results.is_error_rate else f"{value:.4g}"


def _marked(text: str, is_significant: bool) -> Text:
    return Text(text, bold=is_significant, underlined=is_significant)


def _range(least: int, most: int) -> str:
    return str(least) if least == most else f"{least} to {most}"


def _size_note(paired: Paired, settings: list[Any]) -> str:
    label = paired.setting.label(settings)
    left_out = f" {paired.n_left_out} more were left out: some method has no result there." if paired.n_left_out else ""
    where = f"{label}: " if label else ""
    few = f" Without {', '.join(paired.methods_left_out)}: too few problems." if paired.methods_left_out else ""
    return f"{where}{len(paired.problems)} datasets, {_range(*paired.n_repetitions)} repetitions.{left_out}{few}"


def _friedman_note(paired: Paired) -> str:
    if len(paired.methods) < 3 or len(paired.problems) < 2:
        return "Too few methods or datasets for a Friedman test."
    try:
        found = st.friedman(paired.errors)
    except ComitiaError as error:
        return str(error)
    cd = st.critical_distance(len(paired.methods), len(paired.problems))
    return f"Friedman p = {found.p:.2g}; Nemenyi's critical distance is {cd:.3f}."


LAYOUTS: dict[str, Callable[[Results], Iterator[Table]]] = {
    "summary": summary,
    "wins": wins,
    "errors": errors,
    "wilcoxon": wilcoxon,
    "win-frequency": win_frequency,
    "quartiles": quartiles,
    "measures": measures,
}
