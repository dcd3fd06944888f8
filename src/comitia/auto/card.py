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


def card(model: Fitted) -> str:
    """Return a short piece of HTML: what to expect, and who votes."""
    rows = "".join(
        f"<tr><td>{member.weight:.2f}</td><td>{html.escape(str(member.config or 'fallback'))}</td></tr>"
        for member in model.members_
    )
    score = f"validation {html.escape(model.metric)} {model.validation_score_:.4g}"
    expected = "" if model.estimate_ is None else f"<p>Expected: {html.escape(str(model.estimate_))}</p>"
    return (
        f"<p><b>{type(model).__name__}</b>: {model.study_.history.n_finished} trials, {score}</p>{expected}"
        f"<table><tr><th>weight</th><th>member</th></tr>{rows}</table>"
    )
