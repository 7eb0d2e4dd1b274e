"""Gateways: the sources of the network from which streams and tasks come, and how many from each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trimtab.scenario.workload import StreamsSpec, TasksSpec

if TYPE_CHECKING:
    from trimtab.scenario.model import Scenario

EVERYWHERE = "here"
"""The source of a link that is the same from everywhere."""


def gateway_names(scenario: Scenario) -> tuple[str, ...]:
    """Those that the workload names, else all that links name, in order; empty where there is just one, unnamed."""
    spec = scenario.workload
    if isinstance(spec, StreamsSpec | TasksSpec) and spec.sources:
        return tuple(spec.sources)
    return tuple(dict.fromkeys(link.source for link in scenario.network.links if link.source != EVERYWHERE))


def gateway_shares(scenario: Scenario) -> tuple[float, ...]:
    """Share of the tasks that come from each gateway, in the order of the names; all alike unless told."""
    spec, names = scenario.workload, gateway_names(scenario)
    weights = [spec.sources[name] if isinstance(spec, TasksSpec) and spec.sources else 1.0 for name in names or ("",)]
    return tuple(weight / sum(weights) for weight in weights)
