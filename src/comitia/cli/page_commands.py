"""Commands that show runs: `watch` while they go on, `compare` two of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from comitia.cli.one_line import one_line_errors

HostOption = Annotated[
    str, typer.Option(help="Where to listen. Others than this machine itself can then read the page.")
]


def watch(
    model: Annotated[Path, typer.Argument(help="Model folder or study's file, also before its run has begun.")],
    port: Annotated[int, typer.Option(help="Port to listen on; a free one if not given.", min=0, max=65535)] = 0,
    host: HostOption = "127.0.0.1",
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Show a run in the browser while it goes on in another process; Ctrl-C ends the page, not the run.

    **Examples**

        comitia watch model/ --open

        comitia watch study.db --port 8765
    """
    with one_line_errors():
        from comitia.errors import ModelError
        from comitia.report.server import serving

        if not model.exists() and not model.absolute().parent.is_dir():
            raise ModelError(f"The folder around {str(model)!r} must exist. It does not. Is the path right?")
        served = serving(model, host=host, port=port)
        if not served.door.is_local:
            print(
                "comitia: warning: whoever can reach this machine and has the address can read the page, and it is not "
                "encrypted on its way",
                file=sys.stderr,
            )
        print(f"Watching {model} at {served.address}\nCtrl-C ends the page, not the run.", flush=True)
        if show:
            import webbrowser

            webbrowser.open(served.address)
        served.run()


def compare(
    first: Annotated[Path, typer.Argument(help="Model folder.")],
    second: Annotated[Path, typer.Argument(help="Another one.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="HTML page to write, as well.")] = None,
    trusted: Annotated[list[str] | None, typer.Option(help="A type of your own that the models may hold.")] = None,
) -> None:
    """Show two fits side by side, and whether they differ beyond noise on the rows that both were judged on.

    **Example**

        comitia compare model-a/ model-b/ --output compare.html
    """
    with one_line_errors():
        from comitia.report.compare import compare as compared
        from comitia.report.compare_page import write_comparison
        from comitia.report.pages import check_report

        if output is not None:
            check_report(output)  # before anything is computed
        found = compared(first, second, trusted=trusted or [])
        if output is not None:
            write_comparison(found, output)
        print(found)
        if output is not None:
            print(f"Comparison written to {output}")
