"""The result in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trimtab.report.field import TOLERATED, Field, number, percent, primary, ranking

_WORDS = {
    "mean_fct_s": ("takes", "on average to complete a request"),
    "success_rate": ("answers", "of all requests in time and accurately enough"),
    "cost_usd": ("costs", "for the whole run"),
    "energy_kwh": ("uses", "of energy"),
    "instance_seconds": ("holds", "of capacity"),
}


def headline(summary: Mapping[str, Any]) -> str:
    """Two or three sentences: who is best, by how much against the baseline, and how sure that is."""
    policies = summary["policies"]
    honest = {name: figures for name, figures in policies.items() if not figures.get("oracle")}
    if not honest:
        return "Only policies that know the future were run."
    main = primary(summary["decision"], honest)
    best = ranking(summary["decision"], honest)[0]
    value = honest[best].get(main.name)
    if value is None or not any(figures.get("completed") for figures in honest.values()):
        return "No request was answered under any policy."
    text = f"{best} is the best of {len(honest)} policies: " if len(honest) > 1 else f"{best} "
    text += f"it {_says(main, value)}" if len(honest) > 1 else _says(main, value)
    text += _violations(summary["decision"], honest, best)
    return f"{text}. {_against(summary, main, best)}".strip()


def _says(field: Field, value: float) -> str:
    verb, rest = _WORDS.get(field.name, ("has", f"of {field.label}"))
    return f"{verb} {field.shown(value)} {field.unit} {rest}"


def _violations(decision: str, policies: Mapping[str, Mapping[str, Any]], best: str) -> str:
    rate = policies[best].get("sla_violation_rate")
    if decision != "scale" or rate is None:
        return ""
    if rate > TOLERATED:
        return f", but {number(rate * 100)} % of requests violate the objective, and no policy keeps to 1 %"
    return f" with {number(rate * 100)} % of requests violating the objective, the least of those within 1 %"


def _against(summary: Mapping[str, Any], main: Field, best: str) -> str:
    baseline, policies = summary["baseline"], summary["policies"]
    if best == baseline:
        return _runner_up(summary, main) if len(policies) > 1 else ""
    if baseline not in policies:
        return ""
    entry = policies[best].get("vs_baseline", {}).get(main.name)
    if entry is None:
        return ""
    value = policies[baseline].get(main.name)
    rate = policies[baseline].get("sla_violation_rate") if summary["decision"] == "scale" else None
    also = "" if rate is None else f", {number(rate * 100)} % violations"
    return f"Against {baseline} ({main.shown(value)} {main.unit}{also}) that is {_difference(entry)}"


def _runner_up(summary: Mapping[str, Any], main: Field) -> str:
    names = [name for name in ranking(summary["decision"], summary["policies"]) if name != summary["baseline"]]
    names = [name for name in names if not summary["policies"][name].get("oracle")]
    if not names:
        return ""
    text = f"It is also the baseline: no other policy improves on it. The next, {names[0]}, "
    entry = summary["policies"][names[0]].get("vs_baseline", {}).get(main.name)
    return text + (f"is at {_difference(entry)}" if entry else "cannot be compared as a ratio.")


def _difference(entry: Mapping[str, Any]) -> str:
    text = percent(entry["change"])
    if "ci95" not in entry:
        return f"{text}. One seed says nothing about chance: run more for an interval."
    low, high = entry["ci95"]
    text += f" (95 % interval {percent(low).removesuffix(' %')} to {percent(high)})"
    if low <= 0 <= high:
        return f"{text}: a difference that may be chance."
    return f"{text}: more than chance explains."
