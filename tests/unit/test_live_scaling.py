"""What a scale policy sees of a live function, and a second one in its shadow."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, cast

from trimtab.live.audit import Audit
from trimtab.live.function import Deployed, FunctionSpec, figures_of
from trimtab.live.pool import Pool
from trimtab.live.scaling import Scaling
from trimtab.live.servers import Instance, Server
from trimtab.policies.scale.contract import FunctionMetrics
from trimtab.scenario.load import load_scenario

LOOP = asyncio.new_event_loop()
MIB = 2**20


@dataclass
class World:
    """One server and one function with two instances, decided about every second."""

    now: float = 0.0
    stopped: list[Instance] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.scenario = load_scenario("live-light", ["control.period=1", "control.minimum=1", "control.maximum=9"])
        self.servers = [Server(0, "server0", 2.0, 2048 * MIB, alive=True)]
        self.pool = Pool(self.servers, self, lambda call, function: self.servers[0], lambda: self.now)
        self.audit = Audit()
        self.functions = {"one": self.deploy(1)}
        self.scaling = Scaling(cast(Any, self))

    def clock(self) -> float:
        return self.now

    def deploy(self, number: int) -> Deployed:
        spec = FunctionSpec(code="def main(args): return {}", memory_mb=128)
        found = Deployed("one", spec, figures_of("one", spec, None), 0, number)
        self.pool.scale(found, 2)
        for instance in list(found.instances.values()):
            self.pool.ready(instance)
        return found

    def start(self, instance: Instance) -> None:
        """Tests make it ready."""

    def stop(self, instance: Instance, reason: str) -> None:
        self.stopped.append(instance)

    def tick(self, seconds: float) -> None:
        self.now += seconds
        LOOP.run_until_complete(self.scaling.tick())


class Looks:
    """Remembers what it saw, and asks for what it is told to."""

    name, period, knob = "looks", 1.0, None

    def __init__(self, instances: int | None) -> None:
        self.instances = instances
        self.seen: list[FunctionMetrics] = []

    def decide(self, metrics: FunctionMetrics, state: Any, now: float) -> tuple[Any, Any]:
        from trimtab.policies.scale.contract import HOLD, Desired

        self.seen.append(metrics)
        return (HOLD if self.instances is None else Desired(self.instances)), state


def acting(world: World, policy: Looks) -> None:
    world.scaling.switch("fixed")
    guard = world.scaling._guard
    assert guard is not None
    world.scaling._guard = replace(guard, policy=cast(Any, policy))


def shadowing(world: World, policy: Looks) -> None:
    world.scaling.set_shadow("fixed")
    assert world.scaling.shadow is not None
    world.scaling.shadow.guard = replace(world.scaling.shadow.guard, policy=cast(Any, policy))


def test_an_instance_that_ends_takes_no_core_seconds_with_it() -> None:
    world, policy = World(), Looks(2)
    first, second = world.functions["one"].instances.values()
    first.cpu_seconds, second.cpu_seconds = 10.0, 1.0
    acting(world, policy)
    world.tick(0.25)
    first.cpu_seconds, second.cpu_seconds = 10.5, 1.5
    world.pool.gone(first, "killed")
    world.tick(0.75)
    assert policy.seen[0].cpu_cores == 1.0  # half a core-second each within a second


def test_another_version_counts_from_zero() -> None:
    world, policy = World(), Looks(2)
    world.functions["one"].counters.arrivals = 100
    acting(world, policy)
    world.tick(0.5)
    world.functions["one"] = world.deploy(2)
    world.functions["one"].counters.arrivals = 3
    world.tick(0.5)
    world.functions["one"].counters.arrivals = 7
    world.tick(1.0)
    assert [each.arrivals for each in policy.seen] == [3 - 3, 4]


def test_a_shadow_sees_the_same_and_changes_nothing() -> None:
    world, acts, watches = World(), Looks(3), Looks(1)
    acting(world, acts)
    shadowing(world, watches)
    for _ in range(4):
        world.tick(1.0)
        watches.instances = 3
    assert acts.seen == watches.seen
    assert len(world.functions["one"].instances) == 3
    shadow = world.scaling.shadow
    assert shadow is not None
    # once one instance instead of three, then as many: two saved in four decisions
    assert shadow.describe() == {"policy": "looks", "decisions": 4, "agreed": 3, "predicted_gain": 0.5}
    told = [each["shadow"] for each in world.audit.after(0, 10)]
    assert told[0] == {"policy": "looks", "chosen": {"instances": 1}, "agrees": False}
    assert told[-1]["agrees"]
    world.scaling.set_shadow(None)
    world.tick(1.0)
    assert world.audit.after(0, 10)[-1]["shadow"] is None


def test_a_shadow_where_nobody_scales_is_compared_with_what_there_is() -> None:
    world, watches = World(), Looks(2)
    shadowing(world, watches)
    world.tick(1.0)
    watches.instances = 5
    world.tick(1.0)
    assert len(world.functions["one"].instances) == 2
    assert world.scaling.shadow is not None
    assert world.scaling.shadow.describe()["predicted_gain"] == -1.5
    last = world.audit.after(0, 10)[-1]
    assert (last["policy"], last["chosen"]["instances"]) == ("on demand", 2)


def test_an_answer_that_holds_asks_for_what_there_is() -> None:
    world = World()
    acting(world, Looks(None))
    shadowing(world, Looks(2))
    world.tick(1.0)
    assert world.scaling.shadow is not None
    assert world.scaling.shadow.agreed == 1
