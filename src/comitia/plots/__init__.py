"""Figures of studies and models: every function returns a plotly figure, to show, change or save.

They take a study, of whatever function, a fitted estimator, a model folder or a study's file. They need plotly:
`pip install "comitia[report]"`.

Examples
--------
>>> from comitia import minimize, plots
>>> study = minimize(lambda config: (config["x"] - 1) ** 2, {"x": (-5.0, 5.0)}, n_trials=10, seed=0)
>>> figure = plots.history(study)
>>> [trace.name for trace in figure.data]
['trial', 'best so far']
"""

from comitia.plots.of_models import calibration, columns, committee, confusion, estimates, residuals, roc
from comitia.plots.of_studies import choices, contour, history, importance, parallel_coordinates, seconds, slices

__all__ = [
    "calibration",
    "choices",
    "columns",
    "committee",
    "confusion",
    "contour",
    "estimates",
    "history",
    "importance",
    "parallel_coordinates",
    "residuals",
    "roc",
    "seconds",
    "slices",
]
