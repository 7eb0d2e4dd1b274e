"""Where calls go: the gateway, or any URL with the function's name somewhere in it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from trimtab.errors import TrimtabError

_PLACE = "{function}"
_PATH = f"/function/{_PLACE}"


@dataclass(frozen=True)
class Target:
    """An address, and the path of a function there."""

    host: str
    port: int
    tls: bool
    path: str
    token: str | None = field(default=None, repr=False)
    """Of a gateway that can be reached from outside."""

    @property
    def gateway(self) -> bool:
        """Whether it is taken for a gateway of ours."""
        return self.path == _PATH

    @property
    def context(self) -> ssl.SSLContext | None:
        """How a connection is encrypted, if it is."""
        return ssl.create_default_context() if self.tls else None

    def head(self, function: str, length: int) -> bytes:
        """The request line and headers of a call."""
        path = self.path.replace(_PLACE, quote(function, safe=""))
        host = f"[{self.host}]" if ":" in self.host else self.host
        allowed = "" if self.token is None else f"Authorization: Bearer {self.token}\r\n"
        return (
            f"POST {path} HTTP/1.1\r\nHost: {host}:{self.port}\r\nContent-Type: application/json\r\n"
            f"{allowed}Content-Length: {length}\r\n\r\n"
        ).encode()


def target_of(url: str, token: str | None = None) -> Target:
    """``http://127.0.0.1:8000`` is a gateway; a URL with ``{function}`` in its path is taken as it is."""
    wanted = "must be http://HOST:PORT of a gateway, or a URL with {function} in its path"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise TrimtabError(f"--url = {url!r}: {error}; {wanted}") from None
    if parts.scheme not in ("http", "https") or not host or any(character <= " " for character in url):
        raise TrimtabError(f"--url = {url!r}, {wanted}")
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    if _PLACE not in path:
        if parts.path not in ("", "/") or parts.query:
            raise TrimtabError(f"--url = {url!r} has a path without {{function}}, {wanted}")
        path = _PATH
    tls = parts.scheme == "https"
    return Target(host, port or (443 if tls else 80), tls, path if path.startswith("/") else f"/{path}", token)
