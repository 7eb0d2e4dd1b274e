"""Hotel reservation, search: checks a query and counts its nights; ``geo`` is next.

args: latitude, longitude, arrival and departure (dates), guests (2), size (200 hotels that are looked at),
customer ("guest").
"""

from __future__ import annotations

from datetime import date
from typing import Any

MOST_NIGHTS = 60


def main(args: dict[str, Any]) -> dict[str, Any]:
    """The query with the number of nights, or what is wrong with it."""
    try:
        arrival = date.fromisoformat(str(args.get("arrival", "2026-05-01")))
        departure = date.fromisoformat(str(args.get("departure", "2026-05-03")))
    except ValueError as error:
        return {"error": f"arrival and departure must be dates such as 2026-05-01: {error}"}
    nights = (departure - arrival).days
    if not 1 <= nights <= MOST_NIGHTS:
        return {"error": f"nights = {nights}, must be 1 to {MOST_NIGHTS}"}
    return {
        **args,
        "next": "hotel-geo",
        "latitude": float(args.get("latitude", 37.79)),
        "longitude": float(args.get("longitude", -122.41)),
        "arrival": arrival.isoformat(),
        "nights": nights,
        "guests": int(args.get("guests", 2)),
        "size": int(args.get("size", 200)),
        "customer": str(args.get("customer", "guest")),
    }
