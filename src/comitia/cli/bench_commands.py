"""`comitia bench`: parse, call one function, print. Results on standard output, progress on standard error."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from comitia.cli.one_line import one_line_errors
from comitia.errors import ChoiceError
from comitia.execution.machine import count_jobs

if TYPE_CHECKING:
    from rich.progress import TaskID

    from comitia.bench.plan.plan import Experiment

DataOption = Annotated[
    Path | None, typer.Option("--data", help="Folder of tables with an index.csv; else the variable COMITIA_DATA.")
]


def _jobs(jobs: int) -> int:
    try:
        return count_jobs("comitia bench", "--jobs", jobs)
    except ChoiceError as error:
        raise typer.BadParameter(str(error)) from error


JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", callback=_jobs, help="How many at a time; -1 for all processors.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Compare search methods: run an experiment, keep its rows, report.\n\n"
    "    comitia bench run experiments/t-table-3.4-3.5.toml --scale 0.1 --data datasets/\n\n"
    "    comitia bench report experiments/rows/t-table-3.4-3.5@0.1.parquet",
)


@app.command()
def run(
    experiment: Annotated[Path, typer.Argument(help="TOML file; see experiments/ and docs/bench.md.")],
    scale: Annotated[float, typer.Option(help="Shrink problems, repetitions and budgets to this share.")] = 1.0,
    data: DataOption = None,
    jobs: JobsOption = 1,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Parquet file for the rows.")] = None,
    problem: Annotated[list[str] | None, typer.Option(help="Only this problem; may be repeated.")] = None,
    method: Annotated[list[str] | None, typer.Option(help="Only this method; may be repeated.")] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run cells again that failed.")] = False,
    device: Annotated[str | None, typer.Option(help="For images: cpu, cuda, ...; a GPU if there is one.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="For images: stop after so many seconds; resumable.")] = None,
    quiet: QuietOption = False,
) -> None:
    """Run what is missing of an experiment. Ctrl-C and kill are harmless: run it again to resume.

    **Examples**

        comitia bench run experiments/c-table-1-2.toml --scale 0.3 --data datasets/ --jobs 2

        comitia bench run experiments/peers-samplers.toml --problem sonar --method rs --method bayes

        comitia bench run experiments/cnn.toml --data images/ --jobs 20 --device cuda --time-limit 540
    """
    with one_line_errors():
        from comitia.bench.cells.run import check, run_experiment
        from comitia.bench.cells.stacked_cells import run_stacked
        from comitia.bench.plan.experiment_file import read_experiment
        from comitia.bench.problems.finding import data_folder

        full = read_experiment(experiment)
        folder = data_folder(data)
        missing, sizes = check(full, folder)
        part = full.only(problems=problem or [], methods=method or []).scaled(scale, sizes)
        name = f"{experiment.stem}{'' if scale == 1 else f'@{scale:g}'}.parquet"
        rows = output or experiment.parent / "rows" / name
        _announce(full, part, missing)
        with Bar(not quiet) as bar:
            carry_out = partial(run_experiment, retry=retry)
            if part.networks is not None:  # studies in lockstep instead of a process for each
                carry_out = partial(run_stacked, device=device, time_limit=time_limit, retry=retry)
            done = carry_out(
                part,
                rows,
                data=folder,
                jobs=jobs,
                on_start=bar.start,
                on_cell=lambda cell, _: bar.advance(f"{cell.method} on {cell.problem}"),
            )
        if not done.n_cells:
            print("Nothing to run: none of its methods can be run here.")
            return
        before = f", {done.n_done_before} were there before" if done.n_done_before else ""
        failed = f", {done.n_failed} failed (their rows say why)" if done.n_failed else ""
        print(f"{done.n_run} of {done.n_cells} cells run{before}{failed}. Rows: {rows}")
        if done.is_interrupted:
            print("Interrupted: everything finished is kept. Run the same command again to resume.", file=sys.stderr)
            raise typer.Exit(130)
        if done.n_run + done.n_done_before < done.n_cells:
            print("Not finished: the time was over. Run the same command again to resume.")
        print(f"Report: comitia bench report {rows}")


@app.command()
def report(
    rows: Annotated[Path, typer.Argument(help="Parquet file of `bench run`, also while it is running.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder; beside the rows if not given.")] = None,
) -> None:
    """Write report.html, report.md with figures, and tables.tex; print the tables.

    **Example**

        comitia bench report experiments/rows/c-table-1-2@0.3.parquet
    """
    with one_line_errors():
        from comitia.bench.report.page import write_report
        from comitia.bench.report.writers import markdown

        folder = output or rows.with_name(f"{rows.stem}-report")
        for table in write_report(rows, folder):
            print(markdown(table))
        print(f"Written: {folder}/report.html, report.md, tables.tex and figures/", file=sys.stderr)


@app.command()
def verdicts(
    findings: Annotated[Path, typer.Argument(help="TOML file of findings; see experiments/findings.toml.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Markdown file for the table.")] = None,
) -> None:
    """Print which findings of the papers the rows confirm, contradict or leave open.

    **Example**

        comitia bench verdicts experiments/findings.toml --output verdicts.md
    """
    with one_line_errors():
        from comitia.bench.files import replacing
        from comitia.bench.report.findings import read_findings
        from comitia.bench.report.verdicts import judge_all, verdict_table
        from comitia.bench.report.writers import markdown

        text = markdown(verdict_table(judge_all(read_findings(findings))))
        print(text)
        if output is not None:
            with replacing(output) as beside:
                beside.write_text(text, encoding="utf-8")


@app.command()
def merge(
    into: Annotated[Path, typer.Argument(help="Parquet file that gets the cells; created if it does not exist.")],
    others: Annotated[list[Path], typer.Argument(help="Files of `bench run` of the same experiment.")],
) -> None:
    """Merge the cells of one experiment that several machines ran; a cell that is in several files counts once.

    **Example**

        comitia bench merge experiments/rows/all.parquet here.parquet there.parquet
    """
    with one_line_errors():
        from comitia.bench.rows.rows import merge_rows

        n = merge_rows(into, others)
        print(f"{n} {'cell' if n == 1 else 'cells'} added to {into}", file=sys.stderr)


@app.command()
def pool(
    problem: Annotated[str, typer.Argument(help="A table of the data folder, or sklearn:iris, openml:61, ...")],
    space: Annotated[str, typer.Option(help="A space of `comitia spaces`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Parquet file.")],
    n_trials: Annotated[int, typer.Option(min=2, help="Configurations of each method.")] = 500,
    method: Annotated[
        list[str] | None,
        typer.Option(help="Search whose trials are pooled; may be repeated. By default rs."),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the validation.")] = 5,
    cv: Annotated[float | None, typer.Option(help="Fraction of a hold-out, or a number of folds, for --folds.")] = None,
    test: Annotated[float, typer.Option(help="Fraction of the rows for the test.")] = 1 / 3,
    refit: Annotated[
        bool, typer.Option("--refit/--no-refit", help="Test a model of all other rows, or that of the training part.")
    ] = True,
    partitions: Annotated[int, typer.Option(min=1, help="Splits of the data; repetition r uses the r-th.")] = 1,
    shuffles: Annotated[int, typer.Option(min=1, help="Divisions into folds of each, for methods that reshuffle.")] = 1,
    loss: Annotated[str | None, typer.Option(help="zero-one, log-loss, squared-error, absolute-error.")] = None,
    most_train_rows: Annotated[int | None, typer.Option(min=2, help="Rows that a fit may see.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the test third, the folds and the configurations.")] = 0,
    data: DataOption = None,
    jobs: JobsOption = 1,
    quiet: QuietOption = False,
) -> None:
    """Evaluate configurations once, so that methods can be compared on them without training.

    Only tabulated configurations can then be chosen and repetitions share the splits: good for comparing selections
    and committees; searches that refine look worse than they are.

    **Examples**

        comitia bench pool sonar --space sklearn-cash --n-trials 500 --data datasets/ -o pools/sonar.parquet

        comitia bench pool sonar --space sklearn-cash --method rs --method bo-best --partitions 3 -o sonar.parquet

        comitia bench pool housing --space svr --test 0.3 --cv 0.4286 --no-refit -o pools/housing.parquet
    """
    with one_line_errors():
        from comitia.bench.cells.make_pool import PoolPlan, make_pool
        from comitia.bench.problems.finding import data_folder
        from comitia.bench.problems.tabulated import CAVEAT

        plan = PoolPlan(
            problem=problem,
            space=space,
            n_trials=n_trials,
            methods=tuple(method or ["rs"]),
            cv=folds if cv is None else cv if cv < 1 else int(cv),
            loss=loss,
            test=test,
            most_train_rows=most_train_rows,
            refit=refit,
            n_partitions=partitions,
            n_shuffles=shuffles,
            seed=seed,
        )
        with Bar(not quiet) as bar:
            bar.start(n_trials * len(plan.methods) * partitions * shuffles, 0)
            made = make_pool(
                plan, output, data=data_folder(data), jobs=jobs, on_trial=lambda n: bar.advance(f"{n} evaluations", n)
            )
        n_ok = sum(entry.status == "ok" for entry in made.partitions[0].entries)
        print(f"{len(made)} configurations, {n_ok} of them ok, in {output}. Use it as the problem pool:{output}")
        print(CAVEAT)


@app.command()
def peers() -> None:
    """List what can be compared beside `comitia methods`: systems and other tools."""
    with one_line_errors():
        from comitia.bench.cells.system_cells import SYSTEMS
        from comitia.bench.peers.registry import PEERS

        for system in SYSTEMS.values():
            print(f"{system.name:18} {'system':8} {'ready':26} {system.summary}")
        for peer in PEERS.values():
            state = "ready" if peer.is_ready else f"make peer NAME={peer.environment}"
            print(f"{peer.name:18} {peer.kind:8} {state:26} {peer.summary}")


def _announce(full: Experiment, scaled: Experiment, missing: list[str]) -> None:
    """Say on standard error what will be run, and what not."""
    from comitia.bench.peers.registry import get_peer

    budget = ", ".join(f"{name} {value:g}" for name, value in vars(scaled.budget).items() if value)
    size = "full size" if scaled.scale == 1 else f"SCALED to {scaled.scale:g}"
    lines = [
        f"{full.title or full.name}: {size}, {len(scaled.problems)} of {len(full.problems)} problems, "
        f"{scaled.repetitions} of {full.repetitions} repetitions, {budget}"
    ]
    absent = [name for name in scaled.methods if name in missing]
    if absent:
        tools = sorted({get_peer(name).environment or "" for name in absent})
        commands = ", ".join(f"make peer NAME={tool}" for tool in tools)
        lines.append(f"Not installed, left out: {', '.join(absent)}. To have them: {commands}")
    print("\n".join(lines), file=sys.stderr)


class Bar:
    """A progress bar over cells or configurations on standard error."""

    def __init__(self, is_shown: bool) -> None:
        from rich import progress
        from rich.console import Console

        columns = (
            progress.BarColumn(bar_width=30),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TextColumn("left:"),
            progress.TimeRemainingColumn(),
            progress.TextColumn("{task.description}"),
        )
        self._progress = progress.Progress(*columns, console=Console(stderr=True), disable=not is_shown)
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._progress.stop()

    def start(self, total: int, done: int) -> None:
        """Say how much there is to do, and how much is done already."""
        self._task = self._progress.add_task("", total=total, completed=done)

    def advance(self, description: str, n_done: int | None = None) -> None:
        """Note one more, or how many are done in all."""
        assert self._task is not None
        advance = 1 if n_done is None else None
        self._progress.update(self._task, advance=advance, completed=n_done, description=description)
