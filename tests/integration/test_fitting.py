"""Networks that were trained for other machines: found out before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import trimtab

from trimtab.control.experiment import fitting
from trimtab.control.run import build_team
from trimtab.control.selecting import selectors_of
from trimtab.policies import registry
from trimtab.policies.assign.machines import Unfit
from trimtab.scenario.load import load_scenario

OTHER_PRICE = ("--set", "hosts.0.price=0.05")
WHY = "host 0 has price = 0.05, must be 0.0472"
NETWORKS = ["decision-nn", "semi-direct", "graf", "gobi", "gosh"]


def test_who_was_not_named_and_does_not_fit_is_left_out(tmp_path: Path) -> None:
    short = ("--set", "workload.duration=60", "--set", "workload.rate=2", "--seeds", "1")
    summary = trimtab("compare", "assign-batch", *OTHER_PRICE, *short, "--json", "-", folder=tmp_path).json
    others = [name for name in registry.names("assign", "assign-batch") if name not in NETWORKS]
    assert list(summary["policies"]) == others
    note = (
        "left out, trained for other hosts: decision-nn, semi-direct, graf, gobi, gosh and selectors over such "
        f"policies (mab, select/random, select/round-robin); {WHY}; trimtab train makes new ones"
    )
    assert summary["notes"][0] == note


@pytest.mark.parametrize("name", NETWORKS)
def test_one_that_is_named_is_refused_before_anything_runs(name: str, tmp_path: Path) -> None:
    complaint = trimtab(
        "compare", "assign-batch", *OTHER_PRICE, "--policies", f"random,{name}", folder=tmp_path
    ).complaint
    assert complaint == (f"policy {name!r} was trained for other hosts: {WHY}; trimtab train makes one for these hosts")
    assert not list(tmp_path.iterdir())


def test_a_selector_over_such_policies_is_refused_too(tmp_path: Path) -> None:
    given = ("compare", "assign-batch", *OTHER_PRICE, "--policies", "select/round-robin")
    complaint = trimtab(*given, folder=tmp_path).complaint
    assert complaint.startswith(
        "policy 'round-robin' cannot run here, its candidate 'decision-nn' was trained for other"
    )
    assert WHY in complaint
    # with other candidates it can
    others = "parameters.select.candidates=[random, first-fit]"
    build_team(load_scenario("assign-batch", ["hosts.0.price=0.05", others]), "select", "round-robin")


def test_another_time_to_wake_is_another_machine() -> None:
    changed = load_scenario("metanet-azure16", ["platform.wake=10"])
    with pytest.raises(Unfit, match="has wake = 10, must be 30"):
        build_team(changed, "assign", "gobi")
    names = [*registry.names("assign", changed.name), *selectors_of(changed)]
    found, notes = fitting(changed, names)
    assert not set(NETWORKS) & set(found)
    assert "metanet-plus" not in found and "metanet" not in found
    assert len(notes) == 1


def test_on_the_machines_of_training_everybody_stays() -> None:
    batch = load_scenario("assign-batch")
    names = [*registry.names("assign", batch.name), *selectors_of(batch)]
    assert fitting(batch, names) == (names, [])
