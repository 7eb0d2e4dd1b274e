"""Calls of the Linux kernel that Python has no function for: namespaces, mounts, and who dies with whom."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

# linux/sched.h, linux/mount.h, linux/prctl.h
NEWNS, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = (
    0x20000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
RDONLY, NOSUID, NODEV, REMOUNT, BIND, REC, PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PDEATHSIG, _SUBREAPER, _NO_NEW_PRIVS, _SIGKILL = 1, 36, 38, 9
KEPT = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}
"""Flags of ``statvfs``, and of a mount that is to keep them: in a user namespace it may not drop any."""

_SYS_CLONE = {"x86_64": 56}.get(os.uname().machine, 220)
"""Most other machines share one table of system calls."""

_libc = ctypes.CDLL(None, use_errno=True)
_python = ctypes.PyDLL(None, use_errno=True)
"""The same without letting go of the interpreter's lock: a child must not come to life without it."""


def check(result: int, what: str) -> None:
    """Raise the error that a call has left behind."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """As the call of that name; ``OSError`` if it may not be."""
    check(
        _libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, flags, data.encode()),
        f"mount {target}",
    )


def be_killed_with_parent() -> None:
    """Have this process killed when the one that started it ends, however it ends."""
    _libc.prctl(_PDEATHSIG, _SIGKILL)


def die_with_parent() -> None:
    """The same, also if that has happened already."""
    parent = os.getppid()
    be_killed_with_parent()
    if os.getppid() != parent:  # it went in between
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind, so that it can be waited for."""
    _libc.prctl(_SUBREAPER, 1)


def unshare(flags: int) -> None:
    """Move this process (for ``NEWPID``: its next children) into new namespaces."""
    check(_libc.unshare(flags), "unshare")


def enter_user_namespace() -> None:
    """From here on this process may make other namespaces; its user and files stay what they are."""
    user, group = os.geteuid(), os.getegid()
    unshare(NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    be_killed_with_parent()  # again: more rights have cleared it


def clone(flags: int) -> int:
    """``fork`` into new namespaces, without moving later children there, which takes rights that only root has."""
    arguments = (_SYS_CLONE, flags | signal.SIGCHLD, 0, 0, 0, 0)
    child = int(_python.syscall(*(ctypes.c_long(each) for each in arguments)))
    if child < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"clone: {os.strerror(number)}")
    return child


def enter_processes(handle: int) -> None:
    """Children are born into that namespace of processes again."""
    check(_libc.setns(handle, NEWPID), "setns")


def gain_nothing() -> None:
    """No program that this process becomes has more rights than it."""
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
