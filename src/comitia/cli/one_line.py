"""What the command line makes of our errors and warnings: one readable line each, and an exit code."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from comitia.errors import ComitiaError, ComitiaWarning


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Print our errors and warnings as one line each; exit with 2 on an error, with 130 on a Ctrl-C."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ComitiaWarning)
            try:
                yield
            finally:
                for warning in caught:
                    if issubclass(warning.category, ComitiaWarning):
                        print(f"comitia: warning: {' '.join(str(warning.message).split())}", file=sys.stderr)
    except ComitiaError as error:
        print(f"comitia: {' '.join(str(error).split())}", file=sys.stderr)
        raise typer.Exit(2) from error
    except OSError as error:  # a path that cannot be written or read
        print(f"comitia: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(130) from error
