"""Write the generated parts of the documentation from the recorded rows: what `make pages` runs.

A generated part stands between `<!-- begin generated: NAME -->` and `<!-- end generated -->`. Its name says what it is:

- `table NAME`: a table of `experiments/papers.toml` beside our rows (`beside.py`)
- `verdicts ID`: one line per finding whose id begins so, all numbers of `comitia bench verdicts`
- `findings ID`: the same in short, with what the paper says
- `earlier ID`: the same findings by the rows of earlier and smaller runs, those that have the methods
- `sizes NAME`: errors by the number of greedy steps, of a file `rows/NAME-sizes.csv` (`committee_sizes.py`)
- `toys`: the toy committees of Lévesque 2018, Tables 4.1 and 4.2 (`toys.py`)
- `counts`: how many findings of each paper are confirmed, contradicted, undecided and not run
- `runs`: what was run, when, on which machine and with which versions
- `systems NAME`: a table of whole systems side by side (`systems.py`)
- `reference NAME`: what the code says of its methods, spaces, learners and commands (`reference.py`)

The same rows give the same text. What was not run is said to be so.

python benchmarks/studies/pages.py [ROOT]
"""

import sys
import textwrap
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import systems
from beside import beside, read_papers
from committee_sizes import sizes_table
from reference import REFERENCE
from regions import names_of, refreshed
from toys import toy_tables

from comitia.bench.report.findings import Finding, read_findings
from comitia.bench.report.layouts.typesetting import Table, Text
from comitia.bench.report.verdicts import CONFIRMED, CONTRADICTED, UNDECIDED, Evidence, NotRun, judge_all, verdict_table
from comitia.bench.report.writers import markdown

NOT_RUN = "not run"
VERDICTS = (CONFIRMED, CONTRADICTED, UNDECIDED, NOT_RUN)
Judged = tuple[Finding, Evidence | NotRun]


def paper_of(finding: Finding) -> str:
    """Return the paper of a finding, without the table; what is not from a paper is ours."""
    return finding.paper.partition(",")[0]


@cache
def judged(experiments: Path) -> list[Judged]:
    return judge_all(read_findings(experiments / "findings.toml"))


def verdict_of(evidence: Evidence | NotRun) -> str:
    return NOT_RUN if isinstance(evidence, NotRun) else evidence.verdict


def text_of(name: str, experiments: Path) -> str:
    """Return the text of a generated part."""
    kind, _, rest = name.partition(" ")
    if kind == "reference":
        return REFERENCE[rest]()
    if kind == "runs":
        return written(runs_table(experiments / "rows"))
    if kind == "systems":
        return written(systems.table_of(rest, experiments / "rows"))
    papers = read_papers(experiments / "papers.toml")
    if kind == "table":
        return written(beside(papers.tables[rest], experiments / "rows"))
    if kind == "sizes":
        return written(sizes_table(experiments / "rows" / f"{rest}-sizes.csv"))
    if kind == "toys":
        return "\n\n".join(written(table) for table in toy_tables(experiments / "papers.toml"))
    if kind == "counts":
        return written(counts_table(judged(experiments)))
    ours = [pair for pair in judged(experiments) if pair[0].id.startswith(rest)]
    assert ours, f"A generated part must be of findings that exist. Got {name!r}."
    if kind == "verdicts":
        return grid(verdict_table(ours))  # what the columns mean is said once on the page
    if kind == "earlier":
        return written(earlier_table([finding for finding, _ in ours], papers.earlier))
    assert kind == "findings", f"There is no generated part of the kind {kind!r}."
    return written(short_table(ours, papers.found))


def short_table(pairs: list[Judged], found: dict[str, str]) -> Table:
    """Return one short line per finding: what the paper says, what we have, and the verdict."""
    rows = []
    for finding, evidence in pairs:
        ours = outcome(evidence) if isinstance(evidence, Evidence) else "-"
        texts = [finding.id, finding.sentence, found.get(finding.id, "-"), ours]
        rows.append([*map(Text, texts), verdict_text(evidence)])
    counts = Counter(verdict_of(evidence) for _, evidence in pairs)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
    return Table("", ["id", "finding", "the paper", "ours", "verdict"], rows, [f"{len(rows)} findings: {said}."])


