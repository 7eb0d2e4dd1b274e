"""``make bench``: every figure with its peer from the same run, printed and kept in results.json."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import Any

from benchmarks import engine
from benchmarks.assign import assign
from benchmarks.environment import environment
from benchmarks.live import live

_WHERE = Path(__file__).parent / "results.json"


def main() -> None:
    """Measure everything, print it, keep it."""
    results: dict[str, Any] = {"machine": f"{platform.machine()}, Python {platform.python_version()}"}
    for name, measure in (
        ("engine", engine.engine),
        ("hosts_growth", engine.hosts_growth),
        ("memory", engine.memory),
        ("own_policy_over_built_in", engine.own_policy_ratio),
        ("decision_us", engine.decisions),
        ("assign_ms", assign),
        ("environment", environment),
        ("live", live),
    ):
        value: Any = measure()
        if name == "memory":
            results |= value
        else:
            results[name] = value
        print(f"{name}: {json.dumps(value, indent=1)}", flush=True)
    temporary = _WHERE.with_suffix(".tmp")
    temporary.write_text(json.dumps(results, indent=1) + "\n")
    temporary.replace(_WHERE)
    print(f"kept in {_WHERE}", file=sys.stderr)


if __name__ == "__main__":
    main()
