"""A function's process and what keeps it apart: user, namespaces, its own small file tree, groups and limits.

Used by a server's process only, which has one thread: what stands between ``fork`` and ``exec`` is plain Python.
"""

from __future__ import annotations

import ctypes
import json
import os
import py_compile
import resource
import socket
import sys
import sysconfig
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from trimtab.live.cgroup import Group

# linux/sched.h, linux/mount.h, linux/prctl.h
_NEWNS, _NEWUTS, _NEWIPC, _NEWPID, _NEWNET = 0x20000, 0x04000000, 0x08000000, 0x20000000, 0x40000000
_RDONLY, _NOSUID, _NODEV, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 4, 32, 4096, 16384, 1 << 18
_PDEATHSIG, _NO_NEW_PRIVS, _SIGKILL = 1, 38, 9

NAMESPACES = {"mount": _NEWNS, "network": _NEWNET, "ipc": _NEWIPC, "host name": _NEWUTS}
_FIRST_USER = 210_000
_USERS = 100_000
_SHARED = ("/usr", "/bin", "/lib", "/lib64", "/etc/ssl", "/etc/fonts", "/etc/localtime", "/etc/ld.so.cache",
           "/sys/devices/system/cpu", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")  # fmt: skip
"""What of the machine a function sees, read-only, beside the Python that runs it."""
_DISK_INODES = 10_000
_OPEN_FILES = 256
_CONTROL = 4
_BACKLOG = 128

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Isolation:
    """What is in force on this machine."""

    user: bool
    """Whether instances run as users of their own."""
    namespaces: tuple[str, ...]
    processes: bool
    """Whether an instance sees its own processes only."""

    @property
    def tree(self) -> bool:
        """Whether an instance sees a file tree of its own."""
        return "mount" in self.namespaces


@dataclass(frozen=True)
class Start:
    """What an instance may use."""

    user: int
    memory: int
    disk: int
    processes: int
    concurrency: int


@dataclass(frozen=True)
class Spare:
    """A process behind its walls that has not become an instance yet."""

    pid: int
    control: int
    """Where it waits for its ``Start``."""
    group: Group
    path: Path
    """Of the socket that it will listen on."""
    outputs: tuple[int, int]
    """Where its standard output and error can be read."""

    def go(self, start: Start) -> None:
        """Let it become an instance."""
        try:
            os.write(self.control, json.dumps(asdict(start)).encode())
        finally:
            os.close(self.control)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    _check(
        _libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, flags, data.encode()),
        f"mount {target}",
    )


