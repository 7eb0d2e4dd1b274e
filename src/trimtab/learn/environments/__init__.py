"""Gymnasium environments over the engine; importing this package registers them.

``trimtab/Place-v0``, ``trimtab/Route-v0``, ``trimtab/Scale-v0``, ``trimtab/Select-v0``. Their batched forms,
which step many runs in one compiled call, are in ``batch`` and, for stable-baselines3, in ``vector``.
"""

from __future__ import annotations

import gymnasium

_HERE = "trimtab.learn.environments"
NAMES = {
    "trimtab/Place-v0": f"{_HERE}.place:PlaceEnvironment",
    "trimtab/Route-v0": f"{_HERE}.route:RouteEnvironment",
    "trimtab/Scale-v0": f"{_HERE}.scale:ScaleEnvironment",
    "trimtab/Select-v0": f"{_HERE}.select:SelectEnvironment",
}
"""What is registered, and where it is."""

for _name, _where in NAMES.items():
    if _name not in gymnasium.registry:
        gymnasium.register(_name, entry_point=_where)
