"""A scheduler of MetaNet as a deployed function on a real platform: its plans, its bill, and a run without it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from tests.example_functions import FOLDER, load
from tests.live_platform import RunningPlatform, running_platform

from trimtab.control.assign_tables import as_json, from_json
from trimtab.control.run import Team, run
from trimtab.live.packing import pack
from trimtab.live.scheduler import RemoteScheduler
from trimtab.policies import registry
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable
from trimtab.scenario.load import load_scenario
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome
from trimtab.workload.build import build_workload

NAME = "scheduler"
ROOM = ("hosts.0.count=1", "hosts.0.cores=2", "hosts.0.memory=1 GiB")
"""A server on which the kernels are compiled in good time."""
NOT_A_PLAN = "def main(args):\n    return {'plan': [0] * (len(args['current']) + 1)}\n"
ELSEWHERE = "def main(args):\n    return {'plan': [len(args['hosts']['cores'])] * len(args['current'])}\n"
FAILS = "def main(args):\n    raise ValueError('no plan today')\n"


class Kept(RemoteScheduler):
    """Remembers what it was asked and what each call took, and can have something happen before a call."""

    def __init__(self, url: str, name: str, before: Callable[[int], None] = lambda number: None) -> None:
        super().__init__(url, name, timeout=90.0)
        self.before = before
        self.asked: list[tuple[TaskTable, HostTable, Ints]] = []
        self.plans: list[Ints] = []
        self.seconds: list[float] = []

    def plan(self, tasks: TaskTable, hosts: HostTable, current: Ints) -> Ints:
        self.before(len(self.asked))
        found = super().plan(tasks, hosts, current)
        self.asked.append((tasks, hosts, current))
        self.plans.append(found)
        self.seconds.append(self.ran)
        return found


def small() -> Scenario:
    """Tasks come for 80 s, about two an interval, and are short."""
    works = [f"functions.{index}.work=40" for index in range(7)]
    return load_scenario("metanet-azure16", ["workload.duration=80", "workload.warm_up=0", "workload.rate=2", *works])


def ran(policy: Any) -> Outcome:
    scenario = small()
    return run(scenario, build_workload(scenario, 1), 1, Team({"assign": policy}), "remote")


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform(overrides=ROOM) as found:
        client = found.client()
        client.deploy(NAME, pack(FOLDER / "scheduler.py") | {"memory_mb": 512, "timeout_s": 120.0})
        for name, code in (("not-a-plan", NOT_A_PLAN), ("elsewhere", ELSEWHERE), ("fails", FAILS)):
            client.deploy(name, {"code": code, "memory_mb": 64})
        client.timeout = 180.0
        assert client.call(NAME, {"size": 20}).result == load(NAME).main({"size": 20})
        yield found


def test_a_run_is_planned_by_the_function_and_charged_what_it_ran(platform: RunningPlatform) -> None:
    remote, here = Kept(platform.url, NAME), registry.load("assign", "gobi")
    done = ran(remote)
    assert not remote.events
    assert len(remote.plans) >= 5
    for asked, plan in zip(remote.asked, remote.plans, strict=True):
        assert plan.tolist() == here.plan(*asked).tolist()
    assert max(plan.max() for plan in remote.plans) >= 0
    # 1769 MiB at 1.66667e-5 USD for each GiB-second, and 2e-7 for each call
    assert all(0.0 < each < 10.0 for each in remote.seconds)
    bill = sum(each * 1769 / 1024 * 1.66667e-5 + 2e-7 for each in remote.seconds)
    assert done.meters["scheduling_usd"] == pytest.approx(bill, rel=1e-9)
    assert done.meters["scheduling_s"] == pytest.approx(float(np.mean(remote.seconds)), rel=1e-9)
    remote.close()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("not-a-plan", "the answer was no plan"),
        ("elsewhere", "the answer was no plan"),
        ("fails", "the call failed"),
        ("unheard-of", "the call failed"),
    ],
)
def test_what_is_no_plan_is_replaced_and_counted(platform: RunningPlatform, name: str, reason: str) -> None:
    remote = RemoteScheduler(platform.url, name)
    tasks, hosts, current = from_json(load(NAME).drawn(30, 2))
    plan = remote.plan(tasks, hosts, current)
    assert plan.tolist() == registry.load("assign", "cheap-fit").plan(tasks, hosts, current).tolist()
    assert (plan[current >= 0] == current[current >= 0]).all()
    assert remote.events == {f"{name}: {reason}": 1}
    assert remote.ran > 0.0
    remote.close()


def test_bad_tables_are_one_line(platform: RunningPlatform) -> None:
    given = load(NAME).drawn(3, 1)
    del given["tasks"]["age"]
    answer = platform.client().call(NAME, given).result
    assert answer == {
        "error": "tasks must be an object with the columns: request, function, age, remaining, cores, memory, "
        "deadline, disk, movable"
    }


def test_a_run_goes_on_when_the_gateway_is_killed() -> None:
    with running_platform(overrides=ROOM) as platform:
        # it leaves all tasks where they are: those that wait are placed once it can no longer be asked
        platform.client().deploy("waits", {"code": "def main(args):\n    return {'plan': args['current']}\n"})

        def before(number: int) -> None:
            if number == 3:
                platform.process.kill()
                platform.process.wait()

        remote = Kept(platform.url, "waits", before)
        done = ran(remote)
    assert remote.events == {"waits: the call failed": len(remote.plans) - 3}
    assert len(remote.plans) > 5
    assert f"guard: waits: the call failed, {len(remote.plans) - 3} times" in done.notes
    assert (remote.plans[2] == remote.asked[2][2]).all()
    assert (remote.plans[3] >= 0).any()
    assert not any("never ended" in note for note in done.notes)
    remote.close()


def test_tables_come_back_number_for_number() -> None:
    tasks, hosts, current = from_json(load(NAME).drawn(40, 3))
    tasks.deadline[5] = np.inf
    again = from_json(json.loads(json.dumps(as_json(tasks, hosts, current), allow_nan=False)))
    for ours, theirs in zip((tasks, hosts), again[:2], strict=True):
        for each in fields(ours):
            before, after = np.asarray(getattr(ours, each.name)), np.asarray(getattr(theirs, each.name))
            assert after.dtype == before.dtype
            assert after.tolist() == before.tolist(), each.name
    assert again[2].tolist() == current.tolist()
