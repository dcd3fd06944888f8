"""What all figures share: plotly, a plain layout, and texts of data that stay texts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from comitia.errors import ChoiceError
from comitia.report.pages import INSTALL

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

PALETTE = ("#3b78c3", "#d9822b", "#2a9d78", "#b85c9e", "#8a6fc9", "#c9a227", "#4bb3c4", "#c25450", "#7d8a97", "#6b8e3d")
ACCENT, WARM, GREY = "#1f5fbf", "#b3541e", "#8a929c"


def new_figure(**layout: Any) -> Figure:
    """Return an empty figure in the style of the report."""
    try:
        from plotly.graph_objects import Figure
    except ImportError as error:
        raise ChoiceError(f"Figures need plotly. It is not installed. Use {INSTALL}.") from error
    figure = Figure()
    figure.update_layout(
        template="plotly_white", colorway=list(PALETTE), font={"family": "system-ui, sans-serif", "size": 13}, **layout
    )
    return figure


def text(value: object) -> str:
    """Return a text of the user's as it is: plotly reads some HTML in labels."""
    return html.escape(str(value), quote=False)
