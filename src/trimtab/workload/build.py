"""A scenario and a seed into requests."""

from __future__ import annotations

from trimtab.errors import TrimtabError
from trimtab.scenario.model import Scenario
from trimtab.scenario.workload import (
    AzureLikeSpec,
    BurstsSpec,
    DailySpec,
    FaaSRankSpec,
    PoissonSpec,
    StreamsSpec,
    TasksSpec,
)
from trimtab.workload.table import Workload


def build_workload(scenario: Scenario, seed: int) -> Workload:
    """Draw the requests of one seed: the same for every policy, and the same every time."""
    from trimtab.workload.azure_like import build_azure_like
    from trimtab.workload.bursts import build_bursts
    from trimtab.workload.daily import build_daily
    from trimtab.workload.faasrank import build_faasrank
    from trimtab.workload.poisson import build_poisson
    from trimtab.workload.streams import build_streams
    from trimtab.workload.tasks import build_tasks

    if seed < 0:
        raise TrimtabError(f"seed = {seed}, must be 0 or more")
    match scenario.workload:
        case PoissonSpec() as spec:
            return build_poisson(scenario, spec, seed)
        case BurstsSpec() as spec:
            return build_bursts(scenario, spec, seed)
        case DailySpec() as spec:
            return build_daily(scenario, spec, seed)
        case AzureLikeSpec() as spec:
            return build_azure_like(scenario, spec, seed)
        case FaaSRankSpec() as spec:
            return build_faasrank(scenario, spec, seed)
        case StreamsSpec() as spec:
            return build_streams(scenario, spec, seed)
        case TasksSpec() as spec:
            return build_tasks(scenario, spec, seed)
        case _:
            raise TrimtabError("no")
