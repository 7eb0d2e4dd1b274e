"""Fidelity as a page: the table of errors, and both distributions of every policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from trimtab.report.document import document, section, versions
from trimtab.report.fidelity import FIGURES, caption, error_text
from trimtab.report.field import FIELDS
from trimtab.report.figure import Figure, axis, line, log_axis, significant
from trimtab.report.figures.distribution import LEVELS
from trimtab.report.files import write_text
from trimtab.report.markup import definitions, figure_grid, table
from trimtab.report.palette import BLUE, INK, Style
from trimtab.sim.outcome import COMPLETED, Outcome

_SIDES = (("live", Style(BLUE, "solid", True)), ("simulated", Style(INK, "dash", True)))


def write_fidelity(
    path: Path,
    result: Mapping[str, Any],
    live: Sequence[Outcome],
    simulated: Sequence[Outcome],
    command: str,
    notes: Sequence[str] = (),
) -> Path:
    """Write the page; one file, works offline."""
    return write_text(path, fidelity_page(result, live, simulated, command, notes))


def fidelity_page(
    result: Mapping[str, Any],
    live: Sequence[Outcome],
    simulated: Sequence[Outcome],
    command: str,
    notes: Sequence[str] = (),
) -> str:
    """The page: verdict, table, a chart for each policy, what was run."""
    words = f'<p class="headline">{escape(caption(result))}</p>'
    charts = [_distribution(name, live, simulated) for name in result["policies"]]
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    about = f"<pre><code>{escape(command)}</code></pre>" + definitions([
        ("Seeds", ", ".join(map(str, result["seeds"]))), ("Versions", versions()),
    ]) + (f"<ul>{listed}</ul>" if listed else "")  # fmt: skip
    body = (
        section("result", "Live against simulated", words + _table(result))
        + section("charts", "Completion times", figure_grid([chart for chart in charts if chart is not None]))
        + section("run", "What was run", about)
    )
    return document(f"{result['scenario']}: is the simulator right?", "", body)


def _table(result: Mapping[str, Any]) -> str:
    entries = result["policies"].values()
    shown = [each for each in FIGURES if any(each.name in entry["error"] for entry in entries)]
    heads = ["policy"]
    for each in shown:
        heads += [f"{FIELDS[each.name].heading}, live", "simulated", "error"]
    rows = []
    for name, entry in result["policies"].items():
        cells = ""
        for each in shown:
            if each.name not in entry["error"]:
                cells += "<td>–</td>" * 3
                continue
            field = FIELDS[each.name]
            cells += "".join(f"<td>{field.shown(entry[side][each.name])}</td>" for side, _ in _SIDES)
            cells += f"<td>{error_text(each, entry['error'][each.name])}</td>"
        rows.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return table("fidelity", "The same requests on the real platform and in the simulator.", heads, rows)


def _distribution(policy: str, live: Sequence[Outcome], simulated: Sequence[Outcome]) -> Figure | None:
    data, medians = [], []
    for (name, style), outcomes in zip(_SIDES, (live, simulated), strict=True):
        runs = [run for run in outcomes if run.policy == policy]
        times = np.concatenate([run.fct[run.status == COMPLETED] for run in runs])
        if len(times) == 0:
            return None
        medians.append(f"{name} {np.median(times):.3g} s")
        hover = "%{y:.1f} % within %{x:.3~g} s<extra>" + name + "</extra>"
        points = significant(np.quantile(times, LEVELS))
        data.append(line(name, style, points, significant(LEVELS * 100), hovertemplate=hover))
    times_shown = [time for trace in data for time in trace["x"]]
    layout = {"xaxis": log_axis("completion time (s, logarithmic)", times_shown),
              "yaxis": axis("requests answered (%)", range=[0, 100.5])}  # fmt: skip
    return Figure(
        f"distribution-{policy}", policy, "Share of requests answered within a time, all seeds together.",
        f"Cumulative distribution under {policy}. Medians: {', '.join(medians)}.", data, layout, half=True,
    )  # fmt: skip
