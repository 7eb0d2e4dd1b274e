"""``trimtab remove``: a function is no longer deployed."""

from __future__ import annotations

import typer

from trimtab.cli.reach import DEFAULT_URL, FunctionArgument, TokenOption, UrlOption, gateway


def command(function: FunctionArgument, url: UrlOption = DEFAULT_URL, token: TokenOption = None) -> None:
    """Remove a function; calls that it works on end first."""
    with gateway(url, token) as client:
        client.remove(function)
    typer.echo(f"{function} is removed")
