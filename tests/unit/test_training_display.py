"""What a person sees of a training, with a terminal and without."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from trimtab.cli.training import EvaluationDisplay, TrainingDisplay, duration
from trimtab.learn.recipe import Progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day in a list, to be set by a test."""
    now = [100.0]
    monkeypatch.setattr("trimtab.cli.training.time.monotonic", lambda: now[0])
    monkeypatch.setattr("trimtab.cli.bar.tell_if_compiling", lambda console: None)
    return now


def test_lines_now_and_then_without_a_terminal(clock: list[float]) -> None:
    out = io.StringIO()
    with TrainingDisplay("episodes", 10, 100, Console(file=out, width=60)) as display:
        for done in range(11, 101):  # 90 episodes of 50 steps, one a second
            clock[0] += 1.0
            display.trained(done, Progress(-done / 100, 50))
    lines = out.getvalue().splitlines()
    assert lines[0] == "11 of 100 episodes: reward -0.11, 50.0 steps/s, 89 s left"
    assert lines[1] == "21 of 100 episodes: reward -0.21, 50.0 steps/s, 79 s left"
    assert lines[-1] == "100 of 100 episodes: reward -1.00, 50.0 steps/s"
    assert len(lines) == 10


def test_a_bar_on_a_terminal(clock: list[float]) -> None:
    out = io.StringIO()
    console = Console(file=out, width=100, force_terminal=True, color_system=None)
    with TrainingDisplay("episodes", 0, 4, console) as display:
        clock[0] += 2.0
        display.trained(3, Progress(1.5, 100))
    assert "3/4" in out.getvalue()
    assert "reward 1.50, 50.0 steps/s" in out.getvalue()


def test_the_evaluation_has_a_bar_too() -> None:
    out = io.StringIO()
    with EvaluationDisplay(Console(file=out, width=100, force_terminal=True, color_system=None)) as display:
        display.ran("hashing", 8)
    assert "1/8" in out.getvalue()
    assert "hashing" in out.getvalue()


def test_durations() -> None:
    assert [duration(each) for each in (4.4, 89, 600, 7200)] == ["4 s", "89 s", "10 min", "2.0 h"]
