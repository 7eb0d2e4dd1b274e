"""A function that misbehaves is told so in a clear line, and hurts nobody else."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator

import pytest
from tests.live_platform import RunningPlatform, descendants, running_platform

from trimtab.errors import TrimtabError

LIMITS = {"memory_mb": 64, "timeout_s": 2.0, "disk_mb": 16}
ENDED = {
    "loops": ("def main(args):\n    while True:\n        pass\n", "exceeded its time limit of 2 s"),
    "sleeps": ("import time\ndef main(args):\n    time.sleep(1000)\n", "exceeded its time limit of 2 s"),
    "forks": (
        "import os\ndef main(args):\n    while True:\n        try:\n            os.fork()\n"
        "        except OSError:\n            pass\n",
        "exceeded its time limit of 2 s",
    ),
    "eats-memory": (
        "def main(args):\n    kept = []\n    while True:\n        kept.append(bytearray(1 << 20))\n",
        "used more memory than it may",
    ),
    "prints": ("def main(args):\n    while True:\n        print('x' * 10_000)\n", "printed more than 1048576 bytes"),
    "prints-no-line": (
        "import sys\ndef main(args):\n    while True:\n        sys.stderr.write('x' * 10_000)\n",
        "printed more than 1048576 bytes",
    ),
    "prints-marks": (
        "def main(args):\n    for _ in range(6_000):\n        print('x' * 1_000)\n"
        "        print('XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX', flush=True)\n    return {}\n",
        "printed more than 1048576 bytes",
    ),
    "prints-marks-only": (
        "def main(args):\n    while True:\n        print('XXX_THE_END_OF_A_WHISK_ACTIVATION_XXX')\n",
        "printed more than 1048576 bytes",
    ),
    "writes-garbage": (
        "import os\ndef main(args):\n    for each in range(3, 50):\n        try:\n"
        "            os.write(each, b'not HTTP' * 2_000)\n        except OSError:\n            pass\n    return {}\n",
        "did not answer with HTTP",
    ),
    "lies": (
        "import os\ndef main(args):\n    for each in range(4, 20):\n        try:\n"
        "            os.write(each, b'HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\n{,}')\n"
        "        except OSError:\n            pass\n    return {}\n",
        "not JSON",
    ),
    "returns-text": ("def main(args):\n    return 'text'\n", "returned str, must be an object or a list"),
    "returns-nan": ("def main(args):\n    return {'x': float('nan')}\n", "not JSON compliant"),
    "returns-much": ("def main(args):\n    return {'x': 'y' * (1 << 22)}\n", "must be at most 1048576"),
    "raises": ("def main(args):\n    raise ValueError('no such luck')\n", "ValueError: no such luck"),
    "raises-no-text": ("def main(args):\n    raise ValueError('\\ud800')\n", "ValueError: ?"),
    "returns-no-text": ("def main(args):\n    return {'x': '\\ud800'}\n", "not JSON"),
    "loads-garbage": (
        "import os\nfor each in range(4, 20):\n    try:\n"
        "        os.write(each, b'HTTP/1.1 200 OK\\r\\nContent-Length: 3\\r\\n\\r\\n{,}')\n"
        "    except OSError:\n        pass\ndef main(args):\n    return {}\n",
        "not JSON",
    ),
    "exits": ("import sys\ndef main(args):\n    sys.exit(3)\n", "SystemExit: 3"),
    "dies": ("import os\ndef main(args):\n    os._exit(3)\n", "ended with exit code 3"),
    "kills-itself": ("import os\ndef main(args):\n    os.kill(os.getpid(), 11)\n    os.abort()\n", "killed by signal"),
    "cannot-load": ("import nothing_of_this_name\n", "cannot be initialised: ModuleNotFoundError"),
    "has-no-main": ("x = 1\n", "there is no function 'main'"),
    "loads-for-ever": ("while True:\n    pass\n", "exceeded its time limit of 2 s"),
}
FILLS = """
def main(args):
    written, number = 0, 0
    try:
        while True:
            with open(f"/tmp/{number}", "wb") as file:
                written += file.write(b"x" * (1 << 20))
            number += 1
    except OSError as error:
        return {"written": written, "error": str(error)}
"""
SLOWEST = 3.0
"""Seconds for a call that shares the machine with a hostile one: half a second's work, on a busy machine."""


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform(policy="round-robin") as found:
        client = found.client()
        client.deploy("good", {"code": "def main(args):\n    return {'ok': True}\n", "memory_mb": 64})
        for _ in range(4):  # a warm one on each server
            client.call("good", {})
        yield found


