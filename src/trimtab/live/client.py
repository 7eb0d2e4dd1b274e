"""The gateway's HTTP interface from the other side, for commands: one call at a time, errors in one line."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, urlsplit

from trimtab.errors import TrimtabError

_LARGEST = 64 * 2**20


class Refused(TrimtabError):
    """The gateway answered with an error."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class Called:
    """An answered call of a function."""

    seconds: float
    headers: dict[str, str]
    result: Any

    @property
    def cold(self) -> bool:
        """Whether it had to wait for a new instance."""
        return self.headers.get("x-trimtab-cold") == "1"


@dataclass
class GatewayClient:
    """A gateway at a URL such as ``http://127.0.0.1:8080``; the connection stays open between calls."""

    url: str
    token: str | None = None
    timeout: float = 60.0
    _connection: http.client.HTTPConnection | None = field(default=None, init=False, repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait(self, seconds: float = 30.0) -> None:
        """Until every server is up."""
        end = time.monotonic() + seconds
        while True:
            try:
                self.ask("GET", "/readyz")
                return
            except TrimtabError:
                if time.monotonic() > end:
                    raise
            time.sleep(0.02)

    def state(self) -> dict[str, Any]:
        """``GET /v1/state``."""
        found: dict[str, Any] = self.ask("GET", "/v1/state")[1]
        return found

    def deploy(self, name: str, deployment: dict[str, Any]) -> None:
        """``PUT /v1/functions/<name>``."""
        self.ask("PUT", f"/v1/functions/{quote(name, safe='')}", deployment)

    def remove(self, name: str) -> None:
        """``DELETE /v1/functions/<name>``."""
        self.ask("DELETE", f"/v1/functions/{quote(name, safe='')}")

    def scale(self, function: str, **wanted: float | None) -> None:
        """``POST /v1/scale``: instances, cpu, memory; what is None stays."""
        given = {name: value for name, value in wanted.items() if value is not None}
        self.ask("POST", "/v1/scale", {"function": function, **given})

    def call(self, function: str, arguments: dict[str, Any]) -> Called:
        """Call a function and time it."""
        began = time.perf_counter()
        headers, result = self.ask("POST", f"/function/{quote(function, safe='')}", arguments)
        return Called(time.perf_counter() - began, headers, result)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[dict[str, str], Any]:
        """One call: headers (lower case) and JSON of the answer; an error is one line."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if data is not None else {}
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        try:
            answer = self._send(method, path, data, headers)
            content = answer.read(_LARGEST)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise TrimtabError(f"gateway {self.url}: {method} {path} failed: {_reason(error)}") from None
        try:
            found = json.loads(content) if content else None
        except ValueError:
            raise TrimtabError(f"gateway {self.url}: {method} {path} answered {answer.status} without JSON") from None
        if not 200 <= answer.status < 300:
            words = found.get("error", found) if isinstance(found, dict) else found
            raise Refused(answer.status, f"gateway {self.url}: {method} {path} answered {answer.status}: {words}")
        return {name.lower(): value for name, value in answer.getheaders()}, found

    def close(self) -> None:
        """Let the connection go."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        if self._connection is not None:
            try:
                self._connection.request(method, path, data, headers)
                return self._connection.getresponse()
            except (ConnectionError, http.client.RemoteDisconnected):
                self.close()  # it was idle for long, and the gateway closed it
        self._connection = self._connect()
        self._connection.request(method, path, data, headers)
        return self._connection.getresponse()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise TrimtabError(f"url = {self.url!r}, must be http://HOST:PORT")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname, parts.port, timeout=self.timeout)


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
