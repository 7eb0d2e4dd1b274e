"""Whether networks know the machines of a scenario: found out before anything runs, not at the first plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trimtab.control.selecting import Selection
from trimtab.control.simulated import host_table
from trimtab.errors import TrimtabError
from trimtab.policies.assign.contract import HostTable
from trimtab.policies.assign.machines import Machines, Unfit
from trimtab.scenario.model import Scenario
from trimtab.sim.build import build_hosts


class UnfitCandidate(Unfit):
    """A selector has a candidate that was trained for other machines."""

    def __init__(self, selector: str, candidate: str, why: str) -> None:
        TrimtabError.__init__(
            self,
            f"policy {selector!r} cannot run here, its candidate {candidate!r} was trained for other hosts: {why}; "
            "trimtab train makes one for these hosts, parameters.select.candidates takes others",
        )
        self.why = why


def check_fit(scenario: Scenario, policies: Iterable[Any]) -> None:
    """Refuse an assign policy, or a selector with a candidate, that was trained for other machines than these."""
    if scenario.platform.dispatch != "interval":
        return
    hosts = _hosts(scenario)
    for policy in policies:
        if not isinstance(policy, Selection):
            _check(policy, hosts)
            continue
        _check(policy.selector, hosts)
        for name, candidate in policy.policies.items():
            try:
                _check(candidate, hosts)
            except Unfit as error:
                raise UnfitCandidate(policy.name, name, error.why) from error


def _check(policy: Any, hosts: HostTable) -> None:
    machines = getattr(policy, "machines", None)
    if isinstance(machines, Machines):
        machines.check(hosts)


def _hosts(scenario: Scenario) -> HostTable:
    """The machines at the start of a run."""
    hosts = build_hosts(scenario)
    return host_table(scenario, hosts, np.zeros(len(hosts)))
