"""The libraries that only training needs: an extra, so a person may not have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trimtab.errors import TrimtabError

LIBRARIES = ("torch", "stable_baselines3", "gymnasium", "tensorboard", "statsforecast")


@contextmanager
def training_extra() -> Iterator[None]:
    """Say how to install what is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in LIBRARIES:
            raise
        raise TrimtabError(f"{library} is not installed, training needs it: pip install 'trimtab[train]'") from None
