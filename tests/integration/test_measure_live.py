"""Calibrate, fidelity and train on a real platform on loopback: short, with real processes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import polars
import pytest
from tests.commands import files, trimtab
from tests.live_platform import running_platform as guarded_platform

from trimtab.cli.practice import practice_of
from trimtab.errors import TrimtabError
from trimtab.live.background import running_platform
from trimtab.live.calibrate.functions import Effort, Subject, calibrate
from trimtab.live.client import Called, GatewayClient
from trimtab.live.practice import Practice, alone
from trimtab.scenario.load import load_scenario, parse_scenario
from trimtab.workload.build import build_workload

SPIN = """
import time

LOADED = time.process_time()
while time.process_time() < LOADED + 0.05:
    pass


def main(args):
    until = time.process_time() + args.get("milliseconds", 0) / 1000
    while time.process_time() < until:
        pass
    time.sleep(args.get("sleep", 0))
    return {}
"""
PLACE = """
name: tiny-live
baseline: hashing
hosts: [{name: server, count: 2, cores: 0.5, memory: 256 MiB}]
functions:
  - {name: spin, memory: 64 MiB, work: 20 ms, distribution: constant,
     code: {path: spin.py, args: {milliseconds: 20}, size: milliseconds, curve: [[1, 0.001], [200, 0.2]]}}
workload: {source: poisson, rate: 5, duration: 3 s}
"""
SCALE = """
name: tiny-scale
decision: scale
hosts: [{name: server, count: 1, cores: 1, memory: 1 GiB}]
functions:
  - {name: spin, memory: 64 MiB, work: 20 ms, distribution: constant, cpu: 0.5, deadline: 500 ms, instances: 1,
     code: {path: spin.py, args: {milliseconds: 20}}}
