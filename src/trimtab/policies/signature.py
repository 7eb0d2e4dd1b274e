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
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numba

from trimtab.errors import TrimtabError
from trimtab.sim.kernel import CACHE_FOLDER


INTRINSIC = frozenset(
    "index site state cores vcpus speed memory memory_used memory_idle memory_free slots_free inflight queued "
    "running starting busy idle price".split()
)
"""Host fields that change only by events on the host: a score of these alone is kept from call to call."""
SAMPLED = frozenset({"cpu", "load_average", "disk_rate", "network_rate"})
"""Host fields that a monitor samples; computed when a policy that names them decides."""
BY_REQUEST = frozenset({"warm", "busy_same", "starting_same", "would_evict"})
"""Host fields that depend on the request as well."""


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


def _source_of(function: Callable[..., Any]) -> str:
    try:
        module = inspect.getmodule(function)
        return inspect.getsource(module) if module is not None else inspect.getsource(function)
    except OSError:
        return repr(function.__code__.co_code)


def compile_wrapper(text: str, function: Callable[..., Any], signature: Any, policy: str) -> Any:
    """Compile the generated wrapper ``text`` around ``function`` for ``signature``."""
    digest = hashlib.sha256((text + _source_of(function)).encode()).hexdigest()[:16]
    compiled = function if hasattr(function, "py_func") else numba.njit(nogil=True)(function)
    module = _wrapper_module(text, digest)
    module.__dict__["decide"] = compiled
    # a user's file may import others that no hash covers: it is compiled anew, in a fraction of a second
    ours = function.__module__.startswith("trimtab.") and CACHE_FOLDER.is_dir()
    try:
        return numba.cfunc(signature, nogil=True, cache=ours)(module.wrapper)
    except numba.core.errors.NumbaError as error:
        raise TrimtabError(f"policy {policy!r} does not compile: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if "Unknown attribute" in line or "NameError" in line or "undeclared" in line]
    told = (telling or lines or ["unknown error"])[0]
    return told if len(told) < 200 else told[:200] + "…"


def _wrapper_module(text: str, digest: str) -> ModuleType:
    folder = CACHE_FOLDER / "wrappers"
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
