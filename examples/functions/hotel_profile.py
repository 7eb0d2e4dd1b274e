"""Hotel reservation, profile: names and addresses of the hotels; ``reserve`` is next.

args: hotels, and what the last service needs.
"""

from __future__ import annotations

from typing import Any

FIRST = ("Grand", "Harbour", "Park", "Station", "Garden", "Old Town", "Royal")
SECOND = ("Hotel", "Inn", "House", "Residence", "Lodge")
STREETS = ("Market Street", "Mission Street", "Lombard Street", "Powell Street")


def main(args: dict[str, Any]) -> dict[str, Any]:
    """The query with what a guest wants to know of each hotel."""
    hotels = [
        {
            **each,
            "name": f"{FIRST[each['hotel'] % len(FIRST)]} {SECOND[each['hotel'] % len(SECOND)]}",
            "address": f"{each['hotel'] + 1} {STREETS[each['hotel'] % len(STREETS)]}",
            "stars": 2 + each["hotel"] % 4,
        }
        for each in args["hotels"]
    ]
    return {**args, "next": "hotel-reserve", "hotels": hotels}
