"""``trimtab invoke``: call a function."""

from __future__ import annotations

import json
from typing import Annotated
from urllib.parse import quote

import typer

from trimtab.cli.reach import DEFAULT_URL, FunctionArgument, TokenOption, UrlOption, gateway
from trimtab.errors import TrimtabError

_TIMEOUT = 3_700.0


def command(
    function: FunctionArgument,
    arguments: Annotated[str, typer.Argument(metavar="[JSON]", help="Such as '{\"size\": 25}'.")] = "{}",
    later: Annotated[bool, typer.Option("--async", help="Do not wait: print where the result will be.")] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Call a function and print its result."""
    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise TrimtabError(f"arguments = {arguments!r}, must be JSON: {error}") from None
    if not isinstance(given, dict):
        raise TrimtabError(f"arguments = {arguments!r}, must be a JSON object")
    with gateway(url, token, _TIMEOUT) as client:
        if later:
            _, answer = client.ask("POST", f"/async-function/{quote(function, safe='')}", given)
            typer.echo(f"{url.rstrip('/')}/v1/activations/{answer['activation']}")
            return
        called = client.call(function, given)
    typer.echo(json.dumps(called.result, indent=1, ensure_ascii=False))
    start = "cold" if called.cold else "warm"
    run = called.headers.get("x-trimtab-run-ms", "?")
    where = called.headers.get("x-trimtab-server", "?")
    typer.echo(f"{start} on {where}, {run} ms of {called.seconds * 1e3:.1f} ms", err=True)
