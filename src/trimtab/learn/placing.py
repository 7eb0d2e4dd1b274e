"""Which scenarios a placement policy can be trained on."""

from __future__ import annotations

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario


def require_placing(scenario: Scenario, policy: str) -> None:
    """Refuse a scenario in which invocations are not placed one by one as they arrive."""
    platform = scenario.platform
    if platform.dispatch != "host" or platform.instances != "on-demand":
        raise TrimtabError(
            f"platform.dispatch = {platform.dispatch!r}, instances = {platform.instances!r}, must be 'host' and "
            f"'on-demand' to train {policy!r}: it places every invocation as it arrives"
        )
