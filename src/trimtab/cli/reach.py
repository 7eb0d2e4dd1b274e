"""How commands reach a gateway: options that they share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from trimtab.errors import TrimtabError

if TYPE_CHECKING:
    from trimtab.live.client import GatewayClient

UrlOption = Annotated[str, typer.Option("--url", metavar="URL", help="The gateway.")]
DEFAULT_URL = "http://127.0.0.1:8080"
TokenOption = Annotated[
    str | None, typer.Option("--token", metavar="T", help="As 'trimtab live' printed it; else TRIMTAB_TOKEN.")
]
FunctionArgument = Annotated[str, typer.Argument(metavar="FUNCTION", help="Its name.")]


def token_of(given: str | None) -> str | None:
    """The token of an option, else that of the environment; it goes into a header, so it must be one word."""
    found = given or os.environ.get("TRIMTAB_TOKEN") or None
    if found is not None and not all("!" <= character <= "~" for character in found):
        raise TrimtabError("--token must be one word of ASCII characters, as 'trimtab live' printed it")
    return found


@contextmanager
def gateway(url: str, token: str | None, timeout: float = 60.0) -> Iterator[GatewayClient]:
    """The gateway at a URL, for the length of a block."""
    from trimtab.live.client import GatewayClient

    with closing(GatewayClient(url, token_of(token), timeout)) as client:
        yield client
