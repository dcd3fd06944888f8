"""A report: one page a person can read, the same as Markdown, and the tables for a paper."""

import html
from pathlib import Path

from comitia.bench.files import replacing
from comitia.bench.problems.tabulated import CAVEAT
from comitia.bench.report.figures import make_figures, svg
from comitia.bench.report.layouts.registry import make_tables
from comitia.bench.report.layouts.typesetting import Table
from comitia.bench.report.results import Results
from comitia.bench.report.writers import html_table, latex, markdown
from comitia.bench.rows.rows import read_rows
from comitia.errors import ExperimentError

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: .15rem .5rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tr:first-child { border-bottom: 1px solid #222; } .wide { overflow-x: auto; } .grey { color: #aaa; }
.note { color: #555; font-size: 13px; margin: .2rem 0; } .warn { border-left: 4px solid #d80; padding-left: .8rem; }
figure { margin: 1.5rem 0; } figure svg { max-width: 100%; height: auto; } figcaption { color: #555; font-size: 13px; }
"""
Drawn = tuple[str, str, str]
"""Name, caption and SVG of a figure."""


def write_report(rows: Path, output: Path) -> list[Table]:
    """Write `report.html`, `report.md` with its `figures/`, and `tables.tex` into a folder; return the tables."""
    frame, protocol = read_rows(rows)
    results = Results(frame, protocol)
    tables = make_tables(results, list(protocol.get("tables", [])))
    remarks = remarks_of(results)
    (output / "figures").mkdir(parents=True, exist_ok=True)
    drawn: list[Drawn] = []
    try:
        drawn = [(name, caption, svg(figure)) for name, caption, figure in make_figures(results)]
    except ExperimentError as error:  # no matplotlib: the tables are worth having without it
        remarks.append(str(error))
    for name, _, picture in drawn:
        _write(output / "figures" / f"{name}.svg", picture)
    title = protocol.get("title") or protocol["name"]
    _write(output / "report.html", _page(title, _facts(results), remarks, tables, drawn))
    _write(output / "report.md", _markdown(title, _facts(results), remarks, tables, drawn))
    _write(output / "tables.tex", "\n".join(latex(table) for table in tables))
    return tables


def _facts(results: Results) -> list[str]:
    """Say what was run, at which size, and on what."""
    protocol, final = results.protocol, results.final
    budget = ", ".join(f"{value:g} {name.replace('n_', '')}" for name, value in protocol["budget"].items() if value)
    budget = budget.replace("time_limit", "seconds")
    scale = protocol.get("scale", 1.0)
    size = "at full size" if scale == 1 else f"SCALED to {scale:g}: fewer problems, repetitions and trials"
    n_rows = len(results.rows)
    return [
        f"{protocol.get('paper') or 'An experiment of our own'}, run {size}. Budget of a cell: {budget}.",
        f"{final['problem'].nunique()} problems, {final['method'].nunique()} methods, up to "
        f"{final['repetition'].max() + 1} repetitions, {len(final)} cells, {n_rows} rows.",
        f"Versions: {'; '.join(results.rows['versions'].dropna().unique())}.",
        f"Machine: {'; '.join(results.rows['machine'].dropna().unique())}.",
    ]


def remarks_of(results: Results) -> list[str]:
    """Return what a reader must know before believing the tables."""
    remarks = []
    if results.rows["problem"].str.startswith("pool:").any():
        remarks.append(CAVEAT)
    if results.protocol.get("scale", 1.0) != 1.0:
        remarks.append("A scaled run is a quick look: it keeps the smallest problems and few repetitions.")
    for method, failures in results.failures.groupby("method"):
        first = failures.iloc[0]
        remarks.append(
            f"{len(failures)} cells of {method} failed and are left out; the first on {first['problem']}: "
            f"{first['error']}"
        )
    n_cells, n_planned = results.progress
    if n_cells < n_planned:
        remarks.append(f"Not finished: {n_cells} of {n_planned} cells. Run the experiment again to resume.")
    for paired in map(results.paired, results.settings):
        label = paired.setting.label(results.settings)
        of = f" ({label})" if label else ""
        if paired.methods_left_out:
            names = ", ".join(paired.methods_left_out)
            remarks.append(f"Left out{of}: {names} have fewer than half of the datasets; run the experiment again.")
        if paired.n_left_out:
            remarks.append(f"{paired.n_left_out} datasets are left out{of}: not every method has a result there.")
    if results.rows["versions"].nunique() > 1:
        remarks.append("Cells were run with different versions of the packages; see above.")
    n_untested = int(results.final["test_loss"].isna().sum())
    if n_untested:
        remarks.append(
            f"{n_untested} cells have no test loss: no trial succeeded, or what was found could not be fitted."
        )
    return remarks


def _page(title: str, facts: list[str], remarks: list[str], tables: list[Table], drawn: list[Drawn]) -> str:
    said = "".join(f"<p class='note'>{html.escape(fact)}</p>" for fact in facts)
    warned = "".join(f"<p class='warn'>{html.escape(remark)}</p>" for remark in remarks)
    shown = "\n".join(html_table(table) for table in tables)
    figures = "\n".join(
        f"<figure>{picture}<figcaption>{html.escape(caption)}</figcaption></figure>" for _, caption, picture in drawn
    )
    return (
        f"<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f"<style>{STYLE}</style></head><body>\n<h1>{html.escape(title)}</h1>\n{said}{warned}\n{shown}\n"
        f"<h2>Figures</h2>\n{figures}\n</body></html>\n"
    )


def _markdown(title: str, facts: list[str], remarks: list[str], tables: list[Table], drawn: list[Drawn]) -> str:
    parts = [f"# {html.escape(title)}", "", *(f"{html.escape(fact)}  " for fact in facts), ""]
    parts += [f"> {html.escape(remark)}\n" for remark in remarks]
    parts += [markdown(table) for table in tables]
    parts += [f"![{caption}](figures/{name}.svg)\n\n{caption}\n" for name, caption, _ in drawn]
    return "\n".join(parts)


def _write(path: Path, text: str) -> None:
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")
