"""The gateway: HTTP in front of a platform, its ledger and its dashboard."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from trimtab.errors import TrimtabError
from trimtab.live.answers import complaint
from trimtab.live.control_api import ControlApi
from trimtab.live.dashboard.routes import routes as dashboard_routes
from trimtab.live.demo import Demo
from trimtab.live.exposition import expose
from trimtab.live.function import FunctionSpec
from trimtab.live.invoking import ASYNCHRONOUS, SYNCHRONOUS, Invoking
from trimtab.live.journal import keep_journal
from trimtab.live.later import Later
from trimtab.live.ledger import Ledger
from trimtab.live.openapi import description, page
from trimtab.live.packing import deployment_of
from trimtab.live.platform import Platform, Settings
from trimtab.live.security import Doorkeeper
from trimtab.live.standing import StandingOrders

log = logging.getLogger("trimtab.live")


class Gateway:
    """An ASGI application; its lifespan is the platform's."""

    def __init__(self, settings: Settings, state: Path, doorkeeper: Doorkeeper) -> None:
        self.ledger = Ledger(state / "ledger.sqlite")
        self.platform = Platform(settings)
        self.later = Later(self.platform, self.ledger)
        self.invoking, self.demo = Invoking(self.platform, self.later), Demo(self.platform)
        self.doorkeeper = doorkeeper
        self.standing = StandingOrders(self.platform, self.ledger)
        api = ControlApi(self.platform, self.ledger, self.invoking, self.demo, self.standing)
        own = [
            Route("/healthz", self._healthy), Route("/readyz", self._ready), Route("/metrics", self._metrics),
            Route("/openapi.json", self._openapi), Route("/docs", self._docs),
        ]  # fmt: skip
        self.app = Starlette(
            routes=[*api.routes(), *own, *dashboard_routes()], lifespan=self._lifespan,
            exception_handlers={404: _missing, 405: _missing, Exception: _broken},
        )  # fmt: skip

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Check who asks, then answer; calls of functions take the short way."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        method, path = scope["method"], scope["path"]
        refused = self.doorkeeper.refuse(method, path, headers)
        if refused is not None:
            await complaint(*refused)(scope, receive, send)
        elif path.startswith((SYNCHRONOUS, ASYNCHRONOUS)):
            response = await self._call(method, path, scope["query_string"], headers, receive)
            await response(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _call(self, method: str, path: str, query: bytes, headers: dict[str, str], receive: Any) -> Response:
        try:
            return await self.invoking.answer(method, path, query, headers, receive)
        except ClientDisconnect:
            return complaint(499, "the caller has gone")
        except Exception:
            log.exception("call failed")
            return complaint(500, "the gateway failed; its log says why")

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        keep_journal()  # uvicorn has set its own loggers to plain text since the start
        await self.standing.restore_policies()
        self.platform.begin()
        await self._deploy()
        await self.later.resume()
        try:
            yield
        finally:
            self.demo.stop()
            await self.later.close()
            await self.platform.close()
            self.ledger.close()

    async def _deploy(self) -> None:
        """What was deployed before the last end, then what the scenario names, unless it is there or was removed."""
        for name, text in (await self.ledger.functions()).items():
            try:
                self.platform.deploy(name, FunctionSpec.model_validate_json(text))
            except (ValidationError, TrimtabError) as error:
                log.warning("deployment dropped", extra={"function": name, "reason": str(error)})
        there = self.platform.functions.keys() | await self.standing.removed()
        for function in self.platform.scenario.functions:
            if function.name in there:
                continue
            try:
                self.platform.deploy(function.name, FunctionSpec.model_validate(deployment_of(function)))
            except (ValidationError, TrimtabError) as error:
                log.warning("function not deployed", extra={"function": function.name, "reason": str(error)})

    async def _healthy(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _ready(self, _: Request) -> Response:
        if self.platform.ready:
            return JSONResponse({"status": "ready"})
        down = [server.name for server in self.platform.servers if not server.alive]
        return JSONResponse({"status": "not ready", "down": down}, 503)

    async def _metrics(self, _: Request) -> Response:
        return Response(expose(self.platform), media_type="text/plain; version=0.0.4")

    async def _openapi(self, _: Request) -> Response:
        return JSONResponse(description())

    async def _docs(self, _: Request) -> Response:
        return HTMLResponse(
            page(), headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
        )


async def _missing(_: Request, error: Any) -> Response:
    response = complaint(error.status_code, "there is no such path" if error.status_code == 404 else "wrong method")
    response.headers.update(error.headers or {})
    return response


async def _broken(_: Request, error: Exception) -> Response:
    log.error("request failed", exc_info=error)
    return complaint(500, "the gateway failed; its log says why")
