"""``dotted.key=value`` on raw data: ``workload.rate=100``, ``functions.fib.deadline=1 s``."""

from __future__ import annotations

from typing import Any

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.scenario.yaml_text import parse_yaml


def apply_override(raw: dict[str, Any], override: str) -> None:
    """Change ``raw`` as one ``--set`` says."""
    key, equals, text = override.partition("=")
    key = key.strip()
    if not equals or not key or any(not part for part in key.split(".")):
        raise TrimtabError(f"--set {override!r}, must be KEY=VALUE such as workload.rate=100")
    try:
        value = parse_yaml(text.strip())
    except TrimtabError as error:
        raise TrimtabError(f"--set {key}: {error}") from error
    set_value(raw, key, value)


def set_value(raw: dict[str, Any], key: str, value: Any) -> None:
    """Set what a dotted key names; ``*`` is every element of a list."""
    parts = key.split(".")
    for place in _places(raw, parts[:-1], parts[:1]):
        last = parts[-1]
        if isinstance(place, list):
            for index in _indices(place, last, key):
                place[index] = value
        elif isinstance(place, dict):
            place[last] = value
        else:
            raise TrimtabError(f"{key}: {'.'.join(parts[:-1])} = {place!r} has no parts")


def _places(place: Any, parts: list[str], seen: list[str]) -> list[Any]:
    """Everything that the leading parts of a key name; missing mappings are made on the way."""
    if not parts:
        return [place]
    head, rest = parts[0], parts[1:]
    key = ".".join(seen)
    if isinstance(place, list):
        chosen = [place[index] for index in _indices(place, head, key)]
    elif isinstance(place, dict):
        if place.get(head) is None:
            place[head] = {}
        chosen = [place[head]]
    else:
        raise TrimtabError(f"{key}: {place!r} has no part {head!r}")
    return [found for one in chosen for found in _places(one, rest, [*seen, *rest[:1]])]


def _indices(items: list[Any], part: str, key: str) -> list[int]:
    if part == "*":
        return list(range(len(items)))
    names = [str(item.get("name", "")) if isinstance(item, dict) else "" for item in items]
    if part in names:
        return [names.index(part)]
    if part.isdecimal() and int(part) < len(items):
        return [int(part)]
    allowed = ", ".join(name for name in names if name) or "none"
    raise TrimtabError(
        f"{key}: no element {part!r}, must be a name or 0 to {len(items) - 1}: {allowed}{did_you_mean(part, names)}"
    )
