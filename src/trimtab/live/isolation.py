"""What keeps functions apart on this machine, found out by trying."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.live.cgroup import Group
from trimtab.live.system import (
    NEWIPC,
    NEWNET,
    NEWNS,
    NEWPID,
    NEWUTS,
    NOSUID,
    PRIVATE,
    REC,
    enter_user_namespace,
    mount,
    unshare,
)

NAMESPACES = {"mount": NEWNS, "network": NEWNET, "ipc": NEWIPC, "host name": NEWUTS}
FIRST_USER = 210_000
"""Of instances, where they have users of their own."""


@dataclass(frozen=True)
class Isolation:
    """What is in force on this machine."""

    user: bool
    """Whether instances run as users of their own."""
    namespaces: tuple[str, ...]
    processes: bool
    """Whether an instance sees its own processes only."""
    unprivileged: bool = False
    """Whether namespaces are made without root, in a user namespace of the server."""

    @property
    def tree(self) -> bool:
        """Whether an instance sees a file tree of its own."""
        return "mount" in self.namespaces

    def describe(self, group: Group) -> dict[str, Any]:
        """What keeps functions apart, by kind: the one text for people and programs."""
        version = f"cgroup v{group.version}"
        return {
            "cpu": version if "cpu" in group.controllers else "none",
            "memory": version if "memory" in group.controllers else "rlimit",
            "processes": version if "pids" in group.controllers else "rlimit" if self.user else "none",
            "user": "own" if self.user else "the gateway's",
            "files": "own tree" if self.tree else "the gateway's",
            "namespaces": [*self.namespaces, *(["process"] if self.processes else [])],
        }


def probe() -> Isolation:
    """Try what the system allows, each in a child that ends at once."""
    if os.geteuid() != 0:
        every = sum(NAMESPACES.values()) | NEWPID
        whole = _succeeds(partial(_try_unprivileged, every))
        return Isolation(False, tuple(NAMESPACES) if whole else (), whole, unprivileged=whole)
    allowed = [name for name, flag in NAMESPACES.items() if _succeeds(partial(unshare, flag))]
    return Isolation(True, tuple(allowed), _succeeds(partial(unshare, NEWPID)))


def check_python(isolation: Isolation) -> None:
    """Without a file tree of their own, users other than root must be able to run this Python where it is."""
    if isolation.user and not isolation.tree and not _succeeds(_try_python):
        raise TrimtabError(
            f"Python = {os.path.realpath(sys.executable)!r}, must be where every user may run it: functions do not run "
            "as root, and this system allows no mount namespaces"
        )


def _succeeds(what: Callable[[], None]) -> bool:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            what()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def _try_unprivileged(flags: int) -> None:
    """Some systems allow the namespaces, but then no mount in them."""
    enter_user_namespace()
    unshare(flags)
    mount("none", "/", None, REC | PRIVATE)
    mount("tmpfs", "/tmp", "tmpfs", NOSUID, "size=4k")


def _try_python() -> None:
    os.setgroups([])
    os.setresgid(FIRST_USER, FIRST_USER, FIRST_USER)
    os.setresuid(FIRST_USER, FIRST_USER, FIRST_USER)
    for path in (sys.executable, os.__file__, __file__):
        os.stat(path)  # noqa: PTH116
    if not os.access(sys.executable, os.X_OK):
        raise PermissionError(sys.executable)
