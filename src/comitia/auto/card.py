"""What a notebook shows of a fitted model."""

from __future__ import annotations

import html
from typing import Protocol

from comitia.auto.estimate import Estimate
from comitia.auto.refit import FittedMember
from comitia.study.study import Study


class Fitted(Protocol):
    """What is shown: `AutoClassifier` or `AutoRegressor`."""

    study_: Study
    members_: list[FittedMember]
    validation_score_: float
    estimate_: Estimate | None

    @property
    def metric(self) -> str: ...


LINE = "border-bottom:1px solid rgba(128,128,128,.25);padding:.25em .9em .25em 0;vertical-align:top"
SOFT = "opacity:.7"


def card(model: Fitted) -> str:
    """Return a short piece of HTML: what to expect, and who votes. It takes the colours of the page around it."""
    history, expected = model.study_.history, model.estimate_
    score = model.validation_score_ if expected is None else expected.score
    what = "on validation rows, optimistic" if expected is None else "expected on new rows"
    lines = [] if expected is None else _lines(expected)
    lines.append(f"{history.n_finished} trials, {history.n_failed} failed")
    heads = "".join(f'<th style="{LINE};text-align:left;{SOFT}">{name}</th>' for name in ("weight", "", "settings"))
    return (
        '<div style="max-width:60em">'
        f'<div style="{SOFT}">{html.escape(type(model).__name__)}</div>'
        f'<div><span style="font-size:2em;font-weight:600">{score:.4g}</span> {html.escape(model.metric)} {what}</div>'
        + "".join(f'<div style="{SOFT}">{line}</div>' for line in lines)
        + f'<table style="border-collapse:collapse;margin-top:.8em"><thead><tr>{heads}</tr></thead><tbody>'
        + "".join(map(_row, model.members_))
        + "</tbody></table></div>"
    )


def _lines(expected: Estimate) -> list[str]:
    chosen = f"The rows that chose it say {expected.optimistic:.4g}, which is optimistic. {expected.against_default}"
    return [html.escape(str(expected)), html.escape(chosen)]


def _row(member: FittedMember) -> str:
    config = dict(member.config)
    learner = str(config.pop("learner", "model" if config else "fallback"))
    bar = f"display:inline-block;height:.6em;width:{6 * member.weight:.2f}em;background:#1f5fbf;margin-right:.5em"
    settings = ", ".join(f"{name.split(':')[-1]}={_short(value)}" for name, value in config.items())
    cells = (f'<span style="{bar}"></span>{member.weight:.2f}', html.escape(learner), html.escape(settings))
    return "<tr>" + "".join(f'<td style="{LINE};text-align:left">{cell}</td>' for cell in cells) + "</tr>"


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
