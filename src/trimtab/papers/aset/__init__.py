"""ASET: scheduling inference workloads in the computing continuum (ICDCS Workshops 2025)."""

from __future__ import annotations

from trimtab.papers.aset import reported
from trimtab.papers.aset.claims import CLAIMS
from trimtab.papers.aset.experiments import run_all
from trimtab.papers.aset.figures import all_figures
from trimtab.papers.aset.tables import all_tables
from trimtab.papers.claim import decide
from trimtab.papers.effort import Effort, first_seeds
from trimtab.papers.reproduction import Paper, Reproduction
from trimtab.papers.runs import Runner

REMARKS = (
    "The paper publishes no code, no sizes of its topologies, no table of applications, no profiles and no "
    "hyper-parameters, and prints no values of its curves. Topology, workers, service times and delays are "
    "reconstructed within published bounds; claims are decided by their direction.",
    "Only the tolerated delays of the wearable-assistance applications come from a published source; frame rates, "
    "lengths of streams and accuracy floors are assumed.",
    "Queueing and batching happen after admission: without them no admitted query would be late, and what ASET "
    "improves would not exist.",
    "The three topologies have equal total capacity: if co-dc-cloud added some, its gain could come from that alone.",
    "ASET's network decides in every window, without the guard that watches over it in a comparison. With --quick it "
    "is the one that comes with Trimtab, which our own recipe trained; else it is trained by the paper's.",
    "The best static policy is chosen in hindsight, on the seeds of the comparison: a harder rival than one chosen "
    "beforehand.",
    "Fig. 5b was measured on real GPUs. The text says that ASET is better there and that the pattern is consistent "
    "with the simulation, in which it is not: both cannot hold.",
)


def reproduce(effort: Effort, runner: Runner) -> Reproduction:
    """Run the experiments and decide the claims."""
    results = run_all(effort, runner)
    tables = all_tables(results)
    return Reproduction(
        PAPER.name, reported.TITLE, reported.CITATION, effort.seeds, decide(CLAIMS, results), tables,
        all_figures(results, {table.name: table for table in tables}), REMARKS,
        [f"{topology}: {learned.source}" for topology, learned in results.learned.items()],
    )  # fmt: skip


PAPER = Paper(
    "aset",
    quick=Effort(first_seeds(5), train=False, wide=False),
    full=Effort(first_seeds(20), train=True, wide=True),
    reproduce=reproduce,
)
