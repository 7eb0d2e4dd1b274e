"""Charts that several papers share, made of the report's own building blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trimtab.report.figure import Figure, axis, line, significant
from trimtab.report.palette import BLUE, ORANGE, Style, styles

Points = tuple[Sequence[float], Sequence[float]]


def looks(policies: Sequence[str], learned: str | None, baseline: str | None) -> dict[str, Style]:
    """A style for each policy, the learned one first; few enough policies are all shown."""
    order = [name for name in policies if name == learned] + [name for name in policies if name != learned]
    found = styles(order, baseline)
    return {name: Style(style.colour, style.dash, True) for name, style in found.items()}


def bars(
    name: str, title: str, caption: str, labels: Sequence[str], ours: Sequence[float | None],
    paper: Sequence[float | None], unit: str, *, intervals: Sequence[tuple[float, float] | None] = (),
    half: bool = True,
) -> Figure:  # fmt: skip
    """Horizontal bars, ours above the paper's, the first label at the top."""
    shown = list(reversed(labels))
    data = [_bar("ours", BLUE, shown, list(reversed(ours)), list(reversed(intervals)), unit)]
    if any(value is not None for value in paper):
        data.insert(0, _bar("paper", ORANGE, shown, list(reversed(paper)), (), unit))
    layout = {"barmode": "group", "xaxis": axis(unit), "yaxis": axis("", type="category")}
    said = ", ".join(f"{label} {value:.4g}" for label, value in zip(labels, ours) if value is not None)
    printed = ", ".join(f"{label} {value:.4g}" for label, value in zip(labels, paper) if value is not None)
    return Figure(
        name, title, caption, f"{title}, {unit}. Ours: {said or 'none'}. Paper: {printed or 'not printed'}.",
        data, layout, 150 + 44 * len(labels), legend=[("ours", BLUE), ("paper", ORANGE)][: len(data)], half=half,
    )  # fmt: skip


def _bar(
    name: str, colour: str, labels: Sequence[str], values: Sequence[float | None],
    intervals: Sequence[tuple[float, float] | None], unit: str,
) -> dict[str, Any]:  # fmt: skip
    found: dict[str, Any] = {
        "type": "bar", "orientation": "h", "name": name, "y": list(labels), "showlegend": False,
        "x": [None if value is None else float(f"{value:.6g}") for value in values], "marker": {"color": colour},
        "hovertemplate": "%{y}: %{x:.4g} " + unit + "<extra>" + name + "</extra>",
    }  # fmt: skip
    if any(interval is not None for interval in intervals):
        pairs = [(value, interval) for value, interval in zip(values, intervals)]
        found["error_x"] = {
            "type": "data", "symmetric": False, "color": "@ink", "thickness": 1.2,
            "array": [0.0 if v is None or i is None else float(f"{i[1] - v:.6g}") for v, i in pairs],
            "arrayminus": [0.0 if v is None or i is None else float(f"{v - i[0]:.6g}") for v, i in pairs],
        }  # fmt: skip
    return found


def lines(
    name: str, title: str, caption: str, curves: Mapping[str, Points], style: Mapping[str, Style], across: str,
    up: str, *, half: bool = False, height: int = 380, **more: Any,
) -> Figure:  # fmt: skip
    """A line for each policy."""
    hover = "%{y:.4g} at %{x:.4g}<extra>"
    data = [
        line(policy, style[policy], significant(x, 6), significant(y, 5), hovertemplate=f"{hover}{policy}</extra>")
        for policy, (x, y) in curves.items()
    ]
    layout = {"xaxis": axis(across), "yaxis": axis(up)} | more
    ends = ", ".join(f"{policy} {y[0]:.4g} to {y[-1]:.4g}" for policy, (_, y) in curves.items() if len(y))
    return Figure(name, title, caption, f"{title}: {up} over {across}. {ends}.", data, layout, height, half=half)
