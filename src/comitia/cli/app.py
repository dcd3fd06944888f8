"""The command line: parse, call one function, print. Results on standard output, progress on standard error."""

from __future__ import annotations

import json
import math
import shutil
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comitia.cli.bench_commands import app as bench_app
from comitia.cli.clock import seconds_of_process
from comitia.cli.one_line import one_line_errors
from comitia.cli.page_commands import compare, watch

if TYPE_CHECKING:
    import pandas as pd

    from comitia.cli.commands import Auto

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Find the model that generalises best inside a budget.\n\n"
    "    comitia fit train.csv --target income --time-limit 60 --output model/\n\n"
    "    comitia predict model/ new.csv > predictions.csv",
)


Format = StrEnum("Format", ["table", "json", "csv"])
Preset = StrEnum("Preset", ["fast", "balanced", "best", "thorough"])
EstimateKinds = StrEnum("EstimateKinds", ["auto", "nested", "none"])
HowGoodOption = Annotated[
    EstimateKinds, typer.Option(help="How good it will be: auto, nested (six times the fits), or none.")
]
MetricOption = Annotated[
    str | None, typer.Option(help="What counts: a scikit-learn scorer such as roc_auc, f1, rmse, mae.")
]
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the model; must be new or empty.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Say what is tried, one line per trial.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to print.")]


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        print(f"comitia {version('comitia')}")
        raise typer.Exit


