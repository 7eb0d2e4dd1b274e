"""The loop around schedulers by numbers worked out by hand: what a plan costs, when it comes, what does not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.worlds import MIB, scenario, workload

from trimtab.control.run import Team, run
from trimtab.control.selecting import Selection
from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.policies.select.contract import Situation, State, WindowOutcome
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
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
    folder: Path, hosts: int = 1, memory: float = 1024 * MIB, storage: float = 1.0, **runtime: dict[str, float]
) -> Scenario:
    """Machines that never sleep; a GiB-second is 0.001 USD and a call 0.01, and takes 0.5 s before it begins."""
    file = folder / "runtime.json"
    file.write_text(json.dumps({"measured_on": "paper", "schedulers": runtime}))
    return scenario(
        [TASK],
        [HOST | {"memory": memory}] * hosts,
        decision="assign",
        platform={"dispatch": "interval"},
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
