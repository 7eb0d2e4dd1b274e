"""Trimtab: learned resource management for serverless clusters and edge-to-cloud inference.

``place`` and ``route`` make a policy of a few lines; ``uniform`` and ``below`` draw from its random stream.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trimtab.policies.place.decorator import place
    from trimtab.policies.route.decorator import route
    from trimtab.sim.draw import below, uniform

__all__ = ["below", "place", "route", "uniform"]
__version__ = "0.1.0"

_WHERE = {
    "place": "trimtab.policies.place.decorator",
    "route": "trimtab.policies.route.decorator",
    "uniform": "trimtab.sim.draw",
    "below": "trimtab.sim.draw",
}


def __getattr__(name: str) -> Any:
    """Import lazily: ``trimtab --help`` does without Numba."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_WHERE[name]), name)
