"""A scheduler that runs as a deployed function: an assign policy that asks a gateway, with a fallback of its own."""

from __future__ import annotations

import math
import time
from collections import Counter

from trimtab.control.assign_tables import as_json, check_plan
from trimtab.errors import TrimtabError
from trimtab.live.client import Called, GatewayClient
from trimtab.policies.assign.cheap_fit import CheapFit
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable

_RUN = "x-trimtab-run-ms"


class RemoteScheduler:
    """Plans by a call of a function such as ``examples/functions/scheduler.py``.

    Where there is no plan, because the call fails or its answer is none, tasks stay where they are and new ones are
    placed by ``cheap-fit``; such a call is taken to have run for as long as was waited for it.
    """

    def __init__(self, url: str, name: str, *, token: str | None = None, timeout: float = 60.0) -> None:
        self.name = name
        """Of the function, and of the policy."""
        self.ran = 0.0
        """Seconds that the last call ran, as the platform measured them: what is charged."""
        self.events: Counter[str] = Counter()
        """Why the fallback stepped in, and how often."""
        self._client = GatewayClient(url, token, timeout)
        self._fallback = CheapFit()

    def reset(self, seed: int) -> None:
        """A function is called anew each time and is not told of seeds; what was counted is forgotten."""
        self.ran = 0.0
        self.events.clear()

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        """The function's plan, else the fallback's."""
        began = time.perf_counter()
        try:
            called = self._client.call(self.name, as_json(tasks, hosts, current))
        except TrimtabError:
            reason = "the call failed"
        else:
            try:
                plan, self.ran = _checked(called, tasks, hosts)
                return plan
            except TrimtabError:
                reason = "the answer was no plan"
        self.ran = time.perf_counter() - began
        self.events[f"{self.name}: {reason}"] += 1
        return self._fallback.plan(tasks, hosts, current)

    def close(self) -> None:
        """Let the connection go."""
        self._client.close()


def _checked(called: Called, tasks: TaskTable, hosts: HostTable) -> tuple[Ints, float]:
    """Plan and seconds of an answer."""
    answer = called.result
    plan = check_plan("plan", answer.get("plan") if isinstance(answer, dict) else None,
                      len(tasks.request), len(hosts.cores))  # fmt: skip
    try:
        seconds = float(called.headers[_RUN]) / 1e3
    except (KeyError, ValueError):
        raise TrimtabError(f"the answer has no header {_RUN}, must") from None
    if not 0.0 <= seconds < math.inf:
        raise TrimtabError(f"{_RUN} = {called.headers[_RUN]}, must be a number from 0 on")
    return plan, seconds
