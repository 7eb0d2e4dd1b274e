"""``trimtab reproduce`` with few seeds and short runs; rules stand in for what has not been trained."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.commands import files, trimtab

from trimtab.control.experiment import Entrant, entrants
from trimtab.errors import TrimtabError
from trimtab.papers.effort import Effort
from trimtab.papers.learned import Learned
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario

TINY = {
    "faasrank": ("workload.calls=40", "workload.duration=8"),
    "aset": ("workload.warm_up=10", "workload.duration=50", "workload.steps=[]"),
    "autoscale": ("workload.duration=300", "workload.cycle=300", "workload.spikes=0", "workload.peak_load=4"),
    "metanet": ("workload.duration=100", "parameters.select={candidates: [first-fit, best-fit, cheap-fit]}"),
}
STAND_INS = {"place": "drain-ahead", "select": "scarcity", "scale": "square-root"}


def make_tiny(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seeds, short runs, no policy that comes with Trimtab."""
    module = importlib.import_module(f"trimtab.papers.{name}")
    effort = Effort((1, 2), train=False, wide=False, overrides=TINY[name])
    monkeypatch.setattr(module, "PAPER", replace(module.PAPER, quick=effort))
    experiments = importlib.import_module(f"trimtab.papers.{name}.experiments")
    monkeypatch.setattr(
        experiments, "shipped", lambda decision, policy, scenario, name=None: Learned(decision, name or policy)
    )


