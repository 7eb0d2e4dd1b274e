"""JSON from outside, of requests and of instances: UTF-8, and every number one that a reader can write again."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_core import from_json

_PERHAPS_HUGE = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{200}")
"""What a number beyond a double must hold; it may also be in a text, so it only tells where to look closer."""


def parse_document(text: bytes) -> Any:
    """The value; ``ValueError`` if it is no JSON, or holds a number that is not finite, such as 1e999."""
    value = from_json(text, allow_inf_nan=False)
    if _PERHAPS_HUGE.search(text):
        json.dumps(value, allow_nan=False)
    return value
