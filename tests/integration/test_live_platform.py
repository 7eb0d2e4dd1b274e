"""The platform end to end, as a person and a control loop use it: commands, calls, state, decisions, scaling."""

from __future__ import annotations

import io
import json
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.commands import trimtab
from tests.live_platform import RunningPlatform, running_platform, within

from trimtab.errors import TrimtabError
from trimtab.policies.place.metrics import FEATURES

HELLO = "def main(args):\n    print('called with', args)\n    return {'hello': args.get('name', 'world')}\n"
SPIN = """
import time

def main(args):
    end = time.process_time() + args["seconds"]
    while time.process_time() < end:
        pass
    return {}
"""
READS = """
from pathlib import Path
from other import twice

def main(args):
    return {"x": twice(Path("data.txt").read_text())}
"""


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform(policy="round-robin") as found:
        yield found


def get(platform: RunningPlatform, path: str) -> str:
    with urllib.request.urlopen(platform.url + path, timeout=10) as answer:
        return str(answer.read().decode())


def test_commands_from_deployment_to_removal(platform: RunningPlatform, tmp_path: Path) -> None:
    (tmp_path / "say_hello.py").write_text(HELLO)
    at = ("--url", platform.url)
    assert "say-hello is deployed" in trimtab("deploy", "say_hello.py", "--memory", "64", *at, folder=tmp_path).out
    first = trimtab("invoke", "say-hello", '{"name": "Ada"}', *at, folder=tmp_path)
    assert first.json == {"hello": "Ada"}
    assert first.err.startswith("cold on server")
    within(5.0, lambda: "called with {'name': 'Ada'}" in trimtab("logs", "say-hello", *at, folder=tmp_path).out)
    assert "say-hello" in trimtab("functions", *at, folder=tmp_path).out
    where = trimtab("invoke", "say-hello", "--async", *at, folder=tmp_path).out.strip()
    path = where.removeprefix(platform.url)
    found = within(10.0, lambda: (row := json.loads(get(platform, path)))["status"] == "completed" and row)
    assert found["result"] == {"hello": "world"}
    assert trimtab("remove", "say-hello", *at, folder=tmp_path).code == 0
    assert "is not deployed" in trimtab("invoke", "say-hello", *at, folder=tmp_path).complaint


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("deploy", "no_such.py"), "no_such.py: must be a .py file, a zip or a folder: no such file"),
        (("deploy", "text.txt"), "text.txt: must be a .py file"),
        (("deploy", "wrong.py"), "code is not Python"),
        (("deploy", "fine.py", "--memory", "1"), "memory_mb"),
        (("deploy", "fine.py", "--memory", "60000"), "memory_mb = 60000, must be at most"),
        (("deploy", "fine.py", "--name", "a b"), "name = 'a b', must be"),
        (("deploy", "empty"), "holds no __main__.py"),
        (("invoke", "nobody"), "function = 'nobody' is not deployed"),
        (("invoke", "nobody", "{"), "must be JSON"),
        (("invoke", "nobody", "[]"), "must be a JSON object"),
        (("logs", "nobody"), "is not deployed"),
        (("remove", "nobody"), "is not deployed"),
    ],
)
def test_mistakes_are_one_line(
    platform: RunningPlatform, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    (tmp_path / "text.txt").write_text("no")
    (tmp_path / "wrong.py").write_text("def main(:\n")
    (tmp_path / "fine.py").write_text(HELLO)
    (tmp_path / "empty").mkdir()
    assert told in trimtab(*arguments, "--url", platform.url, folder=tmp_path).complaint


def test_a_gateway_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    told = trimtab("functions", "--url", "http://127.0.0.1:9", folder=tmp_path).complaint
    assert "connection refused" in told


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--scenario", "no-such"), "no-such"),
        (("--scenario", "assign-batch"), "has no functions to call"),
        (("--policy", "closest"), "closest"),
        (("--policy", "no-such"), "no-such"),
    ],
)
def test_a_platform_that_cannot_start_says_why(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    assert told in trimtab("live", *arguments, "--port", "0", folder=tmp_path).complaint


def test_a_zip_and_a_folder_with_data(platform: RunningPlatform, tmp_path: Path) -> None:
    files = {"__main__.py": READS, "other.py": "def twice(x):\n    return x + x\n", "data.txt": "ab"}
    packed = io.BytesIO()
    (tmp_path / "folder").mkdir()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
            (tmp_path / "folder" / name).write_text(text)
    (tmp_path / "packed.zip").write_bytes(packed.getvalue())
    for source in ("folder", "packed.zip"):
        trimtab("deploy", source, "--name", "files", "--memory", "64", "--url", platform.url, folder=tmp_path)
        assert platform.client().call("files", {}).result == {"x": "abab"}


def test_a_chain_is_followed(platform: RunningPlatform) -> None:
    client = platform.client()
    code = "def main(args):\n    return {{'n': args.get('n', 0) + 1, 'next': {}}}\n"
    client.deploy("first", {"code": code.format("'second'"), "memory_mb": 64, "chain": True})
    client.deploy("second", {"code": code.format("None"), "memory_mb": 64})
    assert client.call("first", {"n": 5}).result["n"] == 7


def test_an_asynchronous_call_follows_its_chain_and_may_fail_with_any_text(platform: RunningPlatform) -> None:
    client = platform.client()
    client.deploy("begins", {"code": "def main(args):\n    return {'next': 'ends', 'x': 1}\n", "chain": True})
    client.deploy("ends", {"code": "def main(args):\n    return {'x': args['x'] + 1}\n"})
    client.deploy("fails-oddly", {"code": "def main(args):\n    raise ValueError('\\ud800')\n"})
    for name, key, expected in (("fails-oddly", "error", "ValueError: ?"), ("begins", "result", {"x": 2})):
        path = client.ask("POST", f"/async-function/{name}", {})[1]["activation"]

        def ended(path: str = f"/v1/activations/{path}") -> Any:
            row = json.loads(get(platform, path))
            return row if row["status"] in ("completed", "failed") else None

        assert within(10.0, ended)[key] == expected
    for name in ("begins", "ends", "fails-oddly"):
        client.remove(name)


def test_state_has_every_metric_and_calls_say_where_they_ran(platform: RunningPlatform) -> None:
    client = platform.client()
    client.deploy("spin", {"code": SPIN, "memory_mb": 64})
    called = client.call("spin", {"seconds": 0.3})
    assert called.headers["x-trimtab-cold"] == "1"
    assert float(called.headers["x-trimtab-run-ms"]) >= 300
    name = called.headers["x-trimtab-server"]
    time.sleep(0.3)
    state = client.state()
    server = next(each for each in state["servers"] if each["name"] == name)
    assert set(server["metrics"]) == set(FEATURES)
    instance = next(each for each in server["instances"] if each["function"] == "spin")
    assert instance["state"] == "idle"
    assert 0.3 <= instance["cpu_seconds"] < 1.5
    assert instance["memory_bytes"] > 2**20
    function = next(each for each in state["functions"] if each["name"] == "spin")
    assert (function["arrivals"], function["completions"], function["cold_starts"]) == (1, 1, 1)
    assert function["latency"]["p50"] >= 0.3


def test_scaling_changes_a_running_instance_without_a_restart(platform: RunningPlatform) -> None:
    client = platform.client()
    client.deploy("spin", {"code": SPIN, "memory_mb": 64})
    client.ask("POST", "/v1/scale", {"function": "spin", "instances": 2})
    found = within(10.0, lambda: idle(client, "spin") if len(idle(client, "spin")) == 2 else None)
    client.ask("POST", "/v1/scale", {"function": "spin", "cpu": 0.25, "memory": 96 * 2**20})
    for instance in found:
        groups = groups_of(instance["pid"])
        if "memory" in groups:
            assert (groups["memory"] / "memory.limit_in_bytes").read_text().strip() == str(96 * 2**20)
        if "cpu" in groups:
            quota, period = ((groups["cpu"] / f"cpu.cfs_{each}_us").read_text() for each in ("quota", "period"))
            assert int(quota) / int(period) == 0.25
    assert {each["pid"] for each in idle(client, "spin")} == {each["pid"] for each in found}
    client.ask("POST", "/v1/scale", {"function": "spin", "instances": 0})
    within(5.0, lambda: not idle(client, "spin"))


def idle(client: Any, function: str) -> list[dict[str, Any]]:
    return [
        each
        for server in client.state()["servers"]
        for each in server["instances"]
        if each["function"] == function and each["state"] == "idle"
    ]


def groups_of(pid: int) -> dict[str, Path]:
    found = {}
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controller, path = line.split(":", 2)
        if "/trimtab-" in path and controller:
            found[controller] = Path("/sys/fs/cgroup") / controller / path.lstrip("/")
    return found


def test_policies_are_switched_and_decisions_told(platform: RunningPlatform) -> None:
    client = platform.client()
    assert "rank" in client.ask("GET", "/v1/policies")[1]["place"]
    client.ask("POST", "/v1/policy", {"decision": "place", "policy": "drain-ahead"})
    client.ask("POST", "/v1/policy", {"policy": "least-connections", "shadow": True})
    client.deploy("hello", {"code": HELLO, "memory_mb": 64})
    client.call("hello", {})
    last = client.ask("GET", "/v1/decisions?limit=1000")[1]["decisions"][-1]
    assert (last["policy"], last["function"], last["kind"]) == ("drain-ahead", "hello", "place")
    assert last["chosen"] in last["candidates"]
    assert len(last["scores"]) == len(last["candidates"])
    assert last["shadow"]["policy"] == "least-connections"
    state = client.state()
    assert state["policies"]["place"] == "drain-ahead"
    assert state["shadow"]["decisions"] >= 1
    client.ask("POST", "/v1/policy", {"policy": None, "shadow": True})
    assert client.state()["shadow"] is None
    bands = client.ask("GET", "/v1/history")[1]["bands"]
    assert [name for _, name in bands][-1] == "drain-ahead"


def test_a_demo_load_shows_in_the_history(platform: RunningPlatform) -> None:
    client = platform.client()
    client.ask("POST", "/v1/demo", {"seconds": 3})
    assert client.ask("GET", "/v1/demo")[1]["running"]
    found = within(15.0, lambda: (row := client.ask("GET", "/v1/demo")[1])["answered"] > 3 and row)
    assert found["failed"] == 0
    client.ask("DELETE", "/v1/demo")
    assert not client.ask("GET", "/v1/demo")[1]["running"]
    history = within(5.0, lambda: (row := client.ask("GET", "/v1/history")[1]) and any(row["rate"]) and row)
    assert len({len(history[name]) for name in ("time", "inflight", "rate", "p50", "p95", "cold")}) == 1
    with pytest.raises(TrimtabError, match="must be a preset"):
        client.ask("POST", "/v1/demo", {"scenario": "/etc/passwd"})


def test_what_operators_ask_for(platform: RunningPlatform) -> None:
    assert json.loads(get(platform, "/healthz")) == {"status": "ok"}
    assert json.loads(get(platform, "/readyz")) == {"status": "ready"}
    metrics = get(platform, "/metrics")
    assert 'trimtab_server_up{server="server0"} 1.0' in metrics
    assert "trimtab_function_arrivals_total" in metrics
    assert json.loads(get(platform, "/openapi.json"))["openapi"] == "3.1.0"
    assert "POST /v1/scale" in get(platform, "/docs")
    assert "<html" in get(platform, "/")


def test_deployments_and_results_survive_a_restart(tmp_path: Path) -> None:
    with running_platform(state=tmp_path) as platform:
        client = platform.client()
        client.deploy("hello", {"code": HELLO, "memory_mb": 64})
        activation = client.ask("POST", "/async-function/hello", {"name": "Grace"})[1]["activation"]
        within(10.0, lambda: client.ask("GET", f"/v1/activations/{activation}")[1]["status"] == "completed")
    with running_platform(state=tmp_path) as platform:
        client = platform.client()
        assert client.call("hello", {}).result == {"hello": "world"}
        assert client.ask("GET", f"/v1/activations/{activation}")[1]["result"] == {"hello": "Grace"}


def test_a_scale_policy_drives_real_instances(tmp_path: Path) -> None:
    wanted = (
        "platform.dispatch=cluster", "platform.instances=controlled", "control.minimum=1", "control.maximum=4",
        "control.period=0.5",
    )  # fmt: skip
    with running_platform(state=tmp_path, policy="scale/hpa-inflight", overrides=wanted) as platform:
        client = platform.client()
        assert client.state()["policies"]["scale"] == "hpa-inflight"
        within(10.0, lambda: all(each["ready"] == 1 for each in client.state()["functions"]))
        name = client.state()["functions"][0]["name"]
        for _ in range(60):
            client.ask("POST", f"/async-function/{name}", {})
        within(20.0, lambda: max(each["instances"] for each in client.state()["functions"]) > 1)
        decisions = client.ask("GET", "/v1/decisions?limit=1000")[1]["decisions"]
        assert any(each["kind"] == "scale" and each["policy"] == "hpa-inflight" for each in decisions)