def earlier_table(findings: list[Finding], earlier: dict[str, str]) -> Table:
    """Return one line per finding that an earlier, smaller run can judge."""
    small = [(finding, earlier.get(finding.rows.stem)) for finding in findings]
    moved = [replace(finding, rows=finding.rows.with_stem(stem)) for finding, stem in small if stem]
    rows = []
    for finding, evidence in judge_all(moved):
        if isinstance(evidence, Evidence):
            smallest = f"{100 * evidence.smallest:.1f} %" if np.isfinite(evidence.smallest) else "none"
            texts = [finding.id, f"`{finding.rows.stem}`", evidence.size, outcome(evidence), smallest]
            rows.append([*map(Text, texts), verdict_text(evidence)])
    return Table("", ["id", "rows", "datasets x repetitions", "ours", "smallest effect", "verdict"], rows)


def outcome(evidence: Evidence) -> str:
    """Return datasets (or repetitions) won, lost and equal, the median relative difference, and p."""
    median, low, high = (100 * value for value in evidence.difference)
    won = f"{evidence.wins}-{evidence.losses}-{evidence.ties}"
    return f"{won}, {median:+.1f} % [{low:+.1f}, {high:+.1f}], p = {evidence.p:.2g}"


def verdict_text(evidence: Evidence | NotRun) -> Text:
    text = NOT_RUN if isinstance(evidence, NotRun) else evidence.verdict_text
    return Text(text, bold=verdict_of(evidence) in (CONFIRMED, CONTRADICTED))


def counts_table(pairs: list[Judged]) -> Table:
    """Return how many findings of each paper have which verdict."""
    counts: dict[str, Counter[str]] = {}
    for finding, evidence in pairs:
        counts.setdefault(paper_of(finding), Counter())[verdict_of(evidence)] += 1
    papers = sorted(counts, key=lambda paper: paper == "ours")  # last
    rows = [[Text(paper), *(Text(str(counts[paper][verdict])) for verdict in VERDICTS)] for paper in papers]
    return Table("", ["findings of", *VERDICTS], rows)


def runs_table(folder: Path) -> Table:
    """Return one line per recorded run, and which machines and versions they are from."""
    rows, origins = [], set()
    for path in sorted(folder.glob("*.parquet")):
        cell = ["problem", "space", "validation", "method", "repetition"]
        frame = pd.read_parquet(path, columns=[*cell, "finished_at", "machine", "versions"])
        if frame.empty:  # begun a moment ago
            continue
        days = sorted({str(moment)[:10] for moment in frame["finished_at"]})
        counts = [frame["problem"].nunique(), frame["method"].nunique(), len(frame[cell].drop_duplicates())]
        texts = [f"`{path.stem}`", *(f"{count:,}" for count in counts), days[0], days[-1]]
        rows.append([Text(text) for text in texts])
        origins |= set(frame["machine"] + "; " + frame["versions"])
    head = ["run", "problems", "methods", "cells", "first cell ended", "last cell ended"]
    return Table("", head, rows, [f"{origin}." for origin in sorted(origins)])


# ---- text -----------------------------------------------------------------------------------------------------------


def written(table: Table) -> str:
    """Return a table in Markdown: its title in bold, its notes as a list in lines of at most 100 characters."""
    title = f"**{table.title}**" if table.title else ""
    notes = "\n".join(line for note in table.notes for line in wrapped(note))
    return "\n\n".join(part for part in (title, grid(table), notes) if part)


def grid(table: Table) -> str:
    """Return the lines of a table alone."""
    return "\n".join(line for line in markdown(table).splitlines() if line.startswith("|")) if table.rows else ""


def wrapped(note: str) -> list[str]:
    return textwrap.wrap(f"- {note}", 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def pages(root: Path) -> list[Path]:
    """Return the documents that have generated parts."""
    return [path for path in sorted((root / "docs").glob("**/*.md")) if names_of(path.read_text(encoding="utf-8"))]


def page(path: Path, root: Path) -> str:
    """Return what a document should be now."""
    return refreshed(path.read_text(encoding="utf-8"), lambda name: text_of(name, root / "experiments"))


def main(root: Path) -> None:
    for path in pages(root):
        text = page(path, root)
        is_new = text != path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {'written' if is_new else 'as it was'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]))
