"""A small reproduction made by hand, for tests of what is shown of it."""

from __future__ import annotations

from trimtab.papers.charts import bars, lines, looks
from trimtab.papers.claim import Finding, Verdict
from trimtab.papers.papertable import Cell, PaperTable
from trimtab.papers.reproduction import Reproduction


def finding(
    name: str, verdict: Verdict, measured: float | None, ci95: tuple[float, float] | None, unit: str
) -> Finding:
    return Finding(name, f"{name} is faster", "Fig. 6", 9.25, "a rule", unit, measured, ci95, verdict, "a reason")


def reproduction() -> Reproduction:
    """Three claims, one of each verdict; a table and two figures."""
    findings = [
        finding("a", Verdict.REPRODUCED, 12.3, (10.0, 14.0), "%"),
        finding("b", Verdict.NOT_REPRODUCED, 5.0, (4.0, 8.0), "functions"),
        finding("c", Verdict.UNTESTABLE, None, None, "%"),
    ]
    table = PaperTable(
        "table-5", "Table V: it is <b>faster</b>", "In % of hashing's.", "workload", ("hashing", "faasrank"),
        {"M1": (Cell(100.0, 100.0), Cell(80.0, 70.0)), "M2": (Cell(100.0, 100.0), Cell(None, 70.0))}, 2, "low",
    )  # fmt: skip
    figures = [
        bars("figure-1", "Fig. 1", "Bars.", ["hashing", "greedy"], [1.0, None], [1.0, 2.0], "s",
             intervals=[(0.5, 1.5), None]),
        lines("figure-7", "Fig. 7", "Lines.", {"faasrank": ([0.0, 1.0], [3.0, 4.0])}, looks(["faasrank"], None, None),
              "time (s)", "in flight", learned="faasrank"),
    ]  # fmt: skip
    return Reproduction(
        "faasrank", "FaaSRank", "A citation", (1, 2), findings, [table], figures, ["An assumption."], ["not trained"]
    )
