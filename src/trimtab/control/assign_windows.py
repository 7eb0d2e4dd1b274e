"""What a selector sees of tasks, hosts and the last plan, interval by interval: MetaNet's state [W, H, S].

W  CPU, memory and disk that the tasks of each application use, over the whole cluster's
H  CPU, memory and disk utilisation of each host over the last interval
S  the last decision as a graph: how many tasks of each application are on each host
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trimtab.control.assigning import AssignLoop, View
from trimtab.scenario.model import Scenario
from trimtab.sim import records
from trimtab.sim.build import host_names
from trimtab.sim.meters import meter_all

RESOURCES = ("cpu", "memory", "disk")

Floats = npt.NDArray[np.float64]


def assign_feature_names(scenario: Scenario) -> tuple[str, ...]:
    """Names of [W, H, S], in order."""
    applications = [function.name for function in scenario.functions]
    hosts = host_names(scenario)
    workload = [f"{resource} of {name}" for name in applications for resource in RESOURCES]
    machines = [f"{resource} of {name}" for name in hosts for resource in RESOURCES]
    graph = [f"{name} on {host}" for name in applications for host in hosts]
    return (*workload, *machines, *graph)


class AssignWindows:
    """Observes the platform of an assign loop."""

    def __init__(self, loop: AssignLoop) -> None:
        self.loop = loop
        self._begin()

    def _begin(self) -> None:
        simulation = self.loop.platform.simulation
        self._since = simulation.now
        self._busy = simulation.core.hosts["busy_seconds"].copy()

    def close(self, view: View) -> Floats:
        """The interval is over: [W, H, S] as one vector, zeros before anything has run; the next one begins."""
        simulation = self.loop.platform.simulation
        hosts, functions = simulation.core.hosts, len(simulation.scenario.functions)
        rows = simulation.core.active[view.slots]
        meter_all(simulation.core)
        seconds = max(simulation.now - self._since, 1e-9)
        placed = rows["host"] >= 0
        host, function = rows["host"][placed], rows["function"][placed]
        rate = np.where(rows["phase"][placed] == records.RUNNING, rows["rate"][placed], 0.0)
        disk = view.tasks.disk[placed] * rate / np.maximum(view.tasks.cores[placed], 1e-9)
        used = np.stack([rate, rows["memory"][placed], disk])
        whole = np.array([hosts["cores"].sum(), hosts["memory"].sum(), hosts["disk"].sum()])
        workload = np.stack([np.bincount(function, each, functions) for each in used], axis=1) / whole
        machines = np.stack(
            [
                (hosts["busy_seconds"] - self._busy) / seconds / hosts["cores"],
                hosts["memory_used"] / hosts["memory"],
                np.bincount(host, disk, len(hosts)) / hosts["disk"],
            ],
            axis=1,
        )
        graph = np.zeros((functions, len(hosts)))
        np.add.at(graph, (function, host), 1.0)
        self._begin()
        return np.concatenate([workload.ravel(), machines.ravel(), graph.ravel()])

    def utilisation(self, features: Floats) -> Floats:
        """CPU of each host, out of the vector."""
        functions = len(self.loop.platform.simulation.scenario.functions)
        hosts = len(self.loop.platform.simulation.core.hosts)
        first = functions * len(RESOURCES)
        return features[first : first + hosts * len(RESOURCES) : len(RESOURCES)]
