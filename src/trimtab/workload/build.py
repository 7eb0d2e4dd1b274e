"""A scenario and a seed into requests."""

from __future__ import annotations

from dataclasses import replace

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import (
    Azure2019Spec,
    Azure2021Spec,
    AzureLikeSpec,
    AzureLlmSpec,
    BurstsSpec,
    CountsSpec,
    DailySpec,
    FaaSRankSpec,
    PoissonSpec,
    RequestsSpec,
    StreamsSpec,
    TasksSpec,
)
from trimtab.workload.azure_2019 import build_azure_2019
from trimtab.workload.azure_2021 import read_azure_2021
from trimtab.workload.azure_like import build_azure_like
from trimtab.workload.azure_llm import read_azure_llm
from trimtab.workload.bursts import build_bursts
from trimtab.workload.counts import build_counts
from trimtab.workload.daily import build_daily
from trimtab.workload.faasrank import build_faasrank
from trimtab.workload.gateways import draw_gateways
from trimtab.workload.poisson import build_poisson
from trimtab.workload.requests import read_requests
from trimtab.workload.rows import build_rows
from trimtab.workload.streams import build_streams
from trimtab.workload.table import Workload
from trimtab.workload.tasks import build_tasks


def build_workload(scenario: Scenario, seed: int) -> Workload:
    """Draw the requests of one seed: the same for every policy, and the same every time."""
    if seed < 0:
        raise TrimtabError(f"seed = {seed}, must be 0 or more")
    workload = _build(scenario, seed)
    if len(workload) == 0:
        raise TrimtabError(f"the workload of {scenario.name!r} has no requests, raise its rate or its duration")
    if scenario.platform.dispatch == "interval":
        return replace(workload, source=draw_gateways(scenario, len(workload), seed))
    return workload


def _build(scenario: Scenario, seed: int) -> Workload:
    match scenario.workload:
        case PoissonSpec() as spec:
            return build_poisson(scenario, spec, seed)
        case BurstsSpec() as spec:
            return build_bursts(scenario, spec, seed)
        case DailySpec() as spec:
            return build_daily(scenario, spec, seed)
        case AzureLikeSpec() as spec:
            return build_azure_like(scenario, spec, seed)
        case Azure2019Spec() as spec:
            return build_azure_2019(scenario, spec, seed)
        case FaaSRankSpec() as spec:
            return build_faasrank(scenario, spec, seed)
        case Azure2021Spec() as spec:
            return build_rows(scenario, read_azure_2021(spec.path), seed)
        case AzureLlmSpec() as spec:
            return build_rows(scenario, read_azure_llm(spec), seed)
        case RequestsSpec() as spec:
            return build_rows(scenario, read_requests(spec.path), seed)
        case CountsSpec() as spec:
            return build_counts(scenario, spec, seed)
        case StreamsSpec() as spec:
            return build_streams(scenario, spec, seed)
        case TasksSpec() as spec:
            return build_tasks(scenario, spec, seed)
