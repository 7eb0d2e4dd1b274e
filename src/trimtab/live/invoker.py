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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trimtab.live.cgroup import Group
from trimtab.live.probes import Monitor
from trimtab.live.runner import MARK
from trimtab.live.sandbox import Isolation, Sandbox, Spare, Start, die_with_parent

_CHUNK = 65_536
_LONGEST_LINE = 2_000
_METRICS_EVERY = 10
"""Samples between two looks at all metrics; CPU and memory are in every sample."""
_MARK = MARK.rstrip()
"""At the end of an activation's output, perhaps behind a last line without an end."""


@dataclass
class Process:
    """An instance, as its server knows it."""

    number: int
    pid: int
    handle: int
    group: Group
    socket_path: Path
    output_limit: int
    outputs: dict[int, str] = field(default_factory=dict)
    rest: dict[int, bytes] = field(default_factory=dict)
    printed: dict[int, int] = field(default_factory=dict)
    reason: str | None = None


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
        isolation = config["isolation"]
        self.sandbox = Sandbox(
            Isolation(isolation["user"], tuple(isolation["namespaces"]), isolation["processes"]), self.folder
        )
        self.monitor = Monitor(self.group, config["cores"], config["memory"])
        self.processes: dict[int, Process] = {}
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
        group, path = spare.group, self.folder / f"{number}.sock"
        group.limit_cpu(cpu)
        group.weigh(shares)
        group.limit_memory(memory)
        group.limit_processes(processes)
        spare.path.rename(path)
        spare.go(Start(self.sandbox.user_of(self.index, number), memory, disk, processes, concurrency))
        process = Process(number, spare.pid, os.pidfd_open(spare.pid), group, path, output)
        for read, stream in zip(spare.outputs, ("stdout", "stderr"), strict=True):
            os.set_blocking(read, False)
            process.outputs[read], process.rest[read], process.printed[read] = stream, b"", 0
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
        for handle in (spare.control, *spare.outputs):
            os.close(handle)
        spare.path.unlink(missing_ok=True)
        spare.group.remove(0.0)
        return self._prepare()

    def _prepare(self) -> Spare:
        """A process behind its walls, ready to become an instance."""
        self._prepared += 1
        return self.sandbox.prepare(self.group.child(f"i{self._prepared}"), self.folder / f"spare{self._prepared}")

    def _reader(self, process: Process, handle: int) -> Callable[[], None]:
        return lambda: self._print(process, handle)

    def _print(self, process: Process, handle: int) -> None:
        """Pass on what an instance wrote; one that writes more than it may in one activation is ended."""
        try:
            data = os.read(handle, _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.selector.unregister(handle)
            os.close(handle)
            del process.outputs[handle]
            return
        *lines, rest = (process.rest[handle] + data).split(b"\n")
        shown = []
        for line in lines:
            told = line.removesuffix(_MARK)
            process.printed[handle] += len(told) + 1
            if (told or told is line) and process.printed[handle] <= process.output_limit:
                shown.append(told[:_LONGEST_LINE].decode(errors="replace"))
            if len(told) < len(line):
                process.printed[handle] = 0
        if len(rest) > _CHUNK:  # a line without an end
            process.printed[handle] += len(rest) - len(_MARK)
            rest = rest[-len(_MARK) :]
        process.rest[handle] = rest
        if shown:
            self._tell(event="log", number=process.number, stream=process.outputs[handle], lines=shown)
        if process.printed[handle] + len(rest) > process.output_limit + len(_MARK) and process.reason is None:
            self._kill(process, f"it printed more than {process.output_limit} bytes in one activation")

    def _do_kill(self, number: int, reason: str | None = None) -> None:
        process = self.processes.get(number)
        if process is not None:
            self._kill(process, reason or "it was ended")

    def _kill(self, process: Process, reason: str) -> None:
        process.reason = process.reason or reason
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        if not self.sandbox.isolation.processes:  # the kernel ends a namespace with its first process, else we do
            process.group.kill()
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def _ended(self, process: Process) -> None:
        _, status = os.waitpid(process.pid, 0)
        if not self.sandbox.isolation.processes:
            self._kill(process, "")
        for handle in list(process.outputs):
            with suppress(OSError):
                self._print(process, handle)
        for handle in (*process.outputs, process.handle):
            self.selector.unregister(handle)
            os.close(handle)
        if process.group.out_of_memory():
            reason = "it used more memory than it may"
        elif process.reason is not None:
            reason = process.reason
        else:
            code = os.waitstatus_to_exitcode(status)
            reason = f"it ended with exit code {code}" if code >= 0 else f"it was killed by signal {-code}"
        process.group.remove()
        process.socket_path.unlink(missing_ok=True)
        del self.processes[process.number]
        self._tell(event="exited", number=process.number, reason=reason)

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

    def _sample(self) -> None:
        instances = {number: (each.group.cpu_seconds(), each.group.memory()) for number, each in self.processes.items()}
        metrics = self.monitor.look() if self.samples % _METRICS_EVERY == 0 else None
        self.samples += 1
        self._tell(
            event="sample", cpu=self.group.cpu_seconds(), memory=self.group.memory(), instances=instances,
            metrics=metrics,
        )  # fmt: skip

    def stop(self) -> None:
        """End all instances and this process."""
        for process in self.processes.values():
            self._kill(process, "the server stops")
        if self._spare is not None:
            os.close(self._spare.control)  # it ends when there is nothing to wait for
            os.waitpid(self._spare.pid, 0)
        for process in self.processes.values():
            os.waitpid(process.pid, 0)
        self.group.remove()
        sys.exit(0)


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Invoker(json.loads(sys.argv[2]), socket.socket(fileno=int(sys.argv[1]))).run()


if __name__ == "__main__":
    main()
