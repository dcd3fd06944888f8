"""Figures of a fitted `AutoClassifier` or `AutoRegressor`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from comitia.arrays import Json, Table
from comitia.auto.after_fit import Results
from comitia.auto.folder import load
from comitia.errors import ChoiceError
from comitia.plots.paper import ACCENT, GREY, WARM, new_figure, text
from comitia.report.columns import columns_section
from comitia.report.diagnostics import diagnostics_section
from comitia.report.members import committee_section, path_section
from comitia.report.trials import trials_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Model = Results | str | Path
"""A fitted estimator, or a model folder."""


def estimates(model: Model) -> Figure:
    """Draw what would have been returned after fewer trials: its score on validation rows, and the honest estimate."""
    known = _model(model)
    drawn = path_section(known, known.hindsight(), trials_of(known.study_))
    if drawn is None:
        raise ChoiceError("The path of the estimate needs trials that kept what they predicted. There are none.")
    figure = new_figure(xaxis_title="trial", yaxis_title=text(known.metric))
    figure.add_scatter(x=drawn["number"], y=drawn["optimistic"], name="validation rows", line={"color": WARM})
    figure.add_scatter(
        x=drawn["number"], y=drawn["estimate"], name="honest estimate", line={"color": ACCENT}, fill="tonexty",
        fillcolor="rgba(179,84,30,.1)",
    )  # fmt: skip
    return figure


def committee(model: Model) -> Figure:
    """Draw the correlation of the errors of each two members, on validation rows."""
    known = _model(model)
    drawn = committee_section(known, known.hindsight())
    if drawn is None or drawn["correlation"] is None:
        raise ChoiceError("Correlations need a committee of two or more that kept its predictions. Got none.")
    labels = [text(f"{row['learner']} {row['number']}") for row in drawn["rows"]]
    return _table_of_colours(labels, labels, np.asarray(drawn["correlation"]["values"]), "%{z:.2f}")


def confusion(model: Model) -> Figure:
    """Draw how often each class was taken for each, for validation rows; shares are of a true class."""
    drawn = _diagnosed(model, "classes", "A confusion matrix")["confusion"]
    counts = np.asarray(drawn["counts"], dtype=np.float64)
    labels = [text(label) for label in drawn["labels"]]
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure = _table_of_colours(labels, labels, shares, "%{customdata}", counts.astype(int))
    return figure.update_layout(xaxis_title="predicted", yaxis_title="true")


def roc(model: Model) -> Figure:
    """Draw true by false positives, for validation rows; of more than two classes each against the rest."""
    figure = new_figure(xaxis_title="false positives", yaxis_title="true positives")
    figure.add_scatter(x=[0, 1], y=[0, 1], line={"color": GREY, "dash": "dot"}, showlegend=False, mode="lines")
    for one in _diagnosed(model, "classes", "ROC").get("roc", []):
        figure.add_scatter(x=one["x"], y=one["y"], mode="lines", name=f"{text(one['label'])}: {one['area']:.3f}")
    return figure


def calibration(model: Model) -> Figure:
    """Draw how often a class is true by the probability that was said, for validation rows."""
    figure = new_figure(xaxis_title="probability that was said", yaxis_title="share that is true")
    figure.add_scatter(x=[0, 1], y=[0, 1], line={"color": GREY, "dash": "dot"}, showlegend=False, mode="lines")
    for one in _diagnosed(model, "classes", "Calibration").get("calibration", []):
        figure.add_scatter(x=one["said"], y=one["true"], mode="lines+markers", name=text(one["label"]))
    return figure


def residuals(model: Model) -> Figure:
    """Draw true by predicted numbers, for validation rows."""
    drawn = _diagnosed(model, "numbers", "Residuals")
    ends = [min(*drawn["y"], *drawn["predicted"]), max(*drawn["y"], *drawn["predicted"])]
    figure = new_figure(xaxis_title="predicted", yaxis_title="true")
    figure.add_scatter(
        x=drawn["predicted"], y=drawn["y"], mode="markers", marker={"opacity": 0.5, "color": ACCENT}, showlegend=False
    )
    figure.add_scatter(x=ends, y=ends, mode="lines", line={"color": GREY, "dash": "dot"}, showlegend=False)
    return figure


def columns(model: Model, X: Table | ArrayLike, y: ArrayLike) -> Figure:
    """Draw how much worse the score becomes if a column's values are shuffled, best on rows that are new."""
    drawn = columns_section(_model(model), X, y)
    assert drawn is not None
    rows = drawn["rows"][::-1]
    value = np.array([row["importance"] for row in rows])
    low, high = np.array([row["low"] for row in rows]), np.array([row["high"] for row in rows])
    figure = new_figure(xaxis_title=f"{text(drawn['metric'])} lost", height=max(300, 90 + 26 * len(rows)))
    spread = {"type": "data", "symmetric": False, "array": np.maximum(high - value, 0), "arrayminus": value - low}
    names = [text(row["column"]) for row in rows]
    figure.add_bar(x=value, y=names, orientation="h", error_x=spread, marker={"color": ACCENT})
    return figure


def _model(model: Model) -> Results:
    found = load(model) if isinstance(model, str | Path) else model
    if not isinstance(found, Results):
        raise ChoiceError(
            f"The figure needs a fitted AutoClassifier or AutoRegressor, or its folder. Got {type(found).__name__}."
        )
    return found


def _diagnosed(model: Model, kind: str, what: str) -> Json:
    known = _model(model)
    drawn = diagnostics_section(known.validation_predictions_, vars(known).get("pos_label_"))
    if drawn is None or drawn["kind"] != kind:
        raise ChoiceError(f"{what} needs out-of-fold predictions of {kind}. The model has none. Use another figure.")
    return drawn


def _table_of_colours(
    x: list[str], y: list[str], z: np.ndarray, shown: str, customdata: np.ndarray | None = None
) -> Figure:
    figure = new_figure()
    figure.add_heatmap(
        x=x, y=y, z=z, zmin=0, zmax=1, colorscale="Blues", texttemplate=shown, customdata=customdata, xgap=2, ygap=2
    )
    return figure.update_yaxes(autorange="reversed")
