"""Who may see the live page: every request is answered by the application itself, without a network."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from comitia import Study
from comitia.errors import ChoiceError
from comitia.report.live import Live
from comitia.report.server import HEADERS, Door, app_of, is_loopback, new_token, serving

DOOR = Door(token="secret-of-the-test")
PAGE = "/secret-of-the-test/"


class Answer:
    """What came back."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.status: int = messages[0]["status"]
        self.headers = {name.decode().lower(): value.decode() for name, value in messages[0]["headers"]}
        self.body = b"".join(message.get("body", b"") for message in messages[1:])


def ask(folder: Path, path: str, *, method: str = "GET", door: Door = DOOR, query: str = "", **headers: str) -> Answer:
    """Ask the application as a browser would."""
    given = {"host": "127.0.0.1:8000", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "scheme": "http",
        "server": ("127.0.0.1", 8000),
        "client": ("127.0.0.1", 50000),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(dict(message))

    asyncio.run(app_of(Live(folder), door)(scope, receive, send))
    return Answer(messages)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "fit.json").write_text('{"password": "hidden"}')
    with Study({"x": (0.0, 1.0)}, "rs", seed=0, storage=tmp_path / "model" / "study.db") as study:
        study.tell_all([(trial, 1.0) for trial in study.ask(3)])
    return tmp_path / "model"


def test_the_page_and_its_data_are_served(folder: Path) -> None:
    page = ask(folder, PAGE)
    assert page.status == 200
    assert page.body.startswith(b"<!DOCTYPE html>")
    news = json.loads(ask(folder, f"{PAGE}data", query="version=0").body)
    assert news["now"]["n_finished"] == 3
    assert news["document"]["headline"]["n_finished"] == 3
    assert json.loads(ask(folder, f"{PAGE}data").body)["document"] is None
    assert json.loads(ask(folder, f"{PAGE}data", query="version=%27").body)["document"] is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "[::1", "10.0.0.7"]
)
def test_foreign_hosts_are_refused(folder: Path, host: str) -> None:
    answer = ask(folder, PAGE, host=host)
    assert answer.status == 403
    assert b"html" not in answer.body


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "127.0.0.1:1", "[::1]:8000", "LOCALHOST:8000"])
def test_this_machine_is_known_by_all_its_names_and_ports(folder: Path, host: str) -> None:
    assert ask(folder, PAGE, host=host).status == 200  # a port that is forwarded has another number


def test_pages_of_other_sites_are_refused(folder: Path) -> None:
    assert ask(folder, f"{PAGE}data", origin="http://evil.example").status == 403
    assert ask(folder, f"{PAGE}data", origin="null").status == 403
    assert ask(folder, f"{PAGE}data", origin="http://127.0.0.1:9").status == 403
    assert ask(folder, f"{PAGE}data", origin="http://127.0.0.1:8000").status == 200


@pytest.mark.parametrize(
    "path",
    ["/", "", "/data", "/secret-of-the-tes/", "/secret-of-the-testt/", "/é/", "//secret-of-the-test/", "/favicon.ico"],
)
def test_a_wrong_token_is_refused(folder: Path, path: str) -> None:
    assert ask(folder, path).status == 403


@pytest.mark.parametrize(
    "path",
    [
        "fit.json",
        "study.db",
        "../model/fit.json",
        "..%2f..%2fetc/passwd",
        "/etc/passwd",
        "data/../fit.json",
        "static/x",
    ],
)
def test_no_file_is_ever_served(folder: Path, path: str) -> None:
    answer = ask(folder, PAGE + path)
    assert answer.status in (403, 404)
    assert b"hidden" not in answer.body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(folder: Path, method: str) -> None:
    assert ask(folder, PAGE, method=method).status == 405
    assert ask(folder, f"{PAGE}data", method=method).status == 405


@pytest.mark.parametrize("path", [PAGE, f"{PAGE}data", "/wrong/", f"{PAGE}none"])
def test_every_answer_has_the_headers_of_a_page_that_is_nobody_elses(folder: Path, path: str) -> None:
    answer = ask(folder, path)
    assert {name.lower(): value for name, value in HEADERS.items()}.items() <= answer.headers.items()
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_policy_lets_only_the_pages_own_scripts_run(folder: Path) -> None:
    policy = ask(folder, PAGE).headers["content-security-policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert all(word.startswith("'sha256-") for word in scripts.split()[1:])
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy


def test_a_server_for_others_takes_addresses_that_are_numbers_but_no_other_sites_names(folder: Path) -> None:
    door = Door("0.0.0.0", DOOR.token)
    assert not door.is_local
    assert ask(folder, PAGE, door=door, host="192.168.1.5:8000").status == 200
    assert ask(folder, PAGE, door=door, host="evil.example").status == 403


def test_loopback() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "192.168.1.5", "example.org")] == [False] * 4


def test_tokens_are_long_and_never_the_same() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 32


def test_the_address_holds_the_token_and_a_taken_port_is_refused(tmp_path: Path) -> None:
    first = serving(tmp_path)
    with first.place:
        port = first.place.getsockname()[1]
        assert first.address == f"http://127.0.0.1:{port}/{first.door.token}/"
        with pytest.raises(ChoiceError, match="free port"):
            serving(tmp_path, port=port)
