"""The live platform: what gateway, placement and dispatch add to a function's own process, and how fast it starts.

Peers of the same run, each asked in turn with ours: the very runner in a process of its own, called directly over its
socket, and a bare Python process that imports what the runner imports.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from trimtab.errors import TrimtabError
from trimtab.live import runner
from trimtab.live.background import running_platform
from trimtab.live.client import GatewayClient
from trimtab.scenario.load import parse_scenario

_EMPTY = "def main(args):\n    return {}\n"
_SCENARIO = """
name: bench-live
decision: place
hosts: [{name: server, count: 2, cores: 2, memory: 2 GiB}]
functions: [{name: empty}]
workload: {source: poisson, rate: 1 /s, duration: 1 s}
"""
_WARM, _COLD, _AT_ONCE, _SECONDS = 500, 15, 4, 5.0
_KILLS, _LONGEST = 5, 60.0
_IMPORTS = "import _socket, json, os, sys"


def live() -> dict[str, Any]:
    """Overhead, throughput, cold starts and decisions, with their bars."""
    with running_platform(parse_scenario(_SCENARIO), "least-connections") as url:
        client = GatewayClient(url)
        client.deploy("empty", {"code": _EMPTY, "memory_mb": 64})
        client.call("empty", {})
        found = _warm(url) | asyncio.run(_throughput(url)) | _cold(client)
        decisions = client.ask("GET", "/v1/decisions?limit=1000")[1]["decisions"]
        found["decision_us"] = statistics.median(each["microseconds"] for each in decisions if each["kind"] == "place")
        client.close()
        found |= _recovery(url)
    return found


def _warm(url: str) -> dict[str, float]:
    """Median milliseconds of a warm call through the gateway, and of the same call to a process of its own."""
    parts = urlsplit(url)
    through = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    ours, direct = [], []
    with _process() as process:
        for _ in range(_WARM):
            direct.append(_seconds(process, "/run", {"value": {}}))
            ours.append(_seconds(through, "/function/empty", {}))
    through.close()
    first, second = statistics.median(ours) * 1e3, statistics.median(direct) * 1e3
    return {"warm_p50_ms": first, "direct_p50_ms": second, "overhead_p50_ms": first - second}


def _seconds(connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> float:
    began = time.perf_counter()
    connection.request("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200, answer.status
    return time.perf_counter() - began


class _Unix(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("instance", timeout=10)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self._path)


@contextmanager
def _process() -> Iterator[http.client.HTTPConnection]:
    """The runner without a platform around it."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = str(Path(folder) / "socket")
        listener.bind(path)
        listener.listen()
        program = [sys.executable, "-I", "-S", str(runner.__file__), "1"]
        become = f"import os; os.dup2({listener.fileno()}, 3); os.execv({program[0]!r}, {program!r})"
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", become], pass_fds=[listener.fileno()], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        connection = _Unix(path)
        try:
            _seconds(connection, "/init", {"value": {"code": _EMPTY}})
            yield connection
        finally:
            connection.close()
            process.kill()
            process.wait()


async def _throughput(url: str) -> dict[str, float]:
    """Warm calls a second by a few callers who each wait for their answer."""
    parts = urlsplit(url)
    request = (
        f"POST /function/empty HTTP/1.1\r\nHost: {parts.hostname}:{parts.port}\r\n"
        "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    ).encode()
    counts = [0] * _AT_ONCE
    end = asyncio.get_running_loop().time() + _SECONDS

    async def caller(index: int) -> None:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        while asyncio.get_running_loop().time() < end:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            await reader.readexactly(2)
            counts[index] += 1
        writer.close()

    await asyncio.gather(*(caller(index) for index in range(_AT_ONCE)))
    return {"warm_per_s": sum(counts) / _SECONDS}


def _cold(client: GatewayClient) -> dict[str, float]:
    """Median milliseconds of a call that starts an instance, and of a bare process with the same imports."""
    ours, bare = [], []
    for number in range(_COLD):
        client.deploy(f"cold-{number}", {"code": _EMPTY, "memory_mb": 64})
        began = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", _IMPORTS], check=True)
        bare.append(time.perf_counter() - began)
        called = client.call(f"cold-{number}", {})
        assert called.cold
        ours.append(called.seconds)
        client.remove(f"cold-{number}")
    first, second = statistics.median(ours) * 1e3, statistics.median(bare) * 1e3
    return {"cold_p50_ms": first, "bare_python_p50_ms": second, "cold_over_bare": first / second}


def _recovery(url: str) -> dict[str, float]:
    """Seconds from ``kill -9`` until a call is answered again: the longest of a few, for each kind of process."""
    found = {}
    for kind in ("instance", "server", "gateway"):
        found[f"recovery_{kind}_s"] = max(_until_answered(url, kind) for _ in range(_KILLS))
    return found


def _until_answered(url: str, kind: str) -> float:
    with GatewayClient(url) as client:
        client.call("empty", {})
    # below this process: the supervisor, its gateway, that one's servers, and their instances
    below = psutil.Process().children(recursive=True)
    gateway = max(below, key=lambda each: sum("invoker" in " ".join(child.cmdline()) for child in each.children()))
    servers = [each for each in gateway.children() if "invoker" in " ".join(each.cmdline())]
    instances = [each for server in servers for each in server.children(recursive=True)]
    victims = {"instance": instances, "server": servers, "gateway": [gateway]}[kind]
    began = time.perf_counter()
    for each in victims:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    while True:
        with suppress(TrimtabError), GatewayClient(url) as client:
            client.call("empty", {})
            return time.perf_counter() - began
        assert time.perf_counter() - began < _LONGEST, f"no call was answered in {_LONGEST} s"
        time.sleep(0.01)


if __name__ == "__main__":
    print(json.dumps(live(), indent=1))
