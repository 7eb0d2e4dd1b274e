"""How long a scheduler runs: a stated model, calibrated by measurement, so that simulations repeat.

    seconds = fixed + each x tasks + pair x tasks x hosts

``trimtab calibrate schedulers`` measures and writes the coefficients. A policy that is not in the table, such as a
user's own, is taken to need no time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from trimtab.errors import TrimtabError

FILE = "runtime.json"
_LARGEST = 2**20
"""Bytes of a table."""


@dataclass(frozen=True)
class Runtime:
    """Coefficients of one scheduler, in seconds."""

    fixed: float = 0.0
    each: float = 0.0
    pair: float = 0.0

    def __post_init__(self) -> None:
        for name in ("fixed", "each", "pair"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0.0 <= value < float("inf"):
                raise TrimtabError(f"run time of a scheduler: {name} = {value!r}, must be a number from 0 on")

    def seconds(self, tasks: int, hosts: int) -> float:
        """What one decision takes."""
        return self.fixed + self.each * tasks + self.pair * tasks * hosts


FREE = Runtime()


def runtime_of(policy: str, file: str | None = None) -> Runtime:
    """The run time of a policy by its name; ``file`` is another table than the one that comes with Trimtab."""
    return calibrated(file).get(policy, FREE)


@cache
def calibrated(file: str | None = None) -> dict[str, Runtime]:
    """The table of a file, else the one that comes with Trimtab."""
    if file is None:
        return parsed(json.loads((files("trimtab.policies.assign") / FILE).read_text("utf-8")))
    try:
        with Path(file).open("rb") as opened:
            return parsed(json.loads(opened.read(_LARGEST)))
    except OSError as error:
        raise TrimtabError(f"scheduling.runtime = {file!r} cannot be read: {error.strerror or error}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise TrimtabError(
            f"scheduling.runtime = {file!r}, must be a file that trimtab calibrate schedulers has written"
        ) from None


def parsed(table: dict[str, Any]) -> dict[str, Runtime]:
    """Run times by policy out of what the file holds."""
    return {name: Runtime(**row) for name, row in table["schedulers"].items()}
