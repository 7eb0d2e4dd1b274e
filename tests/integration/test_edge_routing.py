"""The live scheduler asks policies as the engine does: in the same state the answer is the same."""

from __future__ import annotations

import pytest

from trimtab.live.edge.kernels import route_next, stream_over
from trimtab.live.edge.profile import law
from trimtab.policies import registry
from trimtab.policies.place.outside import OFFSET
from trimtab.policies.route.outside import Outside
from trimtab.scenario.load import load_scenario
from trimtab.sim.simulation import Simulation
from trimtab.workload.build import build_workload


@pytest.mark.parametrize("name", sorted(registry.names("route")))
def test_decisions_equal_the_simulators_in_the_same_state(name: str) -> None:
    scenario = load_scenario("edge-faces", ["workload.rate=600", "workload.duration=20", "workload.warm_up=0"])
    policy = registry.load("route", name, None, scenario.name)
    simulation = Simulation(scenario, build_workload(scenario, 3), 3, route=policy)
    simulation.switch("route", Outside(len(simulation.deployed)))
    asked, different = 0, set()
    while not simulation.advance() and asked < 60:
        # a stream has arrived: one copy of the world goes on with the policy, another is asked from outside
        index = int(simulation.core.world[0]["next_stream"])
        engine, outside = simulation.branch(), simulation.branch()
        for world in (engine, outside):
            world.switch("route", policy)
        outside.core.world[0]["asked_stream"] = engine.core.world[0]["asked_stream"]
        engine.advance(engine.now)
        chosen = route_next(outside.core, outside.columns, outside.route_mind, policy.compiled)
        assert engine.core.world[0]["next_stream"] == outside.core.world[0]["next_stream"] == index + 1
        assert chosen == engine.columns.streams[index]["worker"] == outside.columns.streams[index]["worker"]
        assert (engine.core.functions["load"] == outside.core.functions["load"]).all()
        different.add(chosen)
        simulation.route_mind.memory[0] = chosen + OFFSET  # and the run itself goes the same way
        asked += 1
    assert asked == 60
    assert len(different) > 1, "a policy that always says the same proves nothing"


def test_a_stream_that_ends_frees_its_worker() -> None:
    scenario = load_scenario("edge-faces")
    policy = registry.load("route", "closest", None, scenario.name)
    simulation = Simulation(scenario, build_workload(scenario, 1), 1, route=policy)
    worker = route_next(simulation.core, simulation.columns, simulation.route_mind, policy.compiled)
    row, stream = simulation.core.functions[worker], simulation.columns.streams[0]
    assert (row["streams"], row["load"]) == (1, stream["rate"])
    assert simulation.core.world[0]["heap_size"] == 0, "its end is played by real time"
    stream_over(simulation.core, simulation.columns, 0)
    assert (row["streams"], row["load"], stream["live"]) == (0, 0.0, 0)


def test_the_law_of_a_batch() -> None:
    assert law([1, 2], [0.003, 0.005]) == pytest.approx((0.001, 0.002))
    assert law([4], [0.008]) == (0.0, 0.002)
    # faster than in proportion: no negative base, one rate that fits both best by relative error:
    # slopes 1 / 1 and 2 / 3, so (1 + 2/3) / (1 + 4/9) = 15/13
    assert law([1, 2], [1.0, 3.0]) == pytest.approx((0.0, 15 / 13))
