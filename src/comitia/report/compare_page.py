"""A comparison as one HTML page in the look of the report, which asks nothing of the network."""

from __future__ import annotations

import math
from importlib.metadata import version
from pathlib import Path

from comitia.arrays import Json
from comitia.report.compare import Comparison, Difference
from comitia.report.pages import check_report, environment, own_file, policy_of, save_page

THEME = """"use strict";
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
dark.addEventListener("change", follow);
follow();"""
MIDDLE, HALF = 320.0, 260.0
"""Where the picture has no difference, and how far it goes to each side."""


def write_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Write a comparison as a page; return where."""
    output = Path(path)
    check_report(output)
    save_page(comparison_page(comparison), output)
    return output


def comparison_page(comparison: Comparison) -> str:
    """Return a comparison as a page."""
    document = comparison.document()
    shown = [one for one in comparison.differences if all(map(math.isfinite, one.interval))]
    return (
        environment()
        .get_template("compare.html")
        .render(
            **{**document, "differences": [{**_drawn(one), **_said(comparison, one)} for one in shown]},
            policy=policy_of((THEME,), is_live=False),
            style=own_file("page.css"),
            script=THEME,
            version=version("comitia"),
        )
    )


def _drawn(difference: Difference) -> Json:
    """Return where a difference and its interval are in the picture."""
    low, high = difference.interval
    most = max(abs(low), abs(high), abs(difference.difference)) or 1.0

    def at(value: float) -> float:
        return round(MIDDLE + HALF * value / most, 1)

    return {
        "at": at(difference.difference),
        "low_at": at(low),
        "high_at": at(high),
        "width": max(at(high) - at(low), 2.0),
    }


def _said(comparison: Comparison, difference: Difference) -> Json:
    return {"verdict": comparison.verdict(difference), "numbers": comparison.numbers(difference)}
