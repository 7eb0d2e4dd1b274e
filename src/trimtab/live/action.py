"""OpenWhisk's action contract: what an instance is told, and what its answers must be."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from trimtab.live.document import parse_document
from trimtab.live.function import Deployed
from trimtab.live.wire import Garbled

_LONGEST_ERROR = 2_000


def init_message(function: Deployed) -> bytes:
    """``/init``: the code."""
    spec = function.spec
    value: Mapping[str, Any] = {
        "name": function.name, "main": spec.main, "code": spec.code if spec.code is not None else spec.zip,
        "binary": spec.zip is not None, "env": spec.env,
    }  # fmt: skip
    return json.dumps({"value": value}).encode()


def run_message(function: Deployed, activation: str, body: bytes) -> bytes:
    """``/run``: the arguments."""
    deadline = int((time.time() + function.spec.timeout_s) * 1000)
    return b'{"value":%b,"activation_id":"%b","action_name":"%b","namespace":"_","deadline":%d}' % (
        body or b"{}", activation.encode(), function.name.encode(), deadline,
    )  # fmt: skip


def check_answer(answer: bytes) -> None:
    """An instance's answer must be a JSON object or list: the process that wrote it is not trusted."""
    try:
        value = parse_document(answer)
    except ValueError:
        raise Garbled(502, "the function's result is not JSON, or holds a number that is not finite") from None
    if not isinstance(value, dict | list):
        raise Garbled(502, "the function's result is not a JSON object or list")


def own_error(answer: bytes) -> str:
    """What a function says that went wrong."""
    value = json.loads(answer)
    return str(value.get("error", "unknown error"))[:_LONGEST_ERROR] if isinstance(value, dict) else "unknown error"
