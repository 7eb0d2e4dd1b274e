"""The scenarios that come with Trimtab, one YAML file each."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from trimtab.errors import unknown

_FOLDER = files("trimtab.scenario") / "presets"


@cache
def preset_names() -> tuple[str, ...]:
    """Names of all presets, sorted, numbers by value (m2 before m10)."""
    names = [entry.name.removesuffix(".yaml") for entry in _FOLDER.iterdir() if entry.name.endswith(".yaml")]
    return tuple(sorted(names, key=_natural))


def preset_text(name: str) -> str:
    """The file of a preset, comments included."""
    if name not in preset_names():
        raise unknown("scenario", name, preset_names())
    return (_FOLDER / f"{name}.yaml").read_text("utf-8")


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name) if part]
