"""Is the simulator right? The same requests live and simulated: errors by policy, and whether rankings agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
from rich import box
from rich.table import Table
from rich.text import Text

from trimtab.report.field import FIELDS, primary, ranking
from trimtab.report.statistics import t_interval
from trimtab.report.summary import Figures, figures_of, policy_summary, rounded
from trimtab.sim.outcome import COMPLETED, Outcome

BATCHES = 5
"""Parts of a run in time; their means count as independent of each other when noise is judged."""
_COLUMN = 26
"""Characters that live, simulated and error of one figure take."""
LEAST_BATCH = 10
"""Requests that both policies answered in a batch; a batch with fewer is left out."""


@dataclass(frozen=True)
class Compared:
    """A figure that is compared, and how far the simulator may be off."""

    name: str
    relative: bool
    """Whether the error is a share of the live figure; else a difference."""
    bar: float | None = None


FIGURES = (
    Compared("mean_fct_s", True, 0.15),
    Compared("p50_fct_s", True),
    Compared("p95_fct_s", True, 0.25),
    Compared("cold_start_rate", False, 0.05),
    Compared("success_rate", False),
    Compared("cpu_utilisation", False),
    Compared("busy_core_seconds", True),
)


def fidelity(scenario: str, decision: str, live: Sequence[Outcome], simulated: Sequence[Outcome]) -> dict[str, Any]:
    """The content of ``fidelity.json``."""
    real, model = _by_policy(live), _by_policy(simulated)
    seen = {name: policy_summary(_figures(runs), None) for name, runs in real.items()}
    said = {name: policy_summary(_figures(model[name]), None) for name in real}
    policies = {
        name: {"live": _chosen(seen[name]), "simulated": _chosen(said[name]), "error": errors(seen[name], said[name])}
        for name in real
    }
    bars = _bars(policies)
    order = agreement(decision, real, model, seen, said)
    return rounded(  # type: ignore[no-any-return]
        {
            "scenario": scenario,
            "decision": decision,
            "seeds": sorted({run.seed for run in live}),
            "policies": policies,
            "bars": bars,
            "ranking": order,
            "kept": all(bar["kept"] for bar in bars.values()) and not order["disagree"],
        }
    )


def errors(live: Mapping[str, Any], simulated: Mapping[str, Any]) -> dict[str, float]:
    """Simulated against live: relative for times, a difference for shares.

    Worked example: a mean of 1.1 s for 1.0 s live is 0.1; 22 % cold starts for 20 % live is 0.02.
    """
    found = {}
    for each in FIGURES:
        real, said = live.get(each.name), simulated.get(each.name)
        if real is None or said is None or (each.relative and real == 0):
            continue
        found[each.name] = said / real - 1.0 if each.relative else said - real
    return found


def agreement(
    decision: str,
    live: Mapping[str, Sequence[Outcome]],
    simulated: Mapping[str, Sequence[Outcome]],
    seen: Mapping[str, Mapping[str, Any]],
    said: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """For every two policies whose live difference is beyond noise: does the simulator say the same?

    Two that did the very same in simulation, on every seed, are one policy there (a selector that stays with its
    fallback, say): a tie that says nothing of their order, so such pairs are named and not counted.
    """
    figure = primary(decision, seen)
    if len({summary.get(figure.name) for summary in seen.values()}) == 1:
        figure = FIELDS["mean_fct_s"]  # all are equally good by it: by the time that they take
    beyond, disagree = 0, []
    same = [pair for pair in combinations(live, 2) if identical(simulated[pair[0]], simulated[pair[1]])]
    pairs = [pair for pair in combinations(live, 2) if pair not in same]
    for one, other in pairs:
        real = differences(figure.name, live[one], live[other])
        interval = t_interval(real)
        if interval is None or interval[0] <= 0.0 <= interval[1]:
            continue
        beyond += 1
        model = float(differences(figure.name, simulated[one], simulated[other]).mean())
        if model * float(real.mean()) <= 0.0:
            disagree.append({"pair": [one, other], "live": float(real.mean()), "ci95": interval, "simulated": model})
    return {
        "figure": figure.name,
        "live": ranking(decision, seen),
        "simulated": ranking(decision, said),
        "pairs": len(pairs),
        "beyond_noise": beyond,
        "agree": beyond - len(disagree),
        "disagree": disagree,
        "same_in_simulation": [list(pair) for pair in same],
    }


_DECIDED = ("host", "worker", "status", "start", "completion")
"""Columns that are alike, request by request, where the decisions were."""


def identical(one: Sequence[Outcome], other: Sequence[Outcome]) -> bool:
    """Whether two policies did the same to every request of every seed."""
    partners = {run.seed: run for run in other}
    return all(
        run.seed in partners
        and np.array_equal(getattr(run, column), getattr(partners[run.seed], column), equal_nan=True)
        for run in one
        for column in _DECIDED
    )


def differences(figure: str, one: Sequence[Outcome], other: Sequence[Outcome]) -> npt.NDArray[np.float64]:
    """Mean difference of a figure between two policies in each batch of each seed, request by request.

    Both met the same requests in a seed. Requests that overlap in time share their fate, so single ones are not
    independent; the means of batches far longer than a request nearly are.
    """
    found = []
    partners = {run.seed: run for run in other}
    for run in one:
        partner = partners[run.seed]
        gap = _values(figure, run) - _values(figure, partner)
        edges = np.linspace(run.arrival[0], run.arrival[-1], BATCHES + 1)[1:-1]
        batch = np.searchsorted(edges, run.arrival, side="right")
        for number in range(BATCHES):
            known = gap[(batch == number) & np.isfinite(gap)]
            if len(known) >= LEAST_BATCH:
                found.append(float(known.mean()))
    return np.array(found)


def fidelity_table(result: Mapping[str, Any], width: int = 80) -> Table:
    """Policies with live and simulated figures, and the error of each; columns that do not fit are left out."""
    seeds = len(result["seeds"])
    table = Table(
        box=box.SIMPLE_HEAD, caption=caption(result), caption_justify="left", padding=(0, 1, 0, 0), pad_edge=False,
        title=f"{result['scenario']}, {seeds} seed{'s' if seeds > 1 else ''}: live, simulated, error",
        title_justify="left",
    )  # fmt: skip
    entries = result["policies"]
    table.add_column("policy", no_wrap=True)
    for each in _fitting(entries, width):
        field = FIELDS[each.name]
        for heading in (f"{field.label}\nlive", f"{field.unit}\nsim", "\nerror"):
            table.add_column(heading, justify="right", no_wrap=True)
    for name, entry in entries.items():
        table.add_row(name, *(cell for each in _fitting(entries, width) for cell in _cells(each, entry)))
    return table


def _fitting(entries: Mapping[str, Any], width: int) -> list[Compared]:
    """What is judged first, then as much as there is room for."""
    present = [each for each in FIGURES if any(each.name in entry["error"] for entry in entries.values())]
    ordered = sorted(present, key=lambda each: each.bar is None)
    room = (width - max(map(len, entries)) - 1) // _COLUMN
    return ordered[: max(room, 1)]


def caption(result: Mapping[str, Any]) -> str:
    """The verdict in words."""
    bars = "; ".join(
        f"{FIELDS[name].label} {'within' if bar['kept'] else 'NOT within'} {_limit(name, bar)}: worst {bar['shown']}"
        for name, bar in result["bars"].items()
    )
    order = result["ranking"]
    words = f"{order['beyond_noise']} of {order['pairs']} pairs of policies differ live by more than noise, "
    words += "the simulator ranks all of them alike" if not order["disagree"] else (
        f"the simulator ranks {order['agree']} of them alike"
    )  # fmt: skip
    return f"{bars}. {words}.{_same(order.get('same_in_simulation', ()))}"


def _same(pairs: Sequence[Sequence[str]]) -> str:
    """Which policies are no pair to be ranked."""
    if not pairs:
        return ""
    named = ", ".join(" and ".join(pair) for pair in pairs)
    return f" Not counted, because they did the very same in simulation: {named}."


def error_text(each: Compared, error: float) -> str:
    """``+3.1 %`` of a time, ``-0.4 pt`` of a share."""
    return f"{100 * error:+.1f} {'%' if each.relative else 'pt'}"


def _cells(each: Compared, entry: Mapping[str, Any]) -> list[Text]:
    if each.name not in entry["error"]:
        return [Text("–")] * 3
    field, error = FIELDS[each.name], entry["error"][each.name]
    missed = each.bar is not None and abs(error) > each.bar
    sides = [Text(field.shown(entry[side][each.name])) for side in ("live", "simulated")]
    return [*sides, Text(error_text(each, error), style="red" if missed else "")]


def _bars(policies: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    found = {}
    for each in FIGURES:
        values = {name: entry["error"][each.name] for name, entry in policies.items() if each.name in entry["error"]}
        if each.bar is None or not values:
            continue
        policy = max(values, key=lambda name: abs(values[name]))
        found[each.name] = {
            "limit": each.bar, "worst": values[policy], "policy": policy, "kept": abs(values[policy]) <= each.bar,
            "shown": error_text(each, values[policy]),
        }  # fmt: skip
    return found


def _limit(name: str, bar: Mapping[str, Any]) -> str:
    relative = next(each.relative for each in FIGURES if each.name == name)
    return f"{100 * bar['limit']:g} {'%' if relative else 'points'}"


def _values(figure: str, run: Outcome) -> npt.NDArray[np.float64]:
    if figure == "success_rate":
        return np.asarray((run.status == COMPLETED) & ~run.late & run.accurate, np.float64)
    return np.where(run.status == COMPLETED, run.fct, np.nan)


def _figures(runs: Sequence[Outcome]) -> dict[int, Figures]:
    return {run.seed: figures_of(run) for run in runs}


def _chosen(summary: Mapping[str, Any]) -> dict[str, Any]:
    names = ("requests", "completed", "rejected", "failed", *(each.name for each in FIGURES), "p99_fct_s")
    return {name: summary[name] for name in names if name in summary}


def _by_policy(runs: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for run in runs:
        found.setdefault(run.policy, []).append(run)
    return found
