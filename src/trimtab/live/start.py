"""Starts the platform and keeps it up: this process holds the port, forks the gateway, and forks it again if it dies.

Everything slow (imports, compiled policies) is done before the fork, so that a new gateway answers at once; calls that
come in between wait in the port's queue. Whatever ends, and however, takes all below it with it: the gateway dies with
this process, servers with the gateway, instances with their server. Groups are removed when all is gone.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.control.run import decisions_of
from trimtab.errors import TrimtabError
from trimtab.live import cgroup
from trimtab.live.gateway import Gateway
from trimtab.live.isolation import Isolation, check_python, probe
from trimtab.live.journal import keep_journal
from trimtab.live.placing import FALLBACK
from trimtab.live.platform import Settings
from trimtab.live.processes import children, descendants, end_all, send
from trimtab.live.scratch import Scratch, sweep
from trimtab.live.security import Doorkeeper, is_loopback
from trimtab.live.selecting import selection_of
from trimtab.live.system import adopt_orphans, die_with_parent
from trimtab.policies import registry
from trimtab.scenario.model import Scenario

_BACKLOG = 2048
_AGAIN = 0.05
_GRACE = 10.0
_FAREWELL = 0.5
_LOOK = 0.25
"""Seconds in which what a gateway leaves goes by itself, and between two looks at what a server has left."""
_LIMITED = ("cpu", "memory", "processes")
_FLAPPING = 20
"""Gateways that ended within a second of their start, one after the other: then we give up."""

log = logging.getLogger("trimtab.live")


@dataclass(frozen=True)
class Wanted:
    """What ``trimtab live`` was asked for."""

    scenario: Scenario
    place: str | None
    scale: str | None
    host: str
    port: int
    state: Path
    token: str | None = None
    select: str | None = None


class Supervisor:
    """The process that a person starts and ends."""

    def __init__(self, wanted: Wanted) -> None:
        check_scenario(wanted.scenario)
        self.wanted = wanted
        self.token = None if is_loopback(wanted.host) else wanted.token or secrets.token_urlsafe(24)
        self.place = wanted.place or str(wanted.scenario.policies.get("place", FALLBACK))
        self.scale = wanted.scale or _usual_scale(wanted.scenario)
        candidates = () if wanted.select is None else selection_of(wanted.scenario, wanted.select)[1].candidates
        for each in (self.place, *candidates):
            registry.load("place", each, None, wanted.scenario.name).compiled  # noqa: B018 (compile before the fork)
        if self.scale is not None:
            registry.load("scale", self.scale, None, wanted.scenario.name)
        self.socket = _listen(wanted.host, wanted.port)
        self.port = self.socket.getsockname()[1]
        self.isolation = ""
        self._stopping = False
        self._gateway = 0

    @property
    def url(self) -> str:
        """Where the gateway is."""
        host = f"[{self.wanted.host}]" if ":" in self.wanted.host else self.wanted.host
        return f"http://{host}:{self.port}"

    def run(self, started: Callable[[Supervisor], None]) -> None:
        """Until a signal ends it; ``started`` is called when the port is open."""
        keep_journal()
        cgroup.sweep()
        sweep()
        adopt_orphans()
        isolation = probe()
        check_python(isolation)
        group = cgroup.make_group(f"{cgroup.PREFIX}{os.getpid()}")
        scratch = Scratch()
        settings = Settings(
            self.wanted.scenario, self.place, scratch.path, group, isolation, self.scale, self.wanted.select
        )
        self.isolation = _in_words(isolation, group)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        try:
            self._keep_up(settings, lambda: started(self))
        finally:
            self._clean_up(group, scratch)

    def _keep_up(self, settings: Settings, started: Callable[[], None]) -> None:
        quick = 0
        while not self._stopping:
            began = time.monotonic()
            self._gateway = os.fork()
            if self._gateway == 0:
                _be_gateway(settings, self.wanted.state, Doorkeeper(self.token), self.socket)
            if self._stopping:
                os.kill(self._gateway, signal.SIGTERM)
            started()
            started = _nothing
            self._wait_for(self._gateway, strays=not settings.isolation.processes)
            quick = quick + 1 if time.monotonic() - began < 1.0 else 0
            if quick >= _FLAPPING:
                raise TrimtabError("the gateway ends as soon as it has begun; the log above says why")
            if not self._stopping:
                log.warning("gateway ended, another one starts")
                _settle()
                time.sleep(_AGAIN)

    def _wait_for(self, child: int, strays: bool) -> None:
        """Also reaps what others left behind, and ends it where no namespace of processes does that."""
        while True:
            try:
                ended, _ = os.waitpid(-1, os.WNOHANG if strays else 0)
            except ChildProcessError:
                return
            if ended == child:
                return
            if ended == 0:
                # a child that is not the gateway has lost the server that it belonged to
                send(signal.SIGKILL, children(os.getpid()) - {child})
                time.sleep(_LOOK)

    def _stop(self, number: int, _: Any) -> None:
        self._stopping = True
        if self._gateway > 0:
            with suppress(ProcessLookupError):
                os.kill(self._gateway, signal.SIGTERM)

    def _clean_up(self, group: cgroup.Group, scratch: Scratch) -> None:
        _settle()
        self.socket.close()
        if not group.remove():
            log.warning(
                "groups could not be removed", extra={"folders": [str(each) for each in group.folders.values()]}
            )
        cgroup.move_back()
        scratch.remove()


def _in_words(isolation: Isolation, group: cgroup.Group) -> str:
    """What keeps functions apart on this machine, for a person."""
    found = isolation.describe(group)
    by = {kind: f"{kind} not limited" if found[kind] == "none" else f"{kind} by {found[kind]}" for kind in _LIMITED}
    parts = [
        by["cpu"].replace("cpu", "CPU") + (" (no control groups)" if found["cpu"] == "none" else ""),
        by["memory"],
        by["processes"],
        "users of their own" if found["user"] == "own" else "your own user (start as root for users of their own)",
        "own file tree" if found["files"] == "own tree" else "your own files",
    ]
    return "; ".join(parts) + f"; namespaces: {', '.join(found['namespaces']) or 'none'}"


def _nothing() -> None:
    """For the second gateway and later ones."""


def _settle() -> None:
    """Wait until everything that came from a gateway that has gone is gone too: it all becomes our child.

    All of it dies with its parent, but for what a function started in a session of its own: that is killed.
    """
    end = time.monotonic() + _FAREWELL
    while time.monotonic() < end:
        try:
            ended, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            time.sleep(0.005)
    end_all(lambda: descendants(os.getpid()), _GRACE)


def _be_gateway(settings: Settings, state: Path, doorkeeper: Doorkeeper, port: socket.socket) -> None:
    """In the child: serve until told to stop."""
    code = 1
    try:
        die_with_parent()
        os.umask(0o077)  # the ledger holds arguments and results: nobody else's business, whoever may see its folder
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        serve(settings, state, doorkeeper, port)
        code = 0
    except TrimtabError as error:
        log.error("gateway cannot start", extra={"reason": str(error)})
    except BaseException:
        log.exception("gateway failed")
    finally:
        logging.shutdown()
        os._exit(code)


def serve(settings: Settings, state: Path, doorkeeper: Doorkeeper, port: socket.socket) -> None:
    """Run a gateway in this process."""
    import uvicorn

    from trimtab.live.head import BoundedHead

    gateway = Gateway(settings, state, doorkeeper)
    config = uvicorn.Config(
        gateway, loop=_loop(), http=BoundedHead, lifespan="on", log_level="warning", access_log=False,
        server_header=False, timeout_graceful_shutdown=2, timeout_keep_alive=75, backlog=_BACKLOG,
    )  # fmt: skip
    server = uvicorn.Server(config)
    server.run(sockets=[port])


def _loop() -> Any:
    """uvloop where there is one."""
    try:
        import uvloop  # noqa: F401
    except ModuleNotFoundError:
        return "asyncio"
    return "uvloop"


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except OSError as error:
        opened.close()
        raise TrimtabError(f"address = {host}:{port}, must be free: {(error.strerror or str(error)).lower()}") from None
    opened.listen(_BACKLOG)
    opened.set_inheritable(True)
    return opened


def _usual_scale(scenario: Scenario) -> str | None:
    if "scale" not in decisions_of(scenario):
        return None
    return str(scenario.policies.get("scale", "fixed"))


def check_scenario(scenario: Scenario) -> None:
    """Whether this machine's platform can run it."""
    if scenario.variants or scenario.platform.dispatch == "interval":
        raise TrimtabError(f"scenario = {scenario.name!r} has no functions to call, must be one of place or scale")
    count = sum(group.count for group in scenario.hosts)
    if count > 64:
        raise TrimtabError(f"scenario = {scenario.name!r} has {count} hosts, must have at most 64 on one machine")
