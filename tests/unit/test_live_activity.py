"""Instances that nobody calls are stopped, and set going before the next call."""

from __future__ import annotations

import time

import pytest

from trimtab.live.link import Activity


def test_an_instance_is_stopped_when_idle_and_set_going_by_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, int]] = []
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    activity = Activity(3, lambda do, number: told.append((do, number)))
    activity.rest(now + 60.0)  # it has not even started
    with activity:
        activity.rest(now + 60.0)
    assert told == []
    activity.rest(now + 0.5)
    assert told == []
    activity.rest(now + 1.5)
    activity.rest(now + 1.6)
    assert told == [("freeze", 3)]
    with activity, activity:
        assert told == [("freeze", 3), ("thaw", 3)]
    assert activity.ended == 3
    assert activity.running == 0
