"""The gateway against its own description: whatever the document allows or forbids, it answers and never with a 500."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import status_code_conformance
from tests.live_platform import RunningPlatform, running_platform

from trimtab.live.openapi import description

OPERATIONS = [(method, path) for path, found in description()["paths"].items() for method in found]
SURELY_DOWN = {503, 502, 504}
"""What a call of a function may well be told: its instance could not start, was lost, took too long."""


@pytest.fixture(scope="module")
def platform() -> Iterator[RunningPlatform]:
    with running_platform() as found:
        found.client().deploy("good", {"code": "def main(args):\n    return {}\n", "memory_mb": 64, "timeout_s": 1.0})
        yield found


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_request_breaks_the_gateway(platform: RunningPlatform, method: str, path: str) -> None:
    schema = schemathesis.openapi.from_dict(description())
    schema.config.base_url = platform.url

    @given(case=schema[path][method].as_strategy())
    @settings(
        max_examples=20, phases=[Phase.explicit, Phase.generate], deadline=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def check(case: schemathesis.Case) -> None:
        response = case.call(timeout=60)
        checks = [status_code_conformance]
        if response.status_code not in SURELY_DOWN:
            checks.append(not_a_server_error)
        case.validate_response(response, checks=checks)

    check()
