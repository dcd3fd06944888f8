"""What layouts share: tables and their entries, names, numbers, notes."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from comitia.arrays import Array
from comitia.bench.report.results import Paired, Results, Setting
from comitia.methods import get_method, is_method

ALPHA = 0.05
"""Level of significance."""


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


def spelled(method: str) -> str:
    """Return a method's name as its paper spells it."""
    return (get_method(method).spelling if is_method(method) else "") or method


def comparable(results: Results) -> Iterator[Paired]:
    """Return every setting with its results, where there is anything to compare."""
    return (p for p in map(results.paired, results.settings) if len(p.methods) > 1 and p.problems)


def titled(title: str, paired: Paired, results: Results) -> str:
    """Return a title that names the setting where there are several."""
    label = paired.setting.label(results.settings)
    return f"{title} ({label})" if label else title


def shown(results: Results, values: Array) -> Array:
    """Return losses as they are printed: error rates in per cent."""
    return 100 * values if results.is_error_rate else values


def number(results: Results, value: float) -> str:
    """Return a loss, as `shown` has it, as text."""
    return f"{value:.2f}" if results.is_error_rate else f"{value:.4g}"


def marked(text: str, is_significant: bool) -> Text:
    """Return an entry that stands out if it is significant."""
    return Text(text, bold=is_significant, underlined=is_significant)


def size_note(paired: Paired, settings: list[Setting]) -> str:
    """Say how much was compared, and what was left out."""
    label = paired.setting.label(settings)
    note = f"{label}: " if label else ""
    n, repetitions = len(paired.problems), paired.repetitions_text
    note += f"{n} dataset{'s' * (n != 1)}, {repetitions} repetition{'s' * (repetitions != '1')}."
    if paired.n_left_out:
        note += f" {paired.n_left_out} more were left out: not every method has a result there."
    if paired.methods_left_out:
        note += f" Without {', '.join(paired.methods_left_out)}: too few datasets."
    return note
