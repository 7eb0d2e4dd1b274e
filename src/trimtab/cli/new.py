"""``trimtab new``: a commented scenario to start from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer


def command(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("scenario.yaml"),
    preset: Annotated[str, typer.Option("--from", metavar="PRESET", help="Which scenario to start from.")] = "starter",
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it is there.")] = False,
) -> None:
    """Write a commented scenario file."""
    from trimtab.errors import TrimtabError
    from trimtab.scenario.load import preset_text

    text = with_name(preset_text(preset), file.stem)
    if file.exists() and not force:
        raise TrimtabError(f"{file}: is there already, --force overwrites it")
    try:
        write_whole(file, text)
    except OSError as error:
        raise TrimtabError(f"{file}: cannot be written: {error.strerror or error}") from error
    typer.echo(f"{file} written; next: trimtab validate {file}")


def with_name(text: str, name: str) -> str:
    """The preset's text under another name."""
    safe = re.sub(r"[^\w.-]", "-", name) or "mine"
    return re.sub(r"(?m)^name: .*$", lambda _: f"name: '{safe}'", text, count=1)


def write_whole(file: Path, text: str) -> None:
    """Write a file whole or not at all."""
    partial = file.with_name(f".{file.name}.partial")
    try:
        partial.write_text(text, "utf-8")
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
