"""The paper's experiment, and what it does not ask: a load that shifts, other loads, tasks, deadlines and clusters."""

from __future__ import annotations

from collections.abc import Sequence

from trimtab.control.experiment import Entrant
from trimtab.control.run import Team, build_team
from trimtab.control.selecting import build_selection, candidate_of
from trimtab.errors import TrimtabError
from trimtab.papers.effort import Effort
from trimtab.papers.learned import Learned, learn, shipped
from trimtab.papers.metanet import reported
from trimtab.papers.metanet.results import (
    BASE,
    GRAPH,
    ORACLES,
    OVER_PLUS,
    PLUS,
    RULES,
    SHIFT,
    SWITCHING,
    TUNED,
    Results,
    Sample,
    Setting,
    sample,
)
from trimtab.papers.runs import Runner, scenario_of, team_of
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import TasksSpec

EVERYBODY = (*reported.TABLE_1, PLUS, *RULES, *TUNED, *SWITCHING)
WIDE: tuple[Setting, ...] = tuple((f"metanet-{each}", 0.0) for each in ("short", "tight", "azure50", "azure16"))
RATES = (0.6, 2.0, 3.0)
"""Of the load sweep, beside the paper's 1.2."""
_FEW = 3
"""Seeds of the oracles, which play every policy ahead in every interval."""
_FROM_LAMBDA = {
    reported.METANET: ("metanet", "paper"),
    GRAPH: ("metanet", "graph"),
    "select/mab": ("mab", "paper"),
    "select/dqn": ("dqn", "paper"),
}
"""Selectors that are trained on Λ of a scenario: policy and recipe."""

Agents = dict[str, Learned]
Missing = dict[tuple[str, str], str]
Runs = dict[str, dict[int, Sample]]


def run_all(effort: Effort, runner: Runner) -> Results:
    """Every policy on the paper's load and on one that shifts, with oracles; then other settings."""
    places = (BASE, SHIFT, *(WIDE if effort.wide else ()))
    return run_settings(effort, runner, (*places, *((BASE[0], rate) for rate in RATES)))


def run_settings(effort: Effort, runner: Runner, settings: Sequence[Setting], oracles: bool = True) -> Results:
    """Every policy on each of them; oracles, which take long, where they are asked for."""
    places = dict.fromkeys(name for name, _ in settings)
    agents = {name: agents_of(effort, runner, (name, 0.0)) for name in places}
    missing: Missing = {}
    runs: dict[Setting, Runs] = {}
    lengths: dict[Setting, float] = {}
    interval = 0.0
    for setting in settings:
        scenario = scenario_for(setting, effort.overrides)
        lengths[setting], interval = _tasks(scenario).duration, scenario.control.interval
        runs[setting] = {}
        for names, seeds in _rounds(effort, setting)[: None if oracles else 1]:
            runs[setting] |= _runs(runner, scenario, _team(scenario, names, agents[setting[0]], missing), seeds)
    return Results(effort.seeds, runs, missing, lengths, interval, tuple(_sources(agents)))


def _rounds(effort: Effort, setting: Setting) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Who runs on which seeds: a rollout takes an hour a seed, and a quick sweep is a look."""
    if setting[1]:
        return [(EVERYBODY, effort.seeds if effort.wide else effort.seeds[:2])]
    if setting not in (BASE, SHIFT):
        return [(EVERYBODY, effort.seeds)]
    rolled = effort.wide and setting == SHIFT
    oracles = [name for name in (*ORACLES, *OVER_PLUS) if rolled or not name.startswith("rollout")]
    return [((*EVERYBODY, GRAPH), effort.seeds), (tuple(oracles), effort.seeds[: _FEW if effort.wide else 1])]


def agents_of(effort: Effort, runner: Runner, setting: Setting) -> Agents:
    """What is trained on Λ of a scenario: now, or before."""
    found: Agents = {}
    for name, (policy, recipe) in _FROM_LAMBDA.items():
        found[name] = shipped("select", name.removeprefix("select/"), setting[0], name)
        if effort.train:
            scenario = scenario_for(setting, effort.overrides)
            fresh = learn(
                runner, "select", policy, scenario, recipe_name=recipe, budget=effort.budget, name=name
            )  # fmt: skip
            found[name] = fresh if fresh.folder is not None else found[name]
    return found


def _sources(agents: dict[str, Agents]) -> list[str]:
    """Where the policies with weights came from: schedulers for all scenarios, selectors for one each."""
    schedulers = [shipped("assign", name, None).source for name in reported.SCHEDULERS if name != "arima-aco"]
    selectors = {place: [*there.values(), shipped("select", PLUS, place)] for place, there in agents.items()}
    return [*schedulers, *(f"{place}: {each.source}" for place, there in selectors.items() for each in there)]


def scenario_for(setting: Setting, overrides: Sequence[str]) -> Scenario:
    """The preset with changes; where they make the run shorter, its load shifts that much faster."""
    name, rate = setting
    found = scenario_of(name, (*overrides, *([f"workload.rate={rate}"] if rate else [])))
    tasks, whole = _tasks(found), _tasks(scenario_of(name)).duration
    pace = tasks.duration / whole
    steps = tuple(step.model_copy(update={"at": step.at * pace}) for step in tasks.steps)
    return found.model_copy(update={"workload": tasks.model_copy(update={"steps": steps})})


def _tasks(scenario: Scenario) -> TasksSpec:
    assert isinstance(scenario.workload, TasksSpec)
    return scenario.workload


def _runs(runner: Runner, scenario: Scenario, team: Sequence[Entrant], seeds: Sequence[int]) -> Runs:
    found: Runs = {}
    for outcome in runner.each(scenario, team, seeds) if team else ():
        found.setdefault(outcome.policy, {})[outcome.seed] = sample(outcome)
    return found


def _team(scenario: Scenario, names: Sequence[str], agents: Agents, missing: Missing) -> list[Entrant]:
    """Those that can take part; of the others, the reason."""
    found: list[Entrant] = []
    for name in names:
        agent = agents.get(name, Learned("select", name))
        if name == GRAPH and agent.folder is None:
            continue  # a name that no policy bears
        try:
            entrant = _own(scenario, name) or agent.entrant(scenario)
            found += [entrant] if entrant is not None else team_of(scenario, [name])
        except TrimtabError as error:
            missing[scenario.name, name] = str(error)
    return found


def _own(scenario: Scenario, name: str) -> Entrant | None:
    """A rule with parameters in its name, or a selector over the candidates of metanet-plus."""
    if name in TUNED:
        return Entrant(name, Team({"assign": candidate_of(scenario, name)}))
    if name not in OVER_PLUS:
        return None
    situation = build_selection(scenario, PLUS).situation
    choice = {"candidates": list(situation.candidates), "fallback": situation.fallback}
    given = scenario.model_copy(update={"parameters": scenario.parameters | {"select": choice}})
    return Entrant(name, build_team(given, "select", OVER_PLUS[name]))
