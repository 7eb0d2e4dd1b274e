"""The libraries that only the live platform needs: an extra, so a person may not have them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trimtab.errors import TrimtabError

LIBRARIES = ("httptools", "starlette", "uvicorn", "prometheus_client", "psutil")


@contextmanager
def live_extra() -> Iterator[None]:
    """Say how to install what is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in LIBRARIES:
            raise
        raise TrimtabError(
            f"{library} is not installed, the live platform needs it: pip install 'trimtab[live]'"
        ) from None
