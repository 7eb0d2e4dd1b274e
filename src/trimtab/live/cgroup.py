"""Control groups, version 1 or 2: what bounds the CPU, memory and processes of a server and of each instance.

Groups are made below the one that this process is in, so that limits set from outside hold for functions too.
Where the system does not allow groups there is none, and ``Group.controllers`` says so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PREFIX = "trimtab-"
_MAIN = f"{PREFIX}main"
"""Version 2: where the process that makes groups waits while its own has others below it."""
_WANTED = ("cpu", "cpuacct", "memory", "pids")
_PERIOD = 10_000
"""Microseconds. A tenth of the kernel's default: half a core is then a core at half speed, not one that stops."""
_LONG_PERIOD = 100_000
_LEAST_QUOTA = 1_000
"""The kernel's: a tenth of the period, so what gets less is counted over the long one."""
_SHARES = 1024
_NO_LIMIT = 2**62
_GRACE = 5.0


@dataclass(frozen=True)
class Usage:
    """What a group has used so far, and holds now."""

    user: float
    kernel: float
    """Core-seconds; the two are counted in ticks, ``cpu`` exactly."""
    cpu: float
    memory: int
    cached: int


@dataclass(frozen=True)
class Group:
    """One group: a folder for each controller (version 1), or one for all (version 2)."""

    version: int
    folders: Mapping[str, Path]

    @property
    def controllers(self) -> frozenset[str]:
        """What it can limit."""
        return frozenset(self.folders)

    def child(self, name: str) -> Group:
        """Make a group inside this one."""
        folders = {controller: folder / name for controller, folder in self.folders.items()}
        for folder in set(folders.values()):
            folder.mkdir(exist_ok=True)
        if self.version == 2 and self.folders:
            _delegate(next(iter(self.folders.values())), self.controllers)
        return Group(self.version, folders)

    def at(self, name: str) -> Group:
        """A group inside this one that is there already."""
        return Group(self.version, {controller: folder / name for controller, folder in self.folders.items()})

    def limit_cpu(self, cores: float | None) -> None:
        """At most this many cores; None: no limit of its own."""
        period = _PERIOD if cores is None or cores * _PERIOD >= _LEAST_QUOTA else _LONG_PERIOD
        quota = -1 if cores is None else max(int(cores * period), _LEAST_QUOTA)
        if self.version == 2:
            self._write("cpu", "cpu.max", f"{'max' if quota < 0 else quota} {period}")
            return
        if self._number("cpu", "cpu.cfs_period_us") != period:
            # an old quota over the new period may be more than the group above allows
            self._write("cpu", "cpu.cfs_quota_us", -1)
            self._write("cpu", "cpu.cfs_period_us", period)
        self._write("cpu", "cpu.cfs_quota_us", quota)

    def weigh(self, shares: float) -> None:
        """Its share of a busy CPU, against 1024 of others."""
        shares = min(max(int(shares), 2), 262_144)
        if self.version == 2:
            self._write("cpu", "cpu.weight", 1 + (shares - 2) * 9999 // 262_142)
        else:
            self._write("cpu", "cpu.shares", shares)

    def limit_memory(self, size: float) -> None:
        """At most this many bytes: a process that needs more is killed."""
        if self.version == 2:
            self._write("memory", "memory.max", int(size))
            with suppress(OSError):
                self._write("memory", "memory.swap.max", 0)
            return
        # swap counts too, where it is counted: that limit is never below the other, so it moves first or last
        with suppress(OSError):
            self._write("memory", "memory.memsw.limit_in_bytes", int(size))
        self._write("memory", "memory.limit_in_bytes", int(size))
        with suppress(OSError):
            self._write("memory", "memory.memsw.limit_in_bytes", int(size))

    def limit_processes(self, count: int) -> None:
        """At most this many processes and threads."""
        self._write("pids", "pids.max", count)

    def join(self) -> None:
        """Move this process into the group."""
        for folder in dict.fromkeys(self.folders.values()):
            _put(folder / "cgroup.procs", "0")

    def usage(self) -> Usage:
        """Counters; zero where they cannot be read."""
        if self.version == 2:
            stat = self._table("cpu", "cpu.stat")
            cached = self._table("memory", "memory.stat").get("file", 0)
            return Usage(
                stat.get("user_usec", 0) / 1e6, stat.get("system_usec", 0) / 1e6, stat.get("usage_usec", 0) / 1e6,
                self._number("memory", "memory.current"), cached,
            )  # fmt: skip
        stat = self._table("cpuacct", "cpuacct.stat")
        cached = self._table("memory", "memory.stat").get("total_cache", 0)
        tick = os.sysconf("SC_CLK_TCK")
        return Usage(
            stat.get("user", 0) / tick, stat.get("system", 0) / tick, self.cpu_seconds(),
            self._number("memory", "memory.usage_in_bytes"), cached,
        )  # fmt: skip

    @property
    def counts_cpu(self) -> bool:
        """Whether the kernel counts its core-seconds."""
        return ("cpu" if self.version == 2 else "cpuacct") in self.folders

    def cpu_seconds(self) -> float:
        """Core-seconds used so far."""
        if self.version == 2:
            return self._table("cpu", "cpu.stat").get("usage_usec", 0) / 1e6
        return self._number("cpuacct", "cpuacct.usage") / 1e9

    def memory(self) -> int:
        """Bytes held now."""
        return self._number("memory", "memory.current" if self.version == 2 else "memory.usage_in_bytes")

    def out_of_memory(self) -> int:
        """How many of its processes were killed because memory ran out."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return self._table("memory", name).get("oom_kill", 0)

    def processes(self) -> set[int]:
        """Who is in it, in the number space of this process; those of another one are not seen."""
        found: set[int] = set()
        for folder in set(self.folders.values()):
            with suppress(OSError):
                found |= {int(line) for line in (folder / "cgroup.procs").read_text().split()}
        return found - {0}

    def kill(self) -> None:
        """End all that is in it."""
        for process in self.processes():
            with suppress(ProcessLookupError):
                os.kill(process, 9)

    def remove(self, within: float = _GRACE) -> bool:
        """Remove it and all below it, once their last processes have gone; whether it is gone."""
        end = time.monotonic() + within
        while True:
            for folder in set(self.folders.values()):
                _remove(folder)
            if not any(folder.exists() for folder in self.folders.values()):
                return True
            if time.monotonic() > end:
                return False
            time.sleep(0.01)

    def _write(self, controller: str, name: str, value: object) -> None:
        folder = self.folders.get(controller)
        if folder is not None:
            _put(folder / name, str(value))

    def _read(self, controller: str, name: str) -> str:
        folder = self.folders.get(controller)
        if folder is None:
            return ""
        try:
            return (folder / name).read_text()
        except OSError:
            return ""

    def _number(self, controller: str, name: str) -> int:
        text = self._read(controller, name).strip()
        return int(text) if text.isdigit() else 0

    def _table(self, controller: str, name: str) -> dict[str, int]:
        rows = (line.split() for line in self._read(controller, name).splitlines())
        return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


NO_GROUP = Group(0, {})
"""Where groups are not allowed: every limit is left to others."""


def make_group(name: str, proc: Path = Path("/proc")) -> Group:
    """A group of this name below our own, with all controllers that can be had; ``NO_GROUP`` if there is none."""
    folders: dict[str, Path] = {}
    for controller, parent in _own_folders(proc).items():
        with suppress(OSError):
            (parent / name).mkdir(exist_ok=True)
            folders[controller] = parent / name
    if folders:
        return Group(1, folders)
    return _make_unified(name, proc)


def _make_unified(name: str, proc: Path) -> Group:
    parent = _unified_folder(proc)
    if parent is None:
        return NO_GROUP
    try:
        available = (parent / "cgroup.controllers").read_text().split()
        wanted = frozenset(each for each in ("cpu", "memory", "pids") if each in available)
        if not wanted:
            return NO_GROUP
        _make_way(parent)
        _delegate(parent, wanted)
        (parent / name).mkdir(exist_ok=True)
    except OSError:
        return NO_GROUP
    return Group(2, dict.fromkeys(wanted, parent / name))


def _make_way(parent: Path) -> None:
    """A group with processes cannot pass controllers on: where it has none but ours, they move to one below."""
    inside = (parent / "cgroup.procs").read_text().split()
    if inside and set(inside) <= {str(os.getpid())} and (parent / "cgroup.type").exists():
        (parent / _MAIN).mkdir(exist_ok=True)
        _put(parent / _MAIN / "cgroup.procs", "0")


def move_back(proc: Path = Path("/proc")) -> None:
    """Undo that once all groups are removed: a group passes nothing on any more, and holds its process again."""
    parent = _unified_folder(proc)
    if parent is None or not any(path.endswith(f"/{_MAIN}") for _, _, path in _memberships(proc)):
        return
    with suppress(OSError):  # others may have groups there by now
        passed_on = (parent / "cgroup.subtree_control").read_text().split()
        _put(parent / "cgroup.subtree_control", " ".join(f"-{each}" for each in passed_on))
        _put(parent / "cgroup.procs", "0")
        _remove(parent / _MAIN)


def _delegate(folder: Path, controllers: frozenset[str]) -> None:
    _put(folder / "cgroup.subtree_control", " ".join(f"+{each}" for each in sorted(controllers)))


def sweep(proc: Path = Path("/proc")) -> None:
    """Remove what a platform left behind whose process is gone: the groups are named after it."""
    parents = set(_own_folders(proc).values()) | ({unified} if (unified := _unified_folder(proc)) else set())
    for parent in parents:
        for folder in parent.glob(f"{PREFIX}*"):
            owner = folder.name.removeprefix(PREFIX)
            if folder.name == _MAIN or (owner.isdigit() and not Path(f"/proc/{owner}").exists()):
                _remove(folder)  # not one that still has processes: the kernel refuses


def _own_folders(proc: Path) -> dict[str, Path]:
    """Version 1: the folder of our own group, for each controller that is wanted."""
    mounts = {}
    for _, where, kind, options in _mounts(proc):
        if kind == "cgroup":
            mounts.update(dict.fromkeys(set(options.split(",")) & set(_WANTED), Path(where)))
    found = {}
    for _, controllers, path in _memberships(proc):
        for controller in controllers.split(","):
            if controller in mounts:
                found[controller] = mounts[controller] / path.lstrip("/")
    return {controller: folder for controller, folder in found.items() if folder.is_dir()}


def _unified_folder(proc: Path) -> Path | None:
    """Version 2: the folder of our own group, also where we have made way for others below it."""
    where = next((Path(where) for _, where, kind, _ in _mounts(proc) if kind == "cgroup2"), None)
    path = next((path for number, _, path in _memberships(proc) if number == "0"), None)
    return None if where is None or path is None else where / path.removesuffix(f"/{_MAIN}").lstrip("/")


def _mounts(proc: Path) -> Iterator[tuple[str, str, str, str]]:
    for line in _lines(proc / "self" / "mounts"):
        device, where, kind, options = line.split()[:4]
        yield device, where, kind, options


def _memberships(proc: Path) -> Iterator[tuple[str, str, str]]:
    for line in _lines(proc / "self" / "cgroup"):
        number, controllers, path = line.split(":", 2)
        yield number, controllers, path


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def _put(path: Path, text: str) -> None:
    # not write_text, which truncates: some of these files refuse that
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def _remove(folder: Path) -> None:
    with suppress(OSError):
        for inner in folder.iterdir():
            if inner.is_dir():
                _remove(inner)
    with suppress(OSError):
        folder.rmdir()
