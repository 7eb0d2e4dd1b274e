"""The command line: one file per command, a mistake is one line on stderr and exit code 2."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated

import typer

from trimtab import __version__
from trimtab.errors import TrimtabError

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells expect it."""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("compare", "trimtab.cli.compare"),
    ("frontier", "trimtab.cli.frontier"),
    ("policies", "trimtab.cli.policies"),
    ("scenarios", "trimtab.cli.scenarios"),
    ("validate", "trimtab.cli.validate"),
    ("new", "trimtab.cli.new"),
    ("workload", "trimtab.cli.workload"),
)
"""Every command and its module: ``command`` there is a function, or ``app`` a group of commands."""

app = typer.Typer(
    name="trimtab",
    help="Learned resource management for serverless clusters: simulate, compare, train, run behind guards.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"trimtab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of trimtab itself."""


def _register() -> None:
    for name, module in COMMANDS:
        found = importlib.import_module(module)
        if hasattr(found, "app"):
            app.add_typer(found.app, name=name)
        else:
            app.command(name)(found.command)


_register()


def main() -> None:
    """Entry point: run a command and turn what goes wrong into an exit code."""
    try:
        app()
    except TrimtabError as error:
        _complain(" ".join(str(error).split()))
        sys.exit(2)
    except KeyboardInterrupt:
        _leave()
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            _leave()
        raise
    except BrokenPipeError:
        # the reader (head, less) has left; say nothing, and keep Python from saying it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _leave() -> None:
    """End at once: worker threads and processes must not hold up a person who wants out.

    Commands have cleaned up by now, because the interrupt came through them as an exception.
    """
    sys.stdout.flush()
    os._exit(INTERRUPTED)


def _complain(line: str) -> None:
    sys.stderr.write(f"trimtab: error: {line}\n")
