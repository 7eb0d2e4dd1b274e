"""A scenario's fingerprint: the same for the same world and load, on any machine."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePath
from typing import Any

from trimtab.scenario.model import Scenario

_WORDS: Any = {"description": True, "notes": True, "functions": {"__all__": {"code"}}}
"""What is for a reader or for the live platform, and changes no simulated run."""


def digest(scenario: Scenario) -> str:
    """SHA-256 of the scenario's JSON, keys sorted.

    A trace counts by its name alone: where it lies differs from machine to machine. So does a file of run times, and
    a scenario without one is the world that it was before there were such files.
    """
    content: dict[str, Any] = scenario.model_dump(mode="json", exclude=_WORDS)
    path = content["workload"].get("path")
    if path is not None:
        content["workload"]["path"] = PurePath(path).name
    if not content["workload"].get("sources", True):
        # tasks without gateways of their own are those of before there were such
        del content["workload"]["sources"]
    scheduling = content.get("scheduling") or {}
    times = scheduling.pop("runtime", None)
    if times is not None:
        scheduling["runtime"] = PurePath(times).name
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
