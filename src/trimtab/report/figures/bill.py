"""What a run cost, in money, energy and instances."""

from __future__ import annotations

from typing import Any

from trimtab.report.field import FIELDS
from trimtab.report.figure import Figure, Runs, axis, significant

_SHOWN = (
    ("cost_usd", "Cost", "What the run's resources cost."),
    ("energy_kwh", "Energy", "Energy that all hosts used."),
    ("instance_seconds", "Capacity held", "Seconds during which instances were up, summed over instances."),
)


def bill(runs: Runs) -> list[Figure]:
    """A bar chart for each of the figures that were metered."""
    return [
        _bars(runs, name, title, caption)
        for name, title, caption in _SHOWN
        if any(runs.value(policy, name) for policy in runs.order)
    ]


def _bars(runs: Runs, name: str, title: str, caption: str) -> Figure:
    field = FIELDS[name]
    policies = [policy for policy in reversed(runs.order) if runs.value(policy, name) is not None]
    values = [float(runs.value(policy, name) or 0.0) for policy in policies]
    texts = [field.shown(value) for value in values]
    bar: dict[str, Any] = {
        "type": "bar", "orientation": "h", "y": policies, "x": significant(values), "text": texts,
        "textposition": "outside", "cliponaxis": False, "showlegend": False,
        "marker": {"color": [runs.style[policy].bar for policy in policies]},
        "hovertemplate": "%{y}: %{text} " + field.unit + "<extra></extra>",
    }  # fmt: skip
    layout = {
        "xaxis": axis(f"{field.label} ({field.unit})", range=[0, max(values) * 1.18 or 1]),
        "yaxis": axis("", type="category"),
    }
    said = ", ".join(f"{policy} {text}" for policy, text in zip(reversed(policies), reversed(texts)))
    return Figure(
        name, title, f"{caption} Mean over seeds; shorter is better.",
        f"Bar chart of {field.label} in {field.unit}: {said}.", [bar], layout, 120 + 24 * len(policies),
        half=True,
    )  # fmt: skip
