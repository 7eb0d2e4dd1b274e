"""The functions in ``examples/functions``: what the index says of each, and its code as a module."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "functions"


def index() -> dict[str, dict[str, Any]]:
    """Every function by its name."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "functions.yaml").read_text(encoding="utf-8"))
    return found["functions"]


def load(name: str) -> ModuleType:
    """The module of a function; a folder is on the path of imports while it is read, as it is when unzipped."""
    code = FOLDER / index()[name]["code"]
    folder = code if code.is_dir() else FOLDER
    spec = importlib.util.spec_from_file_location(
        f"example_{name.replace('-', '_')}", code / "__main__.py" if code.is_dir() else code
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(folder))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(folder))
    return module
