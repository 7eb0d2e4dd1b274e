"""A run's status over HTTP and on the dashboard, read-only, while the run lasts."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from trimtab.errors import TrimtabError
from trimtab.live.answers import complaint, number_of
from trimtab.live.control_api import answering
from trimtab.live.dashboard.routes import routes as dashboard_routes
from trimtab.live.edge.status import Status
from trimtab.live.security import Doorkeeper, is_loopback


@dataclass(frozen=True)
class Address:
    """Where a run can be watched."""

    url: str
    token: str | None


class Window:
    """An ASGI application that lets people look."""

    def __init__(self, status: Status, token: str | None) -> None:
        self._status, self._doorkeeper = status, Doorkeeper(token)
        table = (
            ("/v1/state", self._state), ("/v1/history", self._history), ("/v1/decisions", self._decisions),
            ("/healthz", self._healthy),
        )  # fmt: skip
        reading = [Route(path, answering({"GET": endpoint}), methods=["GET"]) for path, endpoint in table]
        self._app = Starlette(routes=[*reading, *dashboard_routes()], exception_handlers={404: _missing, 405: _missing})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check who asks, then answer."""
        if scope["type"] == "http":
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            refused = self._doorkeeper.refuse(scope["method"], scope["path"], headers)
            if refused is not None:
                await complaint(*refused)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _state(self, _: Request) -> Response:
        return JSONResponse(self._status.state())

    async def _history(self, request: Request) -> Response:
        return JSONResponse(self._status.history(number_of(request, "seconds", 600.0, 1.0, 3_600.0)))

    async def _decisions(self, request: Request) -> Response:
        after, limit = number_of(request, "after", 0, 0, 2**53), number_of(request, "limit", 100, 1, 1_000)
        return JSONResponse({"decisions": self._status.decisions(int(after), int(limit))})

    async def _healthy(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})


async def _missing(_: Request, error: Any) -> Response:
    return complaint(error.status_code, "there is no such path" if error.status_code == 404 else "only to be looked at")


@contextmanager
def served(status: Status, host: str, port: int) -> Iterator[Address]:
    """Serve a run's status while the block runs; any other port where that one is taken."""
    token = None if is_loopback(host) else secrets.token_urlsafe(24)
    with _listening(host, port) as opened:
        server = uvicorn.Server(
            uvicorn.Config(
                Window(status, token), lifespan="off", log_level="warning", access_log=False, server_header=False,
                timeout_graceful_shutdown=1,
            )
        )  # fmt: skip
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, name="trimtab-edge", daemon=True)
        thread.start()
        shown = f"[{host}]" if ":" in host else host
        try:
            yield Address(f"http://{shown}:{opened.getsockname()[1]}", token)
        finally:
            server.should_exit = True
            thread.join()


def _listening(host: str, port: int) -> socket.socket:
    """An open port: a run is worth more than its number, which a gateway on this machine may have."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for number in dict.fromkeys((port, 0)):
        opened = socket.socket(family)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            opened.bind((host, number))
            opened.listen()
        except OSError as error:
            opened.close()
            reason = (error.strerror or str(error)).lower()
        else:
            return opened
    raise TrimtabError(f"address = {host}:{port}, must be one of this machine: {reason}")
