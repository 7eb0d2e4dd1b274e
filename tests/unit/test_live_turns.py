"""Whose turn it is among asynchronous calls."""

from __future__ import annotations

from trimtab.live.turns import AT_LEAST, AT_ONCE, Turns


def joined(**calls: int) -> Turns:
    turns = Turns()
    for function, count in calls.items():
        for number in range(count):
            turns.join(f"{function}{number}", function)
    return turns


def taken(turns: Turns) -> list[str]:
    found = []
    while (next_one := turns.take()) is not None:
        found.append(next_one[0])
    return found


def test_functions_are_served_in_turn_and_each_first_in_first_out() -> None:
    assert taken(joined(a=3, b=2)) == ["a0", "b0", "a1", "b1", "a2"]


def test_alone_a_function_has_every_place_and_still_another_one_gets_some() -> None:
    turns = joined(sleeps=AT_ONCE + 10)
    assert len(taken(turns)) == AT_ONCE
    for number in range(10):
        turns.join(f"quick{number}", "quick")
    assert taken(turns) == [f"quick{number}" for number in range(AT_LEAST)]


def test_beside_others_that_wait_it_has_half() -> None:
    turns = joined(a=AT_ONCE, b=AT_ONCE)
    first = taken(turns)
    assert [sum(each.startswith(name) for each in first) for name in "ab"] == [AT_ONCE // 2, AT_ONCE // 2]


def test_a_place_that_is_left_is_taken() -> None:
    turns = joined(a=AT_ONCE + 1)
    taken(turns)
    assert turns.waiting == 1
    turns.leave("a")
    assert taken(turns) == [f"a{AT_ONCE}"]
    assert turns.waiting == 0
