"""The loop around schedulers by numbers worked out by hand: what a plan costs, when it comes, what does not fit."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.worlds import MIB, scenario, workload

from trimtab.control.run import Driver, Team, run
from trimtab.control.selecting import Selection, build_selection
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.select.contract import Situation, State, WindowOutcome
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.sim.simulation import Simulation
from trimtab.workload.table import Workload

WATTS = (100.0, 110.0, 120.0, 130.0, 140.0, 150.0, 160.0, 170.0, 180.0, 190.0, 200.0)
HOST = {"cores": 2.0, "price": 3.6, "power": WATTS, "network": 64 * MIB}
"""0.001 USD a second."""
TASK = {"memory": 256 * MIB, "parallelism": 1.0}
Answer = Callable[[TaskTable, HostTable, Ints], Any]


class Scripted:
    """A scheduler that answers by a function."""

    name = "scripted"

    def __init__(self, answer: Answer) -> None:
        self.answer = answer

    def reset(self, seed: int) -> None:
        pass

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Any:
        return self.answer(tasks, hosts, current)


def first_host(tasks: TaskTable, hosts: HostTable, current: Ints) -> list[int]:
    return [0] * len(tasks.request)


def world(
    folder: Path, hosts: int = 1, memory: float = 1024 * MIB, storage: float = 1.0, wake: float | None = None,
    machines: Sequence[dict[str, Any]] | None = None, **runtime: dict[str, float],
) -> Scenario:  # fmt: skip
    """Machines that never sleep, unless told how long they take to wake; a GiB-second is 0.001 USD and a call 0.01,
    and takes 0.5 s before it begins."""
    file = folder / "runtime.json"
    file.write_text(json.dumps({"measured_on": "paper", "schedulers": runtime}))
    return scenario(
        [TASK],
        [HOST | {"memory": memory} | dict(each) for each in machines or [{}] * hosts],
        decision="assign",
        platform={"dispatch": "interval", "hibernate": wake is not None, "wake": wake or 0.0},
        control={"interval": 10.0, "window": 10.0},
        scheduling={
            "memory": 1024 * MIB, "gb_second": 1e-3, "call": 0.01, "latency": 0.5, "storage": storage,
            "runtime": str(file),
        },
    )  # fmt: skip


def ran(given: Scenario, requests: Workload, answer: Answer, **more: Any) -> Outcome:
    return run(given, requests, 1, Team({"assign": Scripted(answer), **more}), "scripted")


def exactly(values: float | list[float]) -> object:
    return pytest.approx(values, rel=1e-9)


def test_a_call_is_charged_and_delays_its_plan(tmp_path: Path) -> None:
    # two tasks on one host: 1.5 + 2 x 0.25 + 2 x 1 x 0.125 = 2.25 s, and 0.5 s of the call: the plan of 10 comes at
    # 12.75, both run 4 s on a core each
    given = world(tmp_path, scripted={"fixed": 1.5, "each": 0.25, "pair": 0.125})
    done = ran(given, workload([0.0, 0.0], 4.0), first_host)
    assert done.start.tolist() == exactly([12.75, 12.75])
    assert done.completion.tolist() == exactly([16.75, 16.75])
    # 2.25 s of 1 GiB at 0.001, and the call
    assert done.meters["scheduling_usd"] == exactly(0.01225)
    assert done.meters["scheduling_s"] == exactly(2.25)
    # 16.75 s of the host at 0.001, and the charges
    assert done.meters["cost_usd"] == exactly(0.01675 + 0.01225)
    # 8 core-seconds of work
    assert done.meters["usd_per_core_hour"] == exactly(0.029 / 8.0 * 3600.0)
    # 12.75 s idle at 100 W and 4 s full at 200 W
    assert done.meters["energy_kwh"] == exactly((1275.0 + 800.0) / 3.6e6)
    # nobody had ended in the first interval: 0.01 USD, as if half a task had ended in six intervals
    assert done.meters["raw_phi"] == exactly(0.01 / (0.5 / 6.0))


def test_response_time_holds_queueing_and_migration(tmp_path: Path) -> None:
    # waits until 10, the call takes 0.5 s: runs from 10.5; moved at 20.5 with 5 of 15 core-seconds left, 256 MiB at
    # 64 MiB/s take 4 s, ends at 29.5
    done = ran(world(tmp_path, hosts=2), workload([0.0], 15.0), lambda tasks, hosts, current: [int(current[0]) + 1])
    assert done.meters["migrations"] == 1
    assert done.start.tolist() == exactly([10.5])
    assert done.completion.tolist() == exactly([29.5])
    # two calls of no time; two hosts for 29.5 s
    assert done.meters["scheduling_usd"] == exactly(0.02)
    assert done.meters["cost_usd"] == exactly(2 * 0.0295 + 0.02)


def test_a_scheduler_slower_than_the_interval_leaves_the_last_plan(tmp_path: Path) -> None:
    # 3.5 s a task and 0.5 s of the call. At 10 one task: its plan comes at 14, it runs 25 s to 39. At 20 and 30 there
    # are three: 11 s is too late, and the first runs on undisturbed. At 40 two: from 47.5 on both run
    given = world(tmp_path, scripted={"each": 3.5})
    done = ran(given, workload([0.0, 15.0, 15.0], [25.0, 4.0, 4.0]), first_host)
    assert done.completion.tolist() == exactly([39.0, 51.5, 51.5])
    assert done.meters["late_plans"] == 2
    assert "2 plans came too late for their interval and were dropped" in done.notes
    # late or not, a run is paid: 3.5 + 10.5 + 10.5 + 7 s and five calls: at 50 two tasks still run, 7 s more
    assert done.meters["scheduling_usd"] == exactly(38.5e-3 + 0.05)


def test_tasks_that_do_not_fit_wait_and_are_reported(tmp_path: Path) -> None:
    # one task has room at a time: 10.5 to 15.5, and from 20.5 on the other
    given = world(tmp_path, memory=300 * MIB)
    requests = workload([0.0, 0.0], 5.0)
    done = run(given, requests, 1, Team({"assign": registry.load("assign", "first-fit")}), "first-fit")
    assert done.completion.tolist() == exactly([15.5, 25.5])
    assert done.meters["waiting_tasks"] == exactly(0.5)
    assert "up to 1 tasks waited for a host with room" in done.notes
    assert done.meters["refused_assignments"] == 0


@pytest.mark.parametrize(("second", "refused"), [(0, 1), (7, 1), (-1, 0), (-5, 1)])
def test_the_feasible_part_of_a_plan_is_carried_out(tmp_path: Path, second: int, refused: int) -> None:
    # the second task does not fit, or is put nowhere: the first one runs all the same
    given = world(tmp_path, memory=300 * MIB)

    def answer(tasks: TaskTable, hosts: HostTable, current: Ints) -> list[int]:
        return [0, second] if len(tasks.request) == 2 else [0]

    done = ran(given, workload([0.0, 0.0], 5.0), answer)
    assert done.completion.tolist() == exactly([15.5, 25.5])
    assert done.meters["refused_assignments"] == refused
    note = f"{refused} assignments were not feasible and were not carried out"
    assert (note in done.notes) == (refused > 0)


@pytest.mark.parametrize(
    ("plan", "note"),
    [
        ([0], "2 times a task was left out of a plan that was too short"),
        ([0, -1, 0, 0], "4 entries of plans were for no task and were left out"),
    ],
)
def test_a_plan_of_another_length_is_carried_out_as_far_as_it_goes(tmp_path: Path, plan: list[int], note: str) -> None:
    given = world(tmp_path, memory=300 * MIB)
    done = ran(given, workload([0.0, 0.0], 5.0), lambda tasks, hosts, current: plan)
    assert done.completion[0] == exactly(15.5)
    assert any(each.endswith(note.partition(" ")[2]) for each in done.notes)


@pytest.mark.parametrize("plan", [[0.5, 1.5], [[0], [0, 1]], ["first", "second"]])
def test_what_is_no_plan_is_a_mistake_of_the_policy(tmp_path: Path, plan: Any) -> None:
    with pytest.raises(TrimtabError, match="must be one whole number for each of 2 tasks"):
        ran(world(tmp_path), workload([0.0, 0.0], 5.0), lambda tasks, hosts, current: plan)


class Weighed:
    """A selector with weights of 100 bytes."""

    name, decision, size = "weighed", "select", 100

    def reset(self, situation: Situation, seed: int) -> None:
        self.outcomes: list[WindowOutcome] = []

    def choose(self, state: State, now: float) -> str:
        return "scripted"

    def learn(self, outcome: WindowOutcome) -> None:
        self.outcomes.append(outcome)


def test_a_selector_runs_on_a_host_and_is_paid_there(tmp_path: Path) -> None:
    # 100 bytes at 50 a second, and 1 s of its own: 3 s at 0.001 USD over two cores; the scheduler begins after it
    given = world(tmp_path, storage=50.0, weighed={"fixed": 1.0}, scripted={"fixed": 2.0})
    situation = Situation("assign", ("scripted",), "scripted", (), 10.0)
    selector = Weighed()
    selection = Selection(selector, {"scripted": Scripted(first_host)}, situation)
    done = ran(given, workload([0.0], 6.0), first_host, select=selection)
    assert done.start.tolist() == exactly([10.0 + 3.0 + 0.5 + 2.0])
    # at 10 and, because it runs to 21.5, at 20
    assert done.meters["scheduling_usd"] == exactly(2 * (3.0 * 0.0005 + 2.0 * 1e-3 + 0.01))
    # at 20 the interval of the first plan is over: φ = (0.01 of the host + 0.0135) / (0.5 / 6), ω = 2
    second = selector.outcomes[1]
    assert second.cost == exactly(0.0235 / (0.5 / 6.0))
    assert second.seconds == exactly(2.0)


def selected(answer: Answer, selector: Any = None) -> Selection:
    """One candidate."""
    situation = Situation("assign", ("scripted",), "scripted", (), 10.0)
    return Selection(selector or Weighed(), {"scripted": Scripted(answer)}, situation)


def test_a_selector_runs_on_the_awake_host_that_does_least(tmp_path: Path) -> None:
    # a core of the three hosts costs 0.0005, 0.002 and 0.001 USD a second. At 10 nobody has done anything: the first.
    # The plan comes at 13.5; at 20 the first and the third have been in use for 6.5 s, the second not: it is taken
    machines = [{}, {"cores": 4.0, "price": 28.8}, {"price": 7.2}]
    given = world(tmp_path, machines=machines, storage=50.0, weighed={"fixed": 1.0})

    def answer(tasks: TaskTable, hosts: HostTable, current: Ints) -> list[int]:
        return [0, 2]

    done = ran(given, workload([0.0, 0.0], 15.0), answer, select=selected(answer))
    assert done.completion.tolist() == exactly([28.5, 28.5])
    # 3 s on each, and two calls
    assert done.meters["scheduling_usd"] == exactly(3.0 * 0.0005 + 3.0 * 0.002 + 2 * 0.01)
    # from idle to full are 100 W: a core of two is 50 W, one of four 25 W
    assert done.meters["scheduling_kwh"] == exactly((150.0 + 75.0) / 3.6e6)
    # first and third: 13.5 s idle and 15 s with one of two cores, at 150 W; second: 28.5 s idle
    hosts = 2 * (1350.0 + 2250.0) + 2850.0
    assert done.meters["energy_kwh"] == exactly((hosts + 225.0) / 3.6e6)


def test_where_all_sleep_the_cheapest_host_is_woken_for_the_selector(tmp_path: Path) -> None:
    # the second host wakes from 10 to 14, the selector runs there to 17, the call takes 0.5 s: the task runs on it
    # from 17.5 to 22.5. At 20 the selector runs once more, on the same host, which is awake
    given = world(tmp_path, machines=[{"price": 7.2}, {}], wake=4.0, storage=50.0, weighed={"fixed": 1.0})
    done = ran(given, workload([0.0], 5.0), second_host, select=selected(second_host))
    assert done.start.tolist() == exactly([17.5])
    assert done.meters["late_plans"] == 0
    # the host is paid from 10 to 22.5, waking included; twice 3 s of a core of it, and two calls
    assert done.meters["hosts_usd"] == exactly(0.0125)
    assert done.meters["scheduling_usd"] == exactly(2 * (3.0 * 0.0005 + 0.01))
    # 4 s waking and 3.5 s idle at 100 W, 5 s at 150 W, and twice 3 s of 50 W; the other one sleeps without power
    assert done.meters["energy_kwh"] == exactly((750.0 + 750.0 + 300.0) / 3.6e6)


def test_a_host_that_wakes_longer_than_an_interval_is_waited_for(tmp_path: Path) -> None:
    # woken at 10, awake at 35: at 10 and 20 there is nobody to run the selector on in time, nothing is asked and
    # nothing charged. At 30 it waits 5 s, runs 3 s, the call takes 0.5 s: the task runs from 38.5 to 43.5
    given = world(tmp_path, machines=[{"price": 7.2}, {}], wake=25.0, storage=50.0, weighed={"fixed": 1.0})
    done = ran(given, workload([0.0], 5.0), second_host, select=selected(second_host))
    assert done.start.tolist() == exactly([38.5])
    assert done.meters["late_plans"] == 2
    assert done.meters["hosts_usd"] == exactly(0.0335)
    # at 30 and at 40
    assert done.meters["scheduling_usd"] == exactly(2 * (3.0 * 0.0005 + 0.01))


def test_a_host_that_was_woken_for_the_selector_alone_sleeps_again(tmp_path: Path) -> None:
    # as above with 4 s, but the plan of 17.5 is for the first host, which wakes until 21.5; the second one sleeps from
    # then on. At 20 nobody is awake: the selector waits 1.5 s for the first host, and wakes no other
    given = world(tmp_path, machines=[{"price": 7.2}, {}], wake=4.0, storage=50.0, weighed={"fixed": 1.0})
    done = ran(given, workload([0.0], 5.0), first_host, select=selected(first_host))
    assert done.start.tolist() == exactly([21.5])
    assert done.completion.tolist() == exactly([26.5])
    # the second from 10 to 17.5, the first from 17.5 to 26.5
    assert done.meters["hosts_usd"] == exactly(0.0075 + 9.0 * 0.002)
    # 3 s of a core of each, and two calls
    assert done.meters["scheduling_usd"] == exactly(3.0 * 0.0005 + 3.0 * 0.001 + 0.02)


def second_host(tasks: TaskTable, hosts: HostTable, current: Ints) -> list[int]:
    return [1] * len(tasks.request)


class Clock:
    """Time that passes when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Timed(Scripted):
    """Takes 2 s to watch an interval and 1 s to plan."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(first_host)
        self.clock = clock

    def watch(self, tasks: TaskTable, hosts: HostTable, now: float) -> None:
        self.clock.now += 2.0

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Any:
        self.clock.now += 1.0
        return super().plan(tasks, hosts, current)


class TimedSelector(Weighed):
    """Takes 0.25 s to learn from an interval and 0.5 s to choose."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def choose(self, state: State, now: float) -> str:
        self.clock.now += 0.5
        return super().choose(state, now)

    def learn(self, outcome: WindowOutcome) -> None:
        self.clock.now += 0.25
        super().learn(outcome)


