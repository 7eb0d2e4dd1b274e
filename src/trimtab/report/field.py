"""The figures of a summary: what each is called, its unit, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Field:
    """How one figure of ``summary.json`` is shown to a person."""

    name: str
    label: str
    unit: str = ""
    better: Literal["low", "high", "neither"] = "low"
    scale: float = 1.0
    """Shown value over stored value: 100 for a share that is shown in percent."""

    @property
    def heading(self) -> str:
        """Label and unit, as in ``p95 FCT (s)``."""
        return f"{self.label} ({self.unit})" if self.unit else self.label

    def shown(self, value: float) -> str:
        """The value in its unit, to three or four digits."""
        return number(value * self.scale)


_ALL = (
    Field("requests", "requests", better="neither"),
    Field("completed", "completed", better="high"),
    Field("rejected", "rejected"),
    Field("failed", "failed"),
    Field("late", "late"),
    Field("success_rate", "success", "%", "high", 100),
    Field("mean_fct_s", "mean FCT", "s"),
    Field("p50_fct_s", "p50 FCT", "s"),
    Field("p95_fct_s", "p95 FCT", "s"),
    Field("p99_fct_s", "p99 FCT", "s"),
    Field("throughput_rps", "throughput", "1/s", "high"),
    Field("cold_start_rate", "cold", "%", scale=100),
    Field("sla_violation_rate", "violations", "%", scale=100),
    Field("cost_usd", "cost", "USD"),
    Field("usd_per_core_hour", "cost of a core-hour", "USD"),
    Field("scaling_usd", "cores and penalties", "USD"),
    Field("hosts_usd", "hosts", "USD"),
    Field("scheduling_usd", "schedulers", "USD"),
    Field("violations_usd", "penalties", "USD"),
    Field("energy_kwh", "energy", "kWh"),
    Field("cpu_utilisation", "CPU", "%", "neither", 100),
    Field("cpu_utilisation_active", "CPU of active hosts", "%", "neither", 100),
    Field("jain_fairness", "fairness", "Jain", "high"),
    Field("mean_inflight", "in flight", "mean"),
    Field("instance_seconds", "instances", "inst·s"),
    Field("core_seconds", "cores", "core·s"),
    Field("starts_stops", "starts+stops"),
    Field("changes_per_hour", "changes", "1/h"),
    Field("resizes_per_hour", "resizes", "1/h"),
    Field("offered_load", "offered load", "core·s", "neither"),
    Field("busy_core_seconds", "busy", "core·s", "neither"),
    Field("makespan_s", "makespan", "s"),
    Field("host_hours", "host-hours", "h"),
    Field("migrations", "migrations"),
    Field("waiting_tasks", "waiting", "tasks"),
    Field("work_done", "work done", "core·s", "high"),
    Field("scheduling_s", "scheduling", "s"),
    Field("raw_phi", "φ", "USD a task"),
    Field("largest_share", "most used policy", "%", "neither", 100),
    Field("cold_starts", "cold starts"),
)
FIELDS = {field.name: field for field in _ALL}
"""Known figures by name, in the order in which they are written."""

_COLUMNS = {
    "place": ("mean_fct_s", "p95_fct_s", "p99_fct_s", "success_rate", "cold_start_rate", "energy_kwh",
              "cost_usd", "jain_fairness", "mean_inflight"),
    "scale": ("scaling_usd", "sla_violation_rate", "instance_seconds", "cost_usd", "p95_fct_s", "changes_per_hour",
              "energy_kwh", "cold_start_rate", "mean_fct_s"),
    "route": ("success_rate", "late", "rejected", "failed", "p95_fct_s", "mean_fct_s", "cost_usd"),
    "assign": ("usd_per_core_hour", "cost_usd", "energy_kwh", "sla_violation_rate", "mean_fct_s", "p95_fct_s",
               "cpu_utilisation_active", "scheduling_usd", "migrations", "waiting_tasks"),
}  # fmt: skip
_PRIMARY = {
    "place": ("mean_fct_s",),
    "scale": ("scaling_usd", "instance_seconds", "cost_usd", "mean_fct_s"),
    "route": ("success_rate",),
    "assign": ("usd_per_core_hour", "cost_usd", "energy_kwh", "mean_fct_s"),
}
_SHARES = {
    "late": Field("late", "late", "%", scale=100),
    "rejected": Field("rejected", "rejected", "%", scale=100),
    "failed": Field("failed", "failed", "%", scale=100),
}

TOLERATED = 0.01
"""Violations up to this are tolerated when the cheapest autoscaler is named the best."""


def number(value: float) -> str:
    """A number for a person: three or four digits, thousands grouped, no exponent unless tiny."""
    size = abs(value)
    if value == 0:
        return "0"
    if size >= 1000:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.1f}" if value != round(value) else f"{value:.0f}"
    if size >= 10:
        return f"{value:.1f}"
    if size >= 0.1:
        return f"{value:.2f}"
    return f"{value:.2g}" if size < 0.01 else f"{value:.3f}"


def percent(change: float) -> str:
    """A signed relative change: ``−12.3 %``."""
    text = f"{abs(change) * 100:.1f}"
    if float(text) == 0:
        return "±0.0 %"
    return f"{'+' if change > 0 else '−'}{text} %"


def columns(decision: str, policies: Mapping[str, Mapping[str, Any]]) -> list[Field]:
    """The figures worth a column for a decision, those that no policy has left out.

    Counts that matter as shares (late, rejected, failed) are shown as a share of the requests. A
    column in which nothing ever happened (no cold start, no failure) is left out.
    """
    return [field for field in candidates(decision, policies) if _worth_showing(field, policies)]


def candidates(decision: str, policies: Mapping[str, Mapping[str, Any]]) -> list[Field]:
    """All columns that suit a decision and that at least one policy has a value for."""
    names = _COLUMNS.get(decision, _COLUMNS["route" if _streams(policies) else "place"])
    fields = [_SHARES.get(name, FIELDS[name]) for name in names]
    return [field for field in fields if any(field.name in figures for figures in policies.values())]


def value_of(field: Field, figures: Mapping[str, Any]) -> float | None:
    """A policy's value for a field; a share for the counts that are shown as one."""
    value = figures.get(field.name)
    if value is None:
        return None
    if field.name in _SHARES and field.unit == "%":
        return float(value) / max(float(figures["requests"]), 1.0)
    return float(value)


