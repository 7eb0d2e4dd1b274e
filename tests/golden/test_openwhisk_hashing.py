"""OpenWhisk's hashing: Java's string hash, home invokers, steps, probing, forced placement."""

from __future__ import annotations

import numpy as np
import pytest
from tests.worlds import MIB, scenario, simulation, workload

from trimtab.sim.build import java_hash, openwhisk_hash


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("Aa", 2112),
        ("BB", 2112),  # the classic collision
        ("polygenelubricants", -(2**31)),  # the classic smallest value
        ("Zürich", ((((90 * 31 + 252) * 31 + 114) * 31 + 105) * 31 + 99) * 31 + 104 - 2**32),
    ],
)
def test_java_string_hash(text: str, value: int) -> None:
    assert java_hash(text) == value


def test_a_character_beyond_the_basic_plane_counts_as_two() -> None:
    # U+1F600 is D83D DE00 in UTF-16: 31 · 0xD83D + 0xDE00
    assert java_hash("\U0001f600") == 31 * 0xD83D + 0xDE00


def test_action_hash_is_of_namespace_and_full_name() -> None:
    assert openwhisk_hash("guest", "guest/f0") == abs(java_hash("guest") ^ java_hash("guest/f0"))


def greedy_steps(count: int) -> list[int]:
    """Pairwise coprime numbers that are coprime with ``count``."""
    kept: list[int] = []
    for candidate in range(1, count + 1):
        if all(np.gcd(candidate, other) == 1 for other in [count, *kept]):
            kept.append(candidate)
    return kept


@pytest.mark.parametrize(("count", "steps"), [(1, [1]), (2, [1]), (9, [1, 2, 5, 7]), (10, [1, 3, 7])])
def test_steps(count: int, steps: list[int]) -> None:
    assert greedy_steps(count) == steps
    run = simulation(scenario([{}], [{}] * count), workload([0.0], 1.0), place="hashing")
    run.advance()
    length = int(run.mind.memory[0])
    assert run.mind.memory[1 : 1 + length].tolist() == steps


@pytest.mark.parametrize("count", [1, 3, 10])
@pytest.mark.parametrize("name", ["f0", "image-resize", "Zürich"])
def test_probing_from_the_home_invoker(count: int, name: str) -> None:
    # each invoker takes two of 512 MiB; the probes are home, home + step, …; as all steps are coprime with the
    # count, every invoker is filled before one is overloaded
    world = scenario([{"name": name, "memory": 512 * MIB}], [{}] * count)
    run = simulation(world, workload([0.0] * 2 * count, 5.0, names=(name,)), place="hashing")
    run.advance(1.0)
    value, steps = openwhisk_hash("guest", f"guest/{name}"), greedy_steps(count)
    home, step = value % count, steps[value % len(steps)]
    expected = [(home + step * (number // 2)) % count for number in range(2 * count)]
    assert run.core.results["host"].tolist() == expected


def test_forced_placement_when_all_are_full() -> None:
    # ten invokers for two each: of 25 requests five find no slot; each overloads some invoker and waits there
    world = scenario([{"memory": 512 * MIB}], [{}] * 10)
    run = simulation(world, workload([0.0] * 25, 5.0), place="hashing")
    run.advance(1.0)
    hosts = run.core.hosts
    assert int(hosts["inflight"].sum()) == 25
    assert int(hosts["queued"].sum()) == 5
    assert np.all(hosts["inflight"] >= 2)
    np.testing.assert_array_equal(hosts["slots_free"], (1024 - 512.0 * hosts["inflight"]) * MIB)


def test_a_tenth_of_the_invokers_is_left_to_other_kinds() -> None:
    # 0.9 · 10 = 9 invokers: nobody is placed on the tenth, however full the others are
    world = scenario([{"memory": 512 * MIB}], [{}] * 10, platform={"managed_share": 0.9})
    run = simulation(world, workload([0.0] * 40, 1.0), place="hashing")
    run.advance(0.5)
    assert run.core.hosts["inflight"][9] == 0
    assert int(run.core.hosts["inflight"].sum()) == 40


def test_home_invoker_that_is_down_is_passed_over() -> None:
    value = openwhisk_hash("guest", "guest/f0")
    home, step = value % 10, [1, 3, 7][value % 3]
    world = scenario([{}], [{}] * 10, faults=[{"kind": "host-down", "host": home, "at": 0.0}])
    run = simulation(world, workload([0.5], 1.0), place="hashing")
    run.advance()
    assert run.core.results["host"].tolist() == [(home + step) % 10]
