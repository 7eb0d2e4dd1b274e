"""A demo load: the arrivals of a scenario, called from inside the gateway, bounded in time and number."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.live.chain import call_through
from trimtab.live.failure import CallFailed
from trimtab.live.load.plan import Plan, plan_of
from trimtab.live.platform import Platform
from trimtab.scenario.load import load_scenario
from trimtab.scenario.preset import preset_names
from trimtab.workload.build import build_workload

_AT_ONCE = 500
_SEED = 1


class Demo:
    """At most one load at a time."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        self._task: asyncio.Task[None] | None = None
        self._calls: set[asyncio.Task[None]] = set()
        self._about: dict[str, Any] = {"scenario": None, "seconds": None}
        self.sent = self.answered = self.failed = self.skipped = 0

    def start(self, name: str | None, seconds: float) -> None:
        """Begin; one that runs already ends first."""
        scenario = self.platform.scenario
        if name is not None and name != scenario.name:
            if name not in preset_names():
                raise TrimtabError(f"scenario = {name!r}, must be a preset: {', '.join(preset_names())}")
            scenario = load_scenario(name)
        workload = build_workload(scenario, _SEED)
        missing = [each for each in workload.functions if each not in self.platform.functions]
        if len(missing) == len(workload.functions):
            raise TrimtabError(f"scenario = {scenario.name!r}: none of its functions is deployed: {', '.join(missing)}")
        self.stop()
        self.sent = self.answered = self.failed = self.skipped = 0
        self._about = {"scenario": scenario.name, "seconds": seconds}
        self._task = asyncio.get_running_loop().create_task(self._play(plan_of(scenario, workload), seconds))

    async def _play(self, plan: Plan, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        began, round_began = loop.time(), 0.0
        length = max(plan.workload.duration, 1.0)
        while True:  # a workload shorter than the demo is played again
            for arrival, index, body in zip(
                plan.workload.arrival.tolist(), plan.workload.function.tolist(), plan.bodies, strict=True
            ):
                due = round_began + arrival
                if due >= seconds:
                    break
                await asyncio.sleep(began + due - loop.time())
                self._send(plan.workload.functions[index], body)
            round_began += length
            if round_began >= seconds:
                return

    def _send(self, name: str, body: bytes) -> None:
        if name not in self.platform.functions or len(self._calls) >= _AT_ONCE:
            self.skipped += 1
            return
        self.sent += 1
        task = asyncio.get_running_loop().create_task(self._call(name, body))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _call(self, name: str, body: bytes) -> None:
        with suppress(CallFailed):
            await call_through(self.platform, name, body)
            self.answered += 1
            return
        self.failed += 1

    def stop(self) -> None:
        """Send nothing more."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def describe(self) -> dict[str, Any]:
        """For ``GET /v1/demo``."""
        running = self._task is not None and not self._task.done()
        own = self.platform.scenario.name
        others = [name for name in preset_names() if name.startswith("live-") and name != own]
        return {"running": running, **self._about, "sent": self.sent, "answered": self.answered,
                "failed": self.failed, "skipped": self.skipped, "scenarios": [own, *others]}  # fmt: skip
