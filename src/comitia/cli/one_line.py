"""What the command line makes of our errors and warnings: one readable line each, and an exit code."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from comitia.errors import ComitiaError, ComitiaWarning, FallbackWarning


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Print our errors and warnings as one line each; exit with 2 on an error, with 130 on a Ctrl-C.

    A reader that has seen enough, as `head` has, is no error: the rest is not written.
    """
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ComitiaWarning)
            expected: tuple[type[Warning], ...] = ()
            try:
                yield
                sys.stdout.flush()  # here, where a pipe that is closed can be told from a mistake
            except KeyboardInterrupt:
                expected = (FallbackWarning,)  # nothing had been found when the user stopped it
                raise
            finally:
                for warning in caught:
                    if issubclass(warning.category, ComitiaWarning) and not issubclass(warning.category, expected):
                        print(f"comitia: warning: {' '.join(str(warning.message).split())}", file=sys.stderr)
    except ComitiaError as error:
        print(f"comitia: {' '.join(str(error).split())}", file=sys.stderr)
        raise typer.Exit(2) from error
    except BrokenPipeError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is written at the end of Python
        raise typer.Exit(1) from error
    except OSError as error:  # a path that cannot be written or read
        print(f"comitia: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    except KeyboardInterrupt as error:
        if str(error):
            print(f"comitia: {error}", file=sys.stderr)
        raise typer.Exit(130) from error
