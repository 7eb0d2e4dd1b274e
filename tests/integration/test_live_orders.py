"""What is ordered while a platform runs: refused whole or carried out, kept over a restart, and no call is lost."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
import sqlite3
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.live_platform import RunningPlatform, children, running_platform, within

from trimtab.errors import TrimtabError
from trimtab.live.client import GatewayClient

HELLO = "def main(args):\n    return {'version': 1}\n"
NAP = "import time\ndef main(args):\n    time.sleep(args['seconds'])\n    return {'version': VERSION}\n"


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform(policy="round-robin") as found:
        yield found


def order(client: GatewayClient, path: str, **wanted: Any) -> dict[str, Any]:
    return dict(client.ask("POST", path, wanted)[1])


def test_more_cores_than_any_server_has_are_refused_and_starts_go_on(platform: RunningPlatform) -> None:
    client = platform.client()
    cores = max(each["cores"] for each in client.state()["servers"])
    client.deploy("sized", {"code": HELLO, "memory_mb": 64})
    client.call("sized", {})
    with pytest.raises(TrimtabError, match=rf"422.*cpu = {cores * 2:g}, must be at most {cores:g}"):
        order(client, "/v1/scale", function="sized", cpu=cores * 2)
    with pytest.raises(TrimtabError, match=rf"cpu = {cores * 2:g}, must be at most {cores:g}"):
        client.deploy("sized", {"code": HELLO, "cpu": cores * 2})
    assert client.ask("GET", "/v1/functions/sized")[1]["cpu"] is None
    order(client, "/v1/scale", function="sized", instances=3)
    ready = within(10.0, lambda: [each for each in client.state()["functions"] if each["ready"] == 3])
    assert [each["name"] for each in ready] == ["sized"]
    client.remove("sized")


def test_memory_beyond_the_server_is_refused(platform: RunningPlatform) -> None:
    client = platform.client()
    server = client.state()["servers"][0]
    client.deploy("grows", {"code": HELLO, "memory_mb": 64})
    order(client, "/v1/scale", function="grows", instances=8)
    within(10.0, lambda: [each for each in client.state()["functions"] if each["ready"] == 8])
    with pytest.raises(TrimtabError, match=r"409.*must be at most"):
        order(client, "/v1/scale", function="grows", memory=int(server["memory_bytes"]))
    for each in client.state()["servers"]:
        assert each["memory_reserved"] <= each["memory_bytes"]
    assert client.ask("GET", "/v1/functions/grows")[1]["memory_mb"] == 64
    client.remove("grows")


def test_calls_that_wait_when_a_function_is_deployed_again_get_the_new_version(platform: RunningPlatform) -> None:
    client = platform.client()
    memory = int(client.state()["servers"][0]["memory_bytes"] / 2**20)  # one instance fills a server
    spec = {"memory_mb": memory}
    client.deploy("again", spec | {"code": NAP.replace("VERSION", "1")})
    told: list[Any] = []

    def call() -> None:
        with closing(GatewayClient(platform.url)) as own:
            try:
                told.append(own.call("again", {"seconds": 0.5}).result["version"])
            except TrimtabError as error:
                told.append(str(error))

    threads = [threading.Thread(target=call) for _ in range(12)]
    for thread in threads:
        thread.start()
    accepted = [client.ask("POST", "/async-function/again", {"seconds": 0.1})[1]["activation"] for _ in range(8)]
    within(10.0, lambda: sum(each["queued"] for each in client.state()["servers"]) >= 8)
    client.deploy("again", spec | {"code": NAP.replace("VERSION", "2")})
    for thread in threads:
        thread.join(60.0)
    assert set(told) <= {1, 2}
    assert 2 in told
    for each in accepted:
        row = within(30.0, lambda each=each: ended(client, each))
        assert row["status"] == "completed", row
    client.remove("again")


def ended(client: GatewayClient, activation: str) -> dict[str, Any] | None:
    row = client.ask("GET", f"/v1/activations/{activation}")[1]
    return dict(row) if row["status"] in ("completed", "failed") else None


def test_shadows_of_scaling_and_of_selecting(platform: RunningPlatform) -> None:
    client = platform.client()
    with pytest.raises(TrimtabError, match=r"422.*shadow = true, must be false for decision 'select'"):
        order(client, "/v1/policy", decision="select", policy="mab", shadow=True)
    answer = order(client, "/v1/policy", decision="scale", policy="hpa-inflight", shadow=True)
    assert answer["policies"]["scale"] is None
    assert answer["scale_shadow"]["policy"] == "hpa-inflight"
    assert order(client, "/v1/policy", decision="scale", policy=None, shadow=True)["scale_shadow"] is None


def test_every_guard_is_in_the_metrics(platform: RunningPlatform) -> None:
    state = platform.client().state()
    with urllib.request.urlopen(platform.url + "/metrics", timeout=10) as answer:
        text = answer.read().decode()
    for reason in state["guards"]:
        assert f'trimtab_guard_events_total{{reason="{reason}"}}' in text


def gateway_of(platform: RunningPlatform) -> int:
    return max(children(platform.pid), key=lambda pid: len(children(pid)), default=0)


def test_policies_and_removals_outlive_a_gateway(tmp_path: Path) -> None:
    with running_platform(state=tmp_path, policy="round-robin") as platform:
        client = platform.client()
        first, second = (each["name"] for each in client.state()["functions"][:2])
        client.remove(first)
        order(client, "/v1/policy", policy="least-connections")
        order(client, "/v1/policy", policy="hashing", shadow=True)
        order(client, "/v1/policy", decision="scale", policy="hpa-inflight", shadow=True)
        before = gateway_of(platform)
        os.kill(before, signal.SIGKILL)
        within(20.0, lambda: gateway_of(platform) not in (0, before) and client.ask("GET", "/readyz"))
        state = client.state()
        assert state["policies"]["place"] == "least-connections"
        assert (state["shadow"]["policy"], state["scale_shadow"]["policy"]) == ("hashing", "hpa-inflight")
        assert first not in {each["name"] for each in state["functions"]}
    with running_platform(state=tmp_path, policy="round-robin") as platform:
        client = platform.client()
        state = client.state()
        assert state["policies"]["place"] == "round-robin", "what the command line says stands"
        assert state["shadow"] is None
        names = {each["name"] for each in state["functions"]}
        assert first not in names and second in names
        client.deploy(first, {"code": HELLO})
        client.remove(second)
        client.deploy(second, {"code": HELLO})
        assert {first, second} <= {each["name"] for each in client.state()["functions"]}


def test_controlled_instances_are_there_from_the_start_and_come_back(tmp_path: Path) -> None:
    wanted = ("platform.dispatch=cluster", "platform.instances=controlled", "control.minimum=1", "control.period=600")
    with running_platform(state=tmp_path, policy="round-robin", overrides=wanted) as platform:
        client = platform.client()
        order(client, "/v1/policy", decision="scale", policy=None)
        functions = within(20.0, lambda: (rows := client.state()["functions"]) and ready(rows) and rows)
        spread = [each["name"] for each in client.state()["servers"] if each["instances"]]
        assert len(spread) == min(len(functions), 4), "not all on the server that came up first"
        victim = next(each["instances"][0] for each in client.state()["servers"] if each["instances"])
        os.kill(victim["pid"], signal.SIGKILL)
        within(10.0, lambda: ready(client.state()["functions"]) and victim["pid"] not in pids(client))


def ready(functions: list[dict[str, Any]]) -> bool:
    return all(each["ready"] == 1 for each in functions)


def pids(client: GatewayClient) -> set[int]:
    return {each["pid"] for server in client.state()["servers"] for each in server["instances"]}


def test_a_stored_result_beyond_a_double_is_told_as_it_is(tmp_path: Path) -> None:
    with running_platform(state=tmp_path) as platform:
        client = platform.client()
        client.deploy("hello", {"code": HELLO, "memory_mb": 64})
        activation = client.ask("POST", "/async-function/hello", {})[1]["activation"]
        within(10.0, lambda: ended(client, activation))
        with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as ledger, ledger:
            ledger.execute("UPDATE activations SET result = ? WHERE id = ?", (b'{"x": 1e999}', activation))
        with urllib.request.urlopen(f"{platform.url}/v1/activations/{activation}", timeout=10) as answer:
            assert json.loads(answer.read())["result"] == {"x": float("inf")}


def test_more_connections_than_descriptors_allow_are_turned_away_and_cold_starts_go_on(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            platform = stack.enter_context(running_platform(state=tmp_path))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        client = platform.client()
        client.deploy("hello", {"code": HELLO, "memory_mb": 64})
        port = urlsplit(platform.url).port
        idle = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(300)]
        assert client.call("hello", {}).headers["x-trimtab-cold"] == "1"
        last = idle[-1].recv(10_000)
        assert last.startswith(b"HTTP/1.1 503")
        assert b'"error": "96 connections are open already' in last
        for each in idle:
            each.close()
        with closing(GatewayClient(platform.url)) as another:
            within(10.0, lambda: another.call("hello", {}).result)
    # also what uvicorn has to say is JSON
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert not [each for each in lines if each["level"] == "error"]


def test_every_line_of_the_journal_is_json(tmp_path: Path) -> None:
    with running_platform(state=tmp_path) as platform:
        with socket.create_connection(("127.0.0.1", urlsplit(platform.url).port), 10) as connection:
            connection.sendall(b"\0\0 nonsense\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 400")
        platform.client().state()
    lines = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    assert [each["logger"] for each in lines if "Invalid HTTP request" in each["event"]] == ["uvicorn.error"]
