"""Numbers with units."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from trimtab.scenario.units import Bytes, BytesPerSecond, Cores, PerSecond, Seconds


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Seconds, "500 ms", 0.5),
        (Seconds, "500ms", 0.5),
        (Seconds, 3, 3.0),
        (Seconds, "1e-3", 0.001),
        (Seconds, "2 h", 7200.0),
        (Seconds, "7 µs", 7e-6),
        (Bytes, "512 MiB", 512 * 2**20),
        (Bytes, "512 MB", 512e6),
        (BytesPerSecond, "1 Gbit/s", 125e6),
        (PerSecond, "90 /min", 1.5),
        (Cores, "250m", 0.25),
        (Cores, "2 cores", 2.0),
    ],
)
def test_units_become_si(kind: object, text: object, value: float) -> None:
    assert TypeAdapter(kind).validate_python(text) == pytest.approx(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Seconds, "5 MB"),
        (Seconds, "-1 s"),
        (Seconds, "fast"),
        (Seconds, "1 s s"),
        (Seconds, ""),
        (Seconds, True),
        (Seconds, float("nan")),
        (Seconds, "nan"),
        (Bytes, float("inf")),
        (Bytes, "1 mb"),
        (BytesPerSecond, 0),
        (Cores, 0),
        (PerSecond, "-2 /s"),
        (PerSecond, None),
        (Seconds, "1" * 400),
    ],
)
def test_what_is_no_quantity(kind: object, text: object) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(kind).validate_python(text)
