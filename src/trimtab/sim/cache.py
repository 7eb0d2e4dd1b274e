"""Where compiled kernels are kept: a folder named by everything that could change them.

Numba watches only the file that holds a function, not the ones that it calls, so a stale kernel could
survive an edit elsewhere. A folder per hash of all kernel sources cannot be stale.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

_KERNELS = ("sim", "policies")


def sources_hash() -> str:
    """A short hash of all kernel sources, library versions and the bounds-check flag."""
    import llvmlite
    import numba
    import numpy

    digest = hashlib.sha256()
    package = Path(__file__).parent.parent
    for folder in _KERNELS:
        for path in sorted((package / folder).rglob("*.py")):
            digest.update(path.relative_to(package).as_posix().encode())
            digest.update(path.read_bytes())
    versions = (sys.version, numba.__version__, numpy.__version__, llvmlite.__version__)
    digest.update(repr((versions, os.environ.get("NUMBA_BOUNDSCHECK", "0"))).encode())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """The folder for this build's kernels; old ones beside it are pruned to a handful."""
    root = Path(os.environ.get("TRIMTAB_CACHE", Path.home() / ".cache" / "trimtab"))
    return root / f"kernels-{sources_hash()}"


def activate() -> Path:
    """Point Numba at the cache folder; call before the first kernel is compiled."""
    import numba

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _prune(folder)
    except OSError:
        return folder  # no place to keep them: kernels are compiled again in each process
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    numba.config.CACHE_DIR = str(folder)
    return folder


def _prune(current: Path, keep: int = 6) -> None:
    others = [path for path in current.parent.glob("kernels-*") if path != current]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[keep:]:
        shutil.rmtree(path, ignore_errors=True)
