"""``/function/<name>`` and ``/async-function/<name>``: the short way through the gateway, straight on ASGI."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.responses import JSONResponse, Response

from trimtab.live.answers import LARGEST_ARGS, body_of, complaint, parse
from trimtab.live.calling import Reply
from trimtab.live.chain import call_through, find
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed
from trimtab.live.later import Later
from trimtab.live.platform import Platform

SYNCHRONOUS, ASYNCHRONOUS = "/function/", "/async-function/"


class Invoking:
    """Answers calls of functions."""

    def __init__(self, platform: Platform, later: Later) -> None:
        self.platform, self.later = platform, later

    async def answer(self, method: str, path: str, query: bytes, headers: dict[str, str], receive: Any) -> Response:
        """The response to a call."""
        try:
            if path.startswith(SYNCHRONOUS):
                return await self._now(method, path[len(SYNCHRONOUS) :], query, headers, receive)
            return await self._later(method, path[len(ASYNCHRONOUS) :], headers, receive)
        except CallFailed as error:
            return complaint(error.status, error.message)

    async def _now(self, method: str, name: str, query: bytes, headers: dict[str, str], receive: Any) -> Response:
        if method not in ("GET", "POST"):
            return _not_allowed("GET, POST")
        function = self.function(name)
        if method == "GET":
            body = json.dumps(dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))).encode()
        else:
            body = _checked(await body_of(receive, LARGEST_ARGS, headers))
        return _respond(await call_through(self.platform, function.name, body))

    async def _later(self, method: str, name: str, headers: dict[str, str], receive: Any) -> Response:
        if method != "POST":
            return _not_allowed("POST")
        function = self.function(name)
        body = _checked(await body_of(receive, LARGEST_ARGS, headers))
        activation = await self.later.accept(function.name, body)
        return JSONResponse({"activation": activation}, 202, {"Location": f"/v1/activations/{activation}"})

    def function(self, name: str) -> Deployed:
        """The deployed function of this name."""
        return find(self.platform, name)


def _checked(body: bytes) -> bytes:
    """Arguments: a JSON object, or nothing, which is an empty one."""
    if not body.strip():
        return b"{}"
    if not isinstance(parse(body), dict):
        raise CallFailed(400, "the body must be a JSON object: the arguments of the function")
    return body


def _respond(reply: Reply) -> Response:
    return Response(
        reply.body, reply.status,
        {
            "X-Trimtab-Activation": reply.activation, "X-Trimtab-Server": reply.server,
            "X-Trimtab-Cold": "1" if reply.cold else "0", "X-Trimtab-Wait-Ms": f"{reply.wait * 1e3:.3f}",
            "X-Trimtab-Run-Ms": f"{reply.run * 1e3:.3f}",
        },
        "application/json",
    )  # fmt: skip


def _not_allowed(methods: str) -> Response:
    return JSONResponse({"error": f"the method must be one of: {methods}"}, 405, {"Allow": methods})
