"""The command line: one file per command, a mistake is one line on stderr and exit code 2."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any, NoReturn

import typer

from trimtab import __version__
from trimtab.errors import TrimtabError

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells expect it."""

USAGE_ERROR: type[Any] = typer.BadParameter.__mro__[2]
"""ClickException: what Typer raises for an unknown option and the like, wherever it keeps its Click."""

COMMANDS: tuple[tuple[str, str], ...] = (
    ("compare", "trimtab.cli.compare"),
    ("frontier", "trimtab.cli.frontier"),
    ("train", "trimtab.cli.train"),
    ("reproduce", "trimtab.cli.reproduce"),
    ("live", "trimtab.cli.live"),
    ("deploy", "trimtab.cli.deploy"),
    ("invoke", "trimtab.cli.invoke"),
    ("functions", "trimtab.cli.functions"),
    ("logs", "trimtab.cli.logs"),
    ("remove", "trimtab.cli.remove"),
    ("policies", "trimtab.cli.policies"),
    ("scenarios", "trimtab.cli.scenarios"),
    ("validate", "trimtab.cli.validate"),
    ("new", "trimtab.cli.new"),
    ("workload", "trimtab.cli.workload"),
    ("load", "trimtab.cli.load"),
    ("calibrate", "trimtab.cli.calibrate"),
    ("fidelity", "trimtab.cli.fidelity"),
)
"""Every command and its module: ``command`` there is a function, or ``app`` a group of commands."""

app = typer.Typer(
    name="trimtab",
    help="Learned resource management for serverless clusters: simulate, compare, train, run behind guards.",
    invoke_without_command=True,
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
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of trimtab itself."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
        code = app(standalone_mode=False, prog_name="trimtab")
        sys.stdout.flush()
    except TrimtabError as error:
        _refuse(str(error))
    except USAGE_ERROR as error:
        _refuse(f"{error.format_message().rstrip('.')}; {_path_of(error)} --help says what there is")
    except (KeyboardInterrupt, typer.Abort):
        _leave()
    except BrokenPipeError:
        _reader_left()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):
            _reader_left()
        raise
    if code == INTERRUPTED:
        _leave()
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(message: str) -> NoReturn:
    """One line on standard error, whatever the message was, and exit code 2."""
    sys.stderr.write(f"trimtab: error: {' '.join(message.split())}\n")
    sys.exit(2)


def _path_of(error: Exception) -> str:
    """The command that was called wrongly, such as ``trimtab compare``."""
    context = getattr(error, "ctx", None)
    return "trimtab" if context is None else str(context.command_path)


def _leave() -> NoReturn:
    """End at once: worker threads must not hold up a person who wants out.

    Commands have cleaned up by now, because the interrupt came through them as an exception.
    """
    sys.stdout.flush()
    os._exit(INTERRUPTED)


def _reader_left() -> NoReturn:
    """The reader (head, less) has gone: say nothing, and keep Python from saying it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno())  # type: ignore[union-attr]
    sys.exit(0)
