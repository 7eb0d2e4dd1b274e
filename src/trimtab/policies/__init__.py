"""Who decides: one file per policy, one registry; ``place`` and ``route`` make a policy of a few lines."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trimtab.policies.place.decorator import place
    from trimtab.policies.route.decorator import route
    from trimtab.sim.draw import below, uniform

__all__ = ["below", "place", "route", "uniform"]

_WHERE = {
    "place": "trimtab.policies.place.decorator",
    "route": "trimtab.policies.route.decorator",
    "uniform": "trimtab.sim.draw",
    "below": "trimtab.sim.draw",
}


def __getattr__(name: str) -> Any:
    """Import lazily: the registry and scale policies do without Numba."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_WHERE[name]), name)
