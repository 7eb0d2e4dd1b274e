"""Options that several commands share: declared once."""

from __future__ import annotations

import math
import os
from typing import Annotated

import typer

from trimtab.errors import TrimtabError

_MOST_SEEDS = 10_000
_MOST_JOBS = 1_024

ScenarioArgument = Annotated[str, typer.Argument(metavar="SCENARIO", help="The name of a preset or a .yaml file.")]
PoliciesOption = Annotated[
    str | None,
    typer.Option(
        "--policies", metavar="A,B", help="Names, .py files and folders of trained policies; without it, every policy."
    ),
]
SeedsOption = Annotated[
    str,
    typer.Option("--seeds", metavar="N", help="5 is seeds 1 to 5; a comma makes a list, 101, is seed 101 alone."),
]
WorkloadOption = Annotated[
    str | None,
    typer.Option("--workload", metavar="FILE|DIR", help="A recorded trace in place of the scenario's workload."),
]
WholeOption = Annotated[bool, typer.Option("--all", help="All of a count series, not windows of two hours.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting: workload.rate=100")
]
JobsOption = Annotated[str | None, typer.Option("--jobs", metavar="N", help="Runs at a time; all cores without it.")]
JsonOption = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the summary there ('-': standard output).")
]


def parse_seeds(text: str, option: str = "--seeds") -> list[int]:
    """``5`` is 1 to 5; with a comma it is a list."""
    parts = [part.strip() for part in text.split(",")]
    # isdecimal: int() would also take "1_0" and "+1"
    numbers = [int(part) for part in parts if part] if all(_is_number(part) for part in parts if part) else []
    if "," in text:
        if numbers and len(set(numbers)) == len(numbers) and len(numbers) <= _MOST_SEEDS:
            return numbers
        raise TrimtabError(f"{option} = {text!r}, must be different whole numbers from 0 on, such as 101,102")
    if len(numbers) == 1 and 1 <= numbers[0] <= _MOST_SEEDS:
        return list(range(1, numbers[0] + 1))
    raise TrimtabError(f"{option} = {text!r}, must be a number from 1 to {_MOST_SEEDS:,} or a list such as 101,102")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 19


def parse_jobs(text: str | None) -> int:
    """How many runs at a time."""
    if text is None:
        # a container may use fewer cores than the machine has
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        return max(1, cores or 1)
    jobs = int(text) if _is_number(text) else 0
    if not 1 <= jobs <= _MOST_JOBS:
        raise TrimtabError(f"--jobs = {text!r}, must be a whole number from 1 to {_MOST_JOBS:,}")
    return jobs


def parse_whole(option: str, text: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``."""
    value = int(text) if _is_number(text) else -1
    if not low <= value <= high:
        raise TrimtabError(f"{option} = {text!r}, must be a whole number from {low:,} to {high:,}")
    return value


def parse_number(option: str, text: str, low: float, high: float) -> float:
    """A number from ``low`` to ``high``."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise TrimtabError(f"{option} = {text!r}, must be a number from {low:,g} to {high:,g}")
    return value


def parse_policies(text: str | None) -> list[str] | None:
    """Names and files of ``--policies``; None where it was not given."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise TrimtabError(f"--policies = {text!r}, must name at least one policy")
    return names
