"""The result of reproducing one paper, and which papers there are."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.errors import unknown
from trimtab.papers.claim import Finding, Verdict
from trimtab.papers.effort import Effort
from trimtab.papers.papertable import PaperTable
from trimtab.papers.runs import Runner
from trimtab.report.figure import Figure

PAPERS: dict[str, str] = {
    "faasrank": "trimtab.papers.faasrank",
    "aset": "trimtab.papers.aset",
    "autoscale": "trimtab.papers.autoscale",
    "metanet": "trimtab.papers.metanet",
}
"""Name → package with ``PAPER``."""


@dataclass(frozen=True)
class Reproduction:
    """Claims with verdicts, tables beside the paper's, and figures."""

    name: str
    title: str
    citation: str
    seeds: tuple[int, ...]
    findings: Sequence[Finding]
    tables: Sequence[PaperTable]
    figures: Sequence[Figure]
    remarks: Sequence[str]
    """Assumptions, and what the paper leaves open or contradicts."""
    learned: Sequence[str] = ()
    """Where the learned policies came from: trained now, shipped, or not there."""

    def count(self, verdict: Verdict) -> int:
        """How many claims came out so."""
        return Counter(finding.verdict for finding in self.findings)[verdict]

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        return (
            f"{self.count(Verdict.REPRODUCED)} of {len(self.findings)} claims are reproduced, "
            f"{self.count(Verdict.NOT_REPRODUCED)} are not, and {self.count(Verdict.UNTESTABLE)} cannot be tested here."
        )

    def as_json(self) -> dict[str, Any]:
        """The content of the result file."""
        return {
            "paper": self.name,
            "title": self.title,
            "seeds": list(self.seeds),
            "claims": [finding.as_json() for finding in self.findings],
            "tables": {table.name: table.as_json() for table in self.tables},
            "learned": list(self.learned),
            "remarks": list(self.remarks),
        }


@dataclass(frozen=True)
class Paper:
    """What a package of this layer offers as ``PAPER``."""

    name: str
    quick: Effort
    full: Effort
    reproduce: Callable[[Effort, Runner], Reproduction]
    """Run the paper's experiments and decide its claims."""


def find(name: str) -> Paper:
    """The paper of this name."""
    if name not in PAPERS:
        raise unknown("paper", name, PAPERS)
    found: Paper = importlib.import_module(PAPERS[name]).PAPER
    return found
