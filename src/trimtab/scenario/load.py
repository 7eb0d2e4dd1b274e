"""A scenario by the name of a preset or from a YAML file; every mistake is one line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.scenario.complaint import complaint
from trimtab.scenario.expand import with_base, with_copies, with_model
from trimtab.scenario.model import Scenario
from trimtab.scenario.overrides import apply_override
from trimtab.scenario.preset import preset_names, preset_text
from trimtab.scenario.profile import with_profile
from trimtab.scenario.yaml_text import LARGEST, parse_yaml

_FIRST = ("model", "profile")
"""Keys that stand for many changes."""

__all__ = ["load_scenario", "parse_scenario", "preset_names", "preset_text"]


def load_scenario(name_or_path: str, overrides: Sequence[str] = ()) -> Scenario:
    """Read a preset or a ``.yaml`` file, apply ``dotted.key=value`` overrides, validate.

    Sources that bring functions of their own (a trace) fill them in, so that the scenario that comes back
    is complete.
    """
    text: bytes | str
    if name_or_path in preset_names():
        text, where = preset_text(name_or_path), name_or_path
    else:
        path = _path(name_or_path)
        text, where = _read(path), str(path)
    return parse_scenario(text, overrides, where)


def parse_scenario(text: bytes | str, overrides: Sequence[str] = (), where: str = "scenario") -> Scenario:
    """Like :func:`load_scenario`, from text; ``where`` is put in front of complaints."""
    from trimtab.workload.prepare import prepare

    try:
        return prepare(_validated(_raw(text, overrides)))
    except TrimtabError as error:
        raise TrimtabError(f"{where}: {error}") from error


def _raw(text: bytes | str, overrides: Sequence[str]) -> dict[str, Any]:
    raw = parse_yaml(text)
    if raw is None:
        raise TrimtabError("is empty, must hold a scenario ('trimtab new' writes one)")
    if not isinstance(raw, dict):
        raise TrimtabError(f"holds a {type(raw).__name__}, must be a mapping such as 'name: mine'")
    raw = with_base({str(key): value for key, value in raw.items()})
    # the model and the profile come first, so that a person's own --set wins over what these set
    raw = raw | {key: value.strip() for key, _, value in map(_parts, overrides) if key in _FIRST}
    raw = with_profile(with_model(raw))
    for override in overrides:
        if _parts(override)[0] not in _FIRST:
            apply_override(raw, override)
    return with_copies(raw)


def _parts(override: str) -> tuple[str, str, str]:
    key, equals, value = override.partition("=")
    return key.strip(), equals, value


def _validated(raw: dict[str, Any]) -> Scenario:
    try:
        return Scenario.model_validate(raw)
    except ValidationError as error:
        raise complaint(error, raw, Scenario) from error


def _path(name_or_path: str) -> Path:
    path = Path(name_or_path)
    looks_like_file = path.suffix in (".yaml", ".yml") or len(path.parts) > 1
    if looks_like_file or path.exists():
        return path
    names = preset_names()
    raise TrimtabError(
        f"scenario = {name_or_path!r}, must be a .yaml file or one of: {', '.join(names)}"
        f"{did_you_mean(name_or_path, names)}"
    )


def _read(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise TrimtabError(f"{path}: is a folder, must be a .yaml file")
        if not path.exists():
            raise TrimtabError(f"{path}: no such file")
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        raise TrimtabError(f"{path}: cannot be read: {error}") from error
