"""The gateway against its own description: whatever the document allows or forbids, it answers and never with a 500."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import negative_data_rejection, status_code_conformance
from tests.live_platform import RunningPlatform, running_platform

from trimtab.live.openapi import description


def on_loopback() -> dict[str, Any]:
    """The description for a gateway that asks for no token: data that does not fit is wrong in something else."""
    found = description()
    for operations in found["paths"].values():
        for operation in operations.values():
            del operation["security"]
    return found


CASES = [
    (method, path, mode)
    for path, operations in description()["paths"].items()
    for method, operation in operations.items()
    for mode in GenerationMode
    # where nothing is given, nothing can be wrong
    if mode.is_positive or operation["parameters"] or "requestBody" in operation
]
SURELY_DOWN = {503, 502, 504}
"""What a call of a function may well be told: its instance could not start, was lost, took too long."""


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform() as found:
        found.client().deploy("good", {"code": "def main(args):\n    return {}\n", "memory_mb": 64, "timeout_s": 1.0})
        yield found


@pytest.mark.parametrize(("method", "path", "mode"), CASES)
def test_no_request_breaks_the_gateway(platform: RunningPlatform, method: str, path: str, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_dict(on_loopback())
    schema.config.base_url = platform.url

    @given(case=schema[path][method].as_strategy(generation_mode=mode))
    @settings(
        max_examples=20, phases=[Phase.explicit, Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def check(case: schemathesis.Case) -> None:
        response = case.call(timeout=60)
        checks = [status_code_conformance, negative_data_rejection]
        if response.status_code not in SURELY_DOWN:
            checks.append(not_a_server_error)
        case.validate_response(response, checks=checks)

    check()