@pytest.mark.parametrize("name", ENDED)
def test_a_hostile_function_is_ended_and_others_go_on(platform: RunningPlatform, name: str) -> None:
    client, other = platform.client(), platform.client()
    code, complaint = ENDED[name]
    client.deploy(name, {"code": code, **LIMITS})
    told: list[str] = []

    def call() -> None:
        with pytest.raises(TrimtabError) as refused:
            client.call(name, {})
        told.append(str(refused.value))

    thread = threading.Thread(target=call)
    thread.start()
    slowest = 0.0
    while thread.is_alive():
        slowest = max(slowest, other.call("good", {}).seconds)
        time.sleep(0.02)
    thread.join()
    assert complaint in told[0]
    assert slowest < SLOWEST
    client.remove(name)
    assert other.call("good", {}).result == {"ok": True}


def test_a_full_disk_is_the_functions_own(platform: RunningPlatform) -> None:
    free = disk_free()
    client = platform.client()
    client.deploy("fills", {"code": FILLS, **LIMITS})
    found = client.call("fills", {}).result
    assert "No space left" in found["error"]
    assert found["written"] <= 16 * 2**20
    assert disk_free() > free - 64 * 2**20
    client.remove("fills")


def disk_free() -> int:
    return shutil.disk_usage("/tmp").free


def test_a_fork_bomb_leaves_no_process(platform: RunningPlatform) -> None:
    client = platform.client()
    client.deploy("bomb", {"code": ENDED["forks"][0], **LIMITS, "timeout_s": 0.5})
    before = len(descendants(platform.pid))
    with pytest.raises(TrimtabError, match="time limit"):
        client.call("bomb", {})
    end = time.monotonic() + 5.0
    while len(descendants(platform.pid)) > before:
        assert time.monotonic() < end
        time.sleep(0.05)
    client.remove("bomb")


def test_what_one_call_may_print_each_may(platform: RunningPlatform) -> None:
    """The limit is a call's own, though the server only asks how many have ended when it comes near."""
    client = platform.client()
    code = "def main(args):\n    print(str(args['number']).rjust(600))\n    return {}\n"
    client.deploy("talks", {"code": code, "memory_mb": 64, "output_limit": 1024})
    client.scale("talks", instances=1)
    for number in range(50):
        client.call("talks", {"number": number})
    end = time.monotonic() + 5.0
    while len(lines := client.ask("GET", "/v1/functions/talks/logs")[1]["logs"]) < 50:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert sorted(int(each["line"]) for each in lines) == list(range(50))
    for instance in {each["instance"] for each in lines}:  # in order, as far as one process wrote them
        told = [int(each["line"]) for each in lines if each["instance"] == instance]
        assert told == sorted(told)
    client.deploy("talks", {"code": code.replace("600", "1300"), "memory_mb": 64, "output_limit": 1024})
    with pytest.raises(TrimtabError, match="printed more than 1024 bytes"):
        for number in range(50):
            client.call("talks", {"number": number})
            time.sleep(0.02)
    client.remove("talks")


SPINS = """
import os, threading
def spin():
    while True:
        pass
def main(args):
    if args.get("spin"):
        threading.Thread(target=spin, daemon=True).start()
        if os.fork() == 0:
            spin()
    return {"pid": os.getpid()}
"""


def test_what_runs_on_after_a_call_is_stopped_until_the_next(platform: RunningPlatform) -> None:
    client = platform.client()
    client.deploy("spins", {"code": SPINS, **LIMITS})

    def used() -> float:
        return sum(
            each["cpu_seconds"]
            for server in client.state()["servers"]
            for each in server["instances"]
            if each["function"] == "spins"
        )

    where = client.call("spins", {"spin": True}).headers["x-trimtab-server"]
    time.sleep(2.0)
    first = used()
    time.sleep(1.0)
    assert first > 0.1
    assert used() - first < 0.05
    answers = [client.call("spins", {}) for _ in range(len(client.state()["servers"]))]
    assert [each.cold for each in answers if each.headers["x-trimtab-server"] == where] == [False]
    time.sleep(1.5)
    client.remove("spins")  # those that are stopped can be ended
    time.sleep(0.5)
    assert used() == 0.0
