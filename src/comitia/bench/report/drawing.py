"""What all pictures of a report share: an empty figure, its axes, the line of a method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from comitia.arrays import Array
from comitia.bench.report.layouts.typesetting import spelled
from comitia.errors import ExperimentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of some inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ExperimentError(
            "Figures need matplotlib. It is not installed. Install it: pip install 'comitia[bench]'."
        ) from error
    return Figure(figsize=(width, height), layout="constrained")


def styled(axes: Axes, *, x: str = "", y: str = "") -> Axes:
    """Name the axes and take away the frame on two sides."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return axes


def draw_line(axes: Axes, x: Array, y: Array, j: int, method: str, marker: str = "") -> None:
    """Draw a method's line: colours in order; dashes for reshuffled variants, as in Lévesque 2018, Fig. 3.3."""
    dashes = "--" if method.endswith("-r") or j >= 10 else "-"
    axes.plot(x, y, color=f"C{j % 10}", linestyle=dashes, label=spelled(method), marker=marker)
