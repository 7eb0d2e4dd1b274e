"""``report.html``: one page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from trimtab.report.document import document, section, versions
from trimtab.report.field import number
from trimtab.report.figure import Runs
from trimtab.report.figures import all_figures
from trimtab.report.files import write_text
from trimtab.report.headline import headline
from trimtab.report.markup import definitions, fairness_table, figure_grid, results_table
from trimtab.scenario.model import Scenario
from trimtab.sim.outcome import Outcome

_LONGEST_SCENARIO = 60_000


def write_report(
    path: Path, scenario: Scenario, summary: Mapping[str, Any], outcomes: Sequence[Outcome], command: str
) -> Path:
    """Write the report of a comparison as one HTML file that works offline."""
    return write_text(path, report(scenario, summary, outcomes, command))


def report(scenario: Scenario, summary: Mapping[str, Any], outcomes: Sequence[Outcome], command: str) -> str:
    """The page: what came out, charts, fairness, what was run, and how to read it.

    It holds no time of day and no wall-clock figure: the same runs give the same bytes.
    """
    runs = Runs(dict(summary), outcomes, _deadline(scenario))
    body = [
        section("result", "Result", f'<p class="headline">{escape(headline(summary))}</p>' + results_table(runs)),
        section("charts", "Charts", figure_grid(all_figures(runs))),
        section("fairness-section", "Fairness between functions", fairness_table(runs)),
        section("run", "What was run", _about(scenario, runs, command)),
        section("reading", "How to read this", _GLOSSARY),
    ]
    title = f"{scenario.name}: {len(runs.order)} {summary['decision']} policies compared"
    return document(title, scenario.description, "".join(body))


def _about(scenario: Scenario, runs: Runs, command: str) -> str:
    seeds = runs.summary["seeds"]
    figures = runs.summary["policies"][runs.order[0]]
    facts = definitions([
        ("Scenario", scenario.name),
        ("Decision", runs.summary["decision"]),
        ("Hosts", _hosts(scenario)),
        ("Functions", _some([function.name for function in scenario.functions])),
        ("Applications", _some([application.name for application in scenario.applications])),
        ("Requests", f"{number(figures['requests'])} per seed, the same for every policy"),
        ("Seeds", _some([str(seed) for seed in seeds], 20)),
        ("Versions", versions()),
    ])  # fmt: skip
    notes = [*scenario.notes, *runs.summary.get("notes", [])]
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    text = f"<p>This command gives the same figures again.</p><pre><code>{escape(command)}</code></pre>"
    text += facts + (f"<h3>Assumptions and remarks</h3><ul>{listed}</ul>" if notes else "")
    source = scenario.model_dump_json(indent=1, exclude_defaults=True)
    if len(source) <= _LONGEST_SCENARIO:
        summary = "<summary>The scenario in full</summary>"
        text += f"<details>{summary}<pre><code>{escape(source)}</code></pre></details>"
    return text


def _hosts(scenario: Scenario) -> str:
    parts = [f"{hosts.count} × {hosts.name} ({hosts.cores:g} cores)" for hosts in scenario.hosts]
    return _some(parts, 12)


def _some(names: Sequence[str], most: int = 15) -> str:
    text = ", ".join(names[:most])
    return f"{text} and {len(names) - most} more" if len(names) > most else text


def _deadline(scenario: Scenario) -> float | None:
    deadlines = {function.deadline for function in scenario.functions if function.deadline is not None}
    return deadlines.pop() if len(deadlines) == 1 else None


_GLOSSARY = definitions([
    ("FCT", "Function completion time: from arrival to answer, waiting and cold start included."),
    ("p95, p99", "95 or 99 of 100 requests took no longer than this."),
    ("Change and interval", "Every policy met the same requests in a seed, so differences are taken seed by "
     "seed and divided by the baseline's mean; the interval is Student's at 95 %. Where it holds zero, the "
     "difference may be chance. Many comparisons at once make some of them look significant."),
    ("Cold", "Share of accepted requests that had to wait for a new container."),
    ("Success, violations", "Success: answered in time and accurately enough, as a share of all requests; "
     "violations are the rest."),
    ("Fairness", "Jain's index over functions of mean FCT over the function's own 5th percentile: 1 means "
     "that load slows all functions alike."),
    ("Instance-seconds", "Seconds during which an instance was up, summed over all instances."),
])  # fmt: skip
