"""Hotel reservation, reserve: books the cheapest hotel that has a room; the last of the chain.

args: hotels (cheapest first), arrival, nights, customer, folder. Bookings are files in a folder, one for each night
of a room, where DeathStarBench's application has a database: making a file that is there already fails, so no
room is sold twice. Without ``folder`` nothing is kept, and a room is always free: so it is on ``trimtab live``, whose
instances share no folder.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

ROOMS = 3


def book(folder: Path, hotel: int, nights: list[date], customer: str) -> int | None:
    """The number of the first room that is free on all nights, now taken; None where there is none."""
    for room in range(ROOMS):
        taken: list[Path] = []
        try:
            for night in nights:
                place = folder / f"{hotel}-{room}-{night.isoformat()}"
                with place.open("x", encoding="utf-8") as ledger:
                    ledger.write(customer)
                taken.append(place)
        except FileExistsError:
            for place in taken:
                place.unlink()
        else:
            return room
    return None


def main(args: dict[str, Any]) -> dict[str, Any]:
    """Which hotel and room were booked, and for how much."""
    arrival = date.fromisoformat(args["arrival"])
    nights = [arrival + timedelta(days=day) for day in range(int(args["nights"]))]
    folder = args.get("folder")
    for each in args["hotels"]:
        room = 0 if folder is None else book(Path(folder), each["hotel"], nights, str(args["customer"]))
        if room is not None:
            return {"booked": each["name"], "hotel": each["hotel"], "room": room, "cents": each["cents"]}
    return {"booked": None, "reason": "no room is free on all nights"}
