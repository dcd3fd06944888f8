"""Parts of documents that a command writes: between two marks, which stay where they are."""

import re
from collections.abc import Callable

REGION = re.compile(r"(<!-- begin generated: (?P<name>.+?) -->\n).*?(?P<end><!-- end generated -->)", re.DOTALL)


def names_of(text: str) -> list[str]:
    """Return the names of a document's generated parts, in their order."""
    return [found["name"] for found in REGION.finditer(text)]


def refreshed(text: str, write: Callable[[str], str]) -> str:
    """Return a document whose generated parts are what `write` says of their names."""
    marks = text.count("<!-- begin generated:"), text.count("<!-- end generated -->"), len(names_of(text))
    assert len(set(marks)) == 1, (
        f"Every generated part must have a begin and an end. Got {marks} begins, ends and parts."
    )
    return REGION.sub(lambda found: f"{found[1]}{write(found['name']).strip()}\n{found['end']}", text)
