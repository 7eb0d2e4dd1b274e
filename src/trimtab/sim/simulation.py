"""One run of the engine: builds the tables, drives ``advance``, grows arrays, and reads the outcome."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.scenario.gateways import gateway_shares
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.build import build_columns, build_core, build_mind, chain_free, host_names
from trimtab.sim.contract import place_first, route_nowhere
from trimtab.sim.deployment import deployments
from trimtab.sim.engine import ROOM, advance
from trimtab.sim.heap import HOST_AWAKE, KIND
from trimtab.sim.kernel import direct
from trimtab.sim.meters import meter_all
from trimtab.sim.scaling import ready_at_once, set_cpu, set_instances, set_memory
from trimtab.sim.state import Mind, Records
from trimtab.sim.tasks import apply_plan, wake
from trimtab.workload.table import Workload

_BUDGET = 200_000
"""Events between two looks at ``stop``: about a tenth of a second."""
SAMPLES = 240


class Stopped(Exception):
    """The caller asked for the run to end."""


class Simulation:
    """The world of one scenario, workload and seed, under compiled place and route policies."""

    def __init__(
        self,
        scenario: Scenario,
        workload: Workload,
        seed: int,
        *,
        place: Any = None,
        route: Any = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.scenario, self.workload, self.seed, self.stop = scenario, workload, seed, stop
        self.sources = workload.source
        """Gateway of each task; empty where there is one."""
        self.deployed = deployments(scenario)
        self.core = build_core(scenario, self.deployed, workload, seed)
        self.columns = build_columns(scenario, workload, self.core, seed, 2 * SAMPLES)
        self.place, self.route = place, route
        self._advance: Callable[..., int] = direct(advance)
        self._choose = place.compiled if place is not None else place_first
        self._route = route.compiled if route is not None else route_nowhere
        self.mind = self._mind(place, 0)
        self.route_mind = self._mind(route, 1)
        self._minds: dict[tuple[str, str], Mind] = {}
        """Of policies that can be switched to, by decision and name."""
        if place is not None:
            self._minds["place", place.name] = self.mind
        if route is not None:
            self._minds["route", route.name] = self.route_mind
        self.fault_random = np.random.SeedSequence(seed, spawn_key=(6,)).generate_state(1, np.uint64)
        world = self.core.world[0]
        world["sampling"] = bool(place is not None and place.needs_samples)
        world["pools_wanted"] = bool(place is None or place.needs_pools or scenario.platform.dispatch == "host")
        world["drops_late"] = bool(route is not None and route.drops_late)
        world["meter_functions"] = scenario.platform.instances == "controlled"
        world["sample_step"] = max(workload.duration / SAMPLES, 1e-9)
        world["next_sample"] = world["sample_step"]
        self._preload()

    def _mind(self, policy: Any, salt: int) -> Any:
        memory = policy.memory if policy is not None else 1
        weights = policy.weights if policy is not None else ()
        return build_mind(self.core, memory, weights, self.seed, salt)

    def _preload(self) -> None:
        """Instances that are up before the run begins."""
        controlled = self.scenario.platform.instances == "controlled"
        for index, row in enumerate(self.deployed):
            wanted = row.instances if row.instances is not None else self.scenario.control.minimum * controlled
            if wanted:
                self.scale(index, wanted)
                ready_at_once(self.core, index)
        world = self.core.world[0]
        world["starts"] = world["stops"] = world["decisions"] = 0

    def switch(self, decision: str, policy: Any) -> None:
        """From now on another place or route policy decides; each keeps its memory for when it is back."""
        if decision == "route":
            self.route, self._route = policy, policy.compiled
            self.route_mind = self._minds.setdefault((decision, policy.name), self._mind(policy, 1))
            self.core.world[0]["drops_late"] = policy.drops_late
            return
        self.place, self._choose = policy, policy.compiled
        self.mind = self._minds.setdefault((decision, policy.name), self._mind(policy, 0))
        world = self.core.world[0]
        world["sampling"] = world["sampling"] or policy.needs_samples
        world["pools_wanted"] = world["pools_wanted"] or policy.needs_pools
        # scores and tournaments are a policy's own: what changed while another decided, it has not seen
        world["tree_ready"], world["dirty_count"] = 0, len(self.core.hosts)
        self.core.hosts["dirty"] = 1
        self.core.dirty[:] = np.arange(len(self.core.hosts))

    def branch(self) -> Simulation:
        """A copy that goes its own way from here: for look-ahead and counterfactuals."""
        other = copy.copy(self)
        other.core = copy.deepcopy(self.core)
        # what the engine never writes is shared: arrivals, work, noise, links, faults
        other.columns = self.columns._replace(
            streams=self.columns.streams.copy(),
            series=self.columns.series.copy(),
            rows=self.columns.rows.copy(),
            idle_times=self.columns.idle_times.copy(),
        )
        other.fault_random = self.fault_random.copy()
        other._minds, other.mind, other.route_mind = copy.deepcopy((self._minds, self.mind, self.route_mind))
        return other

    @property
    def now(self) -> float:
        """Simulated seconds since the start."""
        return float(self.core.world[0]["now"])

    @property
    def ended(self) -> bool:
        """Whether every request has ended."""
        world = self.core.world[0]
        return bool(world["next_request"] >= world["requests"] and world["inflight"] == 0)

    @property
    def asks(self) -> bool:
        """Whether a placement or a routing is to be decided outside before the run can go on."""
        world = self.core.world[0]
        return bool(world["asked"] != records.NONE or world["asked_stream"] != records.NONE)

    def advance(self, until: float = math.inf) -> bool:
        """Run until a time, a decision that is taken outside, or the end; returns whether every request has ended."""
        while True:
            reason = self._advance(
                self.core, self.columns, self.mind, self._choose, self.route_mind, self._route, self.fault_random,
                until, _BUDGET,
            )  # fmt: skip
            if self._advance is advance:
                self._advance = direct(advance)
            if reason == records.AT_END:
                return True
            if reason == records.AT_TIME:
                return math.isinf(until)  # with nothing left to happen, what still waits has failed
            if reason == records.DECISION:
                return False
            if reason == records.NEEDS_ROOM:
                self.reserve(0)
            elif reason == records.BAD_DECISION:
                raise self._bad_decision()
            if self.stop():
                raise Stopped

    def _bad_decision(self) -> TrimtabError:
        world = self.core.world[0]
        value, host = int(world["bad_value"]), int(world["bad_host"])
        who = self.route if world["bad_route"] else self.place
        name = getattr(who, "name", "?")
        if value == records.ASK:
            return TrimtabError(f"policy {name!r} asks outside, only placements with dispatch 'host' and routings can")
        if value == -2:
            return TrimtabError(f"policy {name!r} returned NaN for candidate {host}, must be a number")
        return TrimtabError(f"policy {name!r} returned {host}, must be the index of a feasible candidate")

    def reserve(self, extra: int) -> None:
        """Make room for ``extra`` more requests and instances, and for what they put into the event queue."""
        core = self.core
        active, instances, heap = core.active, core.instances, core.heap
        world = core.world[0]
        need = extra + 8
        if _free(active, int(world["free_request"]), need) < need:
            active = _grown(active, need, world, "free_request")
            active["id"][len(core.active) :] = records.NONE
            active["host"][len(core.active) :] = records.NONE
            active["instance"][len(core.active) :] = records.NONE
        wanted = int(world["instances"]) + int(world["queued"]) + need
        if wanted > len(instances):
            instances = _grown(instances, wanted - len(instances), world, "free_instance")
        room = int(world["heap_size"]) + ROOM + 2 * int(world["inflight"] + world["starting"]) + 4 * need
        if room >= len(heap):
            heap = np.concatenate([heap, np.zeros(room, records.EVENT)])
        timers = core.timers
        room = int(world["timers"]) + ROOM + int(world["inflight"]) + need
        if room >= len(timers):
            timers = np.concatenate([timers, np.zeros(room, records.EVENT)])
        self.core = core._replace(active=active, instances=instances, heap=heap, timers=timers)

    def scale(self, function: int, instances: int) -> int:
        """Bring a function to ``instances``; returns how many found no host."""
        self.reserve(instances + 2)
        missing = int(set_instances(self.core, self.mind, self._choose, function, instances))
        if missing < 0:
            self.core.world[0]["bad_value"] = missing
            raise self._bad_decision()
        return missing

    def resize(self, function: int, cpu: float | None, memory: float | None) -> None:
        """Change CPU and memory of every instance of a function in place."""
        self.reserve(len(self.core.hosts) + int(self.core.functions[function]["instances"]))
        if cpu is not None:
            set_cpu(self.core, function, cpu)
        if memory is not None:
            set_memory(self.core, function, memory)

    def tasks(self) -> npt.NDArray[np.int64]:
        """Slots of the tasks that have arrived and not ended, by identity."""
        active = self.core.active
        slots = np.flatnonzero((active["id"] >= 0) & (active["phase"] != records.RESPONDING))
        return slots[np.argsort(active["id"][slots], kind="stable")]

    def assign(self, slots: npt.NDArray[np.int64], plan: npt.NDArray[np.int32]) -> int:
        """Carry out a plan; returns how many of its entries were not feasible."""
        self.reserve(2 * len(slots) + len(self.core.hosts))
        hosts, requests = self.core.hosts, self.core.active["id"][slots]
        # what is no host is refused by the engine, whatever its delay
        site = hosts["site"][np.clip(plan, 0, len(hosts) - 1)]
        source = self.sources[requests] if len(self.sources) > 0 else 0
        delays = self.columns.links["delay"][source * int(self.core.world[0]["sites"]) + site]
        return int(apply_plan(self.core, slots, np.ascontiguousarray(plan, np.int32), np.ascontiguousarray(delays)))

    def wake(self, host: int) -> None:
        """Wake a host that sleeps."""
        self.reserve(1)
        wake(self.core, host)

    def first_awake(self) -> tuple[int, float]:
        """Which of the hosts that wake now will be awake first, and in how many seconds; -1 if none wakes."""
        events = self.core.heap[: int(self.core.world[0]["heap_size"])]
        events = events[events["order"] >> KIND == HOST_AWAKE]
        hosts = self.core.hosts[events["index"]]
        events = events[(hosts["state"] == records.WAKING) & (hosts["stamp"] == events["stamp"])]
        if len(events) == 0:
            return records.NONE, math.inf
        # by the engine's own order, not by the place in the heap
        first = events[np.lexsort((events["order"], events["time"]))[0]]
        return int(first["index"]), float(first["time"]) - self.now

    def delays(self) -> npt.NDArray[np.float64]:
        """Seconds from the gateways to each site, the mean over tasks."""
        links = self.columns.links["delay"].reshape(-1, int(self.core.world[0]["sites"]))
        mean: npt.NDArray[np.float64] = links[0] if len(links) == 1 else np.array(gateway_shares(self.scenario)) @ links
        return mean

    def addresses(self) -> npt.NDArray[np.int64]:
        """Address, length and width of each array, for ``batch.advance_many``; good until ``reserve`` moves them."""
        arrays = (*self.core, *self.columns, *self.mind, *self.route_mind, self.fault_random)
        words = [(array.ctypes.data, len(array), array.shape[1] if array.ndim == 2 else 0) for array in arrays]
        return np.array(words, np.int64).ravel()

    @property
    def callbacks(self) -> tuple[int, int]:
        """Addresses of the compiled place and route policies, for ``batch.advance_many``."""
        return int(self._choose.address), int(self._route.address)

    def finish(self) -> None:
        """After the last request: time goes on to the end of the workload, meters are closed."""
        world = self.core.world[0]
        if self.ended and self.now < self.workload.duration:
            world["end"] = self.workload.duration
            self.advance(self.workload.duration)
        meter_all(self.core)

    def host_names(self) -> tuple[str, ...]:
        """One name a host."""
        return host_names(self.scenario)


def _free(table: Records, first: int, enough: int) -> int:
    count = 0
    while first != records.NONE and count < enough:
        first = int(table[first]["next"])
        count += 1
    return count


def _grown(table: Records, need: int, world: Any, head: str) -> Records:
    """Twice as many rows; the new ones become the head of the list of free places."""
    old = len(table)
    larger = np.concatenate([table, np.zeros(max(old, need), table.dtype)])
    chain_free(larger, old)
    larger["next"][-1] = world[head]
    world[head] = old
    return larger