platform: {dispatch: cluster, instances: controlled}
control: {minimum: 1, maximum: 3, period: 500 ms}
workload: {source: poisson, rate: 10, duration: 20 s}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "spin.py").write_text(SPIN)
    (tmp_path / "place.yaml").write_text(PLACE)
    (tmp_path / "scale.yaml").write_text(SCALE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_profile_finds_what_a_function_does(folder: Path) -> None:
    scenario = parse_scenario(PLACE, ["hosts.0.cores=2", "hosts.0.count=1"])
    subject = Subject("spin", {"code": SPIN, "memory_mb": 64}, {"milliseconds": 16, "sleep": 0.1}, "milliseconds")
    with running_platform(scenario) as url, GatewayClient(url) as client:
        found = calibrate(client, [subject], Effort(starts=1, rounds=1, calls=3, seconds=0.2, longest=0.005))["spin"]
        left = {each["name"] for each in client.state()["functions"]}
    assert left == {"spin"}, "what was deployed for the measurement is gone, the scenario's own is there"
    # the sandbox and the machine add to it, nothing takes away: 50 ms of CPU to load, as many as asked for in a call
    assert 0.05 <= found.init < 0.5
    assert 0.1 <= found.off_cpu < 0.5
    sizes, seconds = np.array(found.curve).T
    assert sizes[0] == 1
    assert np.all(seconds >= sizes / 1000)
    assert np.all(seconds < 5 * sizes / 1000 + 0.01)
    assert found.memory > 1e6
    assert found.cold_latency > found.warm_latency


class WithoutGroups:
    """A gateway whose counters stay at nothing."""

    url = "http://gateway"

    def state(self) -> dict[str, Any]:
        running = [{"function": name, "cpu_seconds": 0.0, "memory_bytes": 0} for name in self.deployed]
        return {"servers": [{"cpu_seconds": 0.0, "instances": running}]}

    def __init__(self) -> None:
        self.deployed: list[str] = []

    def deploy(self, name: str, deployment: dict[str, Any]) -> None:
        self.deployed.append(name)

    def remove(self, name: str) -> None:
        self.deployed.remove(name)

    def call(self, name: str, arguments: dict[str, Any]) -> Called:
        return Called(0.01, {"x-trimtab-cold": "1"}, {})


def test_nothing_is_calibrated_on_counters_that_count_nothing() -> None:
    gateway = WithoutGroups()
    subject = Subject("spin", {"code": SPIN}, {"milliseconds": 16}, "milliseconds")
    with pytest.raises(TrimtabError, match="counts no CPU time, must have control groups"):
        calibrate(cast(GatewayClient, gateway), [subject], Effort(starts=1))
    assert gateway.deployed == []


def test_a_gateway_with_a_token_can_be_calibrated_and_trained_on(folder: Path) -> None:
    with guarded_platform(
        str(folder / "place.yaml"), host="0.0.0.0", state=folder / "state", overrides=("hosts.0.cores=1",)
    ) as platform:
        url = platform.url.replace("0.0.0.0", "127.0.0.1")
        assert platform.token is not None
        asked = ("calibrate", "functions", "place.yaml", "--starts", "1", "--longest", "0.001", "--url", url)
        assert "401" in trimtab(*asked, folder=folder).complaint
        result = trimtab(*asked, "--token", platform.token, folder=folder)
        assert result.code == 0, result.err
        practice = practice_of(True, folder, "1", "2", url, platform.token, False)
        assert practice is not None
        with practice.running(cast(Any, SimpleNamespace(learner=SimpleNamespace()))) as over:
            assert not over()
    assert list(json.loads((folder / "profile.json").read_text())["functions"]) == ["spin.py"]


def test_fidelity_keeps_both_sides(folder: Path) -> None:
    result = trimtab(
        "fidelity", "place.yaml", "--policies", "hashing,round-robin", "--seeds", "1",
        "--set", "functions.spin.init=60 ms", "--profile", str(profile(folder)), "--out", "out", folder=folder,
    )  # fmt: skip
    assert result.code == 0, result.err
    assert files(folder / "out") == [
        "calls.parquet", "fidelity.html", "fidelity.json", "live.parquet", "scenario.json", "simulated.parquet",
    ]  # fmt: skip
    found = json.loads((folder / "out/fidelity.json").read_text())
    assert list(found["policies"]) == ["hashing", "round-robin"]
    live, simulated = (polars.read_parquet(folder / f"out/{side}.parquet") for side in ("live", "simulated"))
    for rows in (live, simulated):
        assert rows["policy"].unique(maintain_order=True).to_list() == ["hashing", "round-robin"]
    assert live["arrival_s"].to_list() == simulated["arrival_s"].to_list(), "the very same arrivals"
    # every call took at least its 20 ms, on both sides
    assert live["fct_s"].min() >= 0.02  # type: ignore[operator]
    assert simulated["fct_s"].min() >= 0.02  # type: ignore[operator]
    for entry in found["policies"].values():
        assert entry["live"]["completed"] == entry["simulated"]["completed"] == live.height / 2
        assert entry["live"]["cpu_utilisation"] > 0
        assert entry["error"]["mean_fct_s"] == pytest.approx(
            entry["simulated"]["mean_fct_s"] / entry["live"]["mean_fct_s"] - 1, rel=1e-6
        )


def profile(folder: Path) -> Path:
    """A profile made by hand: the test of the measurement is another one."""
    known = {"create": 0.03, "init": 0.06, "init_off_cpu": 0.0, "off_cpu": 0.002, "memory": 1e7,
             "curve": [[1, 0.001], [200, 0.2]]}  # fmt: skip
    path = folder / "profile.json"
    path.write_text(json.dumps({"functions": {"spin.py": known}}))
    return path


class Up:
    """One instance more at every step."""

    name, knob, period = "up", None, 5.0

    def __init__(self) -> None:
        self.seen: list[object] = []

    def decide(self, metrics, state, now):  # type: ignore[no-untyped-def]
        from trimtab.policies.scale.contract import Desired

        self.seen.append(metrics)
        return Desired(metrics.ready + metrics.starting + 1), state


def test_an_episode_scales_real_instances(folder: Path) -> None:
    scenario = load_scenario("scale.yaml", ["workload.duration=4 s"])
    policy = Up()
    with running_platform(scenario, scale="hpa") as url, GatewayClient(url) as client:
        with alone(client):
            assert client.state()["policies"]["scale"] is None
            outcome = Practice(client).run(scenario, build_workload(scenario, 1), 1, policy)
        assert client.state()["policies"]["scale"] == "hpa"
        instances = [each for server in client.state()["servers"] for each in server["instances"]]
    assert (outcome.status == 0).all()
    assert len(policy.seen) >= 5, "every half second"
    first, last = policy.seen[0], policy.seen[-1]
    assert first.ready == 1  # type: ignore[attr-defined]
    assert last.ready + last.starting == len(instances) == 3, "the guard keeps to the maximum"  # type: ignore[attr-defined]
    assert sum(each.arrivals for each in policy.seen) <= len(outcome.arrival)  # type: ignore[attr-defined]
    assert max(each.cpu_cores for each in policy.seen) > 0.02  # type: ignore[attr-defined]
    span = outcome.meters["makespan_s"]
    assert span < outcome.meters["instance_seconds"] <= 3 * span
    assert outcome.meters["core_seconds"] == pytest.approx(0.5 * outcome.meters["instance_seconds"])


def test_training_goes_on_from_the_simulator_on_the_platform(folder: Path) -> None:
    pytest.importorskip("torch")
    train = ("train", "scale.yaml", "--policy", "q-table", "--evaluation-seeds", "2", "--jobs", "1")
    simulated = trimtab(*train, "--budget", "4", "--out", "simulated", folder=folder)
    assert simulated.code == 0, simulated.err
    live = (*train, "--live", "--minutes", "0.1", "--episode-seconds", "3", "--checkpoint-every", "0", "--out", "live")
    result = trimtab(*live, "--from", "simulated", folder=folder)
    assert result.code == 0, result.err
    about = json.loads((folder / "live/policy.json").read_text())
    assert about["training"]["live"] is True
    assert about["training"]["origin"]["units"] == 4
    units = len((folder / "live/curve.csv").read_text().splitlines()) - 1
    assert units >= 1
    again = trimtab(*live, "--resume", folder=folder)
    assert again.code == 0, again.err
    assert len((folder / "live/curve.csv").read_text().splitlines()) - 1 > units
    # a training on the platform is not one in the simulator
    assert "origin" in trimtab(*train, "--out", "live", "--resume", folder=folder).complaint


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--live"], "--live needs --from DIR"),
        (["--live", "--from", "nowhere"], "--from = 'nowhere' holds no checkpoint"),
        (["--from", "nowhere"], "--from, --url and --token go with --live"),
        (["--live", "--from", "x", "--minutes", "0"], "--minutes = '0', must be a number from 0.01"),
    ],
)
def test_mistakes_of_live_training_are_one_line(folder: Path, arguments: list[str], words: str) -> None:
    pytest.importorskip("torch")
    before = files(folder)
    assert words in trimtab("train", "scale.yaml", "--policy", "q-table", *arguments, folder=folder).complaint
    assert files(folder) == before


def test_calibrate_refuses_a_scenario_without_code(tmp_path: Path) -> None:
    complaint = trimtab("calibrate", "functions", "starter", folder=tmp_path).complaint
    assert complaint == "scenario 'starter': no function has code, must have some to be profiled"
    assert files(tmp_path) == []


def test_fidelity_refuses_what_the_platform_cannot_run(tmp_path: Path) -> None:
    assert "must be place or route" in trimtab("fidelity", "assign-batch", folder=tmp_path).complaint
    assert "policy = 'nobody'" in trimtab("fidelity", "starter", "--policies", "nobody", folder=tmp_path).complaint
    assert files(tmp_path) == []
