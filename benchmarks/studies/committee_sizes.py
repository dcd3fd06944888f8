"""Errors of committees by the number of greedy steps: Lévesque 2018, Fig. 4.10, from `experiments/rows/*-sizes.csv`.

`sizes_table` makes the table of a page; as a program it draws the picture, what `make figures` runs.

python benchmarks/studies/committee_sizes.py [ROOT]
"""

import sys
from pathlib import Path

import pandas as pd

from comitia.bench.report.drawing import new_figure, styled
from comitia.bench.report.figures import svg
from comitia.bench.report.layouts.typesetting import Table, Text

RUN = "cnn"
SHOWN = (1, 3, 5, 7, 10, 20, 50, 100)
"""Steps in the table."""
COLOURS = ("#4184e4", "#e5534b")
"""Readable on white and on black."""
GREY = "#7d8590"
KEY = ["problem", "method", "repetition", "n_steps"]


def read_sizes(path: Path) -> pd.DataFrame:
    """Return the lines of a run; a cell that is there twice counts once, the last time."""
    return pd.read_csv(path).drop_duplicates(KEY, keep="last")


def sizes_table(path: Path) -> Table:
    """Return mean errors in per cent, validation and test, for some numbers of steps."""
    if not path.is_file():
        return Table("", [], [], [f"`{path.stem}`: not run yet."])
    frame = read_sizes(path)
    steps = [n for n in SHOWN if n in set(frame["n_steps"])]
    rows = []
    for method, part in frame.groupby("method", sort=True):
        for column, name in (("validation_loss", "validation"), ("test_loss", "test")):
            means = 100 * part.groupby("n_steps")[column].mean()
            rows.append([Text(f"`{method}`, {name}"), *(Text(f"{means[n]:.2f}") for n in steps)])
    n = frame["repetition"].nunique()
    notes = [f"`{path.stem.removesuffix('-sizes')}`: mean errors in per cent over {n} repetitions."]
    return Table("", ["greedy steps", *map(str, steps)], rows, notes)


def draw(path: Path) -> str:
    """Return the picture: one line per method, validation dashed, test solid."""
    figure = new_figure(6.4, 3.6)
    figure.patch.set_alpha(0)
    axes = styled(figure.subplots(), x="steps of the greedy choice", y="error in per cent")
    axes.patch.set_alpha(0)
    for (method, part), colour in zip(read_sizes(path).groupby("method", sort=True), COLOURS, strict=True):
        means = 100 * part.groupby("n_steps")[["validation_loss", "test_loss"]].mean()
        name = str(method).partition("[")[0]
        axes.plot(means.index, means["test_loss"], color=colour, label=f"{name}, test")
        axes.plot(means.index, means["validation_loss"], color=colour, linestyle="--", label=f"{name}, validation")
    axes.set_xscale("log")
    axes.legend(frameon=False, labelcolor=GREY)
    axes.tick_params(colors=GREY, which="both")
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(GREY)
    for spine in axes.spines.values():
        spine.set_color(GREY)
    return svg(figure)


def main(root: Path) -> None:
    path = root / "docs" / "img" / "committee-sizes.svg"
    path.write_text(draw(root / "experiments" / "rows" / f"{RUN}-sizes.csv"), encoding="utf-8")
    print(f"{path}: written")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]))
