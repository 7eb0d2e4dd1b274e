"""What Prometheus scrapes."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

from trimtab.live.exposition import expose


def test_guards_of_placing_scaling_and_selecting_are_all_told() -> None:
    platform: Any = SimpleNamespace(functions={}, servers=[], metering=SimpleNamespace(cpu=dict))
    for name in ("placer", "scaling", "selecting"):
        setattr(platform, name, SimpleNamespace(events=Counter({f"{name} stepped in": 2, "stale metrics": 1})))
    text = expose(cast(Any, platform)).decode()
    for name in ("placer", "scaling", "selecting"):
        assert f'trimtab_guard_events_total{{reason="{name} stepped in"}} 2.0' in text
    assert 'trimtab_guard_events_total{reason="stale metrics"} 3.0' in text
