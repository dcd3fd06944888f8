"""The command line: `comitia fit`, `predict`, `bench run` and the others."""

from comitia.cli.app import main

__all__ = ["main"]
