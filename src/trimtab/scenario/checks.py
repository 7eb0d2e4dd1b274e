"""Whether the parts of a scenario fit together: names that exist, chains that end, sizes that have room."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trimtab.scenario.gateways import EVERYWHERE, gateway_names

if TYPE_CHECKING:
    from trimtab.scenario.model import Scenario

MOST_SITES = 63
"""The engine keeps which sites are cut off in one word."""


def check_names(scenario: Scenario) -> None:
    """Names within a list differ."""
    for what in ("hosts", "functions", "applications", "variants", "sites"):
        seen: set[str] = set()
        for part in getattr(scenario, what):
            if part.name in seen:
                raise ValueError(f"{what}: name = {part.name!r} is there twice, names must differ")
            seen.add(part.name)


def check_chains(scenario: Scenario) -> None:
    """A function calls one that exists, and a chain of calls ends."""
    after = {function.name: function.next for function in scenario.functions}
    for start, name in after.items():
        if name is not None and name not in after:
            raise ValueError(f"functions.{start}.next = {name!r}, must be one of: {_list(after)}")
    for start, name in after.items():
        seen = {start}
        while name is not None:
            if name in seen:
                raise ValueError(f"functions.{start}: calls itself in the end, chains must stop")
            seen.add(name)
            name = after[name]


def check_sites(scenario: Scenario) -> None:
    """Sites, variants and sources that are named somewhere exist."""
    sites = {site.name for site in scenario.sites} | {host.site for host in scenario.hosts}
    variants = {variant.name for variant in scenario.variants}
    for index, worker in enumerate(scenario.workers):
        _one_of(f"workers.{index}.variant", worker.variant, variants)
        _one_of(f"workers.{index}.site", worker.site, sites)
    for index, link in enumerate(scenario.network.links):
        _one_of(f"network.links.{index}.site", link.site, sites)
    for function in scenario.functions:
        _one_of(f"functions.{function.name}.site", function.site, sites)
    for site in scenario.sites:
        for name in site.variants or ():
            _one_of(f"sites.{site.name}.variants", name, variants)
    for index, fault in enumerate(scenario.faults):
        _one_of(f"faults.{index}.site", fault.site, sites)
    sources = {link.source for link in scenario.network.links}
    for source in getattr(scenario.workload, "sources", ()):
        if sources:
            _one_of("workload.sources", source, sources)
    if scenario.platform.dispatch == "interval":
        _check_gateways(scenario)


def _check_gateways(scenario: Scenario) -> None:
    """Where tasks come from several gateways, each has a way to every host: one left out would be of no length."""
    names = gateway_names(scenario)
    links = {(link.source, link.site) for link in scenario.network.links}
    for name in names if len(names) > 1 else ():
        for site in dict.fromkeys(host.site for host in scenario.hosts):
            if links and not links & {(name, site), (EVERYWHERE, site)}:
                raise ValueError(
                    f"network.links: none from {name!r} to {site!r}, must be one from each source of tasks"
                )


def check_platform(scenario: Scenario) -> None:
    """Settings of the platform go together."""
    platform = scenario.platform
    if platform.hibernate and platform.dispatch != "interval":
        raise ValueError(f"platform.hibernate = true with dispatch {platform.dispatch!r}, must be 'interval'")
    batched = [function.name for function in scenario.functions if function.batch is not None]
    if batched and platform.dispatch != "cluster":
        raise ValueError(f"functions.{batched[0]}.batch with dispatch {platform.dispatch!r}, must be 'cluster'")
    control = scenario.control
    # the default is of routing: only a window that somebody wrote down can be meant for something else
    if scenario.decision == "assign" and "window" in control.model_fields_set and control.window != control.interval:
        raise ValueError(
            f"control.window = {control.window:g}, must be control.interval = {control.interval:g} or left out: "
            "a selector of assign policies chooses once an interval"
        )
    sites = {site.name for site in scenario.sites} | {host.site for host in scenario.hosts}
    if len(sites) > MOST_SITES:
        raise ValueError(f"sites: {len(sites)} of them, must be at most {MOST_SITES}")


def check_sizes(scenario: Scenario) -> None:
    """Every function fits some host, a warm-up ends before the run, a fault hits a host that is there."""
    largest = max(host.memory for host in scenario.hosts)
    for function in scenario.functions:
        if function.memory > largest:
            raise ValueError(
                f"functions.{function.name}.memory = {function.memory / 2**20:g} MiB, "
                f"must be at most {largest / 2**20:g} MiB, the memory of the largest host"
            )
    duration = getattr(scenario.workload, "duration", None)
    if duration is not None and scenario.workload.warm_up >= duration:
        raise ValueError(f"workload.warm_up = {scenario.workload.warm_up:g}, must be below duration = {duration:g}")
    hosts = sum(host.count for host in scenario.hosts)
    for index, fault in enumerate(scenario.faults):
        if fault.host is not None and fault.host >= hosts:
            raise ValueError(f"faults.{index}.host = {fault.host}, must be below {hosts}, the number of hosts")


def _one_of(field: str, name: str | None, known: Iterable[str]) -> None:
    if name is not None and name not in known:
        raise ValueError(f"{field} = {name!r}, must be one of: {_list(known)}")


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
