"""Through which gateway each task comes: drawn by the gateways' shares, from a stream that nothing else draws from."""

from __future__ import annotations

import numpy as np

from trimtab.scenario.gateways import gateway_shares
from trimtab.scenario.model import Scenario
from trimtab.workload.entries import choose
from trimtab.workload.random_streams import stream
from trimtab.workload.table import Ints

_STREAM = 2
"""Of the network's streams: 0 and 1 are access delays and noise."""


def draw_gateways(scenario: Scenario, count: int, seed: int) -> Ints:
    """A gateway for each of ``count`` tasks; nothing where there is just one."""
    shares = np.array(gateway_shares(scenario))
    if len(shares) < 2:
        return np.empty(0, np.int32)
    return choose(shares, count, stream(seed, "network", _STREAM))
