"""The types of machine that a network was trained for: others are refused, because it knows nothing of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.policies.assign.contract import Bools, Floats, HostTable
from trimtab.policies.trained import Trained

COLUMNS = ("cores", "speed", "price", "power_idle", "power_full", "wake")


class Unfit(TrimtabError):
    """A network is to decide over machines that it was not trained for."""

    def __init__(self, policy: str, why: str) -> None:
        super().__init__(
            f"policy {policy!r} was trained for other hosts: {why}; trimtab train makes one for these hosts"
        )
        self.why = why


def types_of(hosts: HostTable) -> Floats:
    """Types of the hosts, one row each, by ``COLUMNS``."""
    return np.unique(_rows(hosts), axis=0)


def _rows(hosts: HostTable) -> Floats:
    wake = np.full(len(hosts.cores), hosts.wake)
    return np.column_stack([*(getattr(hosts, name) for name in COLUMNS[:-1]), wake])


@dataclass(frozen=True)
class Machines:
    """The types that were trained for."""

    policy: str
    known: Floats

    @classmethod
    def of(cls, trained: Trained) -> Machines:
        """Those that ``policy.json`` names."""
        rows: Sequence[Sequence[float]] = trained.description.settings["hosts"]
        known = np.array(rows, np.float64).reshape(-1, len(COLUMNS))
        return cls(trained.description.policy, known)

    def check(self, hosts: HostTable) -> None:
        """Refuse hosts of a type that was not trained for, and say in what the nearest one differs."""
        rows = _rows(hosts)
        apart: Bools = ~np.isclose(rows[:, None, :], self.known[None, :, :], rtol=1e-6)
        strange = np.flatnonzero(np.all(np.any(apart, axis=2), axis=1))
        if len(strange) == 0:
            return
        host = int(strange[0])
        nearest = int(apart[host].sum(axis=1).argmin())
        column = int(apart[host, nearest].argmax())
        found, wanted = rows[host, column], self.known[nearest, column]
        raise Unfit(self.policy, f"host {host} has {COLUMNS[column]} = {found:g}, must be {wanted:g}")
