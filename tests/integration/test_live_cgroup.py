"""Control groups of version 2, and none at all, on files that stand for the kernel's; version 1 is tested for real."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from trimtab.live.cgroup import NO_GROUP, Group, make_group, move_back, sweep


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


def test_the_process_moves_back_when_its_groups_are_gone(unified: Path, tmp_path: Path) -> None:
    (unified / "cgroup.procs").write_text(f"{os.getpid()}\n")
    (unified / "cgroup.type").write_text("domain\n")
    (unified / "trimtab-main").mkdir()
    (unified / "trimtab-main" / "cgroup.procs").write_text("")
    make_group("trimtab-1", tmp_path / "proc")
    assert (unified / "trimtab-main" / "cgroup.procs").read_text() == "0"
    (tmp_path / "proc" / "self" / "cgroup").write_text("0::/ours/trimtab-main\n")
    assert make_group("trimtab-1", tmp_path / "proc").folders["cpu"] == unified / "trimtab-1"  # not one below
    (unified / "cgroup.subtree_control").write_text("cpu pids")
    (unified / "cgroup.procs").write_text("")
    (unified / "trimtab-main" / "cgroup.procs").unlink()  # the kernel's own files go with a group
    move_back(tmp_path / "proc")
    assert (unified / "cgroup.subtree_control").read_text() == "-cpu -pids"
    assert (unified / "cgroup.procs").read_text() == "0"
    assert not (unified / "trimtab-main").exists()


def test_a_killed_process_leaves_no_group_of_its_own(unified: Path, tmp_path: Path) -> None:
    (unified / "trimtab-main").mkdir()
    sweep(tmp_path / "proc")
    assert not (unified / "trimtab-main").exists()


def test_a_small_part_of_a_core_is_counted_over_a_longer_time(unified: Path, tmp_path: Path) -> None:
    group = make_group("trimtab-1", tmp_path / "proc")
    for cores, written in ((0.01, "1000 100000"), (0.099, "9900 100000"), (0.1, "1000 10000")):
        (unified / "trimtab-1" / "cpu.max").write_text("")
        group.limit_cpu(cores)
        assert (unified / "trimtab-1" / "cpu.max").read_text() == written


def test_swap_counts_in_version_1(tmp_path: Path) -> None:
    for name in ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
        (tmp_path / name).write_text("")
    Group(1, {"memory": tmp_path}).limit_memory(2**20)
    assert (tmp_path / "memory.limit_in_bytes").read_text() == str(2**20)
    assert (tmp_path / "memory.memsw.limit_in_bytes").read_text() == str(2**20)
    (tmp_path / "memory.memsw.limit_in_bytes").unlink()  # not every kernel counts it
    Group(1, {"memory": tmp_path}).limit_memory(2**21)
    assert (tmp_path / "memory.limit_in_bytes").read_text()[:7] == str(2**21)


def test_a_hundredth_of_a_core_is_what_a_real_group_gets() -> None:
    group = make_group(f"trimtab-{os.getpid()}")
    if not {"cpu", "memory"} <= group.controllers:
        pytest.skip("needs control groups")
    try:
        group.limit_cpu(1.0)
        inner = group.child("i1")
        for cores in (0.01, 0.5, 0.02, None, 1.0):
            inner.limit_cpu(cores)
        with pytest.raises(OSError, match="Invalid argument"):
            inner.limit_cpu(2.0)
        for size in (2**26, 2**27, 2**25):
            inner.limit_memory(size)
        inner.limit_cpu(0.01)
        ready, go = os.pipe(), time.monotonic() + 1.5
        child = os.fork()
        if child == 0:
            inner.join()
            os.write(ready[1], b"x")
            while time.monotonic() < go:
                pass
            os._exit(0)
        os.read(ready[0], 1)
        before, began = inner.cpu_seconds(), time.monotonic()
        os.waitpid(child, 0)
        used, elapsed = inner.cpu_seconds() - before, time.monotonic() - began
        assert used / elapsed < 0.03
        os.close(ready[0])
        os.close(ready[1])
    finally:
        group.remove()
