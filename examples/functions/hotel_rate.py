"""Hotel reservation, rate: what each hotel costs for the nights asked for; ``profile`` is next.

args: hotels, arrival, nights, guests, and what later services need.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any


def night_price(hotel: int, night: date, guests: int) -> int:
    """Cents: 80 to 179 by hotel, a fifth more on Friday and Saturday, half more for each guest beyond two."""
    cents = 8000 + 100 * (hotel * 37 % 100)
    cents += cents // 5 if night.weekday() in (4, 5) else 0
    return cents + max(guests - 2, 0) * cents // 2


def main(args: dict[str, Any]) -> dict[str, Any]:
    """The query with a price for each hotel, cheapest first."""
    arrival = date.fromisoformat(args["arrival"])
    nights = [arrival + timedelta(days=day) for day in range(int(args["nights"]))]
    hotels = [
        {**each, "cents": sum(night_price(each["hotel"], night, int(args["guests"])) for night in nights)}
        for each in args["hotels"]
    ]
    return {**args, "next": "hotel-profile", "hotels": sorted(hotels, key=lambda each: (each["cents"], each["hotel"]))}
