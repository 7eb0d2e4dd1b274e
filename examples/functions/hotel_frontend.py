"""Hotel reservation, the front door: sends a query along the chain of services until a reply names no next one.

args: gateway (such as http://127.0.0.1:8080), latitude, longitude, arrival, departure, guests, size, customer.
The chain: frontend -> search -> geo -> rate -> profile -> reserve. A service's reply is what the next one is
asked with, and ``next`` in it names that service; so every service is free again before the next one works. Without
a gateway the front door returns the first step, and whoever called it goes on: Trimtab's gateway does where the
functions are deployed with ``--chain``. Inside its sandbox a function reaches no network, so that is the way there.
"""

from __future__ import annotations

import json
import urllib.request
from typing import Any

FIRST = "hotel-search"
MOST_STEPS = 10
TIMEOUT = 30.0


def call(gateway: str, function: str, args: dict[str, Any]) -> dict[str, Any]:
    """Invoke a function of the same platform."""
    request = urllib.request.Request(
        f"{gateway.rstrip('/')}/function/{function}",
        json.dumps(args).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
        found: dict[str, Any] = json.load(reply)
    return found


def main(args: dict[str, Any]) -> dict[str, Any]:
    """The reply of the last service; ``steps`` are those that were called."""
    query = {name: value for name, value in args.items() if name != "gateway"}
    reply = {**query, "next": FIRST}
    gateway = args.get("gateway")
    if gateway is None:
        return reply
    if not str(gateway).startswith(("http://", "https://")):
        return {"error": f"gateway = {gateway!r}, must be an address that begins with http:// or https://"}
    steps: list[str] = []
    while (function := reply.pop("next", None)) is not None and len(steps) < MOST_STEPS:
        steps.append(function)
        reply = call(str(gateway), function, reply)
    return {**reply, "steps": steps}