def primary(decision: str, policies: Mapping[str, Mapping[str, Any]]) -> Field:
    """The one figure that a decision is judged by, of those that the policies have."""
    names = _PRIMARY.get(decision, ("success_rate",) if _streams(policies) else ("mean_fct_s",))
    for name in names:
        if any(name in figures for figures in policies.values()):
            return FIELDS[name]
    return FIELDS["success_rate"]


def ranking(decision: str, policies: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Policies, best first, by the primary figure.

    A policy must not win by leaving work undone: those that complete under 99 % of what the best
    one completes come after all that do, and an autoscaler that violates more than 1 % of the
    requests comes after those that do not, by its violations.
    """
    field = primary(decision, policies)
    most = max((_completed(figures) for figures in policies.values()), default=0.0)

    def key(policy: str) -> tuple[float, float]:
        figures = policies[policy]
        value = figures.get(field.name)
        worth = float("inf") if value is None else float(value) * (-1 if field.better == "high" else 1)
        if decision == "scale":
            violations = float(figures.get("sla_violation_rate", 0.0))
            return (violations if violations > TOLERATED else 0.0, worth)
        undone = field.better == "low" and _completed(figures) < 0.99 * most
        return (1.0 if undone else 0.0, worth)

    return sorted(policies, key=key)


def best_value(field: Field, policies: Mapping[str, Mapping[str, Any]]) -> float | None:
    """The best value of a column, clairvoyants aside; None where none is better than another."""
    values = [
        value
        for figures in policies.values()
        if not figures.get("oracle") and (value := value_of(field, figures)) is not None
    ]
    if len(set(values)) < 2 or field.better == "neither":
        return None
    return max(values) if field.better == "high" else min(values)


def _streams(policies: Mapping[str, Mapping[str, Any]]) -> bool:
    return any("sla_violation_rate" in figures for figures in policies.values())


def _worth_showing(field: Field, policies: Mapping[str, Mapping[str, Any]]) -> bool:
    values: Sequence[float] = [
        value for figures in policies.values() if (value := value_of(field, figures)) is not None
    ]
    trivial = 1.0 if field.name == "success_rate" else 0.0
    return any(value != trivial for value in values)


def _completed(figures: Mapping[str, Any]) -> float:
    return float(figures.get("completed", 0.0)) / max(float(figures.get("requests", 0.0)), 1.0)
