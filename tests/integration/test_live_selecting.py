"""Select per window on a real platform: policies really change, the audit tells, and a person's word wins."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.commands import trimtab
from tests.live_platform import RunningPlatform, running_platform

from trimtab.live.client import GatewayClient
from trimtab.live.selecting import CANDIDATES

HELLO = "def main(args):\n    return {}\n"
WINDOW = 0.5


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform(select_policy="round-robin", overrides=(f"control.window={WINDOW}",)) as found:
        yield found


def decisions(client: GatewayClient) -> list[dict[str, Any]]:
    return list(client.ask("GET", "/v1/decisions?limit=1000")[1]["decisions"])


def chosen(client: GatewayClient) -> list[str]:
    return [each["chosen"] for each in decisions(client) if each["kind"] == "select"]


def calls_until(client: GatewayClient, what: Callable[[], bool]) -> None:
    """Call a function over and over until it is so."""
    end = time.monotonic() + 60.0
    while not what():
        assert time.monotonic() < end
        client.call("hello", {})
        time.sleep(0.02)


def placed_by(found: list[dict[str, Any]]) -> set[str]:
    """Who placed calls; each must be the one that was chosen last."""
    using: str | None = None
    placed: set[str] = set()
    for each in found:
        if each["kind"] == "select":
            using = each["chosen"]
        else:
            assert using in (None, each["policy"])
            placed.add(each["policy"])
    return placed


def order(client: GatewayClient, **wanted: Any) -> dict[str, Any]:
    return dict(client.ask("POST", "/v1/policy", wanted)[1])


def test_every_window_another_policy_places_calls(platform: RunningPlatform) -> None:
    client = platform.client()
    client.deploy("hello", {"code": HELLO, "memory_mb": 64})
    assert client.state()["policies"]["select"] == "round-robin"
    calls_until(client, lambda: placed_by(decisions(client)) == set(CANDIDATES))
    selected = [each for each in decisions(client) if each["kind"] == "select"]
    first = CANDIDATES.index(selected[0]["chosen"])
    in_turn = itertools.cycle((*CANDIDATES[first:], *CANDIDATES[:first]))
    assert [each["chosen"] for each in selected] == [next(in_turn) for _ in selected]
    assert {each["policy"] for each in selected} == {"round-robin"}
    assert selected[0]["candidates"] == list(CANDIDATES)
    bands = [name for _, name in client.ask("GET", "/v1/history")[1]["bands"]]
    assert set(CANDIDATES) <= set(bands)


def test_it_is_turned_off_and_on_again(platform: RunningPlatform) -> None:
    client = platform.client()
    answer = order(client, decision="select", policy=None)
    assert answer["policies"]["select"] is None
    assert answer["note"] == f"{answer['policies']['place']} goes on placing calls"
    before = len(chosen(client))
    time.sleep(3 * WINDOW)
    assert len(chosen(client)) == before
    assert client.state()["policies"]["place"] == answer["policies"]["place"]
    client.deploy("hello", {"code": HELLO, "memory_mb": 64})
    assert order(client, decision="select", policy="random")["policies"]["select"] == "random"
    calls_until(client, lambda: len(chosen(client)) >= before + 3)
    assert [each["policy"] for each in decisions(client) if each["kind"] == "select"][-1] == "random"


def test_a_person_who_switches_the_place_policy_turns_it_off(platform: RunningPlatform) -> None:
    client = platform.client()
    assert order(client, decision="select", policy="mab")["policies"]["select"] == "mab"
    answer = order(client, policy="greedy")
    assert answer["policies"] == {"place": "greedy", "scale": None, "select": None}
    assert answer["note"] == "mab no longer selects: the place policy was switched by hand"
    time.sleep(3 * WINDOW)
    assert client.state()["policies"]["place"] == "greedy"
    assert "note" not in order(client, policy="hashing")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--select", "bab"), "did you mean 'mab'?"),
        (("--select", "aset"), "cannot choose among place policies"),
        (("--select", "mab", "--policy", "hashing"), "must be left out where --select mab chooses"),
        (("--select", "mab", "--scenario", "edge-faces"), "use --policy mab"),
        (("--select", "mab", "--set", "parameters.select.candidates=[hasing]"), "did you mean 'hashing'?"),
    ],
)
def test_a_selector_that_will_not_do_is_one_line(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    assert told in trimtab("live", *arguments, "--port", "0", folder=tmp_path).complaint
