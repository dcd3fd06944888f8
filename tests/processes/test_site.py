"""`make docs` makes the site without a warning and without a network."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import comitia

pytest.importorskip("sphinx", reason="the group `docs` is not installed: make install")
pytest.importorskip("furo")
pytest.importorskip("myst_parser")

pytestmark = pytest.mark.documents
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    [line] = re.findall(r"-m sphinx (.*)", (ROOT / "Makefile").read_text())  # what `make docs` runs
    options = line.replace("build/doctrees", str(folder / "doctrees")).split()[:-1]
    command = [sys.executable, "-m", "sphinx", *options, str(folder / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "-W" in options
    return folder / "html"


def test_pages_load_nothing_from_elsewhere_and_their_links_lead_somewhere(site: Path) -> None:
    pages = sorted(site.glob("**/*.html"))
    assert len(pages) > 60
    for page in pages:
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|link|iframe|source)[^>]+(?:src|href)=\"([^\"]+)\"", text)
        assert not [source for source in loaded if re.match(r"(https?:)?//", source)], page
        for target in re.findall(r"<a [^>]*href=\"([^\"#]+)", text):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / unquote(target).partition("?")[0]).exists(), f"{page} links to {target}"
    for style in site.glob("_static/**/*.css"):
        assert not re.findall(r"url\(['\"]?https?:", style.read_text(encoding="utf-8")), style


def test_the_first_page_leads_to_every_page(site: Path) -> None:
    index = (site / "docs" / "index.html").read_text(encoding="utf-8")
    names = {unquote(name) for name in re.findall(r"href=\"([\w./-]+\.html)", index)}
    reached = {(site / "docs" / name).resolve() for name in names}
    others = {
        site / name for name in ("docs/index.html", "index.html", "search.html", "genindex.html", "py-modindex.html")
    }
    assert {page.resolve() for page in site.glob("**/*.html")} <= reached | {page.resolve() for page in others}


def test_every_public_name_has_a_place_with_its_text(site: Path) -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (site / "docs" / "reference").glob("python-*.html"))
    for name in set(comitia.__all__) - {"ComitiaError", "ComitiaWarning"}:
        assert f'id="comitia.{name}"' in pages, name
    assert "Seconds for everything, the refit included" in pages
