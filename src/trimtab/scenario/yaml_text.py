"""YAML from strangers: plain data only, no key twice, nothing that unfolds into gigabytes."""

from __future__ import annotations

from typing import Any

import yaml

from trimtab.errors import TrimtabError

LARGEST = 10_000_000
"""Bytes of the largest file that is read."""
MOST_NODES = 2_000_000
"""Values in a file after its aliases are followed; nine lines of aliases can stand for a billion."""


class _UniqueKeys(yaml.SafeLoader):
    """The safe loader, except that a key that is there twice is an error, not silently the last one."""


def _mapping(loader: _UniqueKeys, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if not isinstance(key, str | int | float | bool):
            raise TrimtabError(f"line {line}: key = {key!r}, must be a plain name")
        if key in mapping:
            raise TrimtabError(f"line {line}: key {key!r} is there twice, keys must differ")
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def parse_yaml(data: bytes | str) -> Any:
    """Plain data out of YAML; every complaint is one line."""
    if len(data) > LARGEST:
        raise TrimtabError(f"size = {len(data):,} bytes, must be at most {LARGEST:,}")
    text = data if isinstance(data, str) else decode(data)
    try:
        value = yaml.load(text, _UniqueKeys)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise TrimtabError(f"line {line}: not valid YAML: {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise TrimtabError(f"not valid YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise TrimtabError("is nested too deeply, must be a plain scenario") from error
    except ValueError as error:  # such as the date 2024-99-99
        raise TrimtabError(f"not valid YAML: {error}") from error
    _nodes(value, {})
    return value


def decode(data: bytes) -> str:
    """Text out of UTF-8 bytes, or an error that says where they are not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TrimtabError(f"line {line}: not UTF-8 text (byte 0x{data[error.start]:02x})") from error


def _nodes(value: Any, known: dict[int, int]) -> int:
    """Count values as if every alias were written out; shared parts are counted once and multiplied."""
    if not isinstance(value, dict | list):
        return 1
    key = id(value)
    if key not in known:
        children = value.values() if isinstance(value, dict) else value
        known[key] = 1 + sum(_nodes(child, known) for child in children)
        if known[key] > MOST_NODES:
            raise TrimtabError(f"its aliases unfold into more than {MOST_NODES:,} values")
    return known[key]
