"""The page is one file: nothing is loaded, only its own scripts may run, and data are data."""

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from comitia import Study
from comitia.errors import ChoiceError
from comitia.report import page_of, summary_of, write_report
from tests.study.examples import LINE

BAD = '</script><script>document.title = "run"</script><img src=x onerror=alert(1)><!-- & \u2028'
ASSETS = {
    name: (files("comitia.report") / "assets" / name).read_text() for name in ("page.js", "figures.js", "page.css")
}


class Elements(HTMLParser):
    """Elements of a page with their attributes, and what stands in its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self._in_script = True
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_script = self._in_script and tag != "script"

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data


def study_of(text: str) -> Study:
    study = Study({"x": (0.0, 1.0), text: [text, "b"]}, "rs", seed=0)
    trials = study.ask(4)
    study.tell_all([(trials[0], 0.5), (trials[1], text), (trials[2], 0.25), (trials[3], f"{text}\n{text}")])
    return study


def test_texts_with_html_are_data_and_never_elements() -> None:
    harmless, hostile = (Elements(page_of(summary_of(study_of(text)))) for text in ("plain", BAD))
    assert [tag for tag, _ in hostile.found] == [tag for tag, _ in harmless.found]
    kept = json.loads(hostile.scripts[0])
    assert kept == summary_of(study_of(BAD)) | {"made_at": kept["made_at"]}
    assert kept["failures"]["rows"][0]["error"].startswith(BAD)


def test_a_title_with_html_is_escaped() -> None:
    page = page_of(summary_of(study_of("plain")) | {"title": BAD})
    assert '<h1 id="title">&lt;/script&gt;' in page
    assert page.count("<script") == page_of(summary_of(study_of("plain"))).count("<script")


def test_nothing_is_loaded_from_elsewhere() -> None:
    elements = Elements(page_of(summary_of(study_of("plain"))))
    for tag, attributes in elements.found:
        assert not {"src", "srcset", "action", "data"} & set(attributes), tag
        assert attributes.get("href", "#").startswith("#"), tag  # type: ignore[union-attr]
        assert not [name for name in attributes if name.startswith("on")], tag
    assert "@import" not in ASSETS["page.css"]
    assert "url(" not in ASSETS["page.css"]


def test_only_the_scripts_of_the_page_may_run() -> None:
    elements = Elements(page_of(summary_of(study_of("plain"))))
    [policy] = [a["content"] for tag, a in elements.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert "connect-src 'none'" in policy
    assert "unsafe" not in policy.replace("style-src 'unsafe-inline'", "")
    run = elements.scripts[2:]  # after the two that hold data
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in run]
    assert re.search(r"script-src ([^;]*);", policy).group(1).split() == hashes  # type: ignore[union-attr]


def test_data_reach_the_page_as_text_alone() -> None:
    for name in ("page.js", "figures.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", ASSETS[name])


def test_a_live_page_may_ask_its_own_server() -> None:
    page = page_of(summary_of(study_of("plain")), live={"url": "summary.json", "seconds": 1})
    assert "connect-src &#39;self&#39;" in page
    assert '{"url":"summary.json","seconds":1}' in page


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = study_of("plain")
    path = write_report(study, tmp_path / "report.html")
    assert path.read_text().startswith("<!DOCTYPE html>")
    before = path.read_bytes()

    def fails(*arguments: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="no space"):
        write_report(study, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_places_that_cannot_be_written_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ChoiceError, match="must exist"):
        write_report(study_of("plain"), tmp_path / "none" / "report.html")
    with pytest.raises(ChoiceError, match="which is a folder"):
        write_report(study_of("plain"), tmp_path)


@pytest.mark.parametrize("package", ["plotly", "jinja2"])
def test_a_missing_package_is_named_with_the_command_that_brings_it(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ChoiceError, match=rf'{package} is not installed. Use pip install "comitia\[report\]"'):
        write_report(Study(LINE, "rs", seed=0), tmp_path / "report.html")
