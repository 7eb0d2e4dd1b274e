"""A trained policy on disk: ``weights.safetensors`` and ``policy.json``. Loading one never executes code."""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.whole import write_all_whole

SHIPPED = Path(__file__).parent / "shipped"
"""Trained policies that come with Trimtab: ``<decision>/<policy>`` or ``<decision>/<policy>@<scenario>``."""
WEIGHTS, DESCRIPTION = "weights.safetensors", "policy.json"
_FORMAT = 1
_LARGEST = 64 * 2**20

Arrays = dict[str, npt.NDArray[Any]]


class Description(BaseModel):
    """What ``policy.json`` says: what the policy is, where it came from, and how it did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = _FORMAT
    decision: str
    policy: str
    """Its kind: the fixed name under which the registry finds who can run it."""
    recipe: str
    weights: str = ""
    """SHA-256 of the weights file, put in when it is written: the two files belong together."""
    features: tuple[str, ...]
    """Inputs of the network, in order."""
    settings: dict[str, Any] = {}
    """What its kind needs beside the weights: layer sizes, normalisation, windows, actions."""
    training: dict[str, Any] = {}
    """Scenarios with their hashes, seeds, budget, steps, versions, and the command."""
    evaluation: dict[str, Any] = {}
    """On seeds that training never saw, against every baseline: what justified it."""


@dataclass(frozen=True)
class Trained:
    """A trained policy in memory."""

    description: Description
    arrays: Arrays
    where: str = "trained policy"
    """For complaints."""

    def expect(self, features: Sequence[str], shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Check features, names and shapes against what the policy's own code needs."""
        _check_features(self.where, self.description.features, tuple(features))
        for name in shapes:
            if name not in self.arrays:
                raise TrimtabError(f"{self.where}: weights lack {name!r}, must hold: {', '.join(shapes)}")
        for name in self.arrays:
            if name not in shapes:
                raise TrimtabError(f"{self.where}: weights hold {name!r}, must hold only: {', '.join(shapes)}")
        for name, shape in shapes.items():
            found = self.arrays[name].shape
            if found != tuple(shape):
                raise TrimtabError(f"{self.where}: weights {name!r} have shape {found}, must be {tuple(shape)}")


