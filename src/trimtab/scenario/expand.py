"""Short forms of a scenario file, written out before validation: ``base``, ``model``, ``count``."""

from __future__ import annotations

from typing import Any

from trimtab.errors import TrimtabError, unknown
from trimtab.scenario.overrides import set_value
from trimtab.scenario.preset import preset_text
from trimtab.scenario.yaml_text import parse_yaml

MOST_COPIES = 1_000_000


def with_base(raw: dict[str, Any], seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """``base: PRESET``: what this file does not say is as in the preset; mappings merge, lists replace."""
    if "base" not in raw:
        return raw
    own = dict(raw)
    base = own.pop("base")
    if not isinstance(base, str):
        raise TrimtabError(f"base = {base!r}, must be the name of a preset")
    if base in seen:
        raise TrimtabError(f"base = {base!r} is based on itself")
    return _merged(with_base(parse_yaml(preset_text(base)), (*seen, base)), own)


def with_model(raw: dict[str, Any]) -> dict[str, Any]:
    """``model: G``: apply the dotted changes that ``models`` lists under that name.

    A model may say ``like: A`` to start from the changes of another one.
    """
    raw = dict(raw)
    models, model = raw.pop("models", None), raw.pop("model", None)
    if model is None:
        return raw
    if not isinstance(models, dict):
        raise TrimtabError(f"model = {model!r}, but this scenario lists no 'models'")
    for key, value in _changes(models, str(model), ()):
        set_value(raw, key, value)
    return raw


def with_copies(raw: dict[str, Any]) -> dict[str, Any]:
    """``count: 200`` on a function: that many alike, named name-001 and so on."""
    functions = raw.get("functions")
    if not isinstance(functions, list):
        return raw
    return raw | {"functions": [copy for function in functions for copy in _copies(function)]}


def _changes(models: dict[str, Any], model: str, seen: tuple[str, ...]) -> list[tuple[str, Any]]:
    if model not in models:
        raise unknown("model", model, [str(name) for name in models])
    if model in seen:
        raise TrimtabError(f"models.{model} is like itself")
    changes = models[model] or {}
    if not isinstance(changes, dict):
        raise TrimtabError(f"models.{model} = {changes!r}, must map dotted keys to values")
    own = [(str(key), value) for key, value in changes.items() if key != "like"]
    like = changes.get("like")
    return own if like is None else [*_changes(models, str(like), (*seen, model)), *own]


def _copies(function: Any) -> list[Any]:
    if not isinstance(function, dict) or "count" not in function:
        return [function]
    count = function["count"]
    rest = {key: value for key, value in function.items() if key != "count"}
    where = f"functions.{rest.get('name', '?')}.count"
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_COPIES:
        raise TrimtabError(f"{where} = {count!r}, must be a whole number from 1 to {MOST_COPIES:,}")
    width = max(3, len(str(count)))
    return [rest | {"name": f"{rest.get('name')}-{index:0{width}d}"} for index in range(1, count + 1)]


def _merged(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in own.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict) and not _another_source(below, value):
            merged[key] = _merged(below, value)
        else:
            merged[key] = value
    return merged


def _another_source(below: dict[str, Any], value: dict[str, Any]) -> bool:
    """Another kind of workload has other fields, so nothing of the old one may stay."""
    return bool(value.get("source", below.get("source")) != below.get("source"))
