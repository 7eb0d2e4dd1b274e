"""``trimtab logs``: what a function printed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from urllib.parse import quote

import typer

from trimtab.cli.reach import DEFAULT_URL, FunctionArgument, TokenOption, UrlOption, gateway


def command(
    function: FunctionArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, max=500, help="Lines, the last ones.")] = 100,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Print the last lines that a function wrote to standard output and error."""
    with gateway(url, token) as client:
        _, found = client.ask("GET", f"/v1/functions/{quote(function, safe='')}/logs?limit={limit}")
    for row in found["logs"]:
        when = datetime.fromtimestamp(row["time"]).isoformat(sep=" ", timespec="milliseconds")
        typer.echo(f"{when} {row['instance']} {row['stream']}: {row['line']}")
