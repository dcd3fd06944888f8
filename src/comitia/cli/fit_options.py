"""How a fit was begun: the options of `comitia fit`, kept beside the model so that `comitia resume` has them again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from comitia.errors import ModelError

FILE = "fit.json"


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """The options of the command line that decide what is fitted; the help of `comitia fit` explains them."""

    train: str
    target: str
    time_limit: float | None = None
    n_trials: int | None = None
    task: str | None = None
    metric: str | None = None
    groups: str | None = None
    weights: str | None = None
    time_column: str | None = None
    method: str | None = None
    preset: str = "balanced"
    include: list[str] | None = None
    exclude: list[str] | None = None
    jobs: int = 1
    trial_time_limit: float | None = None
    trial_memory_limit: float | None = None
    delimiter: str | None = None
    seed: int | None = None
    checksum: str = ""
    """Of the table; empty before it was read."""

    def write(self, folder: Path) -> None:
        """Write the options to a model folder."""
        (folder / FILE).write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, folder: Path) -> FitOptions:
        """Read the options of a model folder, also of one that an earlier version wrote."""
        try:
            found = json.loads((folder / FILE).read_text())
            known = {field.name for field in fields(cls)}
            return cls(**{name: value for name, value in found.items() if name in known})
        except (ValueError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{str(folder / FILE)!r} must be a {FILE} of comitia. Got another file: {error}"
            ) from error
