"""``--workload FILE|DIR``: a recorded trace in the place of a scenario's own workload."""

from __future__ import annotations

from pathlib import Path

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
    TasksSpec,
    WorkloadSpec,
)
from trimtab.workload.build import build_workload
from trimtab.workload.daily import peak_rate
from trimtab.workload.entries import entry_shares, mean_work
from trimtab.workload.prepare import functions_of_workload
from trimtab.workload.table import Workload
from trimtab.workload.trace_file import find_trace, read_header
from trimtab.workload.trace_functions import NOTE

FORMATS = (
    "Azure 2019 (HashFunction and minutes), Azure 2021 (app, func, end_timestamp, duration), "
    "Azure LLM (TIMESTAMP, ContextTokens, GeneratedTokens), requests (arrival, function, work), "
    "counts (minute or second, count)"
)

SUFFIXES = (".csv", ".parquet", ".txt")


def replace_workload(scenario: Scenario, path: str, seed: int, whole: bool = False) -> tuple[Scenario, Workload]:
    """The scenario under the load of a trace, and the requests of one seed."""
    replaced = with_trace(scenario, path, whole)
    return replaced, build_workload(replaced, seed)


def with_trace(scenario: Scenario, path: str, whole: bool = False) -> Scenario:
    """The scenario with arrivals, functions, work and duration of a trace; then build any seed of it."""
    if scenario.applications:
        raise TrimtabError(f"--workload: {scenario.name!r} takes streams of queries, which no trace format holds")
    spec = detect(path, whole)
    if isinstance(spec, CountsSpec):
        # counts say nothing about functions, so those of the scenario stay, and so does its peak
        return scenario.model_copy(update={"workload": spec.model_copy(update={"peak_rate": peak_of(scenario)})})
    replaced = scenario.model_copy(update={"workload": spec})
    functions = functions_of_workload(replaced)
    return replaced.model_copy(update={"functions": functions, "notes": (*scenario.notes, NOTE)})


def detect(path: str, whole: bool = False) -> WorkloadSpec:
    """Which format a file or folder has, by its columns."""
    found = find_trace(path)
    if found.is_dir():
        return _detect_folder(found, whole)
    columns = set(read_header(found))
    if "HashFunction" in columns and any(name.isdecimal() for name in columns):
        return Azure2019Spec(source="azure-2019", path=str(found), whole=whole)
    if {"app", "func", "end_timestamp", "duration"} <= columns:
        return Azure2021Spec(source="azure-2021", path=str(found))
    if {"TIMESTAMP", "ContextTokens", "GeneratedTokens"} <= columns:
        return AzureLlmSpec(source="azure-llm", path=str(found))
    if {"arrival", "function"} <= columns:
        return RequestsSpec(source="requests", path=str(found))
    if "count" in columns and columns & {"minute", "second"}:
        return CountsSpec(source="counts", path=str(found), whole=whole)
    shown = ", ".join(sorted(columns)[:8])
    raise TrimtabError(f"{found}: columns = {shown}, must be one of these formats: {FORMATS}")


def peak_of(scenario: Scenario) -> float:
    """Requests a second at the peak of a scenario's own workload."""
    match scenario.workload:
        case PoissonSpec() | BurstsSpec() | AzureLikeSpec() as spec:
            return spec.rate
        case DailySpec() as spec:
            return peak_rate(spec, mean_work(scenario, entry_shares(scenario)) if spec.peak_load else 1.0)
        case FaaSRankSpec() as spec:
            return spec.calls / spec.duration
        case TasksSpec() as spec:
            return max(spec.rate, *(step.rate for step in spec.steps), 0.0) / spec.interval
        case CountsSpec(peak_rate=float(rate)):
            return rate
        case CountsSpec(peak_load=float(load)):
            return load / mean_work(scenario, entry_shares(scenario))
        case _:
            raise TrimtabError(f"--workload: {scenario.name!r} has no peak to scale to, its workload is a trace itself")


def _detect_folder(folder: Path, whole: bool) -> WorkloadSpec:
    if list(folder.glob("invocations_per_function_md*.csv*")):
        return Azure2019Spec(source="azure-2019", path=str(folder), whole=whole)
    files = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES)
    if len(files) == 1:
        return detect(str(files[0]), whole)
    names = ", ".join(file.name for file in files[:5]) or "none"
    raise TrimtabError(f"{folder}: must hold an Azure 2019 day or exactly one trace (has: {names})")
