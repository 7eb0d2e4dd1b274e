"""The live platform: what gateway, placement and dispatch add to a function's own process, how fast it starts and
decides, and how soon it goes on after a process of it was killed; each figure with its bar.

Peers of the same run, each asked in turn with ours: the very runner in a process of its own, called directly over its
socket, and a bare Python process that imports what the runner imports.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
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

from benchmarks.bars import Bar, judged, keep, lines
from trimtab.errors import TrimtabError
from trimtab.live import runner
from trimtab.live.background import running_platform
from trimtab.live.client import GatewayClient
from trimtab.live.urgency import urgent
from trimtab.scenario.load import parse_scenario

_EMPTY = "def main(args):\n    return {}\n"
_SCENARIO = """
name: bench-live
decision: place
hosts: [{name: server, count: SERVERS, cores: 2, memory: 2 GiB}]
functions: [{name: empty}]
workload: {source: poisson, rate: 1 /s, duration: 1 s}
"""
_WARM, _COLD, _AT_ONCE, _SECONDS = 500, 15, 4, 5.0
_KILLS, _LONGEST, _STEADY = 5, 60.0, 0.5
_POLICIES, _SERVERS, _DECISIONS = ("least-connections", "rank", "faasrank"), (2, 4), 300
_IMPORTS = "import _socket, json, os, sys"

BARS = {
    "overhead_p50_ms": Bar(3.0),
    "warm_per_s": Bar(500.0, at_least=True),
    "cold_over_bare": Bar(1.5),
    **{f"decision_{name.replace('-', '_')}_{servers}_us": Bar(50.0) for servers in _SERVERS for name in _POLICIES},
    **{f"recovery_{kind}_s": Bar(2.0) for kind in ("instance", "server", "gateway")},
}


def live() -> dict[str, Any]:
    """Overhead, throughput, cold starts, decisions and recovery, with their bars."""
    found: dict[str, float] = {}
    with _two_cores():
        for servers in _SERVERS:
            with _platform(servers) as url:
                if servers == _SERVERS[0]:
                    found |= _beside_peers(url) | asyncio.run(_throughput(url))
                found |= _decisions(url, servers)
                if servers == _SERVERS[0]:
                    found |= _recovery(url)
    found["decision_us"] = found[f"decision_least_connections_{_SERVERS[0]}_us"]
    return found | {"bars": judged(found, BARS)}


def _beside_peers(url: str) -> dict[str, float]:
    """Warm and cold calls; peers go first, as the gateway does, so that a busy machine does not flatter ours."""
    with urgent(), GatewayClient(url) as client:
        return _warm(url) | _cold(client)


@contextmanager
def _two_cores() -> Iterator[None]:
    """This process and what it starts on two cores, where the machine has more."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:2])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


@contextmanager
def _platform(servers: int) -> Iterator[str]:
    """A platform of so many servers on which an empty function is warm."""
    scenario = parse_scenario(_SCENARIO.replace("SERVERS", str(servers)))
    with running_platform(scenario, "least-connections") as url, GatewayClient(url) as client:
        client.deploy("empty", {"code": _EMPTY, "memory_mb": 64})
        client.call("empty", {})
        yield url


def _decisions(url: str, servers: int) -> dict[str, float]:
    """Median microseconds of a decision as the gateway takes it, for warm calls one after the other."""
    found = {}
    with GatewayClient(url) as client:
        for name in _POLICIES:
            client.ask("POST", "/v1/policy", {"policy": name})
            for _ in range(_DECISIONS):
                client.call("empty", {})
            taken = client.ask("GET", f"/v1/decisions?limit={_DECISIONS}")[1]["decisions"]
            times = [each["microseconds"] for each in taken if each["kind"] == "place" and each["policy"] == name]
            assert len(times) > _DECISIONS // 2, f"{name} took {len(times)} of {_DECISIONS} decisions"
            found[f"decision_{name.replace('-', '_')}_{servers}_us"] = statistics.median(times)
        client.ask("POST", "/v1/policy", {"policy": "least-connections"})
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
    """Seconds from ``kill -9`` until calls are answered again: the longest of a few, for each kind of process.

    Of instances all are killed, so that no call can do without a new one; of servers the one that answered last, and
    beside it all of them.
    """
    found = {}
    for kind in ("instance", "server", "all_servers", "gateway"):
        found[f"recovery_{kind}_s"] = max(_until_answered(url, kind) for _ in range(_KILLS))
    return found


def _until_answered(url: str, kind: str) -> float:
    with GatewayClient(url) as client:
        client.wait(_LONGEST)
        last = client.call("empty", {}).headers["x-trimtab-server"]
    victims = _victims(kind, last)
    assert victims, f"no {kind} found to be killed"
    began = time.perf_counter()
    for each in victims:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    # what is about to die may still answer, so calls must be good for a while, each of them soon
    answered = None
    while answered is None or time.perf_counter() - began - answered < _STEADY:
        asked = time.perf_counter()
        good = _answers(url)
        now = time.perf_counter()
        answered = None if not good else now - began if answered is None or now - asked > _STEADY else answered
        assert now - began < _LONGEST, f"no call was answered in {_LONGEST} s"
        time.sleep(0.005)
    return answered


def _answers(url: str) -> bool:
    with suppress(TrimtabError), GatewayClient(url) as client:
        client.call("empty", {})
        return True
    return False


def _victims(kind: str, last: str) -> list[psutil.Process]:
    """Below this process: the supervisor, its gateway, that one's servers (``last`` answered last), their instances."""
    below = psutil.Process().children(recursive=True)
    invokers = {each.pid: each for each in below if "trimtab.live.invoker" in _command(each)}
    servers = [each for each in invokers.values() if each.ppid() not in invokers]  # else a process that a server forked
    if kind == "gateway":
        return list({parent.pid: parent for each in servers if (parent := each.parent()) is not None}.values())
    if kind == "instance":
        return [each for server in servers for each in server.children(recursive=True)]
    return [each for each in servers if kind == "all_servers" or f'"{last}"' in _command(each)]


def _command(process: psutil.Process) -> str:
    """Its command line; none of one that has gone meanwhile."""
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


if __name__ == "__main__":
    measured = live()
    keep("live", measured)
    print(json.dumps(measured, indent=1))
    print("\n".join(lines(measured["bars"])))