def _check_features(where: str, found: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    for name in found:
        if name not in wanted:
            raise TrimtabError(
                f"{where}: feature = {name!r}, must be one of: {', '.join(wanted)}{did_you_mean(name, wanted)}"
            )
    for name in wanted:
        if name not in found:
            raise TrimtabError(f"{where}: feature {name!r} is missing, must be there")
    for position, (name, right) in enumerate(zip(found, wanted, strict=False)):
        if name != right:
            raise TrimtabError(f"{where}: feature {position + 1} = {name!r}, must be {right!r}: the order counts")
    if len(found) != len(wanted):
        raise TrimtabError(f"{where}: {len(found)} features, must be {len(wanted)}")


def is_trained(path: Path) -> bool:
    """Whether a folder looks like a trained policy; one that may not be looked into does, so that loading says so."""
    try:
        return path.is_dir() and ((path / DESCRIPTION).exists() or (path / WEIGHTS).exists())
    except PermissionError:
        return True
    except (OSError, ValueError):  # a name too long, or with a zero byte
        return False


def shipped(decision: str, policy: str, scenario: str | None = None) -> Path | None:
    """The folder of a policy that comes with Trimtab: the one for this scenario, else the one for all."""
    for name in (f"{policy}@{scenario}", policy):
        if is_trained(SHIPPED / decision / name):
            return SHIPPED / decision / name
    return None


def shipped_for_scenarios(decision: str, policy: str) -> list[Path]:
    """Folders of a policy that comes with Trimtab in one version for each of several scenarios."""
    return sorted(each for each in (SHIPPED / decision).glob(f"{policy}@*") if is_trained(each))


def ships(decision: str, policy: str, scenario: str | None = None) -> bool:
    """Whether a policy comes with Trimtab, trained for this scenario; without one, for any."""
    found = shipped(decision, policy, scenario) is not None
    return found or (scenario is None and bool(shipped_for_scenarios(decision, policy)))


def load(folder: Path) -> Trained:
    """Read and check a trained policy; every mistake is one line."""
    description, content = describe(folder), _read(folder / WEIGHTS)
    arrays = _parsed(str(folder), content)
    if hashlib.sha256(content).hexdigest() != description.weights:
        raise TrimtabError(
            f"{folder}: {WEIGHTS} is not the file that {DESCRIPTION} was written with (weights = its SHA-256), must be"
        )
    return Trained(description, arrays, str(folder))


def describe(folder: Path) -> Description:
    """What ``policy.json`` says, without the weights."""
    content = _read(folder / DESCRIPTION)
    try:
        raw = json.loads(content, parse_constant=_not_a_number)
    except (ValueError, RecursionError) as error:
        raise TrimtabError(f"{folder}: {DESCRIPTION} is not JSON: {error}") from None
    if not isinstance(raw, dict):
        raise TrimtabError(f"{folder}: {DESCRIPTION} holds a {type(raw).__name__}, must be an object")
    if raw.get("format") != _FORMAT:
        raise TrimtabError(f"{folder}: {DESCRIPTION}: format = {raw.get('format')!r}, must be {_FORMAT}")
    try:
        # from the text, because JSON's lists are no tuples to a strict reader
        return Description.model_validate_json(content, strict=True)
    except ValidationError as error:
        _complain(folder, error)


def _not_a_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _complain(folder: Path, error: ValidationError) -> NoReturn:
    first = error.errors()[0]
    field, kind = ".".join(str(part) for part in first["loc"]), first["type"]
    if kind == "extra_forbidden":
        known = list(Description.model_fields)
        reason = f"unknown key, must be one of: {', '.join(known)}{did_you_mean(field, known)}"
    elif kind == "missing":
        reason = "is missing, must be there"
    else:
        reason = str(first["msg"])
    raise TrimtabError(f"{folder}: {DESCRIPTION}: {field}: {reason}")


def _read(path: Path) -> bytes:
    try:
        if stat.S_IFMT(path.stat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR):  # a pipe would be waited for
            raise TrimtabError(f"{path.parent}: {path.name} must be a file, not a pipe or a device")
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise TrimtabError(f"{path.parent}: {path.name} cannot be read: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise TrimtabError(f"{path.parent}: {path.name} is larger than {_LARGEST} bytes, must be smaller")
    return content


def _parsed(where: str, content: bytes) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load as parse

    try:
        arrays = parse(content)
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TrimtabError(f"{where}: {WEIGHTS} is not a safetensors file of plain numbers: {error}") from None
    _check_numbers(where, arrays)
    return dict(arrays)


def _check_numbers(where: str, arrays: Arrays) -> None:
    for name, array in arrays.items():
        if not np.issubdtype(array.dtype, np.number):
            raise TrimtabError(f"{where}: weights {name!r} are {array.dtype}, must be numbers")
        if not np.isfinite(array).all():
            raise TrimtabError(f"{where}: weights {name!r} are not all finite, must be")


def save(folder: Path, trained: Trained) -> None:
    """Write a trained policy, whole or not at all; an older one in its place is replaced.

    A crash between the two files leaves a folder that does not load, because the weights are not those that
    ``policy.json`` names; never a mixture that does.
    """
    from safetensors.numpy import save as bytes_of

    _check_numbers(str(folder), trained.arrays)
    # not ascontiguousarray, which makes a vector of a single number
    weights = bytes_of({name: np.array(trained.arrays[name], order="C") for name in sorted(trained.arrays)})
    digest = hashlib.sha256(weights).hexdigest()
    about = trained.description.model_copy(update={"weights": digest})
    text = json.dumps(about.model_dump(mode="json"), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    existed = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_all_whole(folder, {WEIGHTS: weights, DESCRIPTION: text.encode()})
    except OSError as error:
        if not existed:
            with suppress(OSError):
                folder.rmdir()
        raise TrimtabError(f"out = {str(folder)!r}, must be writable: {error.strerror or error}") from None
