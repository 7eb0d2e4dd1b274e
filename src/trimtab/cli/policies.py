"""``trimtab policies``: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    decision: Annotated[
        str | None, typer.Argument(help="place, scale, route, assign or select; all without it.")
    ] = None,
) -> None:
    """List the policies of every decision, with what each does."""
    from rich.console import Console
    from rich.table import Table

    from trimtab.errors import unknown
    from trimtab.policies import registry

    if decision is not None and decision not in registry.BUILT_IN:
        raise unknown("decision", decision, registry.BUILT_IN)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("decision", "policy", "what it does"):
        table.add_column(heading)
    for each in registry.BUILT_IN if decision is None else (decision,):
        for name in registry.names(each):
            table.add_row(each, name, registry.describe(each, name).removeprefix(f"``{name}``: "))
        for name, where in registry.entry_points_of(each).items():
            table.add_row(each, name, f"from {where}")
    Console().print(table)
