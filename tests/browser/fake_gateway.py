"""A gateway without a platform behind it: the HTTP interface that the dashboard reads, with figures that move."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from trimtab.live.dashboard.routes import routes

POLICIES = {"place": ["hashing", "least-connections", "rank", "faasrank"], "scale": ["hpa", "residual"]}
FUNCTIONS = ("fibonacci", "image-resize", "hotel-search")
HISTORY = 600


@dataclass
class FakeGateway:
    """What the gateway tells, and what it was told."""

    servers: int = 4
    functions: tuple[str, ...] = FUNCTIONS
    token: str | None = None
    """Asked for when it is set."""
    open_to_readers: bool = False
    """Whether only calls that change something need the token."""
    dead: set[str] = field(default_factory=set)
    name_prefix: str = "server-"
    policies: dict[str, str | None] = field(default_factory=lambda: {"place": "rank", "scale": "hpa", "select": None})
    bands: list[list[Any]] = field(default_factory=list)
    shadow: dict[str, Any] | None = None
    scale_shadow: dict[str, Any] | None = None
    guards: dict[str, int] = field(default_factory=lambda: {"stale metrics": 2})
    demo_since: float | None = None
    demo: dict[str, Any] = field(default_factory=dict)
    told: list[tuple[str, str, Any]] = field(default_factory=list)
    """Calls that change something: method, path, body."""
    asked: int = 0
    """How often the state was read."""
    broken: bool = False
    """Answers that are JSON, but not what was promised."""
    start: float = field(default_factory=time.time)

    def __post_init__(self) -> None:
        now = math.floor(self.start)
        past = ((700, "hashing"), (430, "least-connections"), (300, "faasrank"), (180, "greedy"), (70, "rank"))
        self.bands = self.bands or [[now - ago, f"place/{policy}"] for ago, policy in past]

    def names(self) -> list[str]:
        """The servers' names."""
        return [f"{self.name_prefix}{index}" for index in range(self.servers)]

    def load(self, when: float) -> float:
        """Requests in flight: a slow wave, and more of them while the demo runs."""
        demo = 25.0 if self.demo_since is not None and when >= self.demo_since else 0.0
        return max(0.0, 8 + 7 * math.sin(when / 37) + 3 * math.sin(when / 5) + demo) if self.functions else 0.0

    def state(self) -> dict[str, Any]:
        """As ``GET /v1/state``."""
        now = time.time()
        uptime = now - self.start + 700
        return {
            "time": now, "uptime_s": uptime, "policies": self.policies, "guards": self.guards,
            "shadow": self.shadow, "scale_shadow": self.scale_shadow,
            "isolation": {"cpu": "cgroup v1", "memory": "cgroup v1", "namespaces": ["pid", "network", "mount"]},
            "servers": [self._server(index, name, now) for index, name in enumerate(self.names())],
            "functions": [self._function(index, name, uptime) for index, name in enumerate(self.functions)],
        }  # fmt: skip

    def _server(self, index: int, name: str, now: float) -> dict[str, Any]:
        cpu = min(1.0, self.load(now + 9 * index) / 20)
        states = ["busy"] * round(4 * cpu) + ["idle"] * (1 + index % 2) + ["starting"] * (index % 3 == 2)
        instances = [
            {"id": f"{name}-{number}", "function": self.functions[number % len(self.functions)], "state": state,
             "pid": 4000 + 20 * index + number, "cpu": 0.7 if state == "busy" else 0.0, "memory_bytes": 48 << 20}
            for number, state in enumerate(states)
        ] if self.functions and name not in self.dead else []  # fmt: skip
        return {
            "name": name, "alive": name not in self.dead, "cores": 0.5, "memory_bytes": 2 << 30, "cpu": cpu,
            "memory_used": len(instances) * (48 << 20), "memory_reserved": len(instances) * (160 << 20),
            "inflight": states.count("busy") if instances else 0,
            "queued": index if instances else 0,
            "metrics": {f"metric_{number}": number * 0.37 for number in range(26)}, "instances": instances,
        }  # fmt: skip

    def _function(self, index: int, name: str, uptime: float) -> dict[str, Any]:
        arrivals = round(uptime * (3 + index))
        return {
            "name": name, "instances": 3 + index, "inflight": index, "queued": 0, "arrivals": arrivals,
            "completions": arrivals - index - 4, "failures": 4, "cold_starts": 20 + index,
            "latency": {"p50": 0.004 * (index + 1), "p95": 0.05 * (index + 1), "p99": 0.4} if index < 2 else None,
        }  # fmt: skip

    def history(self, seconds: int) -> dict[str, Any]:
        """As ``GET /v1/history``; a gap in latency where nothing ended."""
        last = math.floor(time.time())
        times = list(range(last - min(seconds, HISTORY) + 1, last + 1))
        loads = [self.load(when) for when in times]
        quiet = [when % 97 < 6 or not self.functions for when in times]
        return {
            "time": times, "inflight": [round(load) for load in loads], "rate": [load * 2.3 for load in loads],
            "p50": [None if none else 0.004 + load / 4000 for load, none in zip(loads, quiet)],
            "p95": [None if none else 0.02 + load * load / 9000 for load, none in zip(loads, quiet)],
            "cold": [1 + when % 3 if when % 41 < 3 and self.functions else 0 for when in times],
            "cpu": {name: [min(1.0, self.load(when + 9 * index) / 20) for when in times]
                    for index, name in enumerate(self.names())},
            "bands": self.bands,
        }  # fmt: skip

    def decisions(self, limit: int) -> dict[str, Any]:
        """As ``GET /v1/decisions``: two a second, each the same whenever it is asked for."""
        last = math.floor(2 * time.time())
        numbers = range(last - limit + 1, last + 1) if self.functions else ()
        return {"decisions": [self._decision(number) for number in numbers]}

    def _decision(self, number: int) -> dict[str, Any]:
        names = self.names()
        scores = [round(math.sin(number * (index + 1)), 3) for index in range(len(names))]
        chosen = names[scores.index(max(scores))]
        guard = "deadline of 10 ms exceeded" if number % 9 == 0 else None
        if number % 6 == 5:
            return self._scaling(number)
        return {
            "id": number, "time": number / 2, "kind": "place",
            "function": self.functions[number % len(self.functions)], "policy": "hashing" if guard else "rank",
            "chosen": chosen, "candidates": names, "scores": [None] * len(names) if guard else scores,
            "microseconds": 3.0 + number % 7, "guard": guard,
            "shadow": {"policy": "faasrank", "chosen": names[number % len(names)]} if self.shadow else None,
        }  # fmt: skip

    def _scaling(self, number: int) -> dict[str, Any]:
        return {
            "id": number, "time": number / 2, "kind": "scale", "function": self.functions[0], "policy": "hpa",
            "chosen": {"instances": 3, "cpu": None, "memory": None}, "candidates": [], "scores": None,
            "microseconds": 21.0, "guard": None,
            "shadow": {"policy": "hpa", "chosen": {"instances": 2}, "agrees": False} if self.scale_shadow else None,
        }  # fmt: skip

    def demo_state(self) -> dict[str, Any]:
        """As ``GET /v1/demo``."""
        sent = 0 if self.demo_since is None else round(40 * (time.time() - self.demo_since))
        return {
            "running": self.demo_since is not None, "scenario": self.demo.get("scenario"), "failed": 0,
            "seconds": self.demo.get("seconds"), "sent": sent, "scenarios": ["live-light", "live-burst"],
        }  # fmt: skip

    def switch(self, body: dict[str, Any]) -> None:
        """As ``POST /v1/policy``."""
        decision, policy = body["decision"], body["policy"]
        if body["shadow"] and decision == "scale":
            self.scale_shadow = policy and {"policy": policy, "decisions": 40, "agreed": 10, "predicted_gain": 0.5}
        elif body["shadow"]:
            self.shadow = policy and {"policy": policy, "decisions": 120, "agreed": 90, "predicted_gain": 0.0081}
        else:
            self.policies[decision] = policy
            self.bands.append([time.time(), f"{decision}/{policy}" if policy else None])

    def app(self) -> Starlette:
        """The interface over HTTP, the dashboard included."""
        return Starlette(routes=[*routes(), Route("/v1/{what}", self._answer, methods=["GET", "POST", "DELETE"])])

    async def _answer(self, request: Request) -> JSONResponse:
        locked = self.token and not (self.open_to_readers and request.method == "GET")
        if locked and request.headers.get("authorization") != f"Bearer {self.token}":
            return JSONResponse({"error": "needs the token that trimtab live printed"}, 401)
        what, query = request.path_params["what"], request.query_params
        if request.method != "GET":
            return await self._change(request, what)
        if what == "state":
            self.asked += 1
            return JSONResponse({"time": 0} if self.broken else self.state())
        answers = {
            "history": lambda: self.history(int(query["seconds"])),
            "decisions": lambda: self.decisions(int(query["limit"])),
            "policies": lambda: POLICIES,
            "demo": self.demo_state,
        }
        return JSONResponse(answers[what]())

    async def _change(self, request: Request, what: str) -> JSONResponse:
        body = await request.json()
        self.told.append((request.method, request.url.path, body))
        if what == "policy" and body["policy"] == "residual":
            return JSONResponse({"error": "scale policy 'residual' is not trained for <b>this</b> scenario"}, 422)
        if what == "policy":
            self.switch(body)
        else:
            self.demo_since, self.demo = (time.time(), body) if request.method == "POST" else (None, {})
        return JSONResponse({})


@contextmanager
def serving(gateway: FakeGateway, port: int = 0) -> Iterator[str]:
    """The fake on loopback while the block runs; its address."""
    server = uvicorn.Server(uvicorn.Config(
        gateway.app(), port=port, log_level="critical", ws="none", lifespan="off", timeout_graceful_shutdown=1,
    ))  # fmt: skip
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the fake gateway did not start"
        time.sleep(0.01)
    address = server.servers[0].sockets[0].getsockname()
    try:
        yield f"http://127.0.0.1:{address[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
