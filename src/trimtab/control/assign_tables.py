"""A decision's tables as JSON and back, for a scheduler that runs somewhere else.

``{"tasks": {column: [...]}, "hosts": {column: [...], "wake": s}, "current": [...]}``; JSON knows no infinity, so that
is ``null``.
"""

from __future__ import annotations

import math
import sys
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.policies.assign.contract import HostTable, Ints, TaskTable

MOST_TASKS, MOST_HOSTS = 20_000, 2_000
_KINDS: dict[str, type[Any]] = {"Ints": np.int32, "Floats": np.float64, "Bools": np.bool_}
_SINGLE = "float"


def as_json(tasks: TaskTable, hosts: HostTable, current: Ints) -> dict[str, Any]:
    """What ``from_json`` reads, number for number."""
    return {"tasks": _columns(tasks), "hosts": _columns(hosts), "current": current.tolist()}


def from_json(given: dict[str, Any]) -> tuple[TaskTable, HostTable, Ints]:
    """Tables and current hosts; every mistake is one line."""
    tasks = TaskTable(**_arrays("tasks", given.get("tasks"), TaskTable, MOST_TASKS))
    hosts = HostTable(**_arrays("hosts", given.get("hosts"), HostTable, MOST_HOSTS))
    return tasks, hosts, check_plan("current", given.get("current"), len(tasks.request), len(hosts.cores))


def check_plan(what: str, plan: Any, tasks: int, hosts: int) -> Ints:
    """A host or -1 for each task."""
    found = _array(what, plan, np.int32, MOST_TASKS)
    if len(found) != tasks:
        raise TrimtabError(f"{what} has {len(found)} values, must have one for each of {tasks} tasks")
    strange = found[(found < -1) | (found >= hosts)]
    if len(strange) > 0:
        raise TrimtabError(f"{what} names host {strange[0]}, must be -1 to {hosts - 1}")
    return found


def _columns(table: TaskTable | HostTable) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in fields(table):
        value = getattr(table, each.name)
        if each.type == _SINGLE:
            found[each.name] = float(value)
        else:
            found[each.name] = [None if one == math.inf else one for one in value.tolist()]
    return found


def _arrays(what: str, given: Any, kind: type[Any], most: int) -> dict[str, Any]:
    wanted = {each.name: str(each.type) for each in fields(kind)}
    if not isinstance(given, dict) or set(given) != set(wanted):
        raise TrimtabError(f"{what} must be an object with the columns: {', '.join(wanted)}")
    found: dict[str, Any] = {}
    for name, form in wanted.items():
        where = f"{what}.{name}"
        if form == _SINGLE:
            found[name] = float(_array(where, [given[name]], np.float64, 1)[0])
        else:
            found[name] = _array(where, given[name], _KINDS[form], most)
    lengths = {len(each) for each in found.values() if isinstance(each, np.ndarray)}
    if len(lengths) != 1:
        raise TrimtabError(f"{what} has columns of {sorted(lengths)} values, must be of one length")
    return found


def _array(where: str, values: Any, kind: type[Any], most: int) -> npt.NDArray[Any]:
    if not isinstance(values, list) or len(values) > most:
        raise TrimtabError(f"{where} must be a list of at most {most} values")
    right, words = _ALLOWED[kind]
    for value in values:
        if not right(value):
            raise TrimtabError(f"{where} holds {value!r:.40}, must be {words}")
    return np.array([math.inf if value is None else value for value in values], kind)


def _is_whole(value: Any) -> bool:
    return type(value) is int and -(2**31) <= value < 2**31


def _is_number(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) <= sys.float_info.max)


_ALLOWED: dict[Any, Any] = {
    np.int32: (_is_whole, "whole numbers of 32 bits"),
    np.float64: (_is_number, "numbers, null for infinity"),
    np.bool_: (lambda value: type(value) is bool, "true or false"),
}