def measured(given: Scenario, requests: Workload, clock: Clock, **more: Any) -> tuple[Driver, float]:
    """A run by a clock, and when its first task began."""
    policies = {"assign": Timed(clock), **more}
    driver = Driver(given, Simulation(given, requests, 1), Team(policies), 1, measured=True)
    assert driver.assign is not None
    driver.assign.clock = clock
    driver.finish()
    return driver, float(driver.simulation.core.results["start"][0])


def test_time_that_a_policy_watches_is_measured_too(tmp_path: Path) -> None:
    # the task comes at 15. At 10 there is nothing to plan, but 2 s are spent to watch; at 20 another 2 s, and 1 s to
    # plan: 5 s and the call's 0.5 s. What the model says is not asked
    given = world(tmp_path, scripted={"fixed": 100.0})
    driver, start = measured(given, workload([15.0], 2.0), Clock())
    assert start == exactly(25.5)
    assert driver.meters()["scheduling_usd"] == exactly(5.0 * 1e-3 + 0.01)


def test_a_selector_is_measured_by_what_it_learns_and_chooses(tmp_path: Path) -> None:
    # 0.25 s to learn at 10 and at 20, 0.5 s to choose, 2 s to read its weights: 3 s; then the scheduler as above
    clock = Clock()
    situation = Situation("assign", ("scripted",), "scripted", (), 10.0)
    selection = Selection(TimedSelector(clock), {"scripted": Timed(clock)}, situation)
    given = world(tmp_path, storage=50.0, scripted={"fixed": 100.0}, weighed={"fixed": 100.0})
    driver, start = measured(given, workload([15.0], 1.0), clock, select=selection)
    assert start == exactly(20.0 + 3.0 + 5.0 + 0.5)
    assert driver.meters()["scheduling_usd"] == exactly(3.0 * 0.0005 + 5.0 * 1e-3 + 0.01)


def test_the_window_of_a_selector_of_schedulers_is_the_interval() -> None:
    given = load_scenario("assign-batch", ["control.interval=20"])
    assert build_selection(given, "round-robin").situation.window == 20.0
    with pytest.raises(TrimtabError, match=r"control\.window = 30, must be control\.interval = 20 or left out"):
        load_scenario("assign-batch", ["control.interval=20", "control.window=30"])
    # elsewhere it is its own
    assert build_selection(load_scenario("aset-dc-cloud", ["control.window=30"]), "mab").situation.window == 30.0
