"""``trimtab functions``: what is deployed."""

from __future__ import annotations

import typer

from trimtab.cli.reach import DEFAULT_URL, TokenOption, UrlOption, gateway


def command(url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """List the functions that are deployed."""
    from rich.console import Console
    from rich.table import Table

    with gateway(url, token) as client:
        found = client.state()["functions"]
    if not found:
        typer.echo("Nothing is deployed: trimtab deploy FILE")
        return
    table = Table("function", "instances", "in flight", "calls", "failed", "cold", "p50 ms", "p95 ms", box=None)
    for each in found:
        latency = each["latency"] or {}
        shown = [f"{latency[name] * 1e3:.1f}" if name in latency else "-" for name in ("p50", "p95")]
        counts = [each[name] for name in ("instances", "inflight", "arrivals", "failures", "cold_starts")]
        table.add_row(each["name"], *map(str, counts), *shown)
    Console().print(table)
