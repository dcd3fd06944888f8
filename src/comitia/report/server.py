"""The live page on this machine: one page and its data, for whoever has the address, which holds a secret.

Only GET is answered. A request must name this machine as its host, so that no other site's name that was made to point
here can be used; must not come from a page of another site; and must have the token in its path. No file is served: the
page and its data are made in memory.
"""

from __future__ import annotations

import ipaddress
import secrets
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from comitia.errors import ChoiceError
from comitia.report.live import Live
from comitia.report.pages import INSTALL, live_policy, page_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from uvicorn import Server

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLL_SECONDS = 2.0
"""How often the page asks for news: a trial is there within three."""
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


def new_token() -> str:
    """Return a secret of 192 bits that can stand in an address."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Door:
    """Who may come in."""

    host: str = LOOPBACK[0]
    """Where the server listens."""
    token: str = field(default_factory=new_token)

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine can reach it."""
        return is_loopback(self.host)

    def refusal(self, path: str, host: str | None, origin: str | None) -> str | None:
        """Return why a request is refused; None if it is not."""
        name = _hostname(f"//{host or ''}")
        if name is None or not self._is_ours(name):
            return "This address is not one of this server's."
        if origin is not None and urlsplit(origin).netloc != host:
            return "Pages of other sites may not read this."
        given = path.split("/")[1] if path.startswith("/") else ""
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return "The address must be the whole one that `comitia watch` printed, with its token."
        return None

    def _is_ours(self, name: str) -> bool:
        if name in LOOPBACK or name in (self.host, socket.gethostname()):
            return True
        # a name of another site can be made to point here; a number cannot
        return not self.is_local and _is_number(name)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine alone."""
    return host == "localhost" or (_is_number(host) and ipaddress.ip_address(host).is_loopback)


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:  # brackets that are no address
        return None


@dataclass(frozen=True, eq=False)
class Guard:
    """Refuses whom the door does not let in, and gives every answer the headers of a page that is nobody else's."""

    app: ASGIApp
    door: Door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        headers = dict(scope["headers"])
        host, origin = (headers[name].decode("latin-1") if name in headers else None for name in (b"host", b"origin"))
        refusal = self.door.refusal(scope["path"], host, origin)
        answer = self.app if refusal is None else _refused(refusal)
        await answer(scope, receive, send_with_headers)


def _refused(why: str) -> ASGIApp:
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(why + "\n", 403)


def app_of(live: Live, door: Door) -> Guard:
    """Return the application that serves the live page."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, Response
    from starlette.routing import Route

    def page(request: Request) -> Response:
        document, version = live.document()
        settings = {"url": "data", "seconds": POLL_SECONDS, "version": version}
        policy = f"{live_policy()}; frame-ancestors 'none'"
        return HTMLResponse(page_of(document, live=settings), headers={"Content-Security-Policy": policy})

    def data(request: Request) -> Response:
        version = request.query_params.get("version", "")
        return JSONResponse(live.news(int(version) if version.isdecimal() else None))

    routes = [Route("/{token}/", page, methods=["GET"]), Route("/{token}/data", data, methods=["GET"])]
    return Guard(Starlette(routes=routes), door)


@dataclass(frozen=True, eq=False)
class Serving:
    """A server that has its place, and has not begun."""

    server: Server
    place: socket.socket
    door: Door
    live: Live

    @property
    def address(self) -> str:
        """Where the page is."""
        host = self.door.host
        if _is_number(host) and ipaddress.ip_address(host).is_unspecified:
            host = socket.gethostname()
        return f"http://{f'[{host}]' if ':' in host else host}:{self.place.getsockname()[1]}/{self.door.token}/"

    def run(self) -> None:
        """Serve until a Ctrl-C."""
        threading.Thread(target=self.live.document, daemon=True).start()  # read it while the browser starts
        with self.place, suppress(KeyboardInterrupt):  # uvicorn has ended in good order when it raises it again
            self.server.run(sockets=[self.place])


def serving(path: Path, *, host: str = LOOPBACK[0], port: int = 0) -> Serving:
    """Return a server of the live page of a model folder or a study's file.

    Parameters
    ----------
    host : str
        Where to listen; anything but this machine itself lets others on the network in, if they have the address.
    port : int
        0 for one that is free.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise ChoiceError(
            f"The live page needs starlette and uvicorn. {error.name} is not installed. Use {INSTALL}."
        ) from error
    door = Door(host)
    try:
        place = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except (OSError, OverflowError) as error:
        raise ChoiceError(
            f"The live page needs a free port of this machine. Got {host!r}, port {port}: {error}. Choose another, or "
            "leave it out."
        ) from error
    live = Live(path)
    config = uvicorn.Config(
        app_of(live, door),
        log_level="error",
        access_log=False,  # it would print the token
        proxy_headers=False,
        server_header=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
    )
    return Serving(uvicorn.Server(config), place, door, live)
