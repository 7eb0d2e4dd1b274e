"""What ``pyproject.toml`` cannot say: the example functions, which are outside of ``src``, are part of the package."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

FROM, TO = Path(__file__).parent / "examples" / "functions", Path("trimtab", "live", "functions")


class BuildWithExamples(build_py):
    """Copies them to where ``trimtab.live.packing`` looks first; a checkout is used as it is."""

    def run(self) -> None:
        """Called by setuptools."""
        super().run()
        if not self.editable_mode:
            shutil.copytree(
                FROM, Path(self.build_lib) / TO, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
            )


setup(cmdclass={"build_py": BuildWithExamples})
