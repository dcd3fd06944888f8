"""The command line: parse, call one function, print. Results on standard output, progress on standard error."""

from __future__ import annotations

import json
import math
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comitia.cli.bench_commands import app as bench_app
from comitia.cli.one_line import one_line_errors

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
Preset = StrEnum("Preset", ["fast", "balanced", "thorough"])
Output = Annotated[Path, typer.Option("--output", "-o", help="Folder for the model; must be new or empty.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How to print.")]


@app.command()
def fit(
    train: Annotated[str, typer.Argument(help="Table: .csv, .tsv, .parquet, .arff, or - for CSV on standard input.")],
    target: Annotated[str, typer.Option(help="Column to predict.")],
    output: Output = Path("model"),
    time_limit: Annotated[float | None, typer.Option(help="Seconds for everything; 60 if no limit is given.")] = None,
    n_trials: Annotated[int | None, typer.Option(help="Configurations to try.")] = None,
    task: Annotated[str | None, typer.Option(help="classification or regression; detected if not given.")] = None,
    metric: Annotated[str | None, typer.Option(help="A scikit-learn scorer or a loss of comitia's.")] = None,
    groups: Annotated[str | None, typer.Option(help="Column whose rows stay together in every split.")] = None,
    weights: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    time_column: Annotated[str | None, typer.Option(help="Column to sort by; splits then respect time.")] = None,
    method: Annotated[str | None, typer.Option(help="A method of `comitia methods`; committee if not given.")] = None,
    preset: Annotated[Preset, typer.Option(help="How much care to take.")] = Preset.balanced,
    include: Annotated[list[str] | None, typer.Option(help="A learner to search; may be repeated.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="A learner to leave out; may be repeated.")] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes; -1 for all processors.")] = -1,
    trial_time_limit: Annotated[float | None, typer.Option(help="Seconds after which a trial is killed.")] = None,
    trial_memory_limit: Annotated[float | None, typer.Option(help="Bytes beyond which a trial is killed.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates columns; detected if not given.")] = None,
    seed: Annotated[int | None, typer.Option(help="For the same result again.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace an existing model.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Search, fit and save a model.

    **Examples**

        comitia fit train.csv --target income --time-limit 60 --output model/

        comitia fit visits.parquet --target cost --task regression --groups patient --jobs 2 --time-limit 600

        comitia fit train.csv --target y --metric roc_auc --n-trials 100 --include lightgbm --include linear
    """
    with one_line_errors():
        from comitia.cli.commands import FitOptions, run_fit

        options = FitOptions(
            train=train,
            target=target,
            time_limit=time_limit,
            n_trials=n_trials,
            task=task,
            metric=metric,
            groups=groups,
            weights=weights,
            time_column=time_column,
            method=method,
            preset=preset.value,
            include=include,
            exclude=exclude,
            jobs=jobs,
            trial_time_limit=trial_time_limit,
            trial_memory_limit=trial_memory_limit,
            delimiter=delimiter,
            seed=seed,
        )
        _print_summary(run_fit(options, output, overwrite=overwrite, verbose=not quiet), output)


@app.command()
def resume(
    model: Annotated[Path, typer.Argument(help="Model folder of a fit that was interrupted, or should continue.")],
    time_limit: Annotated[float | None, typer.Option(help="Seconds for this call.")] = None,
    n_trials: Annotated[int | None, typer.Option(help="Configurations in all, earlier ones included.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Resume a fit, with the options that it was begun with.

    **Example**

        comitia resume model/ --time-limit 300
    """
    with one_line_errors():
        from comitia.cli.commands import run_resume

        _print_summary(run_resume(model, time_limit, n_trials, verbose=not quiet), model)


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
def leaderboard(
    model: Annotated[Path, typer.Argument(help="Model folder, also while its fit is running.")],
    output_format: FormatOption = Format.table,
    most: Annotated[int, typer.Option(help="Rows to print.")] = 20,
) -> None:
    """List trials, the best first.

    **Example**

        comitia leaderboard model/ -f json
    """
    with one_line_errors():
        from comitia.cli.commands import run_leaderboard

        frame = run_leaderboard(model).head(most)
        if output_format is Format.table and not len(frame):
            print("No trial has finished yet.")
        else:
            _print_rows(frame, output_format)


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


app.add_typer(bench_app, name="bench")


def _print_summary(estimator: Auto, output: Path) -> None:
    best, together = estimator.study_.history.best, estimator.validation_score_
    print(f"{estimator.study_.history.n_finished} trials, model saved in {output}")
    for member in estimator.members_:
        what = json.dumps(dict(member.config)) if member.config else "predicts the same for every row"
        print(f"  weight {member.weight:.2f}: {what}")
    if best is not None and len(estimator.members_) > 1 and not math.isnan(together):
        print(f"Validation loss {-together:.4g} of the committee, {best.loss:.4g} of the best single model:")
        print("both were chosen by the rows that judge them, so they are optimistic")
    elif best is not None:
        print(f"Best validation loss {best.loss:.4g}: the smallest of many, so optimistic")


def _print_rows(frame: pd.DataFrame, output_format: Format) -> None:
    if output_format is Format.json:
        print(frame.to_json(orient="records", indent=1))
    elif output_format is Format.csv:
        frame.to_csv(sys.stdout, index=False)
    else:
        # texts to the left, as people read them
        texts = {c: _left(frame[c]) for c in frame.columns if frame[c].dtype.kind not in "iufb"}
        print(frame.assign(**texts).to_string(index=False, na_rep="", justify="left"))


def _left(column: pd.Series) -> pd.Series:
    texts = column.fillna("").astype(str)
    return texts.str.ljust(int(texts.str.len().max()) if len(texts) else 0)


def main() -> None:
    """Run the command line."""
    app(prog_name="comitia")
