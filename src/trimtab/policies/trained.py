"""A trained policy on disk: ``weights.safetensors`` and ``policy.json``. Loading one never executes code."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from trimtab.errors import TrimtabError, did_you_mean

SHIPPED = Path(__file__).parent / "shipped"
"""Trained policies that come with Trimtab: ``<decision>/<policy>`` or ``<decision>/<policy>@<scenario>``."""
WEIGHTS, DESCRIPTION = "weights.safetensors", "policy.json"
_FORMAT = 1
_LARGEST = 64 * 2**20

Arrays = dict[str, npt.NDArray[Any]]


class Description(BaseModel):
    """What ``policy.json`` says: what the policy is, where it came from, and how it did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: int = Field(default=_FORMAT, ge=_FORMAT, le=_FORMAT)
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
        for name in shapes.keys() - self.arrays.keys():
            raise TrimtabError(f"{self.where}: weights lack {name!r}, must hold: {', '.join(shapes)}")
        for name in self.arrays.keys() - shapes.keys():
            raise TrimtabError(f"{self.where}: weights hold {name!r}, must hold only: {', '.join(shapes)}")
        for name, shape in shapes.items():
            found = self.arrays[name].shape
            if found != shape:
                raise TrimtabError(f"{self.where}: weights {name!r} have shape {found}, must be {shape}")


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
    """Whether a folder looks like a trained policy."""
    return path.is_dir() and ((path / DESCRIPTION).exists() or (path / WEIGHTS).exists())


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
    where = str(folder)
    text = _read(folder / DESCRIPTION)
    try:
        description = Description.model_validate(json.loads(text))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TrimtabError(f"{where}: {DESCRIPTION} is not JSON: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise TrimtabError(f"{where}: {DESCRIPTION}: {field}: {first['msg']}") from None
    arrays = _arrays(where, _read(folder / WEIGHTS))
    return Trained(description, arrays, where)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise TrimtabError(f"{path.parent}: {path.name} cannot be read: {error.strerror or error}") from None
    if len(content) > _LARGEST:
        raise TrimtabError(f"{path.parent}: {path.name} is larger than {_LARGEST} bytes, must be smaller")
    return content


def _arrays(where: str, content: bytes) -> Arrays:
    from safetensors import SafetensorError
    from safetensors.numpy import load as parse

    try:
        arrays = parse(content)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise TrimtabError(f"{where}: {WEIGHTS} is not a safetensors file: {error}") from None
    for name, array in arrays.items():
        if not np.issubdtype(array.dtype, np.number):
            raise TrimtabError(f"{where}: weights {name!r} are {array.dtype}, must be numbers")
        if not np.isfinite(array).all():
            raise TrimtabError(f"{where}: weights {name!r} are not all finite, must be")
    return dict(arrays)


def save(folder: Path, trained: Trained) -> None:
    """Write a trained policy, whole or not at all; an older one in its place is replaced."""
    from safetensors.numpy import save as bytes_of

    weights = bytes_of({name: np.ascontiguousarray(trained.arrays[name]) for name in sorted(trained.arrays)})
    about = trained.description.model_copy(update={"weights": hashlib.sha256(weights).hexdigest()})
    text = json.dumps(about.model_dump(mode="json"), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part"))
    except OSError as error:
        raise TrimtabError(f"out = {str(folder)!r}, must be writable: {error.strerror or error}") from None
    try:
        (partial / WEIGHTS).write_bytes(weights)
        (partial / DESCRIPTION).write_text(text, encoding="utf-8")
        partial.chmod(0o755)
        folder.mkdir(exist_ok=True)
        for name in (WEIGHTS, DESCRIPTION):
            (partial / name).replace(folder / name)
    except OSError as error:
        raise TrimtabError(f"out = {str(folder)!r}, must be writable: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
