"""Requests that are too large, too slow or too deep: refused with a reason, while others are served."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from starlette.requests import Request
from tests.live_platform import running_platform

from trimtab.live import checking
from trimtab.live.answers import parse
from trimtab.live.control_api import ControlApi
from trimtab.live.failure import CallFailed
from trimtab.live.head import LARGEST, SLOWEST


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with running_platform() as platform:
        yield urlsplit(platform.url).port or 0


def ask(port: int, method: str, path: str, body: bytes | None = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"Content-Type": "application/json"} if body is not None else {})
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


def send(port: int, data: bytes) -> bytes:
    """What comes back on a connection until it is closed; a reset counts as that."""
    with socket.create_connection(("127.0.0.1", port), timeout=SLOWEST + 20) as connection:
        answer = b""
        try:
            connection.sendall(data)
            while part := connection.recv(65_536):
                answer += part
        except ConnectionError:
            pass
        return answer


@pytest.mark.parametrize(
    "start",
    [b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b"GET /healthz?", b"GET /healthz HTTP/1.1\r\n" + b"A: b\r\n"],
    ids=["one header", "the address", "many headers"],
)
def test_a_head_without_end(port: int, start: bytes) -> None:
    filler = b"A: b\r\n" if start.endswith(b"\r\n") else b"aaaaaa"
    answer = send(port, start + filler * (3 * LARGEST // 6))
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400"), answer[:100]
    assert ask(port, "GET", "/healthz")[0] == 200


def test_a_head_that_never_comes_is_not_waited_for(port: int) -> None:
    began = time.monotonic()
    assert send(port, b"GET /healthz HTTP/1.1\r\nHost: 127") == b""
    assert time.monotonic() - began < SLOWEST + 15, "closed, not left open"


def test_a_large_body_behind_a_small_head_is_still_welcome(port: int) -> None:
    text = "def main(args):\n    return {'length': len(args['text'])}\n"
    assert ask(port, "PUT", "/v1/functions/length", json.dumps({"code": text}).encode())[0] == 201
    body = json.dumps({"text": "x" * 3_000_000}).encode()
    assert ask(port, "POST", "/function/length", body) == (200, {"length": 3_000_000})


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("def main(:", "invalid syntax"),
        ("a\0b", "null bytes"),
        ("(" * 5000, "nested"),
        ("x=" + "1+" * 200_000 + "1", "recursion"),
        ("a=1\n" * 3_900_000, "too l"),  # too large or too long, whichever limit is met first
    ],
    ids=["syntax", "zero byte", "parentheses", "additions", "16 MB"],
)
def test_code_that_is_none_is_refused_and_nobody_waits(port: int, code: str, reason: str) -> None:
    served: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            served.append(ask(port, "GET", "/healthz")[0])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        status, answer = ask(port, "PUT", "/v1/functions/bad", json.dumps({"code": code}).encode())
    finally:
        done.set()
        watcher.join()
    assert status == 422
    assert "code is not Python" in answer["error"]
    assert reason in answer["error"]
    assert set(served) <= {200}


def test_an_order_is_small(port: int) -> None:
    status, answer = ask(port, "POST", "/v1/policy", b'{"policy": "' + b"x" * 70_000 + b'"}')
    assert status == 413
    assert "65536" in answer["error"]


@pytest.mark.parametrize(
    "body",
    [b"{", b"NaN", b'{"a": Infinity}', b"[" * 100_000, b"9" * 5_000, b'"\\ud800"', '{"a": 1}'.encode("utf-16"),
     b'\xef\xbb\xbf{"a": 1}', b"\xff"],
)  # fmt: skip
def test_what_is_not_json_is_refused_before_any_function_sees_it(body: bytes) -> None:
    with pytest.raises(CallFailed, match="the body is not JSON") as found:
        parse(body)
    assert found.value.status == 400


def test_code_that_takes_for_ever_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "_SCRIPT", "import time; time.sleep(60)")
    monkeypatch.setattr(checking, "_SECONDS", 0.1)
    with pytest.raises(CallFailed, match="it takes too long to compile"):
        asyncio.run(checking.check_code("x = 1"))


class SlowPlacer:
    """Takes its time to compile a policy, as the first use of one does."""

    def __init__(self) -> None:
        self.compiling, self.go_on = threading.Event(), threading.Event()

    def seat_of(self, name: str) -> None:
        self.compiling.set()
        assert self.go_on.wait(20), "the loop was blocked"


class Unselected:
    """Nobody selects."""

    name = None

    def switch(self, name: str | None) -> None:
        """Nothing to begin or end."""


class SlowPlatform:
    """As much of a platform as switching a policy needs."""

    def __init__(self) -> None:
        self.placer, self.metering, self.switched = SlowPlacer(), self, ""
        self.selecting = Unselected()

    def switch_place(self, name: str) -> None:
        self.switched = name

    def state(self) -> dict[str, Any]:
        return {"policies": {"place": self.switched}, "shadow": None}


def test_a_policy_is_compiled_while_others_are_served() -> None:
    platform = SlowPlatform()
    body = b'{"decision": "place", "policy": "hashing"}'

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def switch() -> None:
        api = ControlApi(cast(Any, platform), cast(Any, None), cast(Any, None), cast(Any, None))
        switching = asyncio.ensure_future(api.policy(Request({"type": "http", "headers": []}, receive)))
        while not platform.placer.compiling.is_set() and not switching.done():
            await asyncio.sleep(0.01)
        assert platform.switched == "", "not before it is ready"
        platform.placer.go_on.set()  # only a loop that goes on comes to this line
        await switching

    asyncio.run(switch())
    assert platform.switched == "hashing"