@app.callback()
def options_of_all(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Take the options that come before a command."""


@app.command()
def fit(
    context: typer.Context,
    train: Annotated[str, typer.Argument(help="Table: .csv, .tsv, .parquet, .arff, or - for CSV on standard input.")],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    output: Output = Path("model"),
    time_limit: Annotated[float | None, typer.Option(help="Seconds for everything; 60 if no limit is given.")] = None,
    n_trials: Annotated[int | None, typer.Option(help="Configurations to try.")] = None,
    task: Annotated[str | None, typer.Option(help="classification or regression; detected if not given.")] = None,
    metric: MetricOption = None,
    metrics: Annotated[
        list[str] | None, typer.Option("--also", help="A further metric to report; may be repeated.")
    ] = None,
    pos_label: Annotated[str | None, typer.Option(help="The positive one of two classes, for f1 and its like.")] = None,
    class_weight: Annotated[str | None, typer.Option(help="balanced: rare classes count as much as others.")] = None,
    groups: Annotated[str | None, typer.Option(help="Column whose rows stay together in every split.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    time_column: Annotated[str | None, typer.Option(help="Column to sort by; splits then respect time.")] = None,
    method: Annotated[str | None, typer.Option(help="A method of `comitia methods`; committee if not given.")] = None,
    estimate: HowGoodOption = EstimateKinds.auto,
    preset: Annotated[Preset, typer.Option(help="How much care to take; thorough means best.")] = Preset.balanced,
    include: Annotated[list[str] | None, typer.Option(help="A learner to search; may be repeated.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="A learner to leave out; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes; -1 for all processors.")] = -1,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, tcp://..., to run trials there.")
    ] = None,
    lag: Annotated[int | None, typer.Option(help="The same model with 1 to so many workers; 1 is sequential.")] = None,
    trial_time_limit: Annotated[float | None, typer.Option(help="Seconds after which a trial is killed.")] = None,
    trial_memory_limit: Annotated[float | None, typer.Option(help="Bytes beyond which a trial is killed.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns; detected if not given.")] = None,
    seed: Annotated[int | None, typer.Option(help="For the same result again.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing model.")] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Search, fit and save a model.

    **Examples**

        comitia fit train.csv --target income --time-limit 60 --output model/

        comitia fit visits.parquet --target cost --task regression --groups patient --jobs 2 --time-limit 600

        comitia fit train.csv --target y --metric roc_auc --n-trials 100 --include lightgbm --include linear
    """
    with one_line_errors():
        from comitia.cli.commands import FitOptions, check_interrupt, run_fit

        options = FitOptions.given(context.params)
        level = 0 if quiet else 2 if verbose else 1
        estimator = run_fit(options, output, overwrite=overwrite, verbose=level, began=_began(context))
        _print_summary(estimator, output)
        check_interrupt(estimator, output)


@app.command()
def resume(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(help="Model folder of a fit that was interrupted, or should continue.")],
    time_limit: Annotated[float | None, typer.Option(help="Seconds for this call.")] = None,
    n_trials: Annotated[int | None, typer.Option(help="Configurations in all, earlier ones included.")] = None,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, this time.")] = None,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Resume a fit, with the options that it was begun with.

    **Example**

        comitia resume model/ --time-limit 300
    """
    with one_line_errors():
        from comitia.cli.commands import check_interrupt, run_resume

        level = 0 if quiet else 2 if verbose else 1
        estimator = run_resume(model, time_limit, n_trials, dask, verbose=level, began=_began(context))
        _print_summary(estimator, model)
        check_interrupt(estimator, model)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    table: Annotated[str, typer.Argument(help="Table, or - for CSV on standard input.")],
    proba: Annotated[bool, typer.Option("--proba", help="Print the probability of each class.")] = False,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns; detected if not given.")] = None,
    trusted: Annotated[list[str] | None, typer.Option(help="A type of your own that the model may hold.")] = None,
) -> None:
    """Print predictions as CSV.

    **Examples**

        comitia predict model/ new.csv > predictions.csv

        cat new.csv | comitia predict model/ - --proba
    """
    with one_line_errors():
        from comitia.cli.commands import run_predict

        run_predict(model, table, proba, delimiter, trusted or []).to_csv(sys.stdout, index=False)


@app.command()
def evaluate(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    table: Annotated[str, typer.Argument(help="Table with the target column, of rows that were not fitted on.")],
    output_format: FormatOption = Format.table,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns; detected if not given.")] = None,
    trusted: Annotated[list[str] | None, typer.Option(help="A type of your own that the model may hold.")] = None,
) -> None:
    """Score a model on labelled rows, by the metrics that it was fitted with.

    **Example**

        comitia evaluate model/ test.csv
    """
    with one_line_errors():
        from comitia.cli.commands import run_evaluate

        _print_rows(run_evaluate(model, table, delimiter, trusted or []), output_format)


@app.command()
def importance(
    model: Annotated[Path, typer.Argument(help="Model folder.")],
    table: Annotated[str, typer.Argument(help="Table with the target column, best of rows that were not fitted on.")],
    repeats: Annotated[int, typer.Option(help="How often each column is shuffled.", min=1)] = 5,
    output_format: FormatOption = Format.table,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns; detected if not given.")] = None,
    trusted: Annotated[list[str] | None, typer.Option(help="A type of your own that the model may hold.")] = None,
) -> None:
    """Tell how much a model needs each column: the score that is lost when its values are shuffled.

    **Example**

        comitia importance model/ test.csv
    """
    with one_line_errors():
        from comitia.cli.commands import run_importance

        _print_rows(run_importance(model, table, repeats, delimiter, trusted or []), output_format)


@app.command()
def leaderboard(
    model: Annotated[Path, typer.Argument(help="Model folder, also while its fit is running.")],
    test: Annotated[str | None, typer.Option(help="Table with the target, for the score of members on it.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns; detected if not given.")] = None,
    trusted: Annotated[list[str] | None, typer.Option(help="A type of your own that the model may hold.")] = None,
    output_format: FormatOption = Format.table,
    most: Annotated[int, typer.Option(help="Rows to print.")] = 20,
) -> None:
    """List trials and the committee, the best first.

    **Examples**

        comitia leaderboard model/ -f json

        comitia leaderboard model/ --test test.csv
    """
    with one_line_errors():
        from comitia.cli.commands import run_leaderboard

        frame = run_leaderboard(model, test, delimiter, trusted or [], most)
        if output_format is Format.table and not len(frame):
            print("No trial has finished yet.")
        else:
            _print_rows(frame, output_format)


@app.command()
def report(
    model: Annotated[Path, typer.Argument(help="Model folder, also while its fit is running, or a study's file.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="HTML file to write.")] = Path("report.html"),
    test: Annotated[
        str | None, typer.Option(help="Table with the target, of rows that were not fitted on: which columns matter.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns; detected if not given.")] = None,
    trusted: Annotated[list[str] | None, typer.Option(help="A type of your own that the model may hold.")] = None,
) -> None:
    """Write one HTML page of what was found, how sure it is, and why.

    The page has everything in it and loads nothing from the network: it can be sent around. It shows what to expect on
    new rows, the committee, every trial, errors, what matters, failures, the table, and how to get the same again.
    Needs `pip install "comitia[report]"`.

    **Examples**

        comitia report model/ --output report.html

        comitia report model/ --test test.csv

        comitia report study.db -o study.html
    """
    with one_line_errors():
        from comitia.cli.commands import run_report

        problem = run_report(model, output, test, delimiter, trusted or [])
        print(f"Report written to {output}")
        if problem:
            print(f"comitia: {problem}", file=sys.stderr)


@app.command()
def methods(output_format: FormatOption = Format.table) -> None:
    """List search methods, with the paper each is from."""
    with one_line_errors():
        from comitia.cli.commands import methods_frame

        _print_rows(methods_frame(), output_format)


@app.command()
def spaces(output_format: FormatOption = Format.table) -> None:
    """List ready-made spaces, and the learners of the default one."""
    with one_line_errors():
        from comitia.cli.commands import spaces_frame

        _print_rows(spaces_frame(), output_format)


app.command()(watch)
app.command()(compare)
app.add_typer(bench_app, name="bench")


def _print_summary(estimator: Auto, output: Path) -> None:
    best, together, expected = estimator.study_.history.best, estimator.validation_score_, estimator.estimate_
    print(f"{estimator.study_.history.n_finished} trials, model saved in {output}")
    for member in estimator.members_:
        what = json.dumps(dict(member.config)) if member.config else "predicts the same for every row"
        print(f"  weight {member.weight:.2f}: {what}")
    name = estimator.metric
    if best is not None and len(estimator.members_) > 1 and not math.isnan(together):
        print(
            f"Validation {name} {together:.4g} of the committee, {estimator.best_score_:.4g} of the best single model:"
        )
        print("both were chosen by the rows that judge them, so they are optimistic")
        if together < estimator.best_score_:
            print(
                "(that of a single model is a mean over folds, and the luckiest of all; "
                "that of the committee is of all rows together)"
            )
    elif best is not None and not math.isnan(together):
        print(f"Validation {name} {together:.4g}: the best of many, so optimistic")
    for other, score in estimator.validation_scores_.items():
        if other != "score" and not math.isnan(score):
            print(f"Validation {other} {score:.4g}")
    if expected is not None:
        print(f"Expect {expected}")
        print(expected.against_default)


def _print_rows(frame: pd.DataFrame, output_format: Format) -> None:
    if output_format is Format.json:
        print(frame.to_json(orient="records", indent=1))
    elif output_format is Format.csv:
        frame.to_csv(sys.stdout, index=False)
    else:
        # a pipe gets everything, a terminal what fits
        print(as_text(frame, shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize))


def as_text(frame: pd.DataFrame, width: int) -> str:
    """Return a table for people: four digits, texts to the left, the last column cut where it is too wide."""
    texts = {
        name: [_cell(value) for value in column.tolist()]
        for name, column in zip(map(str, frame.columns), (frame[c] for c in frame.columns), strict=True)
    }
    lines = [""] * (len(frame) + 1)
    for place, (name, cells) in enumerate(texts.items()):
        longest = max(map(len, [name, *cells]))
        is_text = frame.iloc[:, place].dtype.kind not in "iufb"
        for row, cell in enumerate([name, *cells]):
            lines[row] += ("  " if place else "") + (cell.ljust(longest) if is_text else cell.rjust(longest))
    return "\n".join(line[: width - 3] + "..." if len(line.rstrip()) > width else line.rstrip() for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return "" if value is None or str(value) in ("<NA>", "nan") else str(value)


def main() -> None:
    """Run the command line."""
    app(prog_name="comitia", obj=time.monotonic() - seconds_of_process())


def _began(context: typer.Context) -> float:
    """Return when the command was started; now, if this is not a process of its own."""
    return time.monotonic() if context.obj is None else float(context.obj)
