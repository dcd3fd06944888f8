"""Read a list of findings from a TOML file, strictly: what papers found, and which rows can say whether it holds."""

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from comitia.arrays import Json
from comitia.bench.report.results import MEASURES
from comitia.errors import ExperimentError, UnknownName

KINDS = ("superiority", "equivalence")
UNITS = ("datasets", "repetitions")


@dataclass(frozen=True)
class Finding:
    """One method is better than another, or as good, by some measure."""

    id: str
    sentence: str
    paper: str
    rows: Path
    """Parquet file of `comitia bench run`; in the file of findings it is relative to that."""
    better: str
    worse: str
    measure: str = "test_loss"
    kind: str = "superiority"
    """Or "equivalence": they are on a par."""
    margin: float | None = None
    """For an equivalence: relative differences up to this are none."""
    over: str = "datasets"
    """Or "repetitions": of one problem, each with data of its own (Glasmachers and Igel 2008)."""
    problem: str | None = None
    space: str | None = None
    validation: str | None = None
    worse_validation: str | None = None
    """Where the two are judged in different ways: that of the worse one."""


def read_findings(path: Path) -> list[Finding]:
    """Read a TOML file of `[[finding]]` sections, whose keys are the fields of `Finding`.

    Raises
    ------
    ExperimentError
        If it cannot be read, a key is unknown (with the near match) or missing, or a value makes no sense.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ExperimentError(f"Findings must be a TOML file. There is no {str(path)!r}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ExperimentError(f"{str(path)!r} must be TOML. It could not be read: {error}.") from error
    sections = content.get("finding")
    if set(content) != {"finding"} or not isinstance(sections, list):
        raise ExperimentError(f"{str(path)!r} must hold [[finding]] sections alone. Got {list(content)}.")
    found = [_finding(section, path.parent) for section in sections]
    ids = [finding.id for finding in found]
    if len(set(ids)) < len(ids):
        twice = sorted({i for i in ids if ids.count(i) > 1})
        raise ExperimentError(f"Findings must have different ids. Got {twice} more than once. Rename them.")
    return found


def _finding(section: object, folder: Path) -> Finding:
    if not isinstance(section, dict):
        raise ExperimentError(f"A finding must be a section, [[finding]]. Got {section!r} instead.")
    known = {field.name: field for field in fields(Finding)}
    values: Json = dict(section)
    for key, value in values.items():
        if key not in known:
            raise UnknownName("key of a finding", key, known)
        wanted = float if key == "margin" else str
        if not isinstance(value, wanted):
            raise ExperimentError(f"{key!r} of a finding must be a {wanted.__name__}. Got {value!r} instead.")
    name = values.get("id", "without an id")
    for key in ("id", "sentence", "paper", "rows", "better", "worse"):
        if key not in values:
            raise ExperimentError(f"A finding must have {key!r}. The one {name} has none. Add it.")
    finding = Finding(**{**values, "rows": folder / values["rows"]})
    for key, value, choices in (
        ("measure", finding.measure, MEASURES),
        ("kind", finding.kind, KINDS),
        ("over", finding.over, UNITS),
    ):
        if value not in choices:
            raise UnknownName(f"{key} of the finding {name}", value, choices)
    if (finding.kind == "equivalence") != (finding.margin is not None and finding.margin > 0):
        raise ExperimentError(
            f"An equivalence must have a 'margin' > 0, and nothing else has one. Got kind = {finding.kind!r} and "
            f"margin = {finding.margin!r} in {name}. Change one of them."
        )
    return finding
