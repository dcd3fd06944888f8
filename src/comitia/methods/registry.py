"""The registry: every method by its name, comitia's own first. Adding one is adding a line to a list of its file."""

from dataclasses import replace

from comitia.errors import UnknownName
from comitia.methods.method import Method
from comitia.methods.options import split_name, with_options
from comitia.methods.own import METHODS as OWN_METHODS
from comitia.methods.papers import glasmachers2008, lacoste2014, levesque2017, levesque2018, xavier2020

PAPER_METHODS = [
    replace(method, papers=method.papers or paper.PAPERS)
    for paper in (levesque2018, levesque2017, lacoste2014, glasmachers2008, xavier2020)
    for method in paper.METHODS
]
"""A method is of its file's papers, unless it names them itself."""
METHODS: dict[str, Method] = {
    named.name: named
    for method in (*OWN_METHODS, *PAPER_METHODS)
    for named in (method, *(method.under(alias) for alias in method.aliases))
}


def get_method(method: str | Method) -> Method:
    """Look a method up by name, without regard to case; one that is a method already is returned as it is.

    A name may have options: `eo-sqm[slots=7]`, see `comitia.methods.options`.
    """
    if isinstance(method, Method):
        return method
    if not isinstance(method, str):
        raise UnknownName("method", method, METHODS)
    name, options = split_name(method.lower())
    if name not in METHODS:
        raise UnknownName("method", name, METHODS)
    return with_options(METHODS[name], options, get_method) if options else METHODS[name]


def is_method(name: str) -> bool:
    """Tell whether a name, options aside, is that of a method."""
    return split_name(name.lower())[0] in METHODS