def stand_in(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule under the name of the learned policy, with a learning curve."""

    def entrant(self: Learned, scenario: Scenario, **parameters: Any) -> Entrant:
        return replace(entrants(scenario, [STAND_INS[self.decision]])[0], label=self.name)

    def shipped(decision: str, policy: str, scenario: str | None, name: str | None = None) -> Learned:
        about = Description(decision=decision, policy=policy, recipe="paper", features=("a",) * 26)
        curve = tuple(
            {"unit": unit, "reward": -math.exp(-unit / 10), "p95_s": 0.3, "instances": 8.0, "cores": 12.0}
            for unit in range(1, 41)
        )
        return Learned(
            decision,
            name or policy,
            Path("somewhere"),
            Trained(about, {name: np.ones(1409) for name in ("actor", "critic")}),
            curve,
            0.01,
        )

    make_tiny(name, monkeypatch)
    monkeypatch.setattr(Learned, "entrant", entrant)
    monkeypatch.setattr(importlib.import_module(f"trimtab.papers.{name}.experiments"), "shipped", shipped)


def claims_of(result: Any) -> dict[str, Any]:
    fields = {"id", "claim", "paper", "measured", "ci95", "verdict", "why"}
    assert all(fields <= set(claim) for claim in result["claims"])
    verdicts = {"reproduced", "not reproduced", "not testable here"}
    assert {claim["verdict"] for claim in result["claims"]} <= verdicts
    return {claim["id"]: claim for claim in result["claims"]}


def test_an_unknown_paper_is_one_line(tmp_path: Path) -> None:
    complaint = trimtab("reproduce", "fasrank", folder=tmp_path).complaint
    assert (
        complaint == "paper = 'fasrank', must be one of: aset, autoscale, faasrank, metanet; did you mean 'faasrank'?"
    )
    assert "--jobs = '0'" in trimtab("reproduce", "aset", "--jobs", "0", folder=tmp_path).complaint
    assert files(tmp_path) == []


def test_without_trained_policies_claims_about_them_are_not_testable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tiny("faasrank", monkeypatch)
    claims = claims_of(trimtab("reproduce", "faasrank", "--quick", "--json", "-", folder=tmp_path).json)
    assert claims["canada-below-hashing"]["verdict"] == "not testable here"
    assert claims["canada-below-hashing"]["why"] == "not trained"
    assert claims["static-rank-below-hashing"]["verdict"] in ("reproduced", "not reproduced")
    assert len(claims["static-rank-below-hashing"]["ci95"]) == 2
    assert files(tmp_path) == []


def test_faasrank_with_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("faasrank", monkeypatch)
    result = trimtab("reproduce", "faasrank", "--quick", "--out", "out", folder=tmp_path)
    assert result.code == 0, result.err
    assert files(tmp_path / "out") == ["reproduction.html", "reproduction.json"]
    content = json.loads((tmp_path / "out" / "reproduction.json").read_text(encoding="utf-8"))
    claims = claims_of(content)
    decided = {name for name, claim in claims.items() if claim["verdict"] != "not testable here"}
    # training hours need a real platform, and the functions are not profiled in a run that is cut short
    assert set(claims) - decided == {"training-single", "training-multi", "functions"}
    assert claims["parameters"]["verdict"] == "reproduced"
    assert claims["decision-time"]["measured"] > 0.0
    table = content["tables"]["table-5"]["rows"]
    assert set(table) == {*(f"M{index}" for index in range(1, 11)), "mean"}
    assert table["M1"]["hashing"] == {"ours": 100.0, "paper": 100.0}
    assert table["M1"]["faasrank"]["paper"] == 80.82
    page = (tmp_path / "out" / "reproduction.html").read_text(encoding="utf-8")
    assert all(f'id="claim-{name}"' in page for name in claims)
    assert all(f'id="figure-figure-{each}"' in page for each in ("1", "5-canada", "6-aws", "7-canada"))
    assert "Page: out/reproduction.html" in result.out
    assert "ours | paper" in result.out


def test_autoscale_with_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("autoscale", monkeypatch)
    content = trimtab("reproduce", "autoscale", "--quick", "--json", "-", folder=tmp_path).json
    claims = claims_of(content)
    assert all(claim["verdict"] != "not testable here" for claim in claims.values())
    assert claims["horizontal-latency"]["measured"] == pytest.approx(0.6)
    assert claims["vertical-cpu"]["measured"] == pytest.approx(1500.0)
    assert claims["vertical-cpu"]["verdict"] == "reproduced"
    assert claims["learned-violations"]["verdict"] == "reproduced"
    assert set(content["tables"]) == {"learning", "policies"}


def test_aset_with_a_stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in("aset", monkeypatch)
    result = trimtab("reproduce", "aset", "--quick", "--out", ".", "--json", "-", folder=tmp_path)
    claims = claims_of(result.json)
    assert claims["dc-real"]["verdict"] == "not testable here"
    assert "RTX 2070 SUPER" in claims["dc-real"]["why"]
    assert claims["switches"]["verdict"] == "not reproduced"  # a rule never switches
    assert claims["edge-gain"]["measured"] is not None
    shares = result.json["tables"]["figure-6"]["rows"]["closest"]
    assert sum(cell["ours"] for cell in shares.values()) == pytest.approx(100.0, abs=1e-3)
    page = (tmp_path / "reproduction.html").read_text(encoding="utf-8")
    assert all(f'id="figure-figure-{each}"' in page for each in ("4", "5a", "5c", "6a", "6b", "6c", "6d"))


def make_tiny_metanet(monkeypatch: pytest.MonkeyPatch, team_of: Callable[..., list[Entrant]]) -> None:
    """Like ``make_tiny``; policies are loaded by name, so what stands in for them is given."""
    make_tiny("metanet", monkeypatch)
    monkeypatch.setattr(importlib.import_module("trimtab.papers.metanet.experiments"), "team_of", team_of)


def test_metanet_with_stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First-fit stands in for the seven schedulers, selection in turn for what selects."""
    from trimtab.papers.metanet.reported import SCHEDULERS, TABLE_1

    def team_of(scenario: Scenario, names: list[str]) -> list[Entrant]:
        learned = dict.fromkeys(SCHEDULERS, "first-fit")
        selectors = ("metanet", "metanet-plus", "select/mab", "select/dqn")
        learned |= dict.fromkeys(selectors, "select/round-robin")
        return [replace(entrants(scenario, [learned.get(name, name)])[0], label=name) for name in names]

    make_tiny_metanet(monkeypatch, team_of)
    result = trimtab("reproduce", "metanet", "--quick", "--out", ".", "--json", "-", folder=tmp_path)
    claims = claims_of(result.json)
    untested = {name: claim["why"] for name, claim in claims.items() if claim["verdict"] == "not testable here"}
    assert untested == {"plus-4-short": "metanet-short was not run, to be quick"}
    assert "least: arima-aco against round-robin" in claims["seven-beat-random"]["why"]  # ten tasks: all on cheap hosts
    assert claims["switches-shift"]["verdict"] == "reproduced"  # a third of the intervals each
    assert claims["switches-shift"]["measured"] < 50.0
    assert claims["below-mab"]["measured"] == 0.0  # both are the same stand-in
    tables = result.json["tables"]
    assert list(tables["table-1"]["rows"]) == list(TABLE_1)
    assert tables["table-1"]["rows"]["metanet"]["energy (kWh)"]["paper"] == 2.029
    costs = [tables["table-1"]["rows"][name]["cost (USD)"]["ours"] for name in ("gobi", "gosh")]
    assert costs[0] == costs[1]
    assert tables["regret"]["rows"]["clairvoyant"]["above clairvoyant (%), shift"]["ours"] == 0.0
    assert "surrogates" not in tables
    page = (tmp_path / "reproduction.html").read_text(encoding="utf-8")
    assert all(f'id="figure-{each}"' in page for each in ("costs-azure100", "choices", "sweep"))


def test_metanet_without_trained_policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trimtab.papers.metanet.results import RULES

    def team_of(scenario: Scenario, names: list[str]) -> list[Entrant]:
        if any(name not in RULES for name in names):
            raise TrimtabError("not trained")
        return entrants(scenario, names)

    make_tiny_metanet(monkeypatch, team_of)
    content = trimtab("reproduce", "metanet", "--quick", "--json", "-", folder=tmp_path).json
    reasons = {claim["why"] for name, claim in claims_of(content).items() if name != "plus-4-short"}
    assert reasons == {"not trained"}
    assert "metanet-shift: gobi took no part: not trained" in content["learned"]
    assert content["tables"]["policies-shift"]["rows"]["cheap-fit"]["core-hour (cents)"]["ours"] > 0.0
