"""Complete a scenario whose workload brings functions of its own."""

from __future__ import annotations

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Function, Scenario
from trimtab.scenario.workload import (
    Azure2019Spec,
    Azure2021Spec,
    AzureLikeSpec,
    AzureLlmSpec,
    RequestsSpec,
    StreamsSpec,
)

DRAWN = 100
"""Functions of an Azure-like workload where nothing says how many."""


def prepare(scenario: Scenario) -> Scenario:
    """The scenario with the functions that its workload names; as it is where it lists its own."""
    spec = scenario.workload
    if scenario.functions or isinstance(spec, StreamsSpec):
        return _checked(scenario)
    functions = functions_of_workload(scenario)
    if not functions:
        raise TrimtabError(f"functions = [], must have at least one for a workload of {spec.source!r}")
    return scenario.model_copy(update={"functions": functions})


def functions_of_workload(scenario: Scenario) -> tuple[Function, ...]:
    """The functions that the workload itself names; none for sources that need a scenario's."""
    from trimtab.workload import azure_2019, azure_2021, azure_like, azure_llm, requests, rows

    match scenario.workload:
        case AzureLikeSpec() as spec:
            return azure_like.draw_functions(spec.functions or DRAWN, spec.population)
        case Azure2019Spec() as spec:
            return azure_2019.functions_of(scenario, spec)
        case Azure2021Spec() as spec:
            return rows.functions_of(scenario, azure_2021.read_azure_2021(spec.path))
        case AzureLlmSpec() as spec:
            return rows.functions_of(scenario, azure_llm.read_azure_llm(spec))
        case RequestsSpec() as spec:
            return rows.functions_of(scenario, requests.read_requests(spec.path))
        case _:
            return ()


def _checked(scenario: Scenario) -> Scenario:
    """Sources whose functions are hashes cannot go with functions that a person listed."""
    spec = scenario.workload
    if isinstance(spec, Azure2019Spec | Azure2021Spec):
        names = {function.name for function in scenario.functions}
        if names != {function.name for function in functions_of_workload(scenario)}:
            raise TrimtabError(f"functions: must be left out for a workload of {spec.source!r}, which brings its own")
    if isinstance(spec, AzureLikeSpec) and spec.functions not in (None, len(scenario.functions)):
        raise TrimtabError(
            f"workload.functions = {spec.functions}, must be left out where the scenario lists its functions"
        )
    return scenario
