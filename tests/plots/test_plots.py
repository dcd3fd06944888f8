"""Every figure is a plotly figure of the right numbers, of studies of any function and of models."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plotly.graph_objects import Figure
from sklearn.datasets import load_iris

from comitia import AutoClassifier, AutoRegressor, Serial, Study, minimize, plots
from comitia.errors import ChoiceError, UnknownName

X, Y = load_iris(return_X_y=True, as_frame=True)
SPACE: list[dict[str, Any]] = [
    {"kind": ["line"], "slope": (-1.0, 1.0)},
    {"kind": ["<b>"], "bend": (0.1, 10.0, "log"), "n": [1, 2, 3]},
]


def value(config: Any) -> float:
    return float(config["slope"] ** 2 if config["kind"] == "line" else 0.1 + np.log(config["bend"]) ** 2)


@pytest.fixture(scope="module")
def study() -> Study:
    return minimize(value, SPACE, n_trials=30, method="rs", seed=0)


@pytest.fixture(scope="module")
def classifier() -> Any:
    made = AutoClassifier(n_trials=6, include=["linear", "knn"], cv=3, executor=Serial(), random_state=0)
    return made.fit(X, Y)


def test_the_history_has_every_trial_and_the_best_so_far(study: Study) -> None:
    figure = plots.history(study)
    dots, best = figure.data[:-1], figure.data[-1]
    assert sum(len(trace.x) for trace in dots) == 30
    assert best.y[-1] == pytest.approx(study.best_value)
    assert {trace.name for trace in dots} == {"line", "&lt;b&gt;"}
    later = plots.seconds(study)
    assert max(max(trace.x) for trace in later.data) <= sum(o.seconds for o in study.history.observations()) + 1e-9


def test_slices_show_where_a_hyperparameter_is_active(study: Study) -> None:
    active = [o for o in study.history.observations() if "bend" in o.config]
    [trace] = plots.slices(study, "bend").data
    assert sorted(trace.x) == sorted(o.config["bend"] for o in active)
    assert plots.slices(study, "bend").layout.xaxis.type == "log"
    assert len(plots.slices(study).data) == 4
    with pytest.raises(UnknownName, match="'bend'"):
        plots.slices(study, "bent")


def test_a_contour_is_of_two_numbers() -> None:
    of_two = minimize(
        lambda c: c["a"] ** 2 + c["b"], {"a": (-1.0, 1.0), "b": (0.0, 1.0)}, n_trials=30, method="rs", seed=0
    )
    surface = plots.contour(of_two, "a", "b").data[0]
    expected = np.asarray(surface.z)
    assert expected[-1].mean() > expected[0].mean()  # b is at the bottom where it is best
    with pytest.raises(ChoiceError, match="two different"):
        plots.contour(of_two, "a", "a")


def test_importances_are_of_the_space_or_of_a_branch(study: Study) -> None:
    assert set(plots.importance(study).data[0].y) == {"kind", "slope", "bend", "n", "several together"}
    assert set(plots.importance(study, "line").data[0].y) == {"slope", "several together"}
    with pytest.raises(UnknownName):
        plots.importance(study, "circle")
    with pytest.raises(ChoiceError, match="ten trials"):
        plots.importance(minimize(value, SPACE, n_trials=3, seed=0))


def test_parallel_coordinates_have_the_axes_of_one_branch(study: Study) -> None:
    labels = [dimension.label for dimension in plots.parallel_coordinates(study, "<b>").data[0].dimensions]
    assert labels == ["bend", "n", "loss"]


def test_choices_need_branches(study: Study) -> None:
    shares = np.array([trace.y for trace in plots.choices(study).data])
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    with pytest.raises(ChoiceError, match="branches"):
        plots.choices(minimize(lambda c: c["x"], {"x": (0.0, 1.0)}, n_trials=3, seed=0))


def test_every_figure_of_a_classifier_is_drawn(classifier: Any, tmp_path: Path) -> None:
    made = [plots.confusion, plots.roc, plots.calibration, plots.estimates, plots.history, plots.choices]
    for make in made:
        assert isinstance(make(classifier), Figure), make.__name__
    assert len(plots.roc(classifier).data) == 4
    counts = np.asarray(plots.confusion(classifier).data[0].customdata)
    assert counts.sum() == len(X)
    figure = plots.columns(classifier, X[::5], Y[::5])
    assert len(figure.data[0].y) == 4
    classifier.save(tmp_path / "model")
    again, before = plots.history(tmp_path / "model"), plots.history(classifier)
    np.testing.assert_array_equal(again.data[-1].y, before.data[-1].y)
    with pytest.raises(ChoiceError, match="of numbers"):
        plots.residuals(classifier)


def test_residuals_are_of_numbers() -> None:
    model = AutoRegressor(n_trials=2, include=["linear"], cv=3, executor=Serial(), random_state=0)
    model.fit(X.drop(columns="petal width (cm)"), X["petal width (cm)"])
    assert len(plots.residuals(model).data[0].x) == len(X)
    with pytest.raises(ChoiceError, match="of classes"):
        plots.confusion(model)


def test_a_missing_package_is_named_with_the_command_that_brings_it(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ChoiceError, match=r'pip install "comitia\[report\]"'):
        plots.history(study)
