"""`page_of`: one HTML file with everything in it, which asks nothing of the network.

The summary is embedded as JSON and drawn by `page.js`; a live page fetches a newer one and draws it again. Whatever
comes from data is text there, never HTML.
"""

from __future__ import annotations

import json
import os
import tempfile
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from comitia.arrays import Json, Table
from comitia.errors import ChoiceError
from comitia.report.summarise import Source, summary_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment


class Section(NamedTuple):
    """One part of the page: its place, its name in the list of contents, its heading and what it is about."""

    id: str
    short: str
    title: str
    about: str
    of_functions: str = ""
    """What it is about where trials are judged by a function, if that is something else."""


SECTIONS = [
    Section(
        "committee",
        "Committee",
        "What was returned",
        "The models that predict together. Scores are on validation rows, by models that were not fitted on them.",
    ),
    Section(
        "scores",
        "Search",
        "Score by trial and by second",
        "How the search went, and how far the score that it chose by is from the honest one.",
        "How the search went.",
    ),
    Section(
        "leaderboard",
        "Leaderboard",
        "Leaderboard",
        "Every trial on validation rows. These rows chose what is returned, so the first places are optimistic.",
        "Every trial that succeeded.",
    ),
    Section("choices", "Choices", "What was tried when", "Where the search spent its trials."),
    Section(
        "diagnostics",
        "Errors",
        "Where it is right and wrong",
        "By predictions for validation rows: each is made by models that were not fitted on that row.",
    ),
    Section(
        "columns",
        "Columns",
        "Which columns matter",
        "How much worse the score becomes if the values of a column are shuffled among the rows.",
    ),
    Section(
        "importance",
        "Settings",
        "Which hyperparameters matter",
        "Shares of the variance of a random forest that was fitted to all trials (functional ANOVA).",
    ),
    Section("space", "Space", "What was tried of the space", "Every trial by its settings."),
    Section(
        "posterior",
        "Model",
        "What is expected around the best trial",
        "A Gaussian process of the trials in the same branch: one setting changes, the others stay as in the best.",
    ),
    Section("data", "Data", "The table", "What the model was fitted on, and what to look at twice."),
    Section("failures", "Failures", "Trials that failed", "They are part of the search; none of them stopped it."),
    Section("reproduce", "Reproduce", "How to get the same again", "What the result depends on."),
]
INSTALL = 'pip install "comitia[report]"'


def write_report(
    source: Source,
    path: str | Path,
    *,
    X: Table | ArrayLike | None = None,
    y: ArrayLike | None = None,
    trusted: Sequence[str] = (),
) -> Path:
    """Write the page of a fitted model, a study, a model folder or a study's file; return where.

    With labelled rows `X, y` the page of a model also says how good it is on them, and which columns matter. `trusted`
    are types of your own that a model folder may hold, as for `comitia.load`.
    """
    output = Path(path)
    check_report(output)  # what is missing is said before anything is computed
    save_page(page_of(summary_of(source, X=X, y=y, trusted=trusted)), output)
    return output


def check_report(output: Path) -> None:
    """Refuse a report that could not be made or written."""
    if not output.absolute().parent.is_dir():
        raise ChoiceError(f"The folder around {str(output)!r} must exist. It does not. Create it first.")
    if output.is_dir():
        raise ChoiceError(f"A report is a file, such as report.html. Got {str(output)!r}, which is a folder.")
    environment()


def save_page(page: str, output: Path) -> None:
    """Write a page beside its place, then rename it: one that somebody reads is whole."""
    handle, beside = tempfile.mkstemp(dir=output.absolute().parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(page)
        os.chmod(beside, 0o644)
        os.replace(beside, output)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def page_of(summary: Json, *, live: Json | None = None) -> str:
    """Return the page of a summary.

    `live` are settings for `live.js` of a page that is served: `{"url": ..., "seconds": ..., "version": ...}` has it
    fetch a newer summary from there, again and again.
    """
    template = environment().get_template("page.html")
    scripts = _scripts(is_live=live is not None)
    return template.render(
        title=summary.get("title") or "comitia",
        policy=policy_of(scripts, is_live=live is not None),
        sections=SECTIONS,
        document=_embedded(summary),
        settings=_embedded(live),
        style=own_file("page.css"),
        scripts=scripts,
    )


@cache
def _scripts(*, is_live: bool) -> tuple[str, ...]:
    # our own first: texts and tables are there before plotly, which is large, has been read
    first = [own_file("figures.js"), own_file("page.js"), *([own_file("live.js")] if is_live else [])]
    return (*first, _plotly(), "comitia.paintAll();")


def live_policy() -> str:
    """Return the policy of pages that are served, for the header of the answer."""
    return policy_of(_scripts(is_live=True), is_live=True)


@cache
def policy_of(scripts: Sequence[str], *, is_live: bool) -> str:
    """Return what a browser lets the page do: run just these scripts, and load nothing, or only from its own server."""
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    server = "'self'" if is_live else "'none'"
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        f"connect-src {server}; base-uri 'none'; form-action 'none'"
    )


def environment() -> Environment:
    """Return what fills in our templates."""
    try:
        import plotly  # noqa: F401
        from jinja2 import Environment, PackageLoader
    except ImportError as error:
        raise ChoiceError(f"A report needs plotly and jinja2. {error.name} is not installed. Use {INSTALL}.") from error
    return Environment(loader=PackageLoader("comitia.report", "assets"), autoescape=True)


def _embedded(value: Json | None) -> str:
    """Return JSON that can stand in a script element: nothing in it ends the element or begins a comment."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def own_file(name: str) -> str:
    """Return the text of one of our own parts of pages."""
    return (files("comitia.report") / "assets" / name).read_text(encoding="utf-8")


def _plotly() -> str:
    """Return plotly's own script, as it is in its package."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
