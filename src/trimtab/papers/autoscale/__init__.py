"""The DQN autoscaler of the slides: horizontal and vertical scaling by deep Q-learning."""

from __future__ import annotations

from trimtab.papers.autoscale import reported
from trimtab.papers.autoscale.claims import CLAIMS
from trimtab.papers.autoscale.experiments import run_all
from trimtab.papers.autoscale.figures import all_figures
from trimtab.papers.autoscale.tables import all_tables
from trimtab.papers.claim import decide
from trimtab.papers.effort import Effort, first_seeds
from trimtab.papers.reproduction import Paper, Reproduction
from trimtab.papers.runs import Runner

REMARKS = (
    "The slides give the loop (state: QoS requirement, resource use, containers; actions up, down, none; reward from "
    "QoS), not the load, the requirement, the network or any value of their curves. Scenario and settings are ours.",
    "Tail latency is the 99th percentile where the learning curve has it. “Settles” is a change of at most 10 % from "
    "the third to the last quarter of training.",
    "“Around 1000–2000” on the slide on vertical scaling has no unit; millicores of one instance is our reading.",
    "The memory threshold never sees use above what a container holds idle, so it scales down to one container: that "
    "is the rule as the slide prints it.",
)


def reproduce(effort: Effort, runner: Runner) -> Reproduction:
    """Run the experiments and decide the claims."""
    results = run_all(effort, runner)
    return Reproduction(
        PAPER.name, reported.TITLE, reported.CITATION, effort.seeds, decide(CLAIMS, results), all_tables(results),
        all_figures(results), REMARKS, [learned.source for learned in results.learned.values()],
    )  # fmt: skip


PAPER = Paper(
    "autoscale",
    quick=Effort(first_seeds(5), train=False, wide=False),
    full=Effort(first_seeds(20), train=True, wide=True),
    reproduce=reproduce,
)
