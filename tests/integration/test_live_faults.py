"""Whatever is killed, and however often: accepted calls end, the rest goes on, and nothing is left behind."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.live_platform import RunningPlatform, children, descendants, running_platform, within

from trimtab.errors import TrimtabError
from trimtab.live.client import GatewayClient

NAP = """
import time

def main(args):
    time.sleep(args.get("seconds", 0.02))
    return {"number": args.get("number")}
"""
RECOVERY = 15.0
"""Seconds: it takes one or two where nothing else runs, but tests share a machine."""
KILLS = 50


def gateway_of(platform: RunningPlatform) -> int:
    return max(children(platform.pid), key=lambda pid: len(children(pid)), default=0)


def servers_of(platform: RunningPlatform) -> list[int]:
    return [pid for pid in children(gateway_of(platform)) if b"invoker" in command_of(pid)]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def groups_of(pid: int) -> list[str]:
    return [str(path) for path in Path("/sys/fs/cgroup").rglob(f"trimtab-{pid}")]


def call_in_background(url: str, seconds: float) -> tuple[threading.Thread, list[str]]:
    told: list[str] = []

    def call() -> None:
        with closing(GatewayClient(url)) as client:
            try:
                told.append(str(client.call("nap", {"seconds": seconds}).result))
            except TrimtabError as error:
                told.append(str(error))

    thread = threading.Thread(target=call)
    thread.start()
    return thread, told


def busy_instance(client: GatewayClient) -> dict[str, Any]:
    """The one that works on a call, once it does: a call whose instance still starts would go elsewhere."""
    found: list[dict[str, Any]] = within(
        10.0,
        lambda: [
            each for server in client.state()["servers"] for each in server["instances"] if each["state"] == "busy"
        ],
    )
    return found[0]


@pytest.fixture
def platform(tmp_path: Path) -> Any:
    with running_platform(state=tmp_path / "state", policy="round-robin") as found:
        client = found.client()
        client.deploy("nap", {"code": NAP, "memory_mb": 64})
        client.call("nap", {})
        yield found


def test_kill_of_an_instance_is_a_clear_error_and_the_next_call_works(platform: RunningPlatform) -> None:
    client = platform.client()
    thread, told = call_in_background(platform.url, 30.0)
    kill(busy_instance(client)["pid"])
    thread.join(5.0)
    assert "502" in told[0]
    assert "killed by signal 9" in told[0]
    assert client.call("nap", {"number": 1}).result == {"number": 1}


def test_kill_of_a_server_is_a_clear_error_and_it_comes_back(platform: RunningPlatform) -> None:
    client = platform.client()
    thread, told = call_in_background(platform.url, 30.0)
    name = busy_instance(client)["id"].partition("/")[0]
    before = servers_of(platform)
    for pid in before:
        if name.encode() in command_of(pid):
            kill(pid)
    thread.join(5.0)
    assert "502" in told[0]
    assert "went down" in told[0]
    within(RECOVERY, lambda: client.call("nap", {"number": 2}).result == {"number": 2})
    within(RECOVERY, lambda: all(server["alive"] for server in client.state()["servers"]))
    assert len(set(servers_of(platform)) - set(before)) == 1


def test_kill_of_the_gateway_ends_what_it_started_and_another_one_answers(platform: RunningPlatform) -> None:
    client = platform.client()
    before = descendants(platform.pid)
    gateway = gateway_of(platform)
    kill(gateway)
    within(RECOVERY, lambda: client.call("nap", {"number": 3}).result == {"number": 3})
    assert gateway_of(platform) != gateway
    within(RECOVERY, lambda: not before & descendants(platform.pid))


def test_nothing_is_left_after_the_end(tmp_path: Path) -> None:
    with running_platform(state=tmp_path / "state") as platform:
        client = platform.client()
        fork = "import os, time\ndef main(args):\n    if os.fork() == 0:\n        time.sleep(600)\n    return {}\n"
        client.deploy("forks", {"code": fork})
        client.call("forks", {})
        started = descendants(platform.pid)
        assert len(started) >= 6  # the gateway, four servers, an instance and what it forked
        assert groups_of(platform.pid)
    assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []
    assert groups_of(platform.pid) == []


def test_kill_of_the_supervisor_ends_everything(tmp_path: Path) -> None:
    with running_platform(state=tmp_path / "state") as platform:
        client = platform.client()
        client.deploy("nap", {"code": NAP})
        client.call("nap", {})
        started = descendants(platform.pid)
        kill(platform.pid)
        within(RECOVERY, lambda: not [pid for pid in started if Path(f"/proc/{pid}/exe").exists()])
    with running_platform(state=tmp_path / "state") as after:
        # what it could not remove itself, the next one has
        assert groups_of(platform.pid) == []
        assert after.client().call("nap", {"number": 4}).result == {"number": 4}


def test_no_accepted_call_is_lost_when_things_are_killed_fifty_times(tmp_path: Path) -> None:
    draw = random.Random(1)
    accepted: list[str] = []
    stop = threading.Event()

    def submit(url: str) -> None:
        client, number = GatewayClient(url, timeout=20.0), 0
        while not stop.is_set():
            number += 1
            with suppress(TrimtabError):
                _, answer = client.ask("POST", "/async-function/nap", {"number": number, "seconds": 0.05})
                if answer is not None:  # else the gateway went in the middle of its answer
                    accepted.append(answer["activation"])
            time.sleep(0.01)
        client.close()

    with running_platform(state=tmp_path / "state", policy="round-robin") as platform:
        client = platform.client()
        client.deploy("nap", {"code": NAP, "memory_mb": 64})
        client.call("nap", {})
        thread = threading.Thread(target=submit, args=(platform.url,))
        thread.start()
        killed = 0
        while killed < KILLS:
            gateway, servers = gateway_of(platform), servers_of(platform)
            instances = [pid for server in servers for pid in children(server)]
            kind = draw.choices(["instance", "server", "gateway"], [5, 3, 2])[0]
            victims = {"instance": instances, "server": servers, "gateway": [gateway] if gateway else []}[kind]
            if victims:
                before = len(accepted)
                kill(draw.choice(victims))
                killed += 1
                time.sleep(draw.uniform(0.0, 0.2))
                within(RECOVERY, lambda before=before: len(accepted) > before)
        stop.set()
        thread.join()
        counts = within(90.0, lambda: settled(client.ask("GET", "/v1/ledger")[1]))
        assert len(accepted) >= KILLS
        # a gateway may die between the commit and its answer: then a call is accepted that nobody was told of
        assert counts["completed"] + counts["failed"] >= len(accepted)
        statuses = [client.ask("GET", f"/v1/activations/{each}")[1]["status"] for each in accepted]
        assert statuses.count("completed") + statuses.count("failed") == len(accepted)
        assert statuses.count("completed") > 0.8 * len(accepted)


def settled(counts: dict[str, int]) -> dict[str, int] | None:
    return counts if counts["queued"] + counts["running"] == 0 else None
