"""``@route``: a score over workers, or a pick among them, becomes a policy that the engine can call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.policies.signature import check_parameters, compile_wrapper
from trimtab.sim.contract import ROUTE

_ALLOWED = ("stream", "worker", "workers", "memory", "weights", "random", "world")
_HEAD = """
import math
from trimtab.sim.draw import uniform

def wrapper(world_, streams, index, workers, memory, weights, random, scores):
    world = world_[0]
    stream = streams[index]
"""
_PICK = """    choice = decide({arguments})
    if choice < -1:
        world.bad_host = choice
        return -3
    return choice
"""
_SCORE = """    best, highest = -1, -math.inf
    for candidate in range(world.functions):
        worker = workers[candidate]
        if worker.feasible == 0:
            continue
        value = decide({arguments})
        if math.isnan(value):
            world.bad_host = candidate
            return -2
        scores[candidate] = value
        if best == -1 or value > highest:
            best, highest = candidate, value
    return best
"""
_PROPORTIONAL = """    total = 0.0
    for candidate in range(world.functions):
        worker = workers[candidate]
        scores[candidate] = 0.0
        if worker.feasible == 1:
            value = decide({arguments})
            if math.isnan(value) or value < 0.0:
                world.bad_host = candidate
                return -2
            scores[candidate] = value
            total += value
    if total <= 0.0:
        return -1
    left = uniform(random) * total
    last = -1
    for candidate in range(world.functions):
        if scores[candidate] > 0.0:
            last = candidate
            left -= scores[candidate]
            if left < 0.0:
                return candidate
    return last
"""


@dataclass(frozen=True)
class RoutePolicy:
    """A routing policy; workers that break one of the four constraints are never candidates."""

    name: str
    function: Callable[..., Any]
    form: str
    drops_late: bool = False
    """Whether workers drop queries that can no longer be answered in time."""
    memory: int = 16
    weights: tuple[float, ...] = field(default=(), repr=False)
    decision: str = "route"

    @cached_property
    def compiled(self) -> Any:
        """The function for the engine, compiled at first use."""
        return _compiled(self.function, self.form, self.name)


@cache
def _compiled(function: Callable[..., Any], form: str, name: str) -> Any:
    """Compiled once for all policies that differ in their weights alone."""
    plain = getattr(function, "py_func", function)
    arguments = ", ".join(check_parameters(plain, _ALLOWED, name))
    body = {"pick": _PICK, "score": _SCORE, "proportional": _PROPORTIONAL}[form]
    return compile_wrapper(_HEAD + body.format(arguments=arguments), function, ROUTE, name)


def route(
    name: str, *, proportional: bool = False, drops_late: bool = False, memory: int = 16
) -> Callable[[Callable[..., Any]], RoutePolicy]:
    """Make a routing policy of ``score(stream, worker)`` or ``pick(stream, workers)``.

    The highest score wins; with ``proportional`` a worker is drawn with probability in proportion to it. A
    score of minus infinity everywhere still takes the first; ``pick`` returns -1 to reject.
    """

    if not isinstance(name, str):
        raise TrimtabError("@route has no name, must have one: @route('mine')")

    def decorate(function: Callable[..., Any]) -> RoutePolicy:
        plain = getattr(function, "py_func", function)
        names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
        form = "pick" if "workers" in names else "proportional" if proportional else "score"
        return RoutePolicy(name, function, form, drops_late, memory)

    return decorate
