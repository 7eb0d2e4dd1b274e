"""Chains: where a function is deployed with ``chain``, its result may name the function that goes on."""

from __future__ import annotations

import json

from trimtab.errors import did_you_mean
from trimtab.live.calling import Reply
from trimtab.live.failure import CallFailed
from trimtab.live.function import Deployed
from trimtab.live.platform import Platform

_MOST_STEPS = 10
"""A chain that names itself must end."""


def find(platform: Platform, name: str) -> Deployed:
    """The deployed function of this name."""
    found = platform.functions.get(name)
    if found is None:
        hint = did_you_mean(name, list(platform.functions))
        raise CallFailed(404, f"function = {name[:100]!r} is not deployed{hint}")
    return found


async def call_through(platform: Platform, name: str, body: bytes, activation: str | None = None) -> Reply:
    """Call a function, and those that the results name, one after the other; the last reply."""
    function = find(platform, name)
    reply = await platform.calling.call(function, body, activation)
    for _ in range(_MOST_STEPS if function.spec.chain else 0):
        following = _next(reply)
        if following is None:
            break
        reply = await platform.calling.call(find(platform, following[0]), following[1], activation)
    return reply


def _next(reply: Reply) -> tuple[str, bytes] | None:
    """The function that a result names as the next of a chain, and what it is called with."""
    value = json.loads(reply.body)
    following = value.pop("next", None) if isinstance(value, dict) else None
    return (following, json.dumps(value).encode()) if isinstance(following, str) else None
