"""A scenario's fingerprint: the same for the same world and load, on any machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePath
from typing import Any

from trimtab.scenario.model import Scenario

_WORDS = {"description", "notes"}
"""What is for a reader and changes no run."""


def digest(scenario: Scenario) -> str:
    """SHA-256 of the scenario's JSON, keys sorted.

    A trace counts by its name alone: where it lies differs from machine to machine.
    """
    content: dict[str, Any] = scenario.model_dump(mode="json", exclude=_WORDS)
    path = content["workload"].get("path")
    if path is not None:
        content["workload"]["path"] = PurePath(path).name
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
