"""Structured logs: one JSON object a line on standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

_PLAIN = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class _Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, Any] = {"time": round(time.time(), 3), "level": record.levelname.lower(),
                               "event": record.getMessage()}  # fmt: skip
        row |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.exc_info:
            row["trace"] = self.formatException(record.exc_info)
        return json.dumps(row, default=str)


def keep_journal(level: int = logging.INFO) -> None:
    """Write what the platform logs."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines())
    logger = logging.getLogger("trimtab.live")
    logger.handlers[:] = [handler]
    logger.setLevel(level)
    logger.propagate = False
