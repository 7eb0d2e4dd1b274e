"""What a trace does not tell about a function: a stated cold-start model, limits from the scenario."""

from __future__ import annotations

from trimtab.scenario.model import Function, Scenario

CREATE, INIT = 0.5, 0.25
"""Seconds to make a container and core-seconds to initialise it: no public trace has them by function."""
MEMORY_FLOOR = 128 * 2.0**20
"""Bytes of the smallest instance: the smallest size that the big platforms sell."""
SLACK = 0.5
"""Seconds that a deadline leaves beyond execution, where the scenario has no deadline of its own to go by."""

NOTE = (
    f"functions of the trace: {CREATE} s to create an instance (the scenario's own time where instances are "
    f"controlled) and {INIT} core-seconds to initialise it are assumed; at least 128 MiB, at most a host; "
    "one core a call"
)


def function_of_trace(
    scenario: Scenario, name: str, work: float, deviation: float, *, late: float, memory: float | None = None
) -> Function:
    """A function with the work and memory of a trace; instance limits are those of the scenario's first one.

    ``late`` is the 99th percentile of its work: a scenario with deadlines keeps its slack on top of that,
    because a deadline for 100 ms of work means nothing for a function that runs a minute.
    """
    like = scenario.functions[0] if scenario.functions else Function(name="like")
    largest = max(host.memory for host in scenario.hosts)
    slack = None if like.deadline is None else max(like.deadline - like.work, SLACK)
    return Function(
        name=name,
        memory=min(max(like.memory if memory is None else memory, MEMORY_FLOOR), largest),
        create=like.create if scenario.platform.instances == "controlled" else CREATE,
        init=INIT,
        work=work,
        work_deviation=deviation,
        distribution="lognormal",
        parallelism=1.0,
        cpu=like.cpu,
        concurrency=like.concurrency,
        deadline=None if slack is None else late + slack,
        instances=None if like.instances is None else 1,
    )
