"""Where compiled kernels are kept: folders named by everything that could change them.

Numba watches only the file that holds a function, not the ones that it calls, so a stale kernel could
survive an edit elsewhere. A folder per hash of all sources that a kernel may call cannot be stale. Layers
have folders of their own: an edit in a policy does not compile the engine again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from functools import cache
from pathlib import Path

_LAYERS = ("sim", "policies", "learn")
"""Packages with kernels; each may call those before it."""


@cache
def sources_hash(layer: str) -> str:
    """A short hash of all kernel sources up to ``layer``, library versions and the bounds-check flag."""
    import llvmlite
    import numba
    import numpy

    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for folder in _LAYERS[: _LAYERS.index(layer) + 1]:
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    versions = (sys.version, numba.__version__, numpy.__version__, llvmlite.__version__)
    digest.update(repr((versions, os.environ.get("NUMBA_BOUNDSCHECK", "0"))).encode())
    return digest.hexdigest()[:16]


@cache
def cache_folder(module: str) -> Path:
    """The folder for kernels of a module of Trimtab; old ones beside it are pruned to a handful."""
    root = Path(os.environ.get("TRIMTAB_CACHE", Path.home() / ".cache" / "trimtab"))
    layer = module.split(".")[1] if module.startswith("trimtab.") else _LAYERS[-1]
    layer = layer if layer in _LAYERS else _LAYERS[-1]
    folder = root / f"{layer}-{sources_hash(layer)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _prune(folder, layer)
    except OSError:
        pass  # no place to keep them: kernels are compiled again in each process
    return folder


def activate(module: str) -> Path:
    """Point Numba at the folder of a module's kernels; call before one of them is decorated."""
    import numba

    folder = cache_folder(module)
    if folder.is_dir():
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        numba.config.CACHE_DIR = str(folder)
    return folder


def _prune(current: Path, layer: str, keep: int = 6) -> None:
    others = [path for path in current.parent.glob(f"{layer}-*") if path != current]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[keep:]:
        shutil.rmtree(path, ignore_errors=True)
