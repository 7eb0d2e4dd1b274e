"""Requests that are too large, too slow or too deep: refused with a reason, while others are served."""

from __future__ import annotations

import asyncio
import base64
import http.client
import io
import json
import random
import resource
import socket
import struct
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
import uvloop
from starlette.requests import Request
from tests.live_platform import running_platform

from trimtab.live import calling, checking
from trimtab.live.answers import parse
from trimtab.live.control_api import ControlApi
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.head import LARGEST, SLOWEST
from trimtab.live.servers import Invocation
from trimtab.live.wire import Exhausted, connect


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


def zipped(entries: int, content: bytes = b"", main: str = "__main__.py") -> str:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(main, "def main(args):\n    return {}\n")
        archive.writestr("content", content)
        for number in range(entries - 2):
            archive.writestr(f"{number}", "")
    return base64.b64encode(packed.getvalue()).decode()


def liar(text: str) -> str:
    """The same zip, which says that it has one entry."""
    content = bytearray(base64.b64decode(text))
    end = content.rfind(b"PK\5\6")
    content[end + 8 : end + 12] = struct.pack("<HH", 1, 1)
    return base64.b64encode(bytes(content)).decode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (lambda: zipped(20_000), "too many entries, must have at most 10000"),
        (lambda: liar(zipped(20_000)), "it has 20000 entries, must have at most 10000"),
        (lambda: zipped(2, bytes(17 * 2**20)), "must have at most 16777216"),
        (lambda: zipped(2, main="other.py"), "it holds no __main__.py"),
        (lambda: "UEs=", "it is not a zip in base64"),
        (lambda: "?" * 100, "it is not a zip in base64"),
        (lambda: zipped(3)[:-40], "it is not a zip in base64"),
    ],
    ids=["entries", "a lie", "bytes", "no main", "short", "not base64", "truncated"],
)
def test_a_zip_that_will_not_do_is_refused_and_nobody_waits(port: int, text: Callable[[], str], reason: str) -> None:
    body, slowest, done = json.dumps({"zip": text()}).encode(), [0.0], threading.Event()

    def watch() -> None:
        while not done.is_set():
            began = time.monotonic()
            assert ask(port, "GET", "/healthz")[0] == 200
            slowest.append(time.monotonic() - began)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        status, answer = ask(port, "PUT", "/v1/functions/bad", body)
    finally:
        done.set()
        watcher.join()
    assert status == 422
    assert reason in answer["error"]
    assert max(slowest) < 1.0


def test_a_zip_of_fifteen_megabytes_is_welcome(port: int) -> None:
    body = json.dumps({"zip": zipped(2, random.Random(1).randbytes(15 * 2**20)), "memory_mb": 256}).encode()
    assert ask(port, "PUT", "/v1/functions/large", body)[0] == 201
    assert ask(port, "POST", "/function/large", b"{}")[0] == 200


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def test_a_gateway_without_descriptors_does_not_blame_the_instance(
    tmp_path: Path, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def story(path: str) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            with pytest.raises(Exhausted) as found:
                await connect(path)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert (found.value.status, found.value.again) == (503, True)
        (await connect(path)).close()
        await asyncio.sleep(0.01)

    with socket.socket(socket.AF_UNIX) as listening, asyncio.Runner(loop_factory=loop) as runner:
        listening.bind(str(tmp_path / "1.sock"))
        listening.listen()
        runner.run(story(str(tmp_path / "1.sock")))


class OneInstance:
    """A pool with an instance that is granted at once; as much of a platform as a call needs."""

    def __init__(self) -> None:
        self.pool = self.fleet = self.history = self.board = self
        self.placer, self.failed = self, 0
        self.killed: list[str] = []

    def clock(self) -> float:
        return 0.0

    def submit(self, call: Invocation) -> None:
        instance = cast(Any, SimpleNamespace(channels=[]))
        call.granted.set_result(instance)

    def finished(self, call: Invocation) -> None:
        """Nothing to count."""

    def path_of(self, instance: Any) -> str:
        return "1.sock"

    def kill(self, instance: Any, reason: str) -> None:
        self.killed.append(reason)


@pytest.mark.parametrize(("error", "killed"), [(Exhausted(), 0), (FileNotFoundError(), 2)])
def test_only_an_instance_that_does_not_answer_is_killed(
    monkeypatch: pytest.MonkeyPatch, error: Exception, killed: int
) -> None:
    async def fails(path: str) -> None:
        raise error

    monkeypatch.setattr(calling, "connect", fails)
    world, spec = OneInstance(), FunctionSpec(code="pass")
    function = Deployed("one", spec, figures_of("one", spec, None), 0, 0)
    with pytest.raises(CallFailed) as found:
        asyncio.run(calling.Calling(cast(Any, world)).call(function, b"{}"))
    assert found.value.status == 503
    assert len(world.killed) == killed


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

    def deciders(self) -> dict[str, Any]:
        return {"policies": {"place": self.switched}, "shadow": None}

    async def keep_policies(self) -> None:
        """Nothing is to be kept."""


def test_a_policy_is_compiled_while_others_are_served() -> None:
    platform = SlowPlatform()
    body = b'{"decision": "place", "policy": "hashing"}'

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def switch() -> None:
        api = ControlApi(cast(Any, platform), cast(Any, None), cast(Any, None), cast(Any, None), cast(Any, platform))
        switching = asyncio.ensure_future(api.policy(Request({"type": "http", "headers": []}, receive)))
        while not platform.placer.compiling.is_set() and not switching.done():
            await asyncio.sleep(0.01)
        assert platform.switched == "", "not before it is ready"
        platform.placer.go_on.set()  # only a loop that goes on comes to this line
        await switching

    asyncio.run(switch())
    assert platform.switched == "hashing"
