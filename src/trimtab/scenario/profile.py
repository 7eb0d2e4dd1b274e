"""What ``trimtab calibrate`` measured of real functions, and how a scenario takes it over.

``profile: FILE`` in a scenario (or ``--set profile=FILE``) fills in start, off-CPU time and the curve of work of
every function whose ``code.path`` the profile knows, and the service time of every variant whose name it knows. It
wins over what the file says, and ``--set`` wins over it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trimtab.errors import TrimtabError
from trimtab.scenario.complaint import complaint
from trimtab.scenario.yaml_text import LARGEST, parse_yaml

NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class FunctionProfile(BaseModel):
    """One function alone on a machine, called through the gateway; times in seconds, medians."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    create: NotNegative = Field(description="of a cold start of an empty function, what uses no core")
    init: NotNegative = Field(description="core-seconds of a cold start: process, imports, and its end")
    init_off_cpu: NotNegative = Field(description="what else a cold start takes")
    off_cpu: NotNegative = Field(description="of a warm call, what uses no core: gateway and dispatch included")
    curve: tuple[tuple[NotNegative, NotNegative], ...] = Field(
        min_length=1, description="sizes and core-seconds of a warm call; one pair where a function has no sizes"
    )
    memory: NotNegative = Field(description="bytes in use after these calls")
    spread: NotNegative = Field(default=0.0, description="coefficient of variation of warm calls of one size")
    cold_latency: NotNegative = 0.0
    """Of a whole cold call, as a client sees it; for a reader, as the next one."""
    warm_latency: NotNegative = 0.0


class ModelPoint(BaseModel):
    """One batch size of a model; seconds of a batch, medians."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    batch: int
    wall: NotNegative
    cpu: NotNegative
    runs: int


class ModelProfile(BaseModel):
    """A model variant alone on so many cores: base + each · batch seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    cores: int = 1
    base: NotNegative
    each: NotNegative
    deviation: NotNegative = 0.0
    points: tuple[ModelPoint, ...] = ()


class Profile(BaseModel):
    """What was measured, and on what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    machine: dict[str, str] = Field(default_factory=dict)
    functions: dict[str, FunctionProfile] = Field(default_factory=dict)
    models: dict[str, ModelProfile] = Field(default_factory=dict)


def read_profile(path: Path) -> Profile:
    """A profile from a file; every mistake is one line."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TrimtabError(f"profile = {str(path)!r}: cannot be read: {reason}") from None
    try:
        raw = parse_yaml(data)
        return Profile.model_validate(raw)
    except ValidationError as error:
        raise TrimtabError(f"profile = {str(path)!r}: {complaint(error, raw, Profile)}") from error
    except TrimtabError as error:
        raise TrimtabError(f"profile = {str(path)!r}: {error}") from error


def with_profile(raw: dict[str, Any]) -> dict[str, Any]:
    """Carry out ``profile: FILE`` of a scenario's raw data."""
    raw = dict(raw)
    path = raw.pop("profile", None)
    if path is None:
        return raw
    if not isinstance(path, str):
        raise TrimtabError(f"profile = {path!r}, must be the name of a file")
    profile = read_profile(Path(path))
    functions = raw.get("functions")
    if isinstance(functions, list):
        raw["functions"] = [_profiled(function, profile) for function in functions]
    variants = raw.get("variants")
    if isinstance(variants, list):
        raw["variants"] = [_timed(variant, profile) for variant in variants]
    return raw


def _timed(variant: Any, profile: Profile) -> Any:
    known = profile.models.get(str(variant.get("name"))) if isinstance(variant, dict) else None
    if known is None:
        return variant
    law = {"base": known.base, "each": known.each, "deviation": known.deviation}
    return variant | {"batch": (variant.get("batch") or {}) | law}


def _profiled(function: Any, profile: Profile) -> Any:
    code = function.get("code") if isinstance(function, dict) else None
    if not isinstance(code, dict) or str(code.get("path")) not in profile.functions:
        return function
    known = profile.functions[str(code["path"])]
    filled = function | {
        "create": known.create,
        "init": known.init,
        "init_off_cpu": known.init_off_cpu,
        "off_cpu": known.off_cpu,
        "code": code | {"curve": [list(pair) for pair in known.curve]},
    }
    if code.get("size") is None:
        filled |= {"work": known.curve[0][1], "distribution": "constant"}
    return filled
