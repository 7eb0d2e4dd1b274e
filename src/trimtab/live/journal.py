"""Structured logs: one JSON object a line on standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

_OWN = "trimtab.live"
_PLAIN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}
_OTHERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi", "asyncio")
"""Loggers of libraries that would write plain text."""


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {"time": round(time.time(), 3), "level": record.levelname.lower(),
                               "event": record.getMessage()}  # fmt: skip
        row |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.name != _OWN:
            row["logger"] = record.name
        if record.exc_info:
            row["trace"] = self.formatException(record.exc_info)
        return json.dumps(row, default=str)


def keep_journal(level: int = logging.INFO) -> None:
    """Write what the platform logs, and the warnings of what it is built on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    _direct(_OWN, handler, level)
    for name in _OTHERS:
        _direct(name, handler, max(level, logging.WARNING))


def _direct(name: str, handler: logging.Handler, level: int) -> None:
    logger = logging.getLogger(name)
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False
