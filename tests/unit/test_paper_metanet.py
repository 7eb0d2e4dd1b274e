"""MetaNet's reproduction by worked numbers: the paper's table, figures of a run, claims, tables and Fig. 3."""

from __future__ import annotations

import pytest

from trimtab.papers.claim import Finding, Verdict, decide
from trimtab.papers.metanet import reported
from trimtab.papers.metanet.claims import CLAIMS
from trimtab.papers.metanet.experiments import scenario_for
from trimtab.papers.metanet.figures import all_figures
from trimtab.papers.metanet.reported import BASELINES, METANET, SCHEDULERS
from trimtab.papers.metanet.results import (
    BASE,
    COST,
    COST_OF_TASK,
    GRAPH,
    OBJECTIVE,
    PLUS,
    RULES,
    SCHEDULING,
    SHIFT,
    SWITCHING,
    TUNED,
    Results,
    Sample,
    own_figures,
    shares_of,
)
from trimtab.papers.metanet.tables import all_tables, best_of_seed
from trimtab.scenario.workload import TasksSpec


def against_best(column: str) -> float:
    best = min(float(getattr(reported.TABLE_1[name], column)) for name in BASELINES)
    return 100.0 * (best - float(getattr(reported.TABLE_1[METANET], column))) / best


def test_the_abstracts_percentages_are_those_of_table_1_except_energy() -> None:
    assert int(against_best("cost_usd")) == reported.COST_LOWER
    assert int(against_best("violations")) == reported.VIOLATIONS_LOWER
    assert against_best("energy_kwh") == pytest.approx(30.5, abs=0.05)
    energies = {name: row.energy_kwh for name, row in reported.TABLE_1.items()}
    saved = [100.0 * (value - energies[METANET]) / value for name, value in energies.items() if name != METANET]
    assert not any(42.5 <= value < 43.5 for value in saved)


def test_table_1_has_metanet_first_in_every_column() -> None:
    rows = [row for name, row in reported.TABLE_1.items() if name != METANET]
    ours = reported.TABLE_1[METANET]
    assert len(rows) == 9
    assert all(min(row[index] for row in rows) > ours[index] for index in range(4))
    assert max(row.cpu for row in rows) < ours.cpu


def test_the_papers_cost_leaves_out_the_price_of_violations() -> None:
    found = own_figures({
        "hosts_usd": 5.0, "scheduling_usd": 1.0, "violations_usd": 2.0, "cost_usd": 8.0, "energy_kwh": 10.0,
        "completed": 1200, "work_done": 7200.0,
    })  # fmt: skip
    assert found[COST] == 6.0
    assert found[COST_OF_TASK] == 0.005
    assert found[OBJECTIVE] == pytest.approx((5.0 + 2.0 + 0.1 * 10.0) / 2.0)
    assert found[SCHEDULING] == 0.125


def test_shares_of_the_intervals_end_with_the_arrivals() -> None:
    # 400 s of the one, then 600 s of the other; what it does while the last tasks end is not counted
    bands = [(0.0, "gobi"), (400.0, "gosh"), (1200.0, "gobi")]
    assert shares_of(bands, 1000.0) == pytest.approx({"gobi": 0.4, "gosh": 0.6})
    assert shares_of([], 1000.0) == {}


def test_a_shorter_run_shifts_that_much_faster() -> None:
    whole, short = scenario_for(SHIFT, ()).workload, scenario_for(SHIFT, ("workload.duration=1000",)).workload
    assert isinstance(whole, TasksSpec) and isinstance(short, TasksSpec)
    assert [step.at for step in short.steps] == pytest.approx([step.at / 10.0 for step in whole.steps])
    assert [step.rate for step in short.steps] == [step.rate for step in whole.steps]
    assert short.duration == 1000.0
    swept = scenario_for((BASE[0], 3.0), ()).workload
    assert isinstance(swept, TasksSpec) and swept.rate == 3.0


def sample(cost: float, bands: list[tuple[float, str]] | None = None, **more: float) -> Sample:
    """A run in which a core-hour costs so many cents; violations, energy and time follow the cost."""
    figures = {
        "usd_per_core_hour": cost / 100.0, "energy_kwh": cost, "mean_fct_s": 100.0 * cost, "raw_phi": cost / 100.0,
        "sla_violation_rate": cost / 100.0, "cpu_utilisation_active": 1.0 - cost / 100.0, "cpu_utilisation": 0.2,
        COST: cost, COST_OF_TASK: cost / 100.0, OBJECTIVE: cost, SCHEDULING: 0.01,
    }  # fmt: skip
    return Sample(figures | more, bands or [])


def results(metanet: float = 2.0, plus: float = 1.5) -> Results:
    """Three seeds; schedulers cost 3 to 3.6 cents, rules 4, random 8; noise of ±0.01 is the same for all."""
    costs = {name: 3.0 + 0.1 * index for index, name in enumerate(SCHEDULERS)}
    costs |= dict.fromkeys((*RULES, *TUNED), 4.0) | {"random": 8.0, "round-robin": 8.0}
    costs |= {"select/mab": 3.2, "select/dqn": 3.3, METANET: metanet, GRAPH: 2.5, PLUS: plus}
    costs |= dict.fromkeys(SWITCHING, 3.5)
    bands = {METANET: [(0.0, "gobi"), (300.0, "gosh"), (900.0, "arima-aco")],
             PLUS: [(0.0, "cheap-fit"), (950.0, "gosh")]}  # fmt: skip
    runs = {
        name: {seed: sample(cost + 0.01 * seed, bands.get(name)) for seed in (1, 2, 3)} for name, cost in costs.items()
    }
    runs[METANET][1] = Sample(
        runs[METANET][1].figures,
        bands[METANET],
        [(10.0 * i, {"gobi": 1.0, "gosh": 2.0, "graf": 3.0}) for i in range(90)],
    )
    return Results((1, 2, 3), {BASE: runs, SHIFT: runs}, {}, {BASE: 1000.0, SHIFT: 1000.0})


