"""Imports go one way.

scenario, workload <- sim <- policies <- control <- live, adapters; control, report <- learn; the rest on top.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "trimtab"
MODULES = sorted(PACKAGE.rglob("*.py"))

NOUNS = {"scenario", "workload"}
LAYERS: dict[str, set[str]] = {
    "scenario": NOUNS,  # one level: a trace brings functions of its own, which complete a scenario
    "workload": NOUNS,
    "sim": NOUNS,
    "policies": NOUNS | {"sim"},
    "control": NOUNS | {"sim", "policies"},
    "learn": NOUNS | {"sim", "policies", "control", "report"},
    "live": NOUNS | {"sim", "policies", "control"},
    "adapters": NOUNS | {"sim", "policies", "control"},
    "report": NOUNS | {"sim", "policies", "control"},
    "papers": NOUNS | {"sim", "policies", "control", "learn", "report"},
    "cli": NOUNS | {"sim", "policies", "control", "learn", "live", "adapters", "report", "papers"},
}
"""What each layer may import besides itself and the modules at the top, such as ``errors``."""

TOP: dict[str, set[str]] = {
    "trimtab": {"policies", "sim"},  # what a user's policy file needs, imported when it is asked for
    "trimtab.__main__": {"cli"},
}
"""Modules at the top are for everybody, so they may import no layer, these aside."""
FACADE = {"place", "route", "uniform", "below"}
"""What ``trimtab`` offers to users; inside the package it would hide an import against the rules."""

TRAINING = {"torch", "stable_baselines3", "tensorboard", "gymnasium"}
"""Heavy libraries that only ``learn`` knows."""


def imported(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and absolute name of all that a module imports, wherever in it the import stands."""
    parts = module.split(".")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            # one dot is the package that the module is in, each further dot one up
            base = parts[: len(parts) - node.level + is_package] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield node.lineno, f"{origin}.{alias.name}"


def layer_of(name: str) -> str | None:
    """The layer that an absolute name belongs to; None for other libraries and the modules at the top."""
    parts = name.split(".")
    return parts[1] if parts[0] == "trimtab" and len(parts) > 1 and parts[1] in LAYERS else None


def offences(source: str, module: str, is_package: bool) -> list[str]:
    """Each import against the rules, as one line for a reader."""
    own = layer_of(module)
    allowed = LAYERS[own] | {own} if own else TOP.get(module, set())
    found = []
    for line, name in imported(source, module, is_package):
        layer = layer_of(name)
        if layer is not None and layer not in allowed:
            found.append(f"{module}:{line} imports {name}; {own or 'the top'} may import {sorted(allowed)}")
        if own and name.startswith("trimtab.") and name.removeprefix("trimtab.") in FACADE:
            found.append(f"{module}:{line} imports {name}; that is for users, import it from where it is")
        if name.split(".")[0] in TRAINING and own != "learn":
            found.append(f"{module}:{line} imports {name}; only learn may")
    return found


def name_of(path: Path) -> str:
    """``…/trimtab/sim/hosts.py`` is ``trimtab.sim.hosts``; a package is named without ``__init__``."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", MODULES, ids=[name_of(path) for path in MODULES])
def test_imports_go_one_way(path: Path) -> None:
    assert offences(path.read_text(encoding="utf-8"), name_of(path), path.name == "__init__.py") == []


def test_every_package_has_its_place() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert packages - set(LAYERS) == set(), "a new package needs a row in LAYERS"


def test_the_rules_have_no_cycle() -> None:
    done: set[str] = set()
    while rest := set(LAYERS) - done:
        ready = {layer for layer in rest if LAYERS[layer] - NOUNS <= done}
        assert ready, f"layers that wait for each other: {sorted(rest)}"
        done |= ready


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("trimtab.sim.engine", "from trimtab import place"),
        ("trimtab.sim.engine", "import trimtab.policies.place"),
        ("trimtab.sim.engine", "from trimtab import policies"),
        ("trimtab.sim.engine", "from ..policies import place"),
        ("trimtab.sim.engine", "from .. import policies"),
        ("trimtab.control.loop", "def late():\n    from trimtab.learn import export"),
        ("trimtab.errors", "from trimtab.sim import outcome"),
        ("trimtab.cli.compare", "import torch.nn as nn"),
    ],
)
def test_an_import_against_the_rules_is_found(module: str, source: str) -> None:
    assert len(offences(source, module, is_package=False)) == 1


@pytest.mark.parametrize(
    ("module", "is_package", "source"),
    [
        ("trimtab.policies.place", True, "from . import hashing"),
        ("trimtab.policies.place", True, "from ...sim import outcome"),
        ("trimtab.policies.place.hashing", False, "from ..registry import register"),
        ("trimtab.sim.engine", False, "from trimtab.errors import TrimtabError"),
        ("trimtab.sim.engine", False, "from trimtab import __version__"),
        ("trimtab.learn.recipe", False, "import torch"),
        ("trimtab.__main__", False, "from trimtab.cli import main"),
    ],
)
def test_an_import_by_the_rules_passes(module: str, is_package: bool, source: str) -> None:
    assert offences(source, module, is_package) == []
