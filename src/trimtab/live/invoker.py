"""A server: a process that starts, watches and ends the instances of functions, and measures what they use.

It does what the gateway says, line by line of JSON over the socket that it was started with, and dies with the
gateway; its instances die with it. Requests do not pass through it.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trimtab.live.cgroup import Group, Usage
from trimtab.live.isolation import Isolation
from trimtab.live.output import Output
from trimtab.live.probes import Monitor
from trimtab.live.processes import children, descendants, end_all, send, usage_of
from trimtab.live.runner import MARK
from trimtab.live.sandbox import Sandbox, Spare, Start, remove_home, user_of
from trimtab.live.system import adopt_orphans, die_with_parent

_CHUNK = 65_536
"""As much as a pipe holds: one read takes all that was written before it."""
_METRICS_EVERY = 10
"""Samples between two looks at all metrics; CPU and memory are in every sample."""
_GRACE = 5.0


@dataclass
class Process:
    """An instance, as its server knows it."""

    number: int
    pid: int
    handle: int
    group: Group
    socket_path: Path
    home: Path | None
    user: int
    output_limit: int
    outputs: dict[int, Output] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)
    """Outputs that are not read before the gateway has said how many calls have ended."""
    frozen: bool = False
    cpu: float = 0.0
    """Core-seconds as last counted."""
    reason: str | None = None

    def family(self) -> set[int]:
        """All its processes."""
        return self.group.processes() if self.group.folders else {self.pid, *descendants(self.pid)}

    def usage(self) -> tuple[float, int]:
        """Core-seconds and bytes, counted by its group, or by process where there is none."""
        if self.group.counts_cpu and "memory" in self.group.controllers:
            self.cpu, memory = self.group.cpu_seconds(), self.group.memory()
        else:
            found = usage_of(self.family())
            # what one has used goes with it unless it was waited for
            self.cpu = self.group.cpu_seconds() if self.group.counts_cpu else max(self.cpu, found.cpu)
            memory = self.group.memory() if "memory" in self.group.controllers else found.memory
        return self.cpu, memory


class Invoker:
    """The loop of a server's process."""

    def __init__(self, config: dict[str, Any], gateway: socket.socket) -> None:
        self.index, self.folder = int(config["index"]), Path(config["folder"])
        self.period = float(config["period"])
        parent = Group(config["group"]["version"], {k: Path(v) for k, v in config["group"]["folders"].items()})
        _clear(parent.at(config["name"]))
        self.group = parent.child(config["name"])
        self.group.limit_cpu(config["cores"])
        self.group.limit_memory(config["memory"])
        isolation = config["isolation"] | {"namespaces": tuple(config["isolation"]["namespaces"])}
        self.sandbox = Sandbox(Isolation(**isolation), self.folder)
        self.processes: dict[int, Process] = {}
        self._past = 0.0
        self.monitor = Monitor(self.usage, config["cores"], config["memory"])
        self.selector = selectors.DefaultSelector()
        self.gateway, self._received, self._unsent = gateway, b"", b""
        self.samples = self._prepared = 0
        self._spare: Spare | None = None
        gateway.setblocking(False)
        self.selector.register(gateway, selectors.EVENT_READ, self._listen)

    def run(self) -> None:
        """Serve until the gateway goes."""
        self._tell(event="ready")
        due = time.monotonic()
        while True:
            for key, _ in self.selector.select(max(due - time.monotonic(), 0.0)):
                key.data()
            if time.monotonic() >= due:
                self._sample()
                self._hold()
                with suppress(OSError):  # then the next start tries, and says why it cannot
                    self._spare = self._spare or self._prepare()
                due = max(due + self.period, time.monotonic())

    def _tell(self, **message: Any) -> None:
        self._unsent += json.dumps(message).encode() + b"\n"
        self._flush()

    def _flush(self) -> None:
        with suppress(BlockingIOError):
            while self._unsent:
                self._unsent = self._unsent[self.gateway.send(self._unsent) :]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent else 0)
        self.selector.modify(self.gateway, events, self._listen)

    def _listen(self) -> None:
        self._flush()
        with suppress(BlockingIOError):
            more = self.gateway.recv(_CHUNK)
            if not more:
                self.stop()
            *lines, self._received = (self._received + more).split(b"\n")
            for line in lines:
                message = json.loads(line)
                getattr(self, f"_do_{message.pop('do')}")(**message)

    def _do_start(self, number: int, **wanted: Any) -> None:
        try:
            self._start(number, **wanted)
        except OSError as error:
            self._tell(event="exited", number=number, reason=f"it cannot be started: {error}")

    def _start(
        self,
        number: int,
        cpu: float | None,
        shares: float,
        memory: int,
        disk: int,
        processes: int,
        concurrency: int,
        output: int,
    ) -> None:
        spare = self._take_spare()
        process = None
        try:
            path, group = self.folder / f"{number}.sock", spare.group
            group.limit_cpu(cpu)
            group.weigh(shares)
            group.limit_memory(memory)
            group.limit_processes(processes)
            user = user_of(self.index, {each.user for each in self.processes.values()})
            process = Process(number, spare.pid, os.pidfd_open(spare.pid), group, path, spare.home, user, output)
            spare.path = spare.path.rename(path)
            spare.go(Start(user, memory, disk, processes, concurrency))
        except OSError:
            spare.discard()
            if process is not None:
                os.close(process.handle)
            raise
        for read, stream in zip(spare.outputs, ("stdout", "stderr"), strict=True):
            os.set_blocking(read, False)
            process.outputs[read] = Output(stream, (output + len(MARK)) * concurrency)
            self.selector.register(read, selectors.EVENT_READ, self._reader(process, read))
        self.processes[number] = process
        self.selector.register(process.handle, selectors.EVENT_READ, lambda: self._ended(process))
        self._tell(event="started", number=number, pid=spare.pid)

    def _take_spare(self) -> Spare:
        """The one that waits, or another if it has died of something."""
        spare, self._spare = self._spare, None
        if spare is None:
            return self._prepare()
        if os.waitpid(spare.pid, os.WNOHANG)[0] == 0:
            return spare
        spare.discard()
        return self._prepare()

    def _prepare(self) -> Spare:
        """A process behind its walls, ready to become an instance."""
        self._prepared += 1
        group = self.group.child(f"i{self._prepared}")
        try:
            return self.sandbox.prepare(group, self.folder / f"spare{self._prepared}")
        except OSError:
            group.remove(0.0)
            raise

    def _reader(self, process: Process, handle: int) -> Callable[[], None]:
        return lambda: self._print(process, handle)

    def _print(self, process: Process, handle: int) -> None:
        """Pass on what an instance wrote; one that writes more than it may in one activation is ended."""
        if not self._read(process, handle):
            return
        if process.outputs[handle].doubtful and process.reason is None:
            # calls may have ended in the meantime; until that is known it has to wait
            if not process.unread:
                self._tell(event="count", number=process.number)
            process.unread.add(handle)
            self.selector.unregister(handle)

    def _read(self, process: Process, handle: int) -> bool:
        """Read once; whether there is more to come."""
        try:
            data = os.read(handle, _CHUNK)
        except BlockingIOError:
            return True
        if not data:
            if handle not in process.unread:
                self.selector.unregister(handle)
            os.close(handle)
            process.unread.discard(handle)
            del process.outputs[handle]
            return False
        self._show(process, handle, process.outputs[handle].add(data))
        return True

    def _show(self, process: Process, handle: int, lines: list[str]) -> None:
        if lines:
            self._tell(event="log", number=process.number, stream=process.outputs[handle].stream, lines=lines)

    def _do_count(self, number: int, calls: int) -> None:
        """So many calls of an instance have ended, and what they printed was read or is in the pipe."""
        process = self.processes.get(number)
        if process is None:
            return
        again = False
        for handle in sorted(process.unread):
            if not self._read(process, handle):
                continue
            output = process.outputs[handle]
            advanced = calls > output.ended
            self._show(process, handle, output.settle(calls))
            if output.excessive and advanced:
                # what was read may be of calls that ended after the gateway had counted: ask again
                again = True
                continue
            process.unread.discard(handle)
            self.selector.register(handle, selectors.EVENT_READ, self._reader(process, handle))
            if output.excessive:
                self._kill(process, f"it printed more than {process.output_limit} bytes in one activation")
        if again:
            self._tell(event="count", number=number)

    def _do_kill(self, number: int, reason: str | None = None) -> None:
        process = self.processes.get(number)
        if process is not None:
            self._kill(process, reason or "it was ended")

    def _kill(self, process: Process, reason: str) -> None:
        process.reason = process.reason or reason
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)

    def _ended(self, process: Process) -> None:
        _, status, used = os.wait4(process.pid, 0)
        if not self.sandbox.isolation.processes:  # the kernel ends a namespace with its first process, else we do
            process.group.kill()
            self._end_strays()
        for handle in list(process.outputs):
            with suppress(OSError):
                self._read(process, handle)
        for handle in process.outputs.keys() - process.unread:
            self.selector.unregister(handle)
        self.selector.unregister(process.handle)
        for handle in (*process.outputs, process.handle):
            os.close(handle)
        # first of all: a caller waits for it, and to remove a group can take a while
        self._tell(event="exited", number=process.number, reason=_why(process, status))
        self._past += max(process.cpu, used.ru_utime + used.ru_stime)
        del self.processes[process.number]
        process.group.remove()
        process.socket_path.unlink(missing_ok=True)
        remove_home(process.home)

    def _end_strays(self) -> None:
        """What an instance started and left behind has become our child: end it, and all that it starts."""

        def strays() -> set[int]:
            known = {each.pid for each in self.processes.values()} | ({self._spare.pid} if self._spare else set())
            found = children(os.getpid()) - known
            return found.union(*(descendants(each) for each in found))

        end_all(strays, _GRACE)

    def _do_freeze(self, number: int) -> None:
        """Nobody waits for an instance: what it left running stops until the next call."""
        process = self.processes.get(number)
        if process is not None:
            process.frozen = True
            send(signal.SIGSTOP, process.family())

    def _do_thaw(self, number: int) -> None:
        process = self.processes.get(number)
        if process is not None:
            process.frozen = False
            send(signal.SIGCONT, process.family())

    def _hold(self) -> None:
        """Again and again: one that forks while it is stopped leaves a child that runs."""
        for process in self.processes.values():
            if process.frozen:
                send(signal.SIGSTOP, process.family())
        if not self.sandbox.isolation.processes:
            self._end_strays()

    def _do_limit(self, number: int, cpu: float | None, memory: int | None, shares: float | None) -> None:
        """Change what a running instance may use."""
        process = self.processes.get(number)
        error = None
        try:
            if process is not None and cpu is not None:
                process.group.limit_cpu(cpu)
            if process is not None and memory is not None:
                process.group.limit_memory(memory)
            if process is not None and shares is not None:
                process.group.weigh(shares)
        except OSError as refused:
            error = refused.strerror or str(refused)
        self._tell(event="limited", number=number, error=error)

    def usage(self) -> Usage:
        """Of all instances together, those that have ended included."""
        counted = self.group.usage()
        if self.group.counts_cpu and "memory" in self.group.controllers:
            return counted
        found = usage_of(pid for each in self.processes.values() for pid in each.family())
        if not self.group.counts_cpu:
            total = self._past + sum(each.cpu for each in self.processes.values())
            share = found.kernel / found.cpu if found.cpu else 0.0
            counted = replace(counted, user=total * (1.0 - share), kernel=total * share, cpu=total)
        return counted if "memory" in self.group.controllers else replace(counted, memory=found.memory)

    def _sample(self) -> None:
        instances = {number: each.usage() for number, each in self.processes.items()}
        metrics = self.monitor.look() if self.samples % _METRICS_EVERY == 0 else None
        self.samples += 1
        cpu = self.group.cpu_seconds() if self.group.counts_cpu else self._past + sum(c for c, _ in instances.values())
        memory = self.group.memory() if "memory" in self.group.controllers else sum(m for _, m in instances.values())
        self._tell(event="sample", cpu=cpu, memory=memory, instances=instances, metrics=metrics)

    def stop(self) -> None:
        """End all instances and this process."""
        for process in self.processes.values():
            self._kill(process, "the server stops")
        if self._spare is not None:
            self._spare.discard()
            self._spare = None
        for process in self.processes.values():
            os.waitpid(process.pid, 0)
            remove_home(process.home)
        self.processes.clear()
        if not self.sandbox.isolation.processes:
            self._end_strays()
        self.group.remove()
        sys.exit(0)


def _why(process: Process, status: int) -> str:
    """Why an instance ended."""
    if process.group.out_of_memory():
        return "it used more memory than it may"
    if process.reason is not None:
        return process.reason
    code = os.waitstatus_to_exitcode(status)
    return f"it ended with exit code {code}" if code >= 0 else f"it was killed by signal {-code}"


def _clear(group: Group) -> None:
    """What an earlier process of the same server left: it was killed, and so were its instances."""
    for folder in set(group.folders.values()):
        if folder.is_dir():
            for inner in folder.iterdir():
                if inner.is_dir():
                    Group(group.version, {"": inner}).kill()
    group.remove()


def main() -> None:
    """``python -m trimtab.live.invoker DESCRIPTOR CONFIG``, started by the gateway."""
    die_with_parent()
    adopt_orphans()
    os.umask(0o022)  # a private one is for the gateway's files, not for the file tree of instances
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Invoker(json.loads(sys.argv[2]), socket.socket(fileno=int(sys.argv[1]))).run()


if __name__ == "__main__":
    main()