def verdicts(found: Results) -> dict[str, Finding]:
    return {finding.id: finding for finding in decide(CLAIMS, found)}


def test_claims_where_metanet_is_better_than_all() -> None:
    claims = verdicts(results())
    assert len(claims) == len(CLAIMS)
    cost = claims["lowest-cost"]
    # 2.02 against the 3.02 of the best other row
    assert cost.measured == pytest.approx(100.0 / 3.02)
    assert "arima-aco" in cost.why and "not in Table 1: 0.0402" in cost.why
    expected = {"lowest-cost", "lowest-cost-shift", "cost-11", "sla-13", "lowest-response", "highest-cpu", "below-mab",
                "below-dqn", "below-mab-shift", "below-dqn-shift", "switches", "same-three", "seven-beat-random",
                "plus-lowest-cost-shift", "plus-2-shift", "plus-never-behind",
                "plus-below-selectors-shift"}  # fmt: skip
    assert {name for name, claim in claims.items() if claim.verdict is Verdict.REPRODUCED} == expected
    assert claims["energy-43"].why.startswith("same direction, but smaller")
    assert claims["scheduling-cost"].measured == pytest.approx(1.0)
    assert claims["switches-shift"].measured == pytest.approx(95.0)
    assert claims["highest-cpu"].measured == pytest.approx(1.0)


def test_claims_where_metanet_is_worse_are_not_reproduced() -> None:
    claims = verdicts(results(metanet=3.5, plus=4.2))
    assert claims["lowest-cost"].verdict is Verdict.NOT_REPRODUCED
    assert claims["cost-11"].why.startswith("the opposite direction")
    never = claims["plus-never-behind"]
    assert never.verdict is Verdict.NOT_REPRODUCED
    assert never.measured == pytest.approx(-100.0 * 1.2 / 3.02)


def test_nothing_is_below_zero() -> None:
    found = results()
    for runs in (found.runs[BASE]["gosh"], found.runs[BASE][METANET]):
        for each in runs.values():
            each.figures["sla_violation_rate"] = 0.0
    claim = verdicts(found)["sla-13"]
    assert claim.verdict is Verdict.NOT_REPRODUCED
    assert "gosh is at zero" in claim.why


def test_what_is_missing_is_not_testable_and_says_why() -> None:
    found = results()
    missing = Results(
        found.seeds,
        {BASE: {name: runs for name, runs in found.runs[BASE].items() if name != "gosh"}},
        {(BASE[0], "gosh"): "gosh is not trained"},
        found.lengths,
    )
    claims = verdicts(missing)
    assert claims["lowest-cost"].why == "gosh is not trained"
    assert claims["lowest-cost-shift"].why == "metanet-shift was not run, to be quick"
    assert claims["below-mab"].verdict is Verdict.REPRODUCED


def test_tables_stand_beside_the_papers() -> None:
    tables = {table.name: table for table in all_tables(results())}
    assert list(tables) == [
        "table-1", "policies-azure100", "policies-shift", "schedulers", "sweep", "regret", "choices", "surrogates",
    ]  # fmt: skip
    surrogates = tables["surrogates"].rows
    assert [row[0].ours for row in surrogates.values()] == pytest.approx([2.02, 2.52])
    row = tables["table-1"].rows[METANET]
    assert row[0].ours == pytest.approx(2.02)
    assert row[0].paper == 0.667
    assert row[1].paper is None
    choices = dict(zip(tables["choices"].columns, tables["choices"].rows["metanet, azure100"]))
    assert {name: cell.ours for name, cell in choices.items()} == pytest.approx(
        {"arima-aco": 10.0, "gobi": 30.0, "gosh": 60.0, "cheap-fit": 0.0}
    )
    assert best_of_seed(results(), BASE) == pytest.approx({1: 0.0301, 2: 0.0302, 3: 0.0303})
    regret = dict(zip(tables["regret"].columns, tables["regret"].rows["random"]))
    assert regret["above best fixed of the seed (%), azure100"].ours == pytest.approx(100.0 * 5.0 / 3.02)


def test_figure_3_has_lines_for_three_policies_and_the_choice_behind_them() -> None:
    found = results()
    figures = {figure.name: figure for figure in all_figures(found, {table.name: table for table in all_tables(found)})}
    figure = figures["figure-3-azure100"]
    assert [line["name"] for line in figure.data] == ["gosh", "gobi", "arima-aco"]
    assert figure.data[0]["x"][:3] == [0.0, 1.0, 2.0]
    bands = [(shape["x0"], shape["x1"]) for shape in figure.layout["shapes"]]
    assert bands == [(0.0, 30.0), (30.0, 90.0), (90.0, 100.0)]
    assert [shape["fillcolor"] for shape in figure.layout["shapes"]] == [
        figure.data[index]["line"]["color"] for index in (1, 0, 2)
    ]
    assert {"costs-azure100", "costs-shift", "choices", "sweep"} <= set(figures)
