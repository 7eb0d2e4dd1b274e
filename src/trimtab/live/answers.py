"""Requests and answers in JSON, bounded in size and time."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from trimtab.live.document import parse_document
from trimtab.live.failure import CallFailed

LARGEST_BODY = 32 * 2**20
LARGEST_ARGS = 4 * 2**20
LARGEST_ORDER = 2**16
SLOWEST_BODY = 30.0
"""Seconds within which a request's body must have arrived."""

Model = TypeVar("Model", bound=BaseModel)


def complaint(status: int, message: str) -> JSONResponse:
    """An error, as every endpoint reports it."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    return JSONResponse({"error": message}, status, headers)


def parse(body: bytes) -> Any:
    """JSON of a request in UTF-8; ``CallFailed`` if it is none."""
    try:
        return parse_document(body)
    except ValueError as error:
        raise CallFailed(400, f"the body is not JSON: {str(error)[:200]}") from None


async def body_of(receive: Any, limit: int, headers: MutableMapping[str, str]) -> bytes:
    """A request's whole body."""
    announced = headers.get("content-length", "0")
    if not announced.isdigit() or int(announced) > limit:
        raise CallFailed(413, f"the body has {announced[:20]} bytes, must be at most {limit}")
    parts, size = [], 0
    try:
        async with asyncio.timeout(SLOWEST_BODY):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                size += len(parts[-1])
                if size > limit:
                    raise CallFailed(413, f"the body is larger than {limit} bytes, must be smaller")
                if not message.get("more_body", False):
                    return b"".join(parts)
    except TimeoutError:
        raise CallFailed(408, f"the body did not arrive within {SLOWEST_BODY:g} s") from None


async def read(request: Request, model: type[Model], limit: int = LARGEST_ORDER) -> Model:
    """A request's body as ``model``; ``CallFailed`` says which field is wrong."""
    body = await body_of(request.receive, limit, dict(request.headers))
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            raise CallFailed(400, f"the body is not JSON: {str(first['msg'])[:200]}") from None
        field = ".".join(str(part) for part in first["loc"]) or "the body"
        known = f"; known are: {', '.join(model.model_fields)}" if first["type"] == "extra_forbidden" else ""
        raise CallFailed(422, f"{field}: {str(first['msg'])[:500]}{known}") from None


def number_of(request: Request, name: str, default: float, low: float, high: float) -> float:
    """A number of the query string."""
    text = request.query_params.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        raise CallFailed(400, f"{name} = {text[:100]!r}, must be a number") from None
    if not low <= value <= high:
        raise CallFailed(400, f"{name} = {text[:100]!r}, must be {low:g} to {high:g}")
    return value
