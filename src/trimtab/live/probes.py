"""What a server's monitor measures: FaaSRank's 21 metrics of a machine, from its control group and from /proc.

What belongs to a server is its group's: CPU time in user and kernel mode, memory in use and cached. What the kernel
counts for the whole machine only is reported as such, and is alike on all servers of one machine: time waiting, in
interrupts and stolen, context switches, the disk. Rates are per second of the interval since the last look.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from trimtab.live.cgroup import Usage

_MIB = 2.0**20
_STAT = ("cpu_nice", "cpu_iowait", "cpu_irq", "cpu_softirq", "cpu_steal")
_STAT_COLUMNS = (1, 4, 5, 6, 7)
_DISK = ("disk_read", "disk_read_merged", "disk_read_time", "disk_write", "disk_write_merged", "disk_write_time")
_DISK_COLUMNS = (0, 1, 3, 4, 5, 7)


class Monitor:
    """Looks at one server again and again."""

    def __init__(self, usage: Callable[[], Usage], cores: float, memory: float) -> None:
        self.usage, self.cores, self.memory = usage, cores, memory
        self._time = time.monotonic()
        self._before = self._counters()

    def look(self) -> dict[str, float]:
        """Metrics by their name in Table I, in cores, MiB and per second."""
        now = time.monotonic()
        elapsed = max(now - self._time, 1e-3)
        after = self._counters()
        # where processes are counted one by one, what one has used goes with it
        rates = {name: max(value - self._before[name], 0.0) / elapsed for name, value in after.items()}
        self._before, self._time = after, now
        usage = self.usage()
        busy = rates.pop("cpu")
        split = rates["cpu_user"] + rates["cpu_kernel"]
        if split > 0.0:  # the two are counted in ticks: their proportion of what is counted exactly
            rates["cpu_user"], rates["cpu_kernel"] = (busy * rates[name] / split for name in ("cpu_user", "cpu_kernel"))
        else:
            rates["cpu_user"] = busy
        return rates | {
            "cpu_idle": max(self.cores - busy, 0.0),
            "memory_free": (self.memory - usage.memory) / _MIB,
            "memory_buffers": 0.0,
            "memory_cached": usage.cached / _MIB,
        }

    def _counters(self) -> dict[str, float]:
        usage = self.usage()
        found = {"cpu": usage.cpu, "cpu_user": usage.user, "cpu_kernel": usage.kernel}
        return found | _machine()


def _machine() -> dict[str, float]:
    """Counters of the whole machine."""
    tick = float(os.sysconf("SC_CLK_TCK"))
    found = dict.fromkeys((*_STAT, "cpu_ctx_switches", *_DISK), 0.0)
    for line in _lines("/proc/stat"):
        name, *values = line.split()
        if name == "cpu":
            for key, column in zip(_STAT, _STAT_COLUMNS, strict=True):
                found[key] = float(values[column]) / tick
        elif name == "ctxt":
            found["cpu_ctx_switches"] = float(values[0])
    for line in _lines("/proc/diskstats"):
        _, _, name, *values = line.split()
        if not name.startswith(("loop", "ram")) and len(values) > max(_DISK_COLUMNS):
            for key, column in zip(_DISK, _DISK_COLUMNS, strict=True):
                found[key] += float(values[column])
    return found


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
