"""The loop around assign policies: a plan every interval, run as a serverless function that costs and takes time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trimtab.control.cost_meter import CostMeter, Interval
from trimtab.control.simulated import SimulatedPlatform
from trimtab.errors import TrimtabError
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.assign.runtime import runtime_of
from trimtab.scenario.model import Scenario, Scheduling
from trimtab.sim import records

GIBIBYTE = 2.0**30


@dataclass(frozen=True)
class Bill:
    """What schedulers cost so far."""

    calls: int = 0
    seconds: float = 0.0
    """That their functions ran."""
    usd: float = 0.0


def charge(scheduling: Scheduling, seconds: float) -> float:
    """USD of one call that ran so long."""
    return seconds * scheduling.memory / GIBIBYTE * scheduling.gb_second + scheduling.call


class View(NamedTuple):
    """What there is to plan."""

    slots: npt.NDArray[np.int64]
    tasks: TaskTable
    hosts: HostTable
    current: Ints


class _Plan(NamedTuple):
    """A plan that waits for its scheduler to be done."""

    slots: npt.NDArray[np.int64]
    requests: Ints
    hosts: Ints


class AssignLoop:
    """Asks a policy every interval, pays for its run, and carries its plan out when the run is over.

    A scheduler that needs the whole interval or more is too late: its plan is dropped, the last one stays.
    """

    def __init__(self, platform: SimulatedPlatform, policy: Any, *, measured: bool = False) -> None:
        scenario: Scenario = platform.simulation.scenario
        self.platform, self.policy, self.measured = platform, policy, measured
        self.watchers: tuple[Any, ...] = (policy,)
        """Policies that may be asked later and must not miss what happens until then."""
        self.scheduling, self.interval = scenario.scheduling, scenario.control.interval
        self.bill = Bill()
        self.due = math.inf
        """When the plan that is on its way will be carried out."""
        self.delay = 0.0
        """Seconds before a scheduler can begin: a selector's own run."""
        self.took = 0.0
        """Seconds that the last scheduler ran."""
        self.refused = self.late_plans = self.intervals = self.most_waiting = 0
        self.unplanned = self.surplus = 0
        """Tasks that plans left out, and entries beyond the tasks."""
        self.waiting = 0.0
        self.thinking = 0.0
        """Wall-clock seconds of all decisions."""
        self.clock: Callable[[], float] = time.perf_counter
        """By which schedulers are measured."""
        self._watched: dict[int, float] = {}
        """Seconds that each policy has watched since it planned last, by identity: policies need not be hashable."""
        self.last = Interval()
        """What came of the interval that ended last."""
        self._costs = CostMeter(platform.simulation)
        self._plan: _Plan | None = None

    def look(self) -> View:
        """An interval is over: the tasks and hosts as they are now, shown to everybody who watches."""
        self.last = self._costs.close(self.bill.usd)
        view = self.view()
        for each in self.watchers:
            if hasattr(each, "watch"):
                began = self.clock()
                each.watch(view.tasks, view.hosts, self.platform.simulation.now)
                self._watched[id(each)] = self._watched.get(id(each), 0.0) + self.clock() - began
        return view

    def view(self) -> View:
        """The same for nobody but the caller: those who watch have seen this moment already."""
        slots, tasks, current = self.platform.tasks()
        return View(slots, tasks, self.platform.hosts(), current)

    def tick(self, view: View | None = None) -> None:
        """An interval begins: plan, and carry it out at once or when the scheduler is done."""
        view = view or self.look()
        self.took = 0.0
        if len(view.slots) > 0:
            self.take(view, self.policy)
        self.count_waiting()

    def take(self, view: View, policy: Any) -> None:
        """Let a policy plan."""
        plan, elapsed = self.planned(policy, view)
        self.took = self.pay(policy, view, elapsed)
        self.expect(view, plan, self.delay + self.took + self.latency)

    def planned(self, policy: Any, view: View) -> tuple[Ints, float]:
        """A policy's plan, and how long it took; what it did to watch since its last one is part of that."""
        began = self.clock()
        plan = self.checked(policy, policy.plan(view.tasks, view.hosts, view.current), view)
        elapsed = self.clock() - began + self._watched.pop(id(policy), 0.0)
        self.thinking += elapsed
        return plan, elapsed

    def checked(self, policy: Any, answer: Any, view: View) -> Ints:
        """The plan as whole numbers, one a task; where it is too short or too long, its part that fits the tasks.

        Tasks that it leaves out stay where they are. What is no list of whole numbers is a mistake of the policy.
        """
        try:
            plan = np.asarray(answer)
        except ValueError:  # lists of different lengths
            plan = np.empty(0, object)
        if plan.ndim != 1 or (plan.dtype.kind not in "iu" and len(plan) > 0) or plan.dtype.kind == "O":
            raise TrimtabError(
                f"policy {policy.name!r} returned a plan of {plan.shape} {plan.dtype} values, "
                f"must be one whole number for each of {len(view.slots)} tasks"
            )
        missing = len(view.slots) - len(plan)
        self.unplanned += max(missing, 0)
        self.surplus += max(-missing, 0)
        whole = np.full(len(view.slots), -1, np.int32)
        # numbers that no host has, and that do not mean "nowhere", stay such when they are made to fit
        whole[: len(plan)] = np.clip(plan[: len(whole)], -2, len(view.hosts.cores))
        return whole

    def pay(self, policy: Any, view: View, elapsed: float = 0.0) -> float:
        """Charge one run of a policy; returns its seconds."""
        seconds = self.seconds_of(policy, view, elapsed)
        self.call(seconds)
        return seconds

    def seconds_of(self, policy: Any, view: View, elapsed: float = 0.0) -> float:
        """How long a policy runs; one that runs elsewhere tells it itself, as ``ran``."""
        if self.scheduling is None:
            return 0.0
        modelled = runtime_of(policy.name, self.scheduling.runtime).seconds(len(view.slots), len(view.hosts.cores))
        return float(getattr(policy, "ran", elapsed if self.measured else modelled))

    def call(self, seconds: float) -> None:
        """Charge one call of a function that ran so long."""
        if self.scheduling is not None:
            self.charge(charge(self.scheduling, seconds), seconds)

    def charge(self, usd: float, seconds: float, calls: int = 1) -> None:
        """Add to the bill."""
        self.bill = Bill(self.bill.calls + calls, self.bill.seconds + seconds, self.bill.usd + usd)

    def expect(self, view: View, plan: Ints, seconds: float) -> None:
        """A plan will be there in so many seconds."""
        if seconds >= self.interval:
            self.late_plans += 1
            return
        self._plan = _Plan(view.slots, view.tasks.request, plan)
        self.due = self.platform.simulation.now + seconds
        if seconds <= 0.0:
            self.apply()

    @property
    def latency(self) -> float:
        """Seconds of a call, the scheduler's own run aside."""
        return self.scheduling.latency if self.scheduling is not None else 0.0

    def apply(self) -> None:
        """Carry out the plan that has come; tasks that ended meanwhile are no longer in it."""
        self.due = math.inf
        if self._plan is None:
            return
        slots, requests, hosts = self._plan
        self._plan = None
        there = self.platform.simulation.core.active["id"][slots] == requests
        self.refused += self.platform.simulation.assign(slots[there], hosts[there])

    def count_waiting(self) -> None:
        """Tasks for which there is no room; one that has just been planned does not wait."""
        planned = self._plan
        active = self.platform.simulation.core.active
        waiting = int(np.count_nonzero((active["id"] >= 0) & (active["phase"] == records.UNASSIGNED)))
        if planned is not None:
            waiting -= int(np.count_nonzero((active["host"][planned.slots] < 0) & (planned.hosts >= 0)))
        self.waiting += waiting
        self.most_waiting = max(self.most_waiting, waiting)
        self.intervals += 1

    def meters(self) -> dict[str, float]:
        """Figures of the run."""
        world = self.platform.simulation.core.world[0]
        found = {
            "migrations": float(world["migrations"]),
            "refused_assignments": float(self.refused),
            "waiting_tasks": self.waiting / max(self.intervals, 1),
            "raw_phi": self._costs.mean,
        }
        if self.scheduling is not None:
            found |= {
                "scheduling_usd": self.bill.usd,
                "scheduling_s": self.bill.seconds / max(self.bill.calls, 1),
                "late_plans": float(self.late_plans),
            }
        return found

    def notes(self) -> list[str]:
        """What a reader must know."""
        events: dict[str, int] = getattr(self.policy, "events", {})
        found = [f"guard: {reason}, {count} times" for reason, count in sorted(events.items())]
        if self.refused:
            found.append(f"{self.refused} assignments were not feasible and were not carried out")
        if self.unplanned:
            found.append(f"{self.unplanned} times a task was left out of a plan that was too short")
        if self.surplus:
            found.append(f"{self.surplus} entries of plans were for no task and were left out")
        if self.late_plans:
            found.append(f"{self.late_plans} plans came too late for their interval and were dropped")
        if self.most_waiting:
            found.append(f"up to {self.most_waiting} tasks waited for a host with room")
        return found
