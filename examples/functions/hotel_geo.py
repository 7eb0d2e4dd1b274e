"""Hotel reservation, geo: the five hotels nearest to a place; ``rate`` is next.

args: latitude, longitude, size (hotels that are looked at), and what later services need.
"""

from __future__ import annotations

import math
from typing import Any

EARTH_KM = 6371.0
NEAREST = 5


def location(hotel: int) -> tuple[float, float]:
    """Hotels stand on a spiral around the middle of San Francisco, a golden angle apart."""
    radius, angle = 0.004 * math.sqrt(hotel), hotel * math.pi * (3.0 - math.sqrt(5.0))
    return 37.7749 + radius * math.sin(angle), -122.4194 + radius * math.cos(angle)


def distance(here: tuple[float, float], there: tuple[float, float]) -> float:
    """Kilometres over the surface of the earth (haversine)."""
    (north, east), (south, west) = ([math.radians(each) for each in place] for place in (here, there))
    half = math.sin((south - north) / 2) ** 2 + math.cos(north) * math.cos(south) * math.sin((west - east) / 2) ** 2
    return 2.0 * EARTH_KM * math.asin(math.sqrt(half))


def main(args: dict[str, Any]) -> dict[str, Any]:
    """The query with the nearest hotels and their distances."""
    here = float(args["latitude"]), float(args["longitude"])
    found = sorted((distance(here, location(hotel)), hotel) for hotel in range(int(args["size"])))
    hotels = [{"hotel": hotel, "kilometres": round(far, 3)} for far, hotel in found[:NEAREST]]
    return {**args, "next": "hotel-rate", "hotels": hotels}
