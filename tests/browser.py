"""A real browser for tests: Debian's Chromium, told what to do by its own driver, over HTTP; nothing is downloaded.

The protocol is WebDriver, of the W3C; logs and screen sizes are Chromium's own additions to it.
"""

import base64
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: apt-get install chromium chromium-driver",
)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
    "--hide-scrollbars",
)
WAIT = 20.0
"""Seconds to wait for what must happen; a machine may be busy."""


class BrowserError(Exception):
    """The browser refused, or a script in it failed."""


@dataclass
class Browser:
    """One window."""

    session: str
    """Address of the session."""

    def open(self, address: str) -> None:
        """Load a page, and wait until it is complete."""
        _call(f"{self.session}/url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page; return what it returns."""
        return _call(f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script: str, *arguments: Any, seconds: float = WAIT) -> Any:
        """Wait until a script returns something true; return that."""
        return eventually(lambda: self.run(script, *arguments), script, seconds)

    def text(self) -> str:
        """Return all text that the page shows."""
        return str(self.run("return document.body.innerText"))

    def console(self) -> list[str]:
        """Return what the page wrote to the console since the last call: errors of scripts and refusals, too."""
        return [entry["message"] for entry in _call(f"{self.session}/se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """Return the addresses that the page asked for since the last call, its own included."""
        entries = [json.loads(entry["message"])["message"] for entry in self._log("performance")]
        return [e["params"]["request"]["url"] for e in entries if e["method"] == "Network.requestWillBeSent"]

    def _log(self, kind: str) -> list[dict[str, str]]:
        found: list[dict[str, str]] = _call(f"{self.session}/se/log", {"type": kind})
        return found

    def set_size(self, width: int, height: int, *, dark: bool = False) -> None:
        """Show pages at a size, as a screen of so many points would, in light or dark."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._devtools("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._devtools("Emulation.setEmulatedMedia", {"features": [scheme]})

    def _devtools(self, command: str, params: dict[str, Any]) -> None:
        _call(f"{self.session}/goog/cdp/execute", {"cmd": command, "params": params})

    def screenshot(self, path: Path) -> None:
        """Write what is seen as a PNG."""
        path.write_bytes(base64.b64decode(_call(f"{self.session}/screenshot", None)))


@contextmanager
def browser(*, is_logged: bool = True) -> Iterator[Browser]:
    """Start a browser with an empty profile; end it afterwards. Logs take some of a processor."""
    assert BROWSER is not None
    assert DRIVER is not None
    with tempfile.TemporaryDirectory() as folder, open(f"{folder}/driver.txt", "w+") as log:
        driver = subprocess.Popen([DRIVER, "--port=0"], stdout=log, stderr=log)
        try:
            port = eventually(lambda: _port(f"{folder}/driver.txt"), "the driver's port")
            options = {
                "binary": BROWSER,
                "args": [*FLAGS, f"--user-data-dir={folder}/profile"],
            }
            logs = {"browser": "ALL", "performance": "ALL"}
            wanted: dict[str, Any] = {"browserName": "chrome", "goog:chromeOptions": options}
            if is_logged:
                wanted["goog:loggingPrefs"] = logs
            root = f"http://127.0.0.1:{port}/session"
            session = f"{root}/{_call(root, {'capabilities': {'alwaysMatch': wanted}})['sessionId']}"
            window = Browser(session)
            window.open("about:blank")  # not the page of a new window, which asks for many things
            if is_logged:
                window.console()
                window.requests()
            try:
                yield window
            finally:
                _call(session, None, "DELETE")
        finally:
            driver.terminate()
            driver.wait()


def eventually(look: Callable[[], Any], what: str, seconds: float = WAIT) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, f"waited {seconds:g} s for: {what}"
        time.sleep(0.05)
    return found


def _port(log: str) -> int | None:
    found = re.search(r"successfully on port (\d+)", Path(log).read_text())
    return int(found[1]) if found else None


def _call(address: str, content: dict[str, Any] | None, method: str | None = None) -> Any:
    data = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        with error:
            raise BrowserError(json.load(error)["value"]["message"]) from None
