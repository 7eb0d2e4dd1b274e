"""Control groups of version 2, and none at all, on files that stand for the kernel's; version 1 is tested for real."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trimtab.live.cgroup import NO_GROUP, make_group, sweep


def kernel(folder: Path, mounts: str, memberships: str) -> Path:
    """A /proc that says so."""
    (folder / "proc" / "self").mkdir(parents=True)
    (folder / "proc" / "self" / "mounts").write_text(mounts)
    (folder / "proc" / "self" / "cgroup").write_text(memberships)
    return folder / "proc"


@pytest.fixture
def unified(tmp_path: Path) -> Path:
    """A group of ours in a tree of version 2."""
    own = tmp_path / "cgroup" / "ours"
    own.mkdir(parents=True)
    (own / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    (own / "cgroup.procs").write_text("")
    (own / "cgroup.subtree_control").write_text("")
    kernel(tmp_path, f"cgroup2 {tmp_path / 'cgroup'} cgroup2 rw 0 0\n", "0::/ours\n")
    return own


def test_limits_of_version_2(unified: Path, tmp_path: Path) -> None:
    group = make_group("trimtab-1", tmp_path / "proc")
    assert group.version == 2
    assert group.controllers == {"cpu", "memory", "pids"}
    assert (unified / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"
    for name in ("cpu.max", "cpu.weight", "memory.max", "memory.swap.max", "pids.max"):
        (unified / "trimtab-1" / name).write_text("")
    group.limit_cpu(0.5)
    group.weigh(1024)
    group.limit_memory(2**28)
    group.limit_processes(64)
    found = {each.name: each.read_text() for each in (unified / "trimtab-1").iterdir()}
    assert found["cpu.max"] == "5000 10000"
    assert found["cpu.weight"] == "39"  # as systemd and runc turn 1024 shares into a weight
    assert (found["memory.max"], found["memory.swap.max"], found["pids.max"]) == (str(2**28), "0", "64")
    (unified / "trimtab-1" / "cpu.max").write_text("")
    group.limit_cpu(None)
    assert (unified / "trimtab-1" / "cpu.max").read_text() == "max 10000"


def test_counters_of_version_2(unified: Path, tmp_path: Path) -> None:
    group = make_group("trimtab-1", tmp_path / "proc")
    folder = unified / "trimtab-1"
    (folder / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n")
    (folder / "memory.current").write_text("4096\n")
    (folder / "memory.stat").write_text("anon 1024\nfile 2048\n")
    (folder / "memory.events").write_text("oom 1\noom_kill 1\n")
    usage = group.usage()
    assert (usage.cpu, usage.user, usage.kernel) == (2.5, 2.0, 0.5)
    assert (usage.memory, usage.cached) == (4096, 2048)
    assert group.out_of_memory() == 1


def test_without_groups_nothing_is_limited_and_nothing_fails(tmp_path: Path) -> None:
    group = make_group("trimtab-1", kernel(tmp_path, "proc /proc proc rw 0 0\n", ""))
    assert group is NO_GROUP
    inner = group.child("server0")
    inner.limit_cpu(1.0)
    inner.limit_memory(1.0)
    inner.join()
    assert inner.usage().cpu == 0.0
    assert inner.remove()


def test_groups_of_the_dead_are_swept(unified: Path, tmp_path: Path) -> None:
    for name in ("trimtab-999999999", f"trimtab-{os.getpid()}", "somebody-else"):
        (unified / name / "server0").mkdir(parents=True)
    sweep(tmp_path / "proc")
    assert sorted(each.name for each in unified.iterdir() if each.is_dir()) == [
        "somebody-else",
        f"trimtab-{os.getpid()}",
    ]
