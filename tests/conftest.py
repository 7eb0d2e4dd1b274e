"""For all tests: hypothesis draws the same examples every time, and where real traces are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# tests of the benchmarks import them from the project's root, which is not an installed package
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

# no database: a test must not depend on which examples failed on this machine before
settings.register_profile("ci", derandomize=True, deadline=None, database=None, print_blob=True)
settings.register_profile("explore", deadline=None, max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def traces() -> Path:
    """The folder of real traces; a test that needs it is skipped on machines without."""
    folder = os.environ.get("TRIMTAB_TRACES")
    if not folder:
        pytest.skip("needs real traces: set TRIMTAB_TRACES to their folder")
    path = Path(folder)
    if not path.is_dir():
        pytest.skip(f"needs real traces: TRIMTAB_TRACES = {folder!r} is not a folder")
    return path
