"""Figures of a search: of any function, or of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from comitia.arrays import Json
from comitia.errors import ChoiceError, UnknownName
from comitia.optimizers.bayes.forest import Forest
from comitia.plots.paper import ACCENT, GREY, PALETTE, new_figure, text
from comitia.report.searched import branching, choices_section, scores_section
from comitia.report.space_views import importance_section, space_section
from comitia.report.summarise import Found, Source, found_in
from comitia.seams import Values
from comitia.space import Space

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

N_GRID = 30
"""Points of a contour along either axis."""


def history(source: Source) -> Figure:
    """Draw the score of each trial by its number, and the best so far."""
    return _scores(source, "number", "trial")


def seconds(source: Source) -> Figure:
    """Draw the score of each trial by the seconds of all trials up to it, added up, and the best so far."""
    return _scores(source, "elapsed", "seconds of trials, added up")


def _scores(source: Source, by: str, title: str) -> Figure:
    found = found_in(source)
    drawn = scores_section(found.trials, found.scale, branching(found.space))
    figure = new_figure(xaxis_title=title, yaxis_title=text(found.scale.name))
    x, y, kind = np.asarray(drawn[by]), np.asarray(drawn["score"]), np.asarray(drawn["kind"])
    for code, name in enumerate(drawn["kinds"]):
        some = (kind == code) & np.isfinite(y)
        figure.add_scatter(
            x=x[some],
            y=y[some],
            mode="markers",
            name=text(name) or "trial",
            marker={"size": 6, "opacity": 0.7, "color": PALETTE[code % len(PALETTE)]},
            customdata=np.asarray(drawn["number"])[some],
            hovertemplate="trial %{customdata}<br>%{y:.5g}<extra></extra>",
        )
    best = np.asarray(drawn["best_score"])
    if len(best):
        end = drawn["last_number"] if by == "number" else drawn["total_seconds"]
        steps = np.append(np.asarray(drawn[f"best_{by}"]), end)
        line = {"shape": "hv", "color": GREY, "width": 1.5}
        figure.add_scatter(x=steps, y=np.append(best, best[-1]), mode="lines", name="best so far", line=line)
    return figure


def choices(source: Source) -> Figure:
    """Draw how often each learner, or other branch of the space, was tried over the search."""
    found = found_in(source)
    drawn = choices_section(found.trials, found.scale, branching(found.space))
    if drawn is None:
        raise ChoiceError("Choices need a space with branches, such as several learners. Got one without. Use history.")
    counts = np.asarray(drawn["counts"], dtype=np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    figure = new_figure(xaxis_title="trial", yaxis_title="share of trials", barmode="stack", bargap=0)
    first, last = np.asarray(drawn["first"]), np.asarray(drawn["last"])
    for code, name in enumerate(drawn["kinds"]):
        figure.add_bar(x=(first + last) / 2, width=last - first + 1, y=shares[:, code], name=text(name))
    return figure


def slices(source: Source, name: str | None = None) -> Figure:
    """Draw the score of each trial by one hyperparameter, or by each of them, where it was active."""
    found = found_in(source)
    drawn = _space(found)
    known = {one["name"]: one for one in drawn["hyperparameters"]}
    if name is not None and name not in known:
        raise UnknownName("hyperparameter", name, known)
    shown = list(known) if name is None else [name]
    figure = new_figure()
    n_columns = min(3, len(shown))
    rows = -(-len(shown) // n_columns)
    figure.set_subplots(rows, n_columns, shared_yaxes=True, subplot_titles=[text(one) for one in shown])
    for place, one in enumerate(shown):
        row, column = divmod(place, n_columns)
        values = known[one]["values"]
        figure.add_scatter(
            x=values if known[one]["is_number"] else [text(value) for value in values],
            y=np.asarray(drawn["score"])[known[one]["places"]],
            mode="markers",
            marker={"size": 6, "opacity": 0.7, "color": ACCENT},
            showlegend=False,
            name=text(one),
            row=row + 1,
            col=column + 1,
        )
        kind = "log" if known[one]["is_log"] else "linear" if known[one]["is_number"] else "category"
        figure.update_xaxes(type=kind, row=row + 1, col=column + 1)
    figure.update_yaxes(title_text=text(found.scale.name), col=1)
    figure.update_layout(height=max(400, 260 * rows))
    return figure


def contour(source: Source, x: str, y: str) -> Figure:
    """Draw what a random forest of all trials expects over two numeric hyperparameters, with the trials.

    The other hyperparameters are as in the best trial.
    """
    found = found_in(source)
    space, trials = _known_space(found), found.trials
    for name in (x, y):
        if name not in space.names:
            raise UnknownName("hyperparameter", name, space.names)
    places = [space.names.index(name) for name in (x, y)]
    best = trials.best
    if best is None or x == y or any(space.columns[j].is_categorical for j in places):
        raise ChoiceError(
            f"A contour needs two different numeric hyperparameters and a trial that succeeded. Got {x!r} and {y!r}."
        )
    ok = np.flatnonzero(trials.is_ok)
    belief = Forest(space, 48).belief(trials.X[ok], Values(trials.losses[ok]), len(ok), found.seeds)
    axes = [np.unique(space.columns[j].snap(np.linspace(0, 1, N_GRID))) for j in places]
    rows = np.repeat(trials.X[best][None], len(axes[0]) * len(axes[1]), axis=0)
    rows[:, places[0]] = np.tile(axes[0], len(axes[1]))
    rows[:, places[1]] = np.repeat(axes[1], len(axes[0]))
    expected = belief.mean(rows)  # standardised; as losses again:
    spread, middle = trials.losses[ok].std(), trials.losses[ok].mean()
    scores = found.scale(middle + spread * expected).reshape(len(axes[1]), len(axes[0]))
    drawn = {one["name"]: one for one in _space(found)["hyperparameters"]}
    figure = new_figure(xaxis_title=text(x), yaxis_title=text(y))
    values = [space.columns[j].values(axis) for j, axis in zip(places, axes, strict=True)]
    figure.add_contour(
        x=values[0], y=values[1], z=scores, colorscale="Blues", colorbar={"title": text(found.scale.name)}
    )
    both = [config for i in ok.tolist() if x in (config := trials.configs[i]) and y in config]
    figure.add_scatter(
        x=[config[x] for config in both],
        y=[config[y] for config in both],
        mode="markers",
        marker={"size": 5, "color": "#16191d", "opacity": 0.6},
        name="trial",
    )
    for axis, name in (("xaxis", x), ("yaxis", y)):
        if name in drawn and drawn[name]["is_log"]:
            figure.update_layout({axis: {"type": "log"}})
    return figure


def importance(source: Source, within: str | None = None) -> Figure:
    """Draw which hyperparameters matter: shares of the variance of a random forest of all trials (functional ANOVA).

    With `within` a learner, or another branch: of the trials in it.
    """
    found = found_in(source)
    space, branch = _known_space(found), branching(found.space)
    drawn = importance_section(found.trials, found.scale, space, found.trials.X, found.seeds, branch)
    groups = {group["kind"]: group for group in (drawn or {"groups": []})["groups"]}
    if not groups:
        raise ChoiceError(
            "Importances need ten trials that succeeded, with different scores. Got fewer. Search longer."
        )
    if (within or "") not in groups:
        raise UnknownName("branch with enough trials", within, [kind for kind in groups if kind])
    group = groups[within or ""]
    names = [*group["names"], "several together"][::-1]
    shares = [*group["shares"], group["rest"]][::-1]
    figure = new_figure(xaxis_title="share of the variance", xaxis_tickformat=".0%")
    colors = [GREY if name == "several together" else ACCENT for name in names]
    figure.add_bar(x=shares, y=[text(name) for name in names], orientation="h", marker={"color": colors})
    figure.update_layout(height=max(300, 90 + 26 * len(names)))
    return figure


def parallel_coordinates(source: Source, within: str | None = None) -> Figure:
    """Draw one line per trial over one axis for each hyperparameter; ranges can be selected on each axis.

    `within` is a learner, or another branch; if not given that of the best trial.
    """
    found = found_in(source)
    drawn = _space(found)
    scores = np.asarray(drawn["score"])
    best = int(np.argmax(scores) if found.scale.is_greater_better else np.argmin(scores))
    kind = drawn["kinds"][drawn["kind"][best]] if within is None else within
    if kind not in drawn["kinds"]:
        raise UnknownName("branch", kind, drawn["kinds"])
    inside = np.flatnonzero(np.asarray(drawn["kind"]) == drawn["kinds"].index(kind))
    dimensions = []
    for one in drawn["hyperparameters"]:
        at = dict(zip(one["places"], one["values"], strict=True))
        if one["name"] != drawn["branch"] and all(int(place) in at for place in inside):
            dimensions.append(_axis(one, [at[int(place)] for place in inside]))
    dimensions.append({"label": text(found.scale.name), "values": scores[inside]})
    figure = new_figure()
    line = {
        "color": scores[inside],
        "colorscale": "Blues",
        "showscale": True,
        "reversescale": _is_smaller_better(found),
    }
    figure.add_parcoords(dimensions=dimensions, line=line)
    return figure


def _is_smaller_better(found: Found) -> bool:
    return not found.scale.is_greater_better


def _axis(one: Json, values: list[object]) -> Json:
    """Return one axis of parallel coordinates: numbers, their logarithms, or codes of categories."""
    label = text(one["name"].split(":")[-1])
    if not one["is_number"]:
        names = sorted({str(value) for value in values})
        ticks = {"tickvals": list(range(len(names))), "ticktext": [text(name) for name in names]}
        return {"label": label, "values": [names.index(str(value)) for value in values], **ticks}
    numbers = np.array(values, dtype=np.float64)
    if not one["is_log"]:
        return {"label": label, "values": numbers}
    ends = np.log10([one["low"], one["high"]])
    at = np.arange(np.ceil(ends[0]), np.floor(ends[1]) + 1)
    return {"label": label, "values": np.log10(numbers), "tickvals": at, "ticktext": [f"{10.0**t:g}" for t in at]}


def _known_space(found: Found) -> Space:
    if found.space is None:
        raise ChoiceError(f"The study must have a space that can be read. {found.problem or 'It has none'}.")
    return found.space


def _space(found: Found) -> Json:
    drawn = space_section(found.trials, found.scale, _known_space(found), branching(found.space))
    if drawn is None:
        raise ChoiceError("A figure of the space needs a trial that succeeded. There is none yet. Search longer.")
    return drawn
