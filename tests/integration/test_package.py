"""What ``pip install`` brings: the example functions too, which stand outside of ``src``."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def test_a_wheel_holds_the_example_functions(tmp_path: Path) -> None:
    copy = tmp_path / "project"
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "shipped")
    for name in ("src", "examples"):
        shutil.copytree(PROJECT / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        shutil.copy(PROJECT / name, copy)
    subprocess.run([sys.executable, "-c", BUILD, str(tmp_path)], cwd=copy, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("trimtab-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    examples = PROJECT / "examples" / "functions"
    expected = {
        f"trimtab/live/functions/{each.relative_to(examples).as_posix()}"
        for each in examples.rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }
    assert expected <= set(names)
    # and an installed package finds them, wherever it is
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    code = "from trimtab.live.packing import EXAMPLES, example; print(EXAMPLES); assert example('fibonacci')"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=installed, check=True, capture_output=True, text=True, timeout=60
    )
    assert Path(found.stdout.strip()) == installed / "trimtab" / "live" / "functions"
