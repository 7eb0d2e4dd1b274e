"""A server's process on its own: a start that fails leaves nothing behind, and users are never shared."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trimtab.live.invoker import Invoker
from trimtab.live.processes import children
from trimtab.live.sandbox import Spare, user_of

START = {
    "cpu": 8.0, "shares": 1024, "memory": 2**26, "disk": 2**20, "processes": 8, "concurrency": 1, "output": 1000,
}  # fmt: skip


@pytest.fixture
def told() -> Iterator[tuple[Invoker, socket.socket]]:
    """A server without walls or groups, and the gateway's end of its socket."""
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryDirectory(prefix="trimtab-") as folder, ours, theirs:
        config: dict[str, Any] = {
            "name": "server0", "index": 0, "folder": folder, "period": 0.1, "cores": 1.0, "memory": 2**30,
            "group": {"version": 0, "folders": {}},
            "isolation": {"user": False, "namespaces": [], "processes": False, "unprivileged": False},
        }  # fmt: skip
        invoker = Invoker(config, theirs)
        yield invoker, ours
        with pytest.raises(SystemExit):
            invoker.stop()


def test_a_start_that_fails_leaves_nothing(
    told: tuple[Invoker, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    invoker, gateway = told

    def refuse(*_: object) -> None:
        raise OSError(22, "Invalid argument")

    before = open_files(), children(os.getpid()), files(invoker.folder)
    with monkeypatch.context() as patch:
        patch.setattr(type(invoker.group), "limit_cpu", refuse)
        invoker._do_start(7, **START)
        patch.undo()
        patch.setattr(Spare, "go", refuse)
        invoker._do_start(8, **START)
    assert (open_files(), children(os.getpid()), files(invoker.folder)) == before
    answers = [json.loads(line) for line in gateway.recv(65_536).splitlines()]
    assert [(each["event"], each["number"]) for each in answers] == [("exited", 7), ("exited", 8)]
    assert "Invalid argument" in answers[0]["reason"]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def files(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_no_two_instances_have_the_same_user() -> None:
    taken: dict[int, set[int]] = {server: set() for server in range(64)}
    for server, own in taken.items():
        for _ in range(50):
            own.add(user_of(server, own))
    assert len(set.union(*taken.values())) == 64 * 50
    first = min(taken[3])
    taken[3].discard(first)
    assert user_of(3, taken[3]) == first  # free again
