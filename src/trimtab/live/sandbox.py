"""A function's process and what keeps it apart: user, namespaces, its own small file tree, groups and limits.

Used by a server's process only, which has one thread: what stands between ``fork`` and ``exec`` is plain Python.
"""

from __future__ import annotations

import json
import os
import py_compile
import resource
import shutil
import signal
import socket
import sys
import sysconfig
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from trimtab.live.cgroup import Group
from trimtab.live.isolation import FIRST_USER, NAMESPACES, Isolation
from trimtab.live.system import (
    BIND,
    KEPT,
    NEWNS,
    NEWPID,
    NODEV,
    NOSUID,
    PRIVATE,
    RDONLY,
    REC,
    REMOUNT,
    adopt_orphans,
    be_killed_with_parent,
    clone,
    enter_processes,
    enter_user_namespace,
    gain_nothing,
    mount,
    unshare,
)

_USERS = 10_000
"""Of each server: more instances than a machine has memory for."""
_SHARED = ("/usr", "/bin", "/lib", "/lib64", "/etc/ssl", "/etc/fonts", "/etc/localtime", "/etc/ld.so.cache",
           "/sys/devices/system/cpu", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")  # fmt: skip
"""What of the machine a function sees, read-only, beside the Python that runs it."""
_DISK_INODES = 10_000
_OPEN_FILES = 256
_CONTROL = 4
_BACKLOG = 128


@dataclass(frozen=True)
class Start:
    """What an instance may use."""

    user: int
    memory: int
    disk: int
    processes: int
    concurrency: int


@dataclass
class Spare:
    """A process behind its walls that has not become an instance yet."""

    pid: int
    control: int
    """Where it waits for its ``Start``; -1 once it has it."""
    group: Group
    path: Path
    """Of the socket that it will listen on."""
    outputs: tuple[int, int]
    """Where its standard output and error can be read."""
    home: Path | None
    """Its own folder, where it has no file tree of its own."""

    def go(self, start: Start) -> None:
        """Let it become an instance."""
        try:
            os.write(self.control, json.dumps(asdict(start)).encode())
        finally:
            self._close_control()

    def _close_control(self) -> None:
        control, self.control = self.control, -1
        if control >= 0:
            os.close(control)

    def discard(self) -> None:
        """End it, and leave nothing of it behind."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)
        self._close_control()
        for handle in self.outputs:
            os.close(handle)
        self.path.unlink(missing_ok=True)
        self.group.remove()
        remove_home(self.home)


def remove_home(home: Path | None) -> None:
    """Remove the folder of an instance that has ended."""
    if home is not None:
        shutil.rmtree(home, ignore_errors=True)


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
        self._packages = _packages()  # now: the user of an instance may not be able to find out
        self._shared = [Path(each) for each in dict.fromkeys([*_SHARED, sys.base_prefix, sys.prefix, *self._packages])]
        if isolation.unprivileged:
            enter_user_namespace()
        self._build(folder)

    def _build(self, folder: Path) -> None:
        """The file tree of all instances of this server: a few folders of the machine, bound read-only."""
        source = str(Path(__file__).with_name("runner.py"))
        if not self.isolation.tree:
            py_compile.compile(source, str(folder / "runner.pyc"), doraise=True)
            (folder / "runner.pyc").chmod(0o644)
            if self.isolation.user:  # others go through to what they know the name of, and see nothing
                folder.chmod(0o711)
                folder.parent.chmod(0o711)
            return
        unshare(NEWNS)
        mount("none", "/", None, REC | PRIVATE)
        self._root.mkdir(exist_ok=True)
        mount("tmpfs", str(self._root), "tmpfs", NOSUID, "size=1m,mode=755")
        for inner in ("tmp", "proc", "dev/shm", "var"):
            (self._root / inner).mkdir(parents=True)
        (self._root / "var" / "tmp").symlink_to("/tmp")
        for path in self._shared:
            self._share(path)
        (self._root / "etc").mkdir(exist_ok=True)
        (self._root / "etc" / "passwd").write_text("function:x:1000:1000::/tmp:/bin/false\n")
        py_compile.compile(source, str(self._root / "runner.pyc"), doraise=True)
        (self._root / "runner.pyc").chmod(0o644)
        # without root it belongs to the user of all instances, who would change it for each other
        mount("tmpfs", str(self._root), "tmpfs", REMOUNT | RDONLY | NOSUID, "size=1m,mode=755")

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
        mount(str(path), str(target), None, BIND | REC)
        flags = NODEV if not str(path).startswith("/dev/") else 0
        shown = os.statvfs(target).f_flag
        for seen, flag in KEPT.items():
            flags |= flag if shown & seen else 0
        mount("none", str(target), None, BIND | REMOUNT | RDONLY | NOSUID | flags)

    def prepare(self, group: Group, path: Path) -> Spare:
        """Put up the walls before they are needed: joining a group may wait for all processors.

        The process is our child, and the first of a namespace of its own.
        """
        home = None if self.isolation.tree else path.with_name(f"{path.name}.home")
        if home is not None:
            home.mkdir(mode=0o700)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(_BACKLOG)
        control, output, error = os.pipe(), os.pipe(), os.pipe()
        try:
            pid = self._fork(_Ends(listener.fileno(), control[0], output[1], error[1]), group, home)
        finally:
            listener.close()
            for each in (control[0], output[1], error[1]):
                os.close(each)
        return Spare(pid, control[1], group, path, (output[0], error[0]), home)

    def _fork(self, ends: _Ends, group: Group, home: Path | None) -> int:
        if self.isolation.unprivileged:
            child = clone(NEWPID)
        else:
            if self.isolation.processes:
                unshare(NEWPID)
            child = os.fork()
        if child == 0:
            self._become(ends, group, home)
        if self.isolation.processes and not self.isolation.unprivileged:
            # the namespace was for that child alone: the next one gets another
            enter_processes(self._own_processes)
        return child

    def _become(self, ends: _Ends, group: Group, home: Path | None) -> NoReturn:
        """In the child: put up the walls, wait, then turn into the runner."""
        try:
            os.setsid()
            be_killed_with_parent()
            if not self.isolation.processes:
                adopt_orphans()  # so that all that a function starts stays below it
            group.join()
            self._wall_off()
            _redirect(ends)
            told = os.read(_CONTROL, 4_096)
            if not told:
                os._exit(0)
            os.close(_CONTROL)
            self._give_up_privileges(Start(**json.loads(told)), group, home)
        except BaseException as error:
            with suppress(OSError):
                os.write(2, f"the instance cannot start: {error}\n".encode())
        os._exit(126)

    def _give_up_privileges(self, what: Start, group: Group, home: Path | None) -> None:
        if self.isolation.tree:
            size = f"size={what.disk},nr_inodes={_DISK_INODES},mode=1777"
            for folder in ("/tmp", "/dev/shm"):
                mount("tmpfs", folder, "tmpfs", REMOUNT | NOSUID | NODEV, size)
        _limit(what, group, self.isolation)
        if home is not None:
            os.chdir(home)
        if self.isolation.user:
            if home is not None:
                os.chown(home, what.user, what.user)
            os.setgroups([])
            os.setresgid(what.user, what.user, what.user)
            os.setresuid(what.user, what.user, what.user)
        gain_nothing()
        # again: the change of user has cleared it
        be_killed_with_parent()
        os.umask(0o077)
        os.execve(
            sys.executable,
            [sys.executable, "-I", "-S", "-B", self._runner, str(what.concurrency), *self._packages],
            {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(home or "/tmp"), "TMPDIR": str(home or "/tmp"),
             "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TZ": "UTC"},
        )  # fmt: skip

    def _wall_off(self) -> None:
        if self._flags:
            unshare(self._flags)
        if not self.isolation.tree:
            return
        root = str(self._root)
        for folder in ("tmp", "dev/shm"):
            mount("tmpfs", f"{root}/{folder}", "tmpfs", NOSUID | NODEV, "size=4k,mode=1777")
        for path in self._shared:
            if path.is_relative_to("/tmp"):  # its own folder has just hidden a Python that lives there
                self._share(path)
        if self.isolation.processes:
            with suppress(OSError):  # a container may forbid it: then there is an empty folder
                mount("proc", f"{root}/proc", "proc", NOSUID | NODEV)
        os.chroot(root)
        os.chdir("/tmp")


def user_of(server: int, taken: set[int]) -> int:
    """The user of a new instance of a server: one that no running instance of any server has."""
    first = FIRST_USER + server * _USERS
    found = next((each for each in range(first, first + _USERS) if each not in taken), None)
    if found is None:
        raise OSError(f"a server has at most {_USERS} instances")
    return found


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


def _packages() -> list[str]:
    """Where the libraries of this Python are: the runner starts without ``site``, which would look for them.

    Trimtab is one of them, also where it is not installed among them: a scheduler can be a function.
    """
    paths = sysconfig.get_paths()
    return list(dict.fromkeys([paths["purelib"], paths["platlib"], str(Path(__file__).parents[2])]))
