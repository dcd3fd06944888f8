"""Write tables as Markdown, LaTeX and HTML."""

import html
import re

from comitia.bench.report.layouts.typesetting import Table, Text


def markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown."""
    head = [_pipes([_plain(name) for name in table.header]), _pipes(["---"] * len(table.header))]
    body = [_pipes([_markdown(entry) for entry in row]) for row in table.rows]
    notes = [f"{_plain(note)}  " for note in table.notes]
    return "\n".join([f"### {_plain(table.title)}", "", *head, *body, "", *notes, ""])


def _pipes(texts: list[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _plain(text: str) -> str:
    """Escape what would be taken for a tag; a sign between spaces is no tag."""
    return re.sub(r">(?=\S)", "&gt;", re.sub(r"<(?=\S)", "&lt;", text))


def _markdown(entry: Text) -> str:
    text = entry.text.replace("<", "&lt;").replace(">", "&gt;")
    if entry.underlined:
        text = f"<u>{text}</u>"
    return f"**{text}**" if entry.bold else text


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}"}
_LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "◦": r"$\circ$"}
_LATEX |= {"·": r"$\cdot$", "•": r"$\bullet$", "●": r"$\bullet\bullet$", "—": "---"}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def latex(table: Table) -> str:
    r"""Return a table for LaTeX with the booktabs package; `\input` it."""
    head = " & ".join(_escaped(name) for name in table.header)
    body = "\n".join(" & ".join(_latex(entry) for entry in row) + r" \\" for row in table.rows)
    notes = " ".join(_escaped(note) for note in table.notes)
    return (
        f"\\begin{{table}}\n\\centering\n\\caption{{{_escaped(table.title)}. {notes}}}\n"
        f"\\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}\n\\toprule\n{head} \\\\\n\\midrule\n{body}\n"
        "\\bottomrule\n\\end{tabular}\n\\end{table}\n"
    )


def _latex(entry: Text) -> str:
    text = _escaped(entry.text)
    if entry.underlined:
        text = rf"\underline{{{text}}}"
    return rf"\textbf{{{text}}}" if entry.bold else text


def html_table(table: Table) -> str:
    """Return a table as HTML."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in table.header)
    body = "\n".join("<tr>" + "".join(_html(entry) for entry in row) + "</tr>" for row in table.rows)
    notes = "".join(f"<p class='note'>{html.escape(note)}</p>" for note in table.notes)
    title = f"<h3>{html.escape(table.title)}</h3>"
    return f"{title}\n<div class='wide'><table>\n<tr>{head}</tr>\n{body}\n</table></div>\n{notes}"


def _html(entry: Text) -> str:
    text = html.escape(entry.text)
    if entry.underlined:
        text = f"<u>{text}</u>"
    if entry.bold:
        text = f"<b>{text}</b>"
    return f"<td class='grey'>{text}</td>" if entry.grey else f"<td>{text}</td>"
