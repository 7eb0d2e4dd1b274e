"""Complete a scenario whose workload brings functions of its own."""

from __future__ import annotations

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import (
    AzureLikeSpec,
    StreamsSpec,
)


def prepare(scenario: Scenario) -> Scenario:
    """The scenario with the functions that its workload names, and with figures that fit each other."""
    spec = scenario.workload
    if isinstance(spec, AzureLikeSpec) and not scenario.functions:
        from trimtab.workload.azure_like import draw_functions

        return scenario.model_copy(update={"functions": draw_functions(spec.functions or 100, spec.population)})
    if not scenario.functions and not isinstance(spec, StreamsSpec):
        raise TrimtabError(f"functions = [], must have at least one for a workload of {spec.source!r}")
    return scenario
