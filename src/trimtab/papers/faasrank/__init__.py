"""FaaSRank: Learning to Schedule Functions in Serverless Platforms (ACSOS 2021)."""

from __future__ import annotations

from trimtab.papers.claim import decide
from trimtab.papers.effort import Effort, first_seeds
from trimtab.papers.faasrank import reported
from trimtab.papers.faasrank.claims import CLAIMS
from trimtab.papers.faasrank.experiments import run_all
from trimtab.papers.faasrank.figures import all_figures
from trimtab.papers.faasrank.tables import all_tables
from trimtab.papers.reproduction import Paper, Reproduction
from trimtab.papers.runs import Runner

REMARKS = (
    "Invoker model P: work = 8 × warm time, shares by memory, no cap; the only one of three in which invocations slow "
    "each other down as in the paper. The paper does not say how many cores an invocation uses; with one core each "
    "the ranking is another (models A and G in the table of sensitivities).",
    "All ten invokers are managed; OpenWhisk's default of 90 % makes hashing worse and every saving larger.",
    "Fig. 1 does not name its workload; SA on the AWS cluster has the servers (16 GB) and the length (60 s).",
    "Table III: calls and length are taken over; its inter-arrival times are too long for both by 16 to 27 %, and its "
    "CPU time is not the sum of Table II's durations but about 8 times that.",
    "“A lower number of in-flight invocations” is read as the share of the time, averaged over the five baselines.",
    "Table IV and V count on means over all seeds, as the paper averages ten repetitions; intervals of counts come "
    "from resampling seeds.",
    "Seeds redraw arrivals and work around the same traces; the paper repeats one fixed workload ten times.",
)


def reproduce(effort: Effort, runner: Runner) -> Reproduction:
    """Run the experiments and decide the claims."""
    results = run_all(effort, runner)
    tables = all_tables(results)
    return Reproduction(
        PAPER.name, reported.TITLE, reported.CITATION, effort.seeds, decide(CLAIMS, results), tables,
        all_figures(results, {table.name: table for table in tables}), REMARKS,
        [f"{key}: {learned.source}" for key, learned in results.learned.items()],
    )  # fmt: skip


PAPER = Paper(
    "faasrank",
    quick=Effort(first_seeds(10), train=False, wide=False),
    full=Effort(first_seeds(20), train=True, wide=True),
    reproduce=reproduce,
)
