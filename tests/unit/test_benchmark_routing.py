"""The table of the routing benchmark."""

from __future__ import annotations

import numpy as np
from benchmarks.routing import OURS, best_of_seven, lines, policy_of

FOUND = {
    "closest": (np.array([60.0, 62.0, 64.0]), np.array([9.0, 9.0, 9.0])),
    "load-balancing": (np.array([70.0, 72.0, 74.0]), np.array([8.0, 8.0, 8.0])),
    "scarcity + drops": (np.array([90.0, 92.0, 94.0]), np.array([7.0, 7.0, 7.0])),
    OURS: (np.array([71.0, 74.0, 77.0]), np.array([6.0, 6.0, 6.0])),
}


def test_the_best_of_the_seven_is_one_of_the_seven() -> None:
    assert best_of_seven(FOUND) == "load-balancing"


def test_differences_are_paired() -> None:
    # rank less load balancing: 1, 2, 3, mean 2, ± 4.3027 / √3 = 2.4841
    text = list(lines("somewhere", 60, FOUND))
    row = next(line for line in text if "load-balancing  " in line)
    assert row.startswith("* ")
    assert row.split()[2:] == ["72.00", "8.00", "+2.00", "[-0.48,", "+4.48]"]
    assert text[-1].split() == [OURS, "74.00", "6.00"]


def test_a_rule_with_dropping() -> None:
    assert policy_of("scarcity + drops").drops_late
    assert not policy_of("scarcity").drops_late
