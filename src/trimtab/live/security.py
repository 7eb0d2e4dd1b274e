"""Who may do what over HTTP: nothing for other web sites, and outside loopback only with the token."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

_SAFE = ("GET", "HEAD", "OPTIONS")
_OWN_SITE = ("same-origin", "none")
_OPEN = ("/", "/healthz", "/readyz", "/docs", "/openapi.json")
_OPEN_FOLDER = "/dashboard/"
"""Paths that need no token: they say nothing that is not in the package, but whether it is up."""


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Doorkeeper:
    """Decides on a request by its method, path and headers."""

    token: str | None = None
    """Needed where the gateway can be reached from outside; None: it listens on loopback only."""

    def refuse(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Status and reason; None if it may pass."""
        acts = method not in _SAFE or path.startswith("/function/")
        if self.token is None and not is_loopback(_name(headers.get("host", ""))):
            # a page elsewhere may have a name that leads here
            return 403, f"host = {headers.get('host', '')!r}, must be this machine's loopback address"
        if method in _SAFE and (path in _OPEN or path.startswith(_OPEN_FOLDER)):
            return None
        refused = (self._cross_site(headers) or self._content(method, headers)) if acts else None
        return refused or self._token(headers)

    def _cross_site(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None and site not in _OWN_SITE:
            return 403, "the request comes from another site"
        if origin is not None and origin.partition("://")[2] != headers.get("host", ""):
            return 403, "the request comes from another site"
        return None

    def _content(self, method: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method in ("POST", "PUT") and not empty and kind != "application/json":
            return 415, f"content-type = {kind!r}, must be 'application/json'"
        return None

    def _token(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if self.token is None:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), self.token.encode()):
            return None
        return 401, "the token that 'trimtab live' printed is needed: Authorization: Bearer TOKEN"


def _name(host: str) -> str:
    """A Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
