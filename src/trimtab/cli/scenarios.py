"""``trimtab scenarios``: what comes with Trimtab."""

from __future__ import annotations


def command() -> None:
    """List the scenarios that come with Trimtab."""
    from rich.console import Console
    from rich.table import Table

    from trimtab.scenario.load import load_scenario, preset_names

    table = Table(box=None, pad_edge=False)
    for column in ("name", "decision", "description"):
        table.add_column(column, no_wrap=column != "description")
    for name in preset_names():
        scenario = load_scenario(name)
        table.add_row(name, scenario.decision, scenario.description)
    Console().print(table)
