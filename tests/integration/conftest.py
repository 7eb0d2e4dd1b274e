"""For tests of training: a tiny policy that is known while a test runs, and one training of it without a break."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import tiny
from tests.commands import trimtab


@pytest.fixture
def tiny_policy() -> Iterator[None]:
    """Make the tiny policy known."""
    tiny.register()
    yield
    tiny.unregister()


@pytest.fixture(scope="session")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training without a break; checkpoints only at its ends, on one job."""
    folder = tmp_path_factory.mktemp("unbroken")
    tiny.register()
    try:
        result = trimtab(*tiny.TRAIN, *tiny.WHOLE, "--jobs", "1", "--out", "whole", folder=folder)
    finally:
        tiny.unregister()
    assert result.code == 0, result.err
    (folder / "stdout").write_text(result.out)
    (folder / "stderr").write_text(result.err)
    return folder / "whole"