def die_with_parent() -> None:
    """Have this process killed when the one that started it ends, however it ends."""
    parent = os.getppid()
    _libc.prctl(_PDEATHSIG, _SIGKILL)
    if os.getppid() != parent:  # it went in between
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of what descendants leave behind, so that it can be waited for."""
    _libc.prctl(36, 1)


def probe() -> Isolation:
    """Try what the system allows, each in a child that ends at once."""
    allowed = [name for name, flag in NAMESPACES.items() if _allows(flag)]
    return Isolation(os.geteuid() == 0, tuple(allowed), _allows(_NEWPID))


def _allows(flag: int) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if _libc.unshare(flag) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


@dataclass(frozen=True)
class _Ends:
    """Descriptors that a child takes over."""

    listener: int
    control: int
    output: int
    error: int


class Sandbox:
    """Starts instances; made once by each server's process."""

    def __init__(self, isolation: Isolation, folder: Path) -> None:
        self.isolation = isolation
        self._flags = sum(NAMESPACES[name] for name in isolation.namespaces)
        self._own_processes = os.open("/proc/self/ns/pid", os.O_RDONLY) if isolation.processes else -1
        self._root = folder / "root"
        self._runner = "/runner.pyc" if isolation.tree else str(folder / "runner.pyc")
        self._build(folder)

    def _build(self, folder: Path) -> None:
        """The file tree of all instances of this server: a few folders of the machine, bound read-only."""
        source = str(Path(__file__).with_name("runner.py"))
        if not self.isolation.tree:
            py_compile.compile(source, str(folder / "runner.pyc"), doraise=True)
            (folder / "runner.pyc").chmod(0o644)
            return
        _check(_libc.unshare(_NEWNS), "unshare")
        _mount("none", "/", None, _REC | _PRIVATE)
        self._root.mkdir(exist_ok=True)
        _mount("tmpfs", str(self._root), "tmpfs", _NOSUID, "size=1m,mode=755")
        for inner in ("tmp", "proc", "dev/shm", "var"):
            (self._root / inner).mkdir(parents=True)
        (self._root / "var" / "tmp").symlink_to("/tmp")
        for path in _shared_paths():
            self._share(path)
        (self._root / "etc").mkdir(exist_ok=True)
        (self._root / "etc" / "passwd").write_text("function:x:1000:1000::/tmp:/bin/false\n")
        py_compile.compile(source, str(self._root / "runner.pyc"), doraise=True)
        (self._root / "runner.pyc").chmod(0o644)

    def _share(self, path: Path) -> None:
        target = self._root / path.relative_to("/")
        if path.is_symlink():
            if not target.is_symlink() and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(path.readlink())
            return
        if not path.exists() or (target.exists() and any(target.iterdir() if target.is_dir() else [target])):
            return  # there is none, or it is part of what is shared already
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.touch()
        _mount(str(path), str(target), None, _BIND | _REC)
        device = _NODEV if not str(path).startswith("/dev/") else 0
        _mount("none", str(target), None, _BIND | _REMOUNT | _RDONLY | _NOSUID | device)

    def prepare(self, group: Group, path: Path) -> Spare:
        """Put up the walls before they are needed: joining a group may wait for all processors.

        The process is our child, and the first of a namespace of its own.
        """
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen(_BACKLOG)
        control, output, error = os.pipe(), os.pipe(), os.pipe()
        try:
            pid = self._fork(_Ends(listener.fileno(), control[0], output[1], error[1]), group)
        finally:
            listener.close()
            for each in (control[0], output[1], error[1]):
                os.close(each)
        return Spare(pid, control[1], group, path, (output[0], error[0]))

    def _fork(self, ends: _Ends, group: Group) -> int:
        if self.isolation.processes:
            _check(_libc.unshare(_NEWPID), "unshare")
        child = os.fork()
        if child == 0:
            self._become(ends, group)
        if self.isolation.processes:
            # the namespace was for that child alone: the next one gets another
            _check(_libc.setns(self._own_processes, _NEWPID), "setns")
        return child

    def user_of(self, server: int, number: int) -> int:
        """The user of an instance: no two that run at the same time share one."""
        return _FIRST_USER + (server * 1009 + number) % _USERS

    def _become(self, ends: _Ends, group: Group) -> NoReturn:
        """In the child: put up the walls, wait, then turn into the runner."""
        try:
            os.setsid()
            _libc.prctl(_PDEATHSIG, _SIGKILL)
            group.join()
            self._wall_off()
            _redirect(ends)
            told = os.read(_CONTROL, 4_096)
            if not told:
                os._exit(0)
            os.close(_CONTROL)
            self._give_up_privileges(Start(**json.loads(told)), group)
        except BaseException as error:
            with suppress(OSError):
                os.write(2, f"the instance cannot start: {error}\n".encode())
        os._exit(126)

    def _give_up_privileges(self, what: Start, group: Group) -> None:
        if self.isolation.tree:
            size = f"size={what.disk},nr_inodes={_DISK_INODES},mode=1777"
            for folder in ("/tmp", "/dev/shm"):
                _mount("tmpfs", folder, "tmpfs", _REMOUNT | _NOSUID | _NODEV, size)
        _limit(what, group, self.isolation)
        if self.isolation.user:
            os.setgroups([])
            os.setresgid(what.user, what.user, what.user)
            os.setresuid(what.user, what.user, what.user)
        _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
        # again: the change of user has cleared it
        _libc.prctl(_PDEATHSIG, _SIGKILL)
        os.umask(0o077)
        os.execve(
            sys.executable,
            [sys.executable, "-I", "-S", "-B", self._runner, str(what.concurrency), *_packages()],
            {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/tmp", "TMPDIR": "/tmp", "OMP_NUM_THREADS": "1",
             "OPENBLAS_NUM_THREADS": "1", "TZ": "UTC"},
        )  # fmt: skip

    def _wall_off(self) -> None:
        if self._flags:
            _check(_libc.unshare(self._flags), "unshare")
        if not self.isolation.tree:
            return
        root = str(self._root)
        for folder in ("tmp", "dev/shm"):
            _mount("tmpfs", f"{root}/{folder}", "tmpfs", _NOSUID | _NODEV, "size=4k,mode=1777")
        for path in _shared_paths():
            if path.is_relative_to("/tmp"):  # its own folder has just hidden a Python that lives there
                self._share(path)
        if self.isolation.processes:
            _mount("proc", f"{root}/proc", "proc", _NOSUID | _NODEV)
        os.chroot(root)
        os.chdir("/tmp")


def _redirect(ends: _Ends) -> None:
    """Descriptors: nothing to read, two pipes to write to, the socket, and where to wait; all else is closed."""
    nothing = os.open("/dev/null", os.O_RDONLY)
    wanted = [nothing, ends.output, ends.error, ends.listener, ends.control]
    # first out of the way of the numbers that they are to have
    moved = [os.dup2(each, 100 + position) for position, each in enumerate(wanted)]
    for position, each in enumerate(moved):
        os.dup2(each, position)
    os.closerange(_CONTROL + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _limit(what: Start, group: Group, isolation: Isolation) -> None:
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: _OPEN_FILES, resource.RLIMIT_FSIZE: what.disk}
    if "pids" not in group.controllers and isolation.user:
        limits[resource.RLIMIT_NPROC] = what.processes
    if "memory" not in group.controllers:
        limits[resource.RLIMIT_DATA] = what.memory
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))


def _shared_paths() -> list[Path]:
    """What instances see of the machine: the system's libraries, and this Python with its packages."""
    return [Path(path) for path in dict.fromkeys([*_SHARED, sys.base_prefix, sys.prefix, *_packages()])]


def _packages() -> list[str]:
    """Where the libraries of this Python are: the runner starts without ``site``, which would look for them.

    Trimtab is one of them, also where it is not installed among them: a scheduler can be a function.
    """
    paths = sysconfig.get_paths()
    return list(dict.fromkeys([paths["purelib"], paths["platlib"], str(Path(__file__).parents[2])]))
