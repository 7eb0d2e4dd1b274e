"""Who may pass the door."""

from __future__ import annotations

import pytest

from trimtab.live.security import Doorkeeper, is_loopback

HERE = {"host": "127.0.0.1:8080"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.9.1"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "example.org", "", "127.0.0.1.example.org", "::"])
def test_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/v1/state", HERE, None),
        ("GET", "/v1/state", {"host": "example.org"}, 403),
        ("POST", "/v1/scale", HERE, None),
        ("POST", "/v1/scale", {**HERE, "origin": "http://127.0.0.1:8080"}, None),
        ("POST", "/v1/scale", {**HERE, "origin": "http://127.0.0.1:9090"}, 403),
        ("POST", "/v1/scale", {**HERE, "sec-fetch-site": "same-origin"}, None),
        ("POST", "/v1/scale", {**HERE, "sec-fetch-site": "cross-site"}, 403),
        ("GET", "/function/x", {**HERE, "sec-fetch-site": "cross-site"}, 403),
        ("GET", "/v1/state", {**HERE, "sec-fetch-site": "cross-site"}, None),
        ("POST", "/v1/scale", {**HERE, "content-length": "9", "content-type": "text/plain"}, 415),
        ("POST", "/v1/scale", {**HERE, "content-length": "9", "content-type": "application/json; x=y"}, None),
        ("POST", "/v1/scale", {**HERE, "transfer-encoding": "chunked"}, 415),
    ],
)
def test_on_loopback(method: str, path: str, headers: dict[str, str], status: int | None) -> None:
    refused = Doorkeeper().refuse(method, path, headers)
    assert (None if refused is None else refused[0]) == status


@pytest.mark.parametrize(
    ("path", "authorization", "status"),
    [
        ("/v1/state", None, 401),
        ("/v1/state", "Bearer wrong", 401),
        ("/v1/state", "Basic secret", 401),
        ("/v1/state", "Bearer secret", None),
        ("/v1/state", "bearer secret", None),
        ("/healthz", None, None),
        ("/", None, None),
        ("/dashboard/main.js", None, None),
        ("/function/x", None, 401),
        ("/metrics", None, 401),
    ],
)
def test_outside_loopback(path: str, authorization: str | None, status: int | None) -> None:
    headers = {"host": "example.org"} | ({"authorization": authorization} if authorization else {})
    refused = Doorkeeper("secret").refuse("GET", path, headers)
    assert (None if refused is None else refused[0]) == status
