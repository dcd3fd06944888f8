"""OpenML through a local server that speaks its interface: fetched once, checked, kept."""

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from comitia.bench.problems.finding import find_problem
from comitia.bench.problems.openml import CACHE_VARIABLE, SERVER_VARIABLE
from comitia.bench.problems.problems import FixedTable
from comitia.errors import ExperimentError

ARFF = b"""% a comment
@relation toy
@attribute id integer
@attribute width real
@attribute colour {red,green}
@attribute site {12,7,30}
@attribute class {p,n}
@data
1,0.5,red,12,p
2,1.5,green,7,n
3,?,red,30,p
4,2.5,green,12,n
"""


class Server:
    """What OpenML answers, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.checksum = hashlib.md5(ARFF).hexdigest()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                body = server.answer(self.path)
                self.send_response(200 if body else 412)
                self.end_headers()
                self.wfile.write(body or b"{}")

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def answer(self, path: str) -> bytes | None:
        if path == "/api/v1/json/data/7":
            description = {
                "id": "7",
                "url": f"{self.address}/data/v1/download/7",
                "md5_checksum": self.checksum,
                "default_target_attribute": "class",
                "row_id_attribute": "id",
            }
            return json.dumps({"data_set_description": description}).encode()
        return ARFF if path == "/data/v1/download/7" else None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    made = Server()
    monkeypatch.setenv(SERVER_VARIABLE, made.address)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    find_problem.cache_clear()
    yield made
    made.http.shutdown()
    made.http.server_close()


def test_a_dataset_is_fetched_once_and_read_from_the_cache_then(server: Server, tmp_path: Path) -> None:
    problem = find_problem("openml:7")
    assert isinstance(problem, FixedTable)
    assert problem.X.shape == (4, 5)  # the identifier is left out, the site is three indicators
    assert np.isnan(problem.X[2, 0])
    assert len(server.asked) == 2
    find_problem.cache_clear()
    find_problem("openml:7")
    assert len(server.asked) == 2
    kept = json.loads((tmp_path / "openml" / "7" / "description.json").read_text())
    assert kept["sha256"] == hashlib.sha256(ARFF).hexdigest()


def test_a_wrong_checksum_is_refused_and_not_kept(server: Server, tmp_path: Path) -> None:
    server.checksum = "0" * 32
    with pytest.raises(ExperimentError, match="checksum"):
        find_problem("openml:7")
    assert not (tmp_path / "openml" / "7" / "data.arff").exists()


def test_a_file_that_was_damaged_in_the_cache_is_noticed(server: Server, tmp_path: Path) -> None:
    find_problem("openml:7")
    find_problem.cache_clear()
    path = tmp_path / "openml" / "7" / "data.arff"
    path.write_bytes(path.read_bytes().replace(b"0.5", b"0.6"))
    with pytest.raises(ExperimentError, match="damaged"):
        find_problem("openml:7")


def test_a_number_that_is_not_there_and_no_network_are_clear_errors(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ExperimentError, match="OpenML dataset 8"):
        find_problem("openml:8")
    monkeypatch.setenv(SERVER_VARIABLE, "http://127.0.0.1:1")
    with pytest.raises(ExperimentError, match="network"):
        find_problem("openml:9")
