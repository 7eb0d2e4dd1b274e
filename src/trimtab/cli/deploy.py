"""``trimtab deploy``: a .py file, a zip or a folder becomes a function."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from trimtab.cli.reach import DEFAULT_URL, TokenOption, UrlOption, gateway
from trimtab.errors import TrimtabError


def command(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A .py file, a zip or a folder with __main__.py.")],
    name: Annotated[str | None, typer.Option("--name", help="Without it, the file's name with '-' for '_'.")] = None,
    main: Annotated[str, typer.Option("--main", help="The Python function to call.")] = "main",
    memory_mb: Annotated[int, typer.Option("--memory", metavar="MB", help="Of an instance.")] = 256,
    timeout_s: Annotated[float, typer.Option("--timeout", metavar="S", help="Of one call.")] = 60.0,
    concurrency: Annotated[int, typer.Option("--concurrency", help="Calls that an instance serves at a time.")] = 1,
    cpu: Annotated[float | None, typer.Option("--cpu", metavar="CORES", help="Of an instance.")] = None,
    chain: Annotated[
        bool, typer.Option("--chain", help='Pass a result with "next": NAME on to that function.')
    ] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
) -> None:
    """Deploy a function, or another version of it."""
    from trimtab.live.function import NAME, NAME_RULE
    from trimtab.live.packing import name_of, pack

    packed = pack(path)
    found = name if name is not None else name_of(path)
    if not NAME.fullmatch(found):
        raise TrimtabError(f"name = {found!r}, {NAME_RULE}")
    deployment: dict[str, Any] = packed | {
        "main": main, "memory_mb": memory_mb, "timeout_s": timeout_s, "concurrency": concurrency, "cpu": cpu,
        "chain": chain,
    }  # fmt: skip
    with gateway(url, token) as client:
        client.deploy(found, deployment)
    typer.echo(f"{found} is deployed: {url.rstrip('/')}/function/{found}")
