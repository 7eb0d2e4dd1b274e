"""Profiles functions one at a time on a platform that does nothing else.

CPU time is what the control group of the instance counted, latency is the client's. Whatever a call takes beyond
its CPU time is off the CPU: gateway, dispatch, sockets, and waiting inside the function.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median, pstdev
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.live.calibrate.sizes import next_size, rising
from trimtab.live.client import GatewayClient
from trimtab.scenario.profile import FunctionProfile

EMPTY = "def main(args):\n    return {}\n"
_SETTLED = 0.25
"""Seconds without a change after which a counter has taken in all that was done: two samples of a server."""
_PATIENCE = 10.0
_SLOWEST = 10.0
"""Seconds of a call, on the CPU or off it, at which larger sizes are not tried."""


@dataclass(frozen=True)
class Effort:
    """How much is measured."""

    starts: int = 5
    """Cold starts of each function."""
    rounds: int = 3
    """Of warm calls of each size."""
    calls: int = 5
    """In a round, at most."""
    seconds: float = 0.5
    """Core-seconds of a round, about; one call at least."""
    longest: float = 0.5
    """Core-seconds of a call at which the ladder of sizes ends."""


EFFORT = Effort()


@dataclass(frozen=True)
class Subject:
    """A function to be profiled."""

    name: str
    deployment: dict[str, Any]
    """What is sent to deploy it."""
    arguments: dict[str, Any]
    size: str | None
    """The argument that scales its work."""

    @property
    def least(self) -> dict[str, Any]:
        """Arguments of a short call: what else it does hardly hides the start before it."""
        return self.arguments if self.size is None else self.arguments | {self.size: self.first}

    @property
    def first(self) -> int:
        """The size that the ladder begins with."""
        return max(int(self.arguments.get(str(self.size), 1000)) // 16, 1)


@dataclass(frozen=True)
class Start:
    """One cold call and a warm one after it."""

    cold: float
    warm: float
    cpu: float
    """Core-seconds of process and imports, and of the end."""

    @property
    def off_cpu(self) -> float:
        """Seconds that the start took beyond its CPU time."""
        return max(self.cold - self.warm - self.cpu, 0.0)


class Calibration:
    """Measures on one gateway; every instance is made for it and removed again."""

    def __init__(self, gateway: GatewayClient, effort: Effort = EFFORT) -> None:
        self._gateway, self._effort = gateway, effort
        self._made = 0
        empty = Subject("empty", {"code": EMPTY}, {}, None)
        self._create = median(start.off_cpu for start in self._starts(empty))

    def profile(self, subject: Subject) -> FunctionProfile:
        """Starts, then warm calls by size."""
        starts = self._starts(subject)
        with _Deployed(self, subject) as name:
            self._gateway.call(name, subject.arguments)
            rows = self._ladder(name, subject)
            memory = self._instance(name)["memory_bytes"]
        return FunctionProfile(
            create=self._create,
            init=median(start.cpu for start in starts),
            init_off_cpu=max(median(start.off_cpu for start in starts) - self._create, 0.0),
            off_cpu=rows[0].off_cpu,  # of the shortest calls, whose CPU time is known best
            curve=rising([(row.size, row.cpu) for row in rows]),
            memory=memory,
            spread=median(row.spread for row in rows),
            cold_latency=median(start.cold for start in starts),
            warm_latency=median(start.warm for start in starts),
        )

    def _starts(self, subject: Subject) -> list[Start]:
        """Cold starts from the first call of a new instance until it is gone: its end costs CPU time too."""
        found = []
        for _ in range(self._effort.starts):
            before = self._rest(self._servers)
            with _Deployed(self, subject) as name:
                first = self._gateway.call(name, subject.least)
                if not first.cold:
                    raise TrimtabError(f"function {name!r}: its first call was not a cold one, something else calls it")
                begun = self._rest(lambda: self._cpu(name))
                second = self._gateway.call(name, subject.least)
                call = self._rest(lambda: self._cpu(name)) - begun
            after = self._rest(self._servers)
            if after <= 0.0:
                raise TrimtabError(
                    f"gateway {self._gateway.url} counts no CPU time, must have control groups to calibrate with "
                    "(as root, or in a group of its own: docs/live.md)"
                )
            found.append(Start(first.seconds, second.seconds, max(after - before - 2.0 * call, 0.0)))
        return found

    def _ladder(self, name: str, subject: Subject) -> list[_Row]:
        if subject.size is None:
            return [self._row(name, subject.arguments, 0.0)]
        size: int | None = subject.first
        rows: list[_Row] = []
        while size is not None:
            rows.append(self._row(name, subject.arguments | {subject.size: size}, float(size)))
            size = next_size([(row.size, row.cpu) for row in rows], self._effort.longest)
            if rows[-1].off_cpu + rows[-1].cpu >= _SLOWEST:
                break
        return rows

    def _row(self, name: str, arguments: dict[str, Any], size: float) -> _Row:
        """Warm calls of one size, in rounds: the CPU time is that of the quickest round.

        What else runs on the machine makes calls longer, by sharing caches too, and none shorter.
        """
        self._gateway.call(name, arguments)
        latencies: list[float] = []
        rounds: list[float] = []
        for _ in range(self._effort.rounds):
            before, mine = self._rest(lambda: self._cpu(name)), list[float]()
            while not mine or (len(mine) < self._effort.calls and sum(mine) < self._effort.seconds):
                mine.append(self._gateway.call(name, arguments).seconds)
            rounds.append((self._rest(lambda: self._cpu(name)) - before) / len(mine))
            latencies += mine
        cpu, quick = min(rounds), sorted(latencies)[len(latencies) // 4]
        return _Row(size, cpu, max(quick - cpu, 0.0), pstdev(latencies) / median(latencies))

    def _cpu(self, name: str) -> float:
        """Core-seconds of the instance of a function so far."""
        return float(self._instance(name)["cpu_seconds"])

    def _servers(self) -> float:
        """Core-seconds of all servers so far, instances that are gone included."""
        return sum(float(server["cpu_seconds"]) for server in self._gateway.state()["servers"])

    def _rest(self, counter: Callable[[], float]) -> float:
        """What a counter says once it has come to rest."""
        last, since, end = -1.0, time.monotonic(), time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            found = counter()
            if found != last:
                last, since = found, time.monotonic()
            elif time.monotonic() - since >= _SETTLED:
                return found
            time.sleep(0.02)
        raise TrimtabError("the platform does not come to rest, something else calls its functions")

    def _instance(self, name: str) -> dict[str, Any]:
        servers = self._gateway.state()["servers"]
        found = [each for server in servers for each in server["instances"] if each["function"] == name]
        if len(found) != 1:
            raise TrimtabError(f"function {name!r} has {len(found)} instances, must have one to be profiled")
        return dict(found[0])

    def name(self, subject: Subject) -> str:
        """A name that no function has had: its first call is a cold start."""
        self._made += 1
        shown = re.sub(r"[^A-Za-z0-9_-]+", "-", subject.name)  # a path has characters that no function's name may have
        return f"calibrate-{os.getpid()}-{self._made}-{shown}"[:60].rstrip("-")

    @property
    def gateway(self) -> GatewayClient:
        """Where it measures."""
        return self._gateway


@dataclass(frozen=True)
class _Row:
    size: float
    cpu: float
    off_cpu: float
    spread: float


class _Deployed:
    """A function under a new name while the block runs."""

    def __init__(self, calibration: Calibration, subject: Subject) -> None:
        self._gateway, self._subject = calibration.gateway, subject
        self._name = calibration.name(subject)

    def __enter__(self) -> str:
        self._gateway.deploy(self._name, self._subject.deployment)
        return self._name

    def __exit__(self, *error: object) -> None:
        self._gateway.remove(self._name)


def calibrate(
    gateway: GatewayClient,
    subjects: list[Subject],
    effort: Effort = EFFORT,
    watch: Callable[[str, FunctionProfile], None] = lambda name, profile: None,
) -> dict[str, FunctionProfile]:
    """Profiles by name, one function after the other."""
    calibration = Calibration(gateway, effort)
    found = {}
    for subject in subjects:
        found[subject.name] = calibration.profile(subject)
        watch(subject.name, found[subject.name])
    return found


def machine() -> dict[str, str]:
    """What the figures hold for."""
    model = next((line.partition(":")[2].strip() for line in _cpu_lines() if line.startswith("model name")), "unknown")
    return {
        "cpu": model,
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }


def _cpu_lines() -> list[str]:
    try:
        return Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return []
