"""Numbers with units: a YAML file may say ``512 MB`` or ``500 ms``; the model holds SI units."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_BYTES = {
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
}  # fmt: skip
_BYTES_PER_SECOND = {f"{unit}/s": scale for unit, scale in _BYTES.items()} | {
    "bit/s": 1 / 8, "kbit/s": 1e3 / 8, "Mbit/s": 1e6 / 8, "Gbit/s": 1e9 / 8,
}  # fmt: skip
_RATE = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600, "1/s": 1.0, "1/min": 1 / 60, "1/h": 1 / 3600}
_CORES = {"cores": 1.0, "core": 1.0, "m": 1e-3}
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(\S*)\s*\Z")


def parse_quantity(value: Any, units: dict[str, float], what: str, example: str) -> float:
    """Turn ``value`` (a number in SI units, or text with a unit) into a finite float."""
    hint = f"must be {what} such as {example}"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(hint)
    if isinstance(value, str):
        match = _NUMBER.match(value)
        if match is None or (match[2] and match[2] not in units):
            raise ValueError(f"{hint} (units: {', '.join(units)})")
        value = float(match[1]) * (units[match[2]] if match[2] else 1.0)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{hint}, and finite")
    return number


def _quantity(units: dict[str, float], what: str, example: str) -> BeforeValidator:
    return BeforeValidator(lambda value: parse_quantity(value, units, what, example))


Seconds = Annotated[float, _quantity(_SECONDS, "a time", "500 ms"), Field(ge=0)]
"""A time in seconds."""
Bytes = Annotated[float, _quantity(_BYTES, "a size", "512 MiB"), Field(ge=0)]
"""A size in bytes."""
BytesPerSecond = Annotated[float, _quantity(_BYTES_PER_SECOND, "a bandwidth", "1 Gbit/s"), Field(gt=0)]
"""A bandwidth in bytes per second."""
PerSecond = Annotated[float, _quantity(_RATE, "a rate", "5 /s"), Field(ge=0)]
"""A rate per second."""
Cores = Annotated[float, _quantity(_CORES, "a number of cores", "250m"), Field(gt=0)]
"""A number of cores; ``250m`` is a quarter."""
Fraction = Annotated[float, Field(ge=0, le=1)]
"""A share between 0 and 1."""
