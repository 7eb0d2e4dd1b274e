"""A scenario around a bare trace, to look at it without any cluster in mind."""

from __future__ import annotations

from trimtab.scenario.model import Function, Hosts, Scenario
from trimtab.scenario.workload import CountsSpec
from trimtab.workload.prepare import prepare
from trimtab.workload.replace import detect


def trace_scenario(path: str, whole: bool = False) -> Scenario:
    """One host, and the functions of the trace; a count series is one function, as recorded."""
    spec = detect(path, whole)
    functions = (Function(name="service"),) if isinstance(spec, CountsSpec) else ()
    host = Hosts(name="host", cores=1, memory=2.0**30)
    return prepare(Scenario(name="trace", hosts=(host,), functions=functions, workload=spec))
