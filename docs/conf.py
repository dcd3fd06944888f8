"""How `make docs` makes the site: every page is plain Markdown, and reads as well where the code is hosted.

The sources are read from the root of the repository, so that the links between pages, which are relative, lead to the
same place here and there. The sidebar is made of the sections and links of `index.md`. Nothing is fetched.
"""

import posixpath
import re
from pathlib import Path

from sphinx.application import Sphinx

import comitia

project = "comitia"
author = "the comitia developers"
release = version = comitia.__version__
language = "en"

root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md", "experiments/*.md"]
exclude_patterns = [
    ".*",
    "**/.*",
    "site",
    "build",
    "dist",
    "src",
    "tests",
    "benchmarks",
    "examples",
    "experiments/rows",
]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

myst_heading_anchors = 4
myst_links_external_new_tab = False

# Docstrings: NumPy sections, and names in single backticks, which become links where they are names of the reference.
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_param = False  # parameters that are described together stay together
napoleon_use_rtype = False
python_use_unqualified_type_names = True
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!comitia\.\w+$).*")]  # a name such as `comitia.Study` must be in the reference

html_theme = "furo"
html_title = "comitia"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_redirect"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = True
html_show_search_summary = False  # it is fetched page by page, which browsers refuse for files on a disk
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2a5db0",
        "color-brand-content": "#2a5db0",
        "color-code-background": "#f3f5f8",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ab4f8",
        "color-brand-content": "#8ab4f8",
        "color-code-background": "#1e2227",
    },
    "navigation_with_keys": True,
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_exclude = ".linenos, .gp, .go"

SECTION = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE)
LINK = re.compile(r"^(?P<indent> *)- \[(?P<title>[^\]]+)\]\((?P<page>[\w./-]+)\.md\)", re.MULTILINE)
Contents = dict[str, list[tuple[str, list[str]]]]
"""What is below each page: captions, and entries with their titles."""


def contents_of(index: str) -> Contents:
    """Return what the sidebar shows: the sections of the index, and below a page those that are listed below it."""
    found: Contents = {root_doc: []}
    parent = root_doc
    for section in SECTION.finditer(index):
        pages: list[str] = []
        for link in LINK.finditer(section["body"]):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(root_doc), link["page"]))
            entry = f"{link['title']} </{name}>"
            if link["indent"]:
                found.setdefault(parent, [("", [])])[0][1].append(entry)
            else:
                parent = name
                pages.append(entry)
        if pages:
            found[root_doc].append((section["title"], pages))
    return found


def add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    """Give a page its hidden tables of contents."""
    index = (Path(app.srcdir) / f"{root_doc}.md").read_text(encoding="utf-8")
    for caption, pages in contents_of(index).get(name, []):
        options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
        source[0] += "\n".join(["", "", "```{toctree}", *options, "", *pages, "```", ""])


def keep_colons(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Keep napoleon from taking what stands before a colon, in the first line of an attribute's text, as its type."""
    if what in ("attribute", "property", "data") and lines:
        lines[:0] = ["..", ""]  # a comment without text is the first line then


def setup(app: Sphinx) -> None:
    """Join what is not a setting."""
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", keep_colons, priority=400)  # before napoleon
