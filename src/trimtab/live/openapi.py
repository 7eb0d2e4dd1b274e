"""The gateway's description of itself: OpenAPI 3.1, and a plain page made of it."""

from __future__ import annotations

import html
from typing import Any

from pydantic import BaseModel

from trimtab import __version__
from trimtab.live.control_api import DemoOrder, PolicyOrder, ScaleOrder
from trimtab.live.function import NAME, FunctionSpec

_NAME = {
    "name": "name", "in": "path", "required": True,
    "schema": {"type": "string", "pattern": f"^{NAME.pattern}$"},
}  # fmt: skip
_OBJECT = {"type": "object"}
_TEXT = {"description": "done", "content": {"text/plain": {"schema": {"type": "string"}}}}


_TOKEN: list[dict[str, list[str]]] = [{"token": []}]
"""What a request needs where the gateway can be reached from outside."""


def _answer(text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": _OBJECT}}}


def _errors(*codes: int) -> dict[str, Any]:
    error = {"$ref": "#/components/schemas/Error"}
    return {
        str(code): {"description": "refused", "content": {"application/json": {"schema": error}}}
        for code in (400, 401, 403, *codes)
    }


def _number(name: str, low: float, high: float, default: float, kind: str = "integer") -> dict[str, Any]:
    return {
        "name": name, "in": "query", "required": False,
        "schema": {"type": kind, "minimum": low, "maximum": high, "default": default},
    }  # fmt: skip


def _operation(
    text: str,
    good: dict[str, Any],
    *errors: int,
    body: dict[str, Any] | None = None,
    parameters: tuple[dict[str, Any], ...] = (),
    open_to_all: bool = False,
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": text, "responses": good | _errors(*errors), "parameters": list(parameters),
        "security": [] if open_to_all else _TOKEN,
    }  # fmt: skip
    if body is not None:
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return found


def _of(model: type[BaseModel]) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _paths() -> dict[str, Any]:
    done, made, accepted = {"200": _answer("done")}, {"201": _answer("deployed")}, {"202": _answer("accepted")}
    call_errors = (404, 405, 408, 413, 415, 429, 502, 503, 504)
    window = _number("after", 0, 2**53, 0), _number("limit", 1, 1000, 100)
    order_errors = (404, 408, 409, 413, 415, 422, 503)
    return {
        "/function/{name}": {
            "post": _operation("Call a function and wait", done, *call_errors, body=_OBJECT, parameters=(_NAME,)),
            "get": _operation("Call a function with the query as arguments", done, *call_errors, parameters=(_NAME,)),
        },
        "/async-function/{name}": {
            "post": _operation("Call a function later, at least once", accepted, *call_errors, body=_OBJECT,
                               parameters=(_NAME,)),
        },
        "/v1/activations/{name}": {"get": _operation("An asynchronous call", done, 404, parameters=(_NAME,))},
        "/v1/ledger": {"get": _operation("Asynchronous calls by state", done)},
        "/v1/functions": {"get": _operation("Everything that is deployed", done)},
        "/v1/functions/{name}": {
            "get": _operation("One deployment", done, 404, parameters=(_NAME,)),
            "put": _operation("Deploy or replace a function", made, *order_errors, body=_of(FunctionSpec),
                              parameters=(_NAME,)),
            "delete": _operation("Remove a function", done, 404, parameters=(_NAME,)),
        },
        "/v1/functions/{name}/logs": {
            "get": _operation("What a function printed", done, 404, parameters=(_NAME, _number("limit", 1, 500, 100))),
        },
        "/v1/state": {"get": _operation("The snapshot that every policy sees", done)},
        "/v1/history": {"get": _operation("The last seconds", done,
                                          parameters=(_number("seconds", 1, 3600, 600, "number"),))},
        "/v1/decisions": {"get": _operation("What was decided, and why", done, parameters=window)},
        "/v1/policies": {"get": _operation("Policies that can be switched to", done)},
        "/v1/policy": {"post": _operation("Switch a policy, or set a shadow", done, *order_errors,
                                          body=_of(PolicyOrder))},
        "/v1/scale": {"post": _operation("Instances of a function, and what each may use", done, *order_errors,
                                         body=_of(ScaleOrder))},
        "/v1/demo": {
            "get": _operation("Whether a demo load runs", done),
            "post": _operation("Start a demo load", accepted, *order_errors, body=_of(DemoOrder)),
            "delete": _operation("End the demo load", done),
        },
        "/metrics": {"get": _operation("Counters for Prometheus", {"200": _TEXT})},
        "/healthz": {"get": _operation("Whether the gateway answers", done, open_to_all=True)},
        "/readyz": {"get": _operation("Whether all servers are up", done, 503, open_to_all=True)},
    }  # fmt: skip


def description() -> dict[str, Any]:
    """The OpenAPI document."""
    models: tuple[type[BaseModel], ...] = (FunctionSpec, PolicyOrder, ScaleOrder, DemoOrder)
    error = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Trimtab live", "version": __version__,
            "description": "Functions on this machine. A gateway on loopback asks for no token.",
        },
        "paths": _paths(),
        "components": {
            "schemas": {"Error": error, **{each.__name__: each.model_json_schema() for each in models}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }  # fmt: skip


def page() -> str:
    """``/docs``: every path, its parameters and its body, without a script."""
    document = description()
    parts = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts.append(f"<h2><code>{method.upper()} {html.escape(path)}</code></h2><p>{operation['summary']}</p>")
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            if "$ref" in body:
                parts.append(_fields(document["components"]["schemas"][body["$ref"].rpartition("/")[2]]))
            for parameter in operation["parameters"]:
                parts.append(f"<p><code>{parameter['name']}</code>, in the {parameter['in']}</p>")
    style = "body{font:16px system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}code{font-size:.95em}"
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Trimtab live: HTTP interface</title><style>{style}</style><h1>Trimtab live: HTTP interface</h1>"
        "<p>Also as <a href=/openapi.json>OpenAPI</a>. Bodies and answers are JSON; an error is "
        '<code>{"error": "…"}</code>.</p>' + "".join(parts)
    )


def _fields(schema: dict[str, Any]) -> str:
    rows = "".join(
        f"<li><code>{html.escape(name)}</code>: {html.escape(str(each.get('description', each.get('type', ''))))}"
        for name, each in schema["properties"].items()
    )
    return f"<ul>{rows}</ul>"
