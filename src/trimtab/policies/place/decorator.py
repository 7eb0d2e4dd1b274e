"""``@place``: a score over hosts, or a pick among them, becomes a policy that the engine can call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trimtab.errors import TrimtabError
from trimtab.policies.signature import (
    BY_REQUEST,
    INTRINSIC,
    SAMPLED,
    check_parameters,
    compile_wrapper,
    fields_of,
)
from trimtab.sim.contract import PLACE

_ALLOWED = (
    "request",
    "host",
    "hosts",
    "running",
    "memory",
    "weights",
    "random",
    "world",
    "site",
    "pools",
)
_INSIDE = ("slot", "active", "functions", "room")
"""For policies of our own only: tables in which the truth stands beside what a scheduler could know."""
_HEAD = """
import math
from trimtab.policies.place.tree import best_of_tree
from trimtab.policies.view import fill_by_request, fill_running
from trimtab.sim.meters import sample_host
from trimtab.sim.placing import is_feasible

def wrapper(world_, active, slot, hosts, functions, pools, dirty, memory, weights, random, scores, tree, running_):
    world = world_[0]
    request = active[slot]
    site = functions[request.function].site
"""
NOT_A_NUMBER = -(2**40)
"""What a pick that computes scores answers, less the index of the host, where a score is not a number."""
_PICK = """    choice = decide({arguments})
    if choice <= {none}:
        world.bad_host = {none} - choice
        return -2
    if choice < -1:
        world.bad_host = choice
        return -3
    return choice
"""
_SCORE = """    best, highest = -1, -math.inf
    for index in range(world.hosts):
        host = hosts[index]
        if not is_feasible(world, host, request, site):
            continue
{fill}        value = decide({arguments})
        if math.isnan(value):
            world.bad_host = index
            return -2
        scores[index] = value
        if best == -1 or value > highest:
            best, highest = index, value
    return best
"""
_TREE = """    for position in range(world.dirty_count):
        host = hosts[dirty[position]]
        host.dirty = 0
        value = decide({arguments})
        if math.isnan(value):
            world.bad_host = host.index
            return -2
        scores[host.index] = value
    return best_of_tree(world, hosts, request, site, dirty, scores, tree)
"""


@dataclass(frozen=True)
class PlacePolicy:
    """A placement policy: its function, and what of the world it wants to see."""

    name: str
    function: Callable[..., Any]
    form: str
    memory: int = 16
    """Length of the float array that is its own."""
    samples: bool = False
    """Whether it samples metrics itself; a score that names them is recognised."""
    weights: tuple[float, ...] = field(default=(), repr=False)
    decision: str = "place"

    @property
    def needs_samples(self) -> bool:
        """Whether it names metrics that a monitor samples."""
        return self.samples or (self.form == "score" and fields_of(self._plain, "host").any_of(SAMPLED))

    @property
    def needs_pools(self) -> bool:
        """Whether it may look at instances by host and function."""
        names = self._plain.__code__.co_varnames[: self._plain.__code__.co_argcount]
        return "pools" in names or (self.form == "score" and fields_of(self._plain, "host").any_of(BY_REQUEST))

    @property
    def _plain(self) -> Callable[..., Any]:
        return getattr(self.function, "py_func", self.function)

    @cached_property
    def compiled(self) -> Any:
        """The function for the engine, compiled at first use."""
        ours = self._plain.__module__.startswith("trimtab.")
        names = check_parameters(self._plain, _ALLOWED + _INSIDE if ours else _ALLOWED, self.name)
        return compile_wrapper(_HEAD + self._body(names), self.function, PLACE, self.name)

    def _body(self, names: tuple[str, ...]) -> str:
        views = {"running": "running_[:count]", "room": "running_"}
        arguments = ", ".join(views.get(name, name) for name in names)
        if self.form == "pick":
            return _PICK.format(arguments=arguments, none=NOT_A_NUMBER)
        named = fields_of(self._plain, "host")
        if set(names) <= {"host", "request"} and named.only(INTRINSIC):
            if not fields_of(self._plain, "request").fields:
                return _TREE.format(arguments=arguments)
        fill = ""
        if named.any_of(BY_REQUEST):
            fill += "        fill_by_request(world, host, request, pools)\n"
        if named.any_of(SAMPLED):
            fill += "        sample_host(world, host)\n"
        if "running" in names:
            fill += "        count = fill_running(world, active, host, running_)\n"
        return _SCORE.format(fill=fill, arguments=arguments)


def place(name: str, *, memory: int = 16, samples: bool = False) -> Callable[[Callable[..., Any]], PlacePolicy]:
    """Make a placement policy of ``score(request, host)`` or ``pick(request, hosts)``.

    The highest score among feasible hosts wins, the lowest index among equals. Both forms may also take
    ``running``, ``memory``, ``random``, ``weights``, ``world``, ``site`` and ``pools``.
    """

    if not isinstance(name, str):
        raise TrimtabError("@place has no name, must have one: @place('mine')")

    def decorate(function: Callable[..., Any]) -> PlacePolicy:
        plain = getattr(function, "py_func", function)
        names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
        return PlacePolicy(name, function, "pick" if "hosts" in names else "score", memory, samples)

    return decorate
