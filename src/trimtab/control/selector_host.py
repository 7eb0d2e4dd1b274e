"""Where a selector's own run takes place: on the awake host with the least CPU utilisation, which is paid for it."""

from __future__ import annotations

import numpy as np

from trimtab.control.assigning import AssignLoop
from trimtab.policies.assign.contract import DOWN, ON, Floats, HostTable
from trimtab.policies.assign.objective import JOULES


class SelectorHost:
    """Finds the host of each run, wakes one where all are asleep, and adds up what runs cost.

    A run takes one core of its host: that core's share of the price, and the power of a host with one core more in
    use. Waking is metered by the simulation as that of any other host.
    """

    def __init__(self, loop: AssignLoop) -> None:
        self.loop = loop
        self.kwh = 0.0
        self._host = 0

    def wait(self, busy: Floats, hosts: HostTable) -> float:
        """Seconds until the host of the next run is awake."""
        awake = np.flatnonzero(hosts.state == ON)
        if len(awake) > 0:
            self._host = int(awake[np.argmin(busy[awake])])
            return 0.0
        simulation = self.loop.platform.simulation
        self._host, seconds = simulation.first_awake()
        if self._host >= 0:
            return seconds
        self._host = int(np.argmin(np.where(hosts.state == DOWN, np.inf, hosts.price)))
        simulation.wake(self._host)
        return hosts.wake

    def pay(self, seconds: float, hosts: HostTable) -> None:
        """Charge a run of so long."""
        host = self._host
        share = seconds / float(hosts.cores[host])
        self.loop.charge(share * float(hosts.price[host]) / 3600.0, 0.0, calls=0)
        self.kwh += share * float(hosts.power_full[host] - hosts.power_idle[host]) / JOULES
