"""The one signature that the engine is compiled for, and the wrapper that adapts a policy to it.

A policy is a few lines over named records. The wrapper around it is generated as a small source file in
the kernel cache, so that Numba can keep the compiled code on disk, and it is passed to the engine as a
first-class function: the engine itself is never compiled again.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numba

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.sim import records
from trimtab.sim.cache import activate


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


INTRINSIC = _words(
    "index site state cores vcpus speed memory memory_used memory_idle memory_free slots_free inflight "
    "queued running starting busy idle price"
)
"""Host fields that change only by events on the host: a score of these alone is kept from call to call."""
SAMPLED = frozenset({"cpu", "load_average", "disk_rate", "network_rate"})
"""Host fields that a monitor samples; computed when a policy that names them decides."""
BY_REQUEST = frozenset({"warm", "busy_same", "starting_same", "would_evict"})
"""Host fields that depend on the request as well."""

FIELDS: dict[str, tuple[Any, frozenset[str]]] = {
    "host": (records.HOST, INTRINSIC | SAMPLED | BY_REQUEST),
    "request": (
        records.ACTIVE,
        _words("function memory work off_cpu create init cap weight arrival deadline source"),
    ),
    "worker": (
        records.FUNCTION,
        _words(
            "index site task accuracy load capacity streams ready starting inflight queued completions batch base "
            "each network distance delay wait scarcity feasible"
        ),
    ),
    "stream": (
        records.STREAM,
        _words("arrival application source rate deadline accuracy size bandwidth access task"),
    ),
}
"""Parameters that are records: the record, and the fields that are documented for policies."""
_UNKNOWABLE = {"request": {"true_work", "finish", "left"}, "stream": {"duration", "worker", "live"}}
"""What the engine knows of a candidate and a real scheduler could not."""


@dataclass(frozen=True)
class Named:
    """Which fields of a parameter a function names; None where that cannot be told."""

    fields: frozenset[str] | None

    def any_of(self, names: frozenset[str]) -> bool:
        """Whether one of ``names`` may be used."""
        return self.fields is None or bool(self.fields & names)

    def only(self, names: frozenset[str]) -> bool:
        """Whether certainly nothing but ``names`` is used."""
        return self.fields is not None and self.fields <= names


def fields_of(function: Callable[..., Any], parameter: str) -> Named:
    """The fields of ``parameter`` that the source of ``function`` names."""
    if parameter not in inspect.signature(function).parameters:
        return Named(frozenset())
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, IndentationError):
        return Named(None)
    attributes = [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == parameter
    ]  # fmt: skip
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == parameter]
    if len(uses) != len(attributes):
        return Named(None)  # handed on as a whole
    return Named(frozenset(node.attr for node in attributes))


def check_parameters(function: Callable[..., Any], allowed: tuple[str, ...], policy: str) -> tuple[str, ...]:
    """The parameter names of a policy's function, all of which must be known."""
    names = tuple(inspect.signature(function).parameters)
    for name in names:
        if name not in allowed:
            raise TrimtabError(f"policy {policy!r}: parameter = {name!r}, must be one of: {', '.join(allowed)}")
    return names


def check_fields(function: Any, policy: str) -> None:
    """Fields that a policy's function names exist, are not set, and could be known to a scheduler."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, IndentationError):
        return  # no source to look at: what is wrong will not compile
    for helper in map(function.__globals__.get, function.__code__.co_names):
        if hasattr(helper, "py_func"):
            check_fields(helper.py_func, policy)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.Assert):
            # an error cannot be passed on through compiled code: it would end the process
            raise TrimtabError(
                f"policy {policy!r}: line {node.lineno} of {function.__name__!r} raises, must return a number"
            )
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        parameter, name = node.value.id, node.attr
        record, shown = FIELDS.get(parameter, (None, frozenset()))
        if record is None or parameter not in inspect.signature(function).parameters:
            continue
        if not isinstance(node.ctx, ast.Load):
            raise TrimtabError(f"policy {policy!r}: sets {parameter}.{name}, must only read what it is given")
        if name not in (record.names or ()) or name in _UNKNOWABLE.get(parameter, ()):
            raise TrimtabError(
                f"policy {policy!r}: {parameter}.{name}, must be one of: {', '.join(sorted(shown))}"
                f"{did_you_mean(name, shown)}"
            )


def _source_of(function: Callable[..., Any]) -> str:
    try:
        module = inspect.getmodule(function)
        return inspect.getsource(module) if module is not None else inspect.getsource(function)
    except OSError:
        return repr(function.__code__.co_code)


def compile_wrapper(text: str, function: Callable[..., Any], signature: Any, policy: str) -> Any:
    """Compile the generated wrapper ``text`` around ``function`` for ``signature``."""
    plain = getattr(function, "py_func", function)
    ours = function.__module__.startswith("trimtab.")
    if not ours:
        check_fields(plain, policy)
    digest = hashlib.sha256((text + _source_of(function)).encode()).hexdigest()[:16]
    # x / 0 is infinite or not-a-number, which the engine checks for: it cannot pass on a Python error
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    compiled = function if hasattr(function, "py_func") else numba.njit(**options)(function)
    folder = activate(function.__module__)
    module = _wrapper_module(text, digest, folder)
    module.__dict__["decide"] = compiled
    # a user's file may import others that no hash covers: it is compiled anew, in a fraction of a second
    try:
        return numba.cfunc(signature, cache=ours and folder.is_dir(), **options)(module.wrapper)
    except numba.core.errors.NumbaError as error:
        reason = _reason(str(error), Path(plain.__code__.co_filename).name)
    except KeyError as error:  # what Numba raises for a field that a record does not have
        reason = f"there is no field {error}"
    raise TrimtabError(f"policy {policy!r} does not compile: {reason}")


def _reason(text: str, file: str) -> str:
    """The telling line of Numba's message, and which line of the policy's file it is about."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("Failed in nopython mode")] or ["unknown error"]
    told = lines[0]
    answer = re.search(r">>> isnan\((.*)\)", text)
    if answer is not None:
        told = f"its answer is {answer[1]}, must be a number"
    place = re.search(rf'File "[^"]*{re.escape(file)}", line (\d+)', text)
    told = told if len(told) < 200 else told[:200] + "…"
    return f"{told} ({file}, line {place[1]})" if place is not None else told


def _wrapper_module(text: str, digest: str, folder: Path) -> ModuleType:
    folder = folder / "wrappers"
    name = f"trimtab_policy_{digest}"
    path = folder / f"{name}.py"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            temporary = folder / f"{name}.{os.getpid()}.tmp"
            temporary.write_text(text)
            temporary.replace(path)
    except OSError:
        path = Path(name + ".py")
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module
