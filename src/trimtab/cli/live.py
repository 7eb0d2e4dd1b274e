"""``trimtab live``: a real platform on this machine, with its dashboard."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from trimtab.cli.options import SetOption
from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.live.start import Supervisor


def command(
    scenario: Annotated[
        str, typer.Option("--scenario", metavar="SCENARIO", help="A preset or a .yaml file: servers and functions.")
    ] = "live-light",
    policy: Annotated[
        str | None, typer.Option("--policy", metavar="P", help="Who places calls; scale/NAME: who scales.")
    ] = None,
    select: Annotated[
        str | None, typer.Option("--select", metavar="P", help="Who chooses, every window, who places calls.")
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Other than loopback only with a token, which is printed.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 8080,
    state: Annotated[
        Path, typer.Option("--state", metavar="DIR", help="Where deployments and asynchronous calls are kept.")
    ] = Path("runs/live"),
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="S", help="Streams: play so much of the workload.")
    ] = None,
    emulate: Annotated[
        bool, typer.Option("--emulate", help="Streams: workers answer empty after the delay of their profile.")
    ] = False,
    changes: SetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address (streams: the summary) as JSON.")] = False,
) -> None:
    """Run functions on this machine: gateway, servers, dashboard. Ctrl-C ends all of it.

    A scenario of streams (edge-faces) is played once, in real time, on workers that detect faces.
    """
    from trimtab.live.extra import live_extra
    from trimtab.policies import registry
    from trimtab.scenario.load import load_scenario

    found = load_scenario(scenario, changes or ())
    if found.workload.source == "streams":
        from trimtab.cli.edge import play

        if select is not None:
            raise TrimtabError(f"--select is for functions, scenario {found.name!r} has streams: use --policy {select}")
        play(found, policy, seconds, emulate, _prepared(state), as_json, host, port)
        return
    if emulate or seconds is not None:
        raise TrimtabError(f"--emulate and --seconds are for streams of queries, scenario {found.name!r} has none")
    decision, name = registry.who(policy, found.decision) if policy is not None else (None, None)
    if decision not in (None, "place", "scale"):
        raise TrimtabError(f"policy = {policy!r} takes {decision} decisions, must be a place or scale policy")
    if select is not None and decision == "place":
        raise TrimtabError(f"--policy {policy} places calls, must be left out where --select {select} chooses who does")
    with live_extra():
        from trimtab.live.start import Supervisor, Wanted
    folder = _prepared(state)
    place, scale = (name if decision == each else None for each in ("place", "scale"))
    with _locked(folder):
        Supervisor(Wanted(found, place, scale, host, port, folder, select=select)).run(
            lambda each: _announce(each, as_json)
        )


def _prepared(state: Path) -> Path:
    """The folder: nobody else's business if we made it; one that was there stays as it was, our files in it aside."""
    try:
        state.parent.mkdir(parents=True, exist_ok=True)
        state.mkdir(mode=0o700, exist_ok=True)
        for ledger in state.glob("ledger*"):
            ledger.chmod(0o600)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TrimtabError(f"state = {str(state)!r}, must be a folder that can be written: {reason}") from None
    return state.resolve()


def _locked(folder: Path) -> BinaryIO:
    """The folder is ours as long as this file is open: two gateways on one ledger would run its calls twice."""
    file = (folder / "lock").open("wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise TrimtabError(
            f"state = {str(folder)!r} is in use, must be a folder that no other trimtab live uses"
        ) from None
    return file


def _announce(supervisor: Supervisor, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"url": supervisor.url, "token": supervisor.token}))
        return
    hosts = sum(group.count for group in supervisor.wanted.scenario.hosts)
    select = supervisor.wanted.select
    who = f"{supervisor.place} places calls" if select is None else f"{select} chooses who places calls"
    typer.echo(f"Trimtab live at {supervisor.url}: {hosts} servers, {who}; Ctrl-C ends it.")
    typer.echo(f"Isolation: {supervisor.isolation}")
    if supervisor.token is not None:
        typer.echo(f"Token: {supervisor.token}")
