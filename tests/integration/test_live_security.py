"""What a function cannot reach, and what a request may not do."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.live_platform import RunningPlatform, running_platform

from trimtab.live.openapi import description

PEEK = """
import os, socket

def look(path):
    try:
        return os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(100).decode(errors="replace")
    except OSError as error:
        return type(error).__name__

def reach(port):
    try:
        socket.create_connection(("127.0.0.1", port), 2).close()
        return "reached"
    except OSError as error:
        return type(error).__name__

def main(args):
    status = open("/proc/self/status").read()
    return {
        "user": os.getuid(), "groups": os.getgroups(), "environment": dict(os.environ),
        "capabilities": [line.split()[1] for line in status.splitlines() if line.startswith("CapEff")][0],
        "privileges": [line.split()[1] for line in status.splitlines() if line.startswith("NoNewPrivs")][0],
        "processes": [each for each in os.listdir("/proc") if each.isdigit()],
        "files": {path: look(path) for path in args["paths"]}, "gateway": reach(args["port"]),
        "written": write(args["paths"][0]),
    }

def write(folder):
    try:
        open(folder + "/mine", "w").close()
        return True
    except OSError:
        return False
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="users and namespaces of their own need root")


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    os.environ["A_SECRET"] = "of the gateway"
    try:
        with running_platform() as found:
            found.client().deploy("peek", {"code": PEEK, "memory_mb": 64, "env": {"GIVEN": "to it"}})
            found.client().deploy("good", {"code": "def main(args):\n    return args\n", "memory_mb": 64})
            yield found
    finally:
        del os.environ["A_SECRET"]


def send(url: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if data is not None:
        given.setdefault("Content-Type", "application/json")
    try:
        connection.request(method, path, data, given)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    return answer.status, json.loads(content) if "json" in answer.headers.get("content-type", "") else content


def test_a_function_has_no_privileges_and_sees_nothing_of_the_gateway(platform: RunningPlatform) -> None:
    port = int(platform.url.rpartition(":")[2])
    paths = [str(platform.state), "/etc/shadow", "/root/.ssh", "/sys/fs/cgroup", f"/proc/{platform.pid}", "/home"]
    found = platform.client().call("peek", {"paths": paths, "port": port}).result
    assert found["user"] >= 200_000
    assert found["groups"] in ([], [found["user"]])
    assert int(found["capabilities"], 16) == 0
    assert found["privileges"] == "1"
    assert found["processes"] == ["1"]
    assert set(found["files"].values()) == {"FileNotFoundError"}
    assert found["gateway"] == "OSError"  # no network but its own, where nobody listens
    assert found["written"] is False
    assert "A_SECRET" not in found["environment"]
    assert found["environment"]["GIVEN"] == "to it"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Host": "elsewhere.example"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/policy"), ("POST", "/function/good"), ("GET", "/function/good"), ("DELETE", "/v1/functions/good")],
)
def test_requests_of_other_sites_are_refused(
    platform: RunningPlatform, method: str, path: str, headers: dict[str, str]
) -> None:
    status, answer = send(platform.url, method, path, {} if method == "POST" else None, **headers)
    assert status == 403, answer
    assert platform.client().call("good", {"still": "there"}).result == {"still": "there"}


def test_a_form_of_another_site_is_refused(platform: RunningPlatform) -> None:
    status, answer = send(platform.url, "POST", "/v1/policy", b'{"policy": "rank"}', Content_Type="text/plain")
    assert status == 415
    assert "must be 'application/json'" in answer["error"]


def test_sizes_are_limited(platform: RunningPlatform) -> None:
    status, answer = send(platform.url, "POST", "/function/good", {"x": "y" * (5 * 2**20)})
    assert status == 413
    assert "must be at most" in answer["error"]


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"{", 400, "not JSON"),
        (b"[1]", 400, "must be a JSON object"),
        (b"NaN", 400, "not JSON"),
        (b'{"x": NaN}', 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b'{"x": ' + b"1" * 10_000 + b"}", 400, "not JSON"),
        (b"\xff\xfe\x00", 400, "not JSON"),
    ],
)
def test_what_is_not_an_object_is_refused(platform: RunningPlatform, body: bytes, status: int, told: str) -> None:
    found, answer = send(platform.url, "POST", "/function/good", body)
    assert found == status
    assert told in answer["error"]


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ({"policy": "no-such"}, "must be one of: hashing"),
        ({"policy": "/tmp/evil.py"}, "must be one of"),
        ({"policy": "rank", "extra": 1}, "extra"),
        ({"decision": "route", "policy": "closest"}, "decision"),
        ({"policy": None}, "must be the name of a place policy"),
        ({"policy": "hasing"}, "did you mean 'hashing'?"),
        ({"decision": "select", "policy": "randm"}, "did you mean 'random'?"),
        ({"decision": "select", "policy": "/tmp/evil.py"}, "must be one of: mab"),
        ({"decision": "select", "policy": "aset"}, "cannot choose among place policies"),
        ({"decision": "select", "policy": "mab", "shadow": True}, "shadow = true, must be false"),
    ],
)
def test_a_wrong_order_is_one_clear_line(platform: RunningPlatform, order: dict[str, Any], told: str) -> None:
    status, answer = send(platform.url, "POST", "/v1/policy", order)
    assert status == 422
    assert told in answer["error"]


def test_the_document_says_which_paths_need_the_token() -> None:
    document = description()
    needing = {
        (path, method): operation["security"] == [{"token": []}]
        for path, found in document["paths"].items()
        for method, operation in found.items()
    }
    assert [path for (path, _), needed in needing.items() if not needed] == ["/healthz", "/readyz"]
    assert needing["/metrics", "get"]
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def test_outside_loopback_a_token_is_needed(tmp_path: Any) -> None:
    with running_platform(host="0.0.0.0", state=tmp_path / "state") as platform:
        url = platform.url.replace("0.0.0.0", "127.0.0.1")
        assert platform.token is not None
        for method, path, body in (
            ("POST", "/v1/policy", {"policy": "rank"}), ("GET", "/v1/state", None), ("POST", "/function/x", {}),
        ):  # fmt: skip
            assert send(url, method, path, body)[0] == 401
            assert send(url, method, path, body, Authorization="Bearer wrong")[0] == 401
        for path, operations in description()["paths"].items():
            for method, operation in operations.items():
                status, _ = send(url, method.upper(), path.replace("{name}", "x"), None)
                assert (status == 401) == bool(operation["security"]), (method, path, status)
        right = f"Bearer {platform.token}"
        assert send(url, "POST", "/v1/policy", {"policy": "rank"}, Authorization=right)[0] == 200
        assert send(url, "GET", "/healthz")[0] == 200
        assert send(url, "GET", "/")[0] == 200
