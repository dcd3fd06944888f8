"""How much care a fit takes, by name: what a preset chooses, in Python and on the command line.

A preset fills in only what the user left open: `cv`, `include` and `method` that are given win.
"""

from dataclasses import dataclass

from comitia.errors import UnknownName


@dataclass(frozen=True, kw_only=True)
class Preset:
    """What is chosen where the user does not say."""

    n_folds: int | None = None
    """Folds, or as many as the rows allow; None for a number that depends on the rows (`default_folds`)."""
    include: tuple[str, ...] | None = None
    """Names of learners; None for those of the default space."""
    method: str = "committee"
    """Name of the method; where no committee can be chosen it is `bayes`."""


PRESETS: dict[str, Preset] = {
    "fast": Preset(n_folds=3, include=("linear", "lightgbm")),
    "balanced": Preset(),
    "best": Preset(n_folds=10, method="committee[bags=8,members=16]"),
}
ALIASES = {"thorough": "best"}
"""Other names of presets."""


def get_preset(name: str) -> Preset:
    """Return a preset by its name or by another name of it."""
    found = PRESETS.get(ALIASES.get(name, name)) if isinstance(name, str) else None
    if found is None:
        raise UnknownName("preset", name, [*PRESETS, *ALIASES])
    return found
