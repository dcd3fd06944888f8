"""Selections: what is handed to the user at the end."""

from __future__ import annotations

from collections.abc import Sequence

from comitia.errors import NothingFound
from comitia.history import History
from comitia.seams import Member
from comitia.seeds import Seeds


class Argmin:
    """The configuration with the smallest mean loss, the earliest of equals."""

    compares_rows = False

    def members(self, history: History, seeds: Seeds) -> Sequence[Member]:
        """See `Selection`."""
        best = history.best
        if best is None:
            raise nothing_found(history)
        return [Member(best.config, 1.0, best.number)]


def nothing_found(history: History) -> NothingFound:
    """Say that no trial succeeded, and how the first one failed."""
    errors = [observation.error for observation in history.observations()]
    what = f"The first failed with: {errors[0]}" if errors else "Run some trials first."
    return NothingFound(f"At least one trial must succeed. Got {history.n_finished} finished, none of them. {what}")
