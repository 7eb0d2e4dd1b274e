"""How a trained policy does on seeds that training never saw, against every rule of its decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.control.experiment import Experiment, entrants, fitting
from trimtab.control.run import decisions_of
from trimtab.errors import TrimtabError
from trimtab.learn.recipe import TRAINING_SEEDS
from trimtab.policies import registry
from trimtab.report.field import FIELDS, TOLERATED, Field, columns, primary
from trimtab.report.statistics import Change, paired_change, t_interval
from trimtab.report.summary import Figures, figures_of, policy_summary, rounded
from trimtab.scenario.digest import digest
from trimtab.scenario.model import Scenario

Watch = Callable[[str, int], None]
"""Called after each run with the policy's name and how many runs there are in all."""
Runs = Mapping[int, Figures]
BETTER, TIED, WORSE = "better", "tied", "worse"
_COUNTS = ("requests", "completed")
_UNDONE = 0.99
"""A policy must not win by leaving work undone: below this share of what the other completes, it is worse."""


def check_seeds(seeds: Sequence[int]) -> None:
    """Refuse seeds that training may have seen."""
    for seed in seeds:
        if seed >= TRAINING_SEEDS:
            raise TrimtabError(
                f"--evaluation-seeds: {seed}, must be below {TRAINING_SEEDS:,}: training uses those from there on"
            )


def rules(scenario: Scenario, decision: str) -> list[str]:
    """The baselines: every rule of the decision; for a selector the rules that it could choose among, and selectors."""
    below = decision if decision != "select" else judged_as(scenario, decision)
    found = [name if below == scenario.decision else f"{below}/{name}" for name in registry.BUILT_IN[below]]
    return found if decision != "select" else found + [f"select/{name}" for name in registry.BUILT_IN["select"]]


def judged_as(scenario: Scenario, decision: str) -> str:
    """The decision by whose figures a policy is judged: a selector's is that of the policies which it selects."""
    if decision != "select":
        return decision
    return scenario.decision if scenario.decision != "select" else decisions_of(scenario)[0]


def evaluate(
    scenario: Scenario, decision: str, folder: Path, seeds: Sequence[int], jobs: int, watch: Watch
) -> dict[str, Any]:
    """``evaluation`` of ``policy.json``: figures of all, and the verdict against each baseline."""
    check_seeds(seeds)
    baselines, _ = fitting(scenario, rules(scenario, decision))
    experiment = Experiment(scenario, entrants(scenario, [str(folder), *baselines]), seeds, jobs)
    label = experiment.entrants[0].label
    figures: dict[str, dict[int, Figures]] = {}
    with closing(iter(experiment)) as runs:
        for entrant, outcome in runs:
            figures.setdefault(entrant.label, {})[outcome.seed] = figures_of(outcome)
            watch(entrant.label, experiment.runs)
    mine = figures.pop(label)
    found = compared(judged_as(scenario, decision), mine, figures)
    return {"scenario": scenario.name, "hash": digest(scenario), "seeds": list(seeds), **found}


def compared(decision: str, mine: Runs, baselines: Mapping[str, Runs]) -> dict[str, Any]:
    """The policy's figures, and each baseline's with the policy's change against it, paired by seed."""
    means = {"": policy_summary(mine, None)} | {name: policy_summary(runs, None) for name, runs in baselines.items()}
    main = primary(decision, means)
    shown = list(dict.fromkeys([main.name, *(field.name for field in columns(decision, means)), *_COUNTS]))
    result: dict[str, Any] = {
        "decision": decision,
        "figure": main.name,
        "policy": {name: means[""][name] for name in shown if name in means[""]},
        "baselines": {},
        "verdict": {BETTER: [], TIED: [], WORSE: []},
    }
    for name, runs in baselines.items():
        judged_by, change, verdict = judge(decision, main, mine, runs)
        entry: dict[str, Any] = {each: means[name][each] for each in shown if each in means[name]}
        entry["judged_by"] = judged_by
        if change is not None:
            entry["change"] = change.change
            if change.low is not None:
                entry["ci95"] = [change.low, change.high]
        entry["verdict"] = verdict
        result["baselines"][name] = entry
        result["verdict"][verdict].append(name)
    return rounded(result)  # type: ignore[no-any-return]


def judge(decision: str, main: Field, mine: Runs, other: Runs) -> tuple[str, Change | None, str]:
    """By which figure, the paired change in it, and whether the policy is better, tied or worse.

    The figure is the decision's own. Work left undone comes before it; for autoscalers the objective does: who
    keeps violations within 1 % beats who does not, and where both do not, the violations decide. Better and
    worse mean that the 95 % interval leaves out zero.
    """
    done = _share(mine, "completed"), _share(other, "completed")
    if decision == "scale" and main.name != "scaling_usd":  # there they have a price
        violations = _mean(mine, "sla_violation_rate"), _mean(other, "sla_violation_rate")
        if max(violations) > TOLERATED:
            field = FIELDS["sla_violation_rate"]
            change = _change(field.name, mine, other)
            if min(violations) <= TOLERATED:
                return field.name, change, BETTER if violations[0] <= TOLERATED else WORSE
            return field.name, change, _verdict(field, mine, other)
    elif main.better == "low" and done[0] < _UNDONE * done[1]:
        return "completed", _change("completed", mine, other), WORSE
    elif main.better == "low" and done[1] < _UNDONE * done[0]:
        return "completed", _change("completed", mine, other), BETTER
    return main.name, _change(main.name, mine, other), _verdict(main, mine, other)


def _verdict(field: Field, mine: Runs, other: Runs) -> str:
    """From the interval of the differences themselves: there is one also where the other's figure is zero."""
    ours, theirs = _by_seed(field.name, mine), _by_seed(field.name, other)
    differences = np.array([ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys())])
    low, high = t_interval(differences) or (0.0, 0.0)
    if low <= 0.0 <= high:
        return TIED
    return BETTER if (high < 0.0) == (field.better == "low") else WORSE


def _change(name: str, mine: Runs, other: Runs) -> Change | None:
    return paired_change(_by_seed(name, mine), _by_seed(name, other))


def _by_seed(name: str, runs: Runs) -> dict[int, float]:
    return {seed: figures[name] for seed, figures in runs.items() if name in figures}


def _mean(runs: Runs, name: str) -> float:
    return sum(figures.get(name, 0.0) for figures in runs.values()) / max(len(runs), 1)


def _share(runs: Runs, name: str) -> float:
    return _mean(runs, name) / max(_mean(runs, "requests"), 1e-9)
