"""What a function prints counts against the calls that the gateway knows of, not against the marks in it."""

from __future__ import annotations

from trimtab.live.cgroup import NO_GROUP, Group
from trimtab.live.isolation import Isolation
from trimtab.live.output import Output
from trimtab.live.runner import MARK
from trimtab.live.start import _in_words


def test_each_call_may_print_as_much_as_the_limit() -> None:
    output = Output("stdout", 100 + len(MARK))
    assert output.add(b"x" * 79 + b"\n" + MARK) == ["x" * 79]
    assert output.add(b"y" * 79 + b"\n" + MARK) == []  # perhaps too much: held back
    assert output.doubtful
    assert output.settle(1) == ["y" * 79]
    assert not output.doubtful
    assert output.settle(2) == []
    assert output.printed == 0


def test_marks_of_the_function_itself_do_not_help() -> None:
    output = Output("stdout", 100 + len(MARK))
    for _ in range(10):
        output.add(b"x" * 19 + b"\n" + MARK)
    assert output.doubtful
    output.settle(1)  # the gateway knows of one end only
    assert output.excessive


def test_a_mark_kept_back_saves_nothing_for_later() -> None:
    output = Output("stdout", 100 + len(MARK))
    output.add(b"x" * 59 + b"\n")
    output.settle(5)  # five calls have ended and none left a mark
    output.add(MARK * 5 + b"x" * 99 + b"\n")
    output.settle(5)
    assert output.excessive


def test_marks_without_end_do_not_fill_the_memory() -> None:
    output = Output("stdout", 100_000)
    output.add(MARK * 1_001)
    assert output.doubtful
    output.settle(0)
    assert len(output.parts) == 1
    assert output.printed == 1_001 * len(MARK)


def test_what_is_in_force_is_told_in_one_way() -> None:
    for isolation in (Isolation(False, (), False), Isolation(True, ("mount",), True)):
        for group in (NO_GROUP, Group(1, {"pids": object(), "cpu": object()})):  # type: ignore[dict-item]
            found, words = isolation.describe(group), _in_words(isolation, group)
            for kind, name in (("cpu", "CPU"), ("memory", "memory"), ("processes", "processes")):
                how = "not limited" if found[kind] == "none" else f"by {found[kind]}"
                assert f"{name} {how}" in words
