"""From a file or folder to what a deployment carries: the text of a module, or a zip in base64."""

from __future__ import annotations

import base64
import io
import zipfile
from pathlib import Path
from typing import Any

from trimtab.errors import TrimtabError, did_you_mean
from trimtab.live.function import LARGEST_CODE
from trimtab.scenario.model import Function

_HERE = Path(__file__).resolve()
EXAMPLES = next(
    (each for each in (_HERE.with_name("functions"), _HERE.parents[3] / "examples" / "functions") if each.is_dir()),
    _HERE.with_name("functions"),
)
"""Functions to try: part of the installed package (``setup.py``), or in a checkout of the project."""
_MIB = 2**20
_MOST_FILES = 1_000


def name_of(path: Path) -> str:
    """The name that a file or folder deploys under: ``merge_sorting.py`` is ``merge-sorting``."""
    return path.name.removesuffix(".py").removesuffix(".zip").replace("_", "-")


def pack(path: Path) -> dict[str, str]:
    """``{"code": text}`` for a module, ``{"zip": base64}`` for a zip or a folder with ``__main__.py``."""
    try:
        if path.is_dir():
            return {"zip": base64.b64encode(_zipped(path)).decode()}
        if path.stat().st_size > LARGEST_CODE:
            raise TrimtabError(f"{path}: has {path.stat().st_size} bytes, must be at most {LARGEST_CODE}")
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise TrimtabError(f"{path}: must be a .py file, a zip or a folder: {reason}") from None
    if path.suffix == ".zip":
        return {"zip": base64.b64encode(content).decode()}
    if path.suffix != ".py":
        raise TrimtabError(f"{path}: must be a .py file, a zip or a folder")
    try:
        return {"code": content.decode()}
    except UnicodeDecodeError:
        raise TrimtabError(f"{path}: is not UTF-8, must be") from None


def _zipped(folder: Path) -> bytes:
    files = sorted(
        each for each in folder.rglob("*") if each.is_file() and not {"__pycache__", ".git"} & set(each.parts)
    )
    if folder / "__main__.py" not in files:
        raise TrimtabError(f"{folder}: holds no __main__.py, must")
    size = sum(each.stat().st_size for each in files)
    if len(files) > _MOST_FILES or size > LARGEST_CODE:
        raise TrimtabError(f"{folder}: has {len(files)} files and {size} bytes, must have at most {_MOST_FILES} "
                           f"files and {LARGEST_CODE} bytes")  # fmt: skip
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in files:
            archive.write(each, each.relative_to(folder).as_posix())
    return packed.getvalue()


def example(name: str) -> Path | None:
    """One of the functions to try, by its name or its file's."""
    stem = name.replace("-", "_")
    return next((each for each in (EXAMPLES / f"{stem}.py", EXAMPLES / stem) if each.exists()), None)


def deployment_of(function: Function) -> dict[str, Any]:
    """What a function of a scenario is deployed with: its code, and its limits as the scenario has them."""
    wanted = function.code.path if function.code is not None else function.name
    found = example(wanted) if Path(wanted).name == wanted else None
    path = found or Path(wanted)
    if not path.exists():
        known = sorted(name_of(each) for each in EXAMPLES.iterdir()) if EXAMPLES.is_dir() else []
        raise TrimtabError(
            f"function {function.name!r}: code = {wanted!r}, must be a file, a folder or one of: "
            f"{', '.join(known)}{did_you_mean(wanted, known)}"
        )
    memory = max(int(function.memory / _MIB), 32)
    return pack(path) | {"memory_mb": memory, "concurrency": function.concurrency, "cpu": function.cpu}
