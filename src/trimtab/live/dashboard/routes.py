"""The dashboard's files over HTTP: a fixed list, read once, with headers that let nothing else in."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

_SECURITY = {
    # 'self' and nothing else; with trusted types required and none made, no text can become markup or script.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # asked for each time, answered with 304 unless Trimtab was updated
    "Cache-Control": "no-cache",
}

Endpoint = Callable[[Request], Awaitable[Response]]


def routes() -> list[Route]:
    """``/`` is the page, ``/dashboard/<file>`` each file that it needs; any other path is not ours."""
    folder = resources.files("trimtab.live.dashboard").joinpath("page")
    files = {entry.name: entry.read_bytes() for entry in folder.iterdir() if entry.is_file()}
    page = _serve("page.html", files.pop("page.html"))
    return [Route("/", page), *(Route(f"/dashboard/{name}", _serve(name, files[name])) for name in sorted(files))]


def _serve(name: str, content: bytes) -> Endpoint:
    kind = _KINDS["." + name.rpartition(".")[2]]
    tag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
    headers = _SECURITY | {"ETag": tag}

    async def answer(request: Request) -> Response:
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    return answer
