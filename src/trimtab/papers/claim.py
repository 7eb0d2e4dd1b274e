"""A claim of a paper, and what came of it here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, TypeVar

from trimtab.papers.criterion import Criterion, Measurement
from trimtab.report.summary import rounded

R = TypeVar("R")
_DIGITS = 6


class Verdict(StrEnum):
    """What can be said of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNTESTABLE = "not testable here"


class NotTestable(Exception):
    """A measurement that cannot be made here: the message says why."""

    def __init__(self, reason: str, value: float | None = None) -> None:
        super().__init__(reason)
        self.value = value
        """A figure to show beside the claim all the same."""


@dataclass(frozen=True)
class Claim(Generic[R]):
    """One statement of a paper, the rule that decides it, and how it is measured on results ``R``."""

    id: str
    text: str
    where: str
    """Figure, table or section of the paper."""
    paper: float | str | None
    """The paper's figure, or its words where it gives none."""
    criterion: Criterion
    measure: Callable[[R], Measurement]
    unit: str = ""

    def decide(self, results: R) -> Finding:
        """Measure, and apply the criterion."""
        try:
            measured = self.measure(results)
        except NotTestable as error:
            return self._finding(Verdict.UNTESTABLE, str(error), error.value, None)
        met, reason = self.criterion.judge(measured)
        verdict = Verdict.REPRODUCED if met else Verdict.NOT_REPRODUCED
        interval = None if measured.low is None or measured.high is None else (measured.low, measured.high)
        why = f"{reason}; {measured.remark}" if measured.remark else reason
        return self._finding(verdict, why, measured.value, interval)

    def _finding(self, verdict: Verdict, why: str, value: float | None, ci95: tuple[float, float] | None) -> Finding:
        return Finding(
            self.id, self.text, self.where, self.paper, self.criterion.words, self.unit, value, ci95, verdict, why
        )


@dataclass(frozen=True)
class Finding:
    """A claim with its verdict."""

    id: str
    claim: str
    where: str
    paper: float | str | None
    criterion: str
    unit: str
    measured: float | None
    ci95: tuple[float, float] | None
    verdict: Verdict
    why: str

    def as_json(self) -> dict[str, Any]:
        """The entry of ``claims`` in the result file."""
        found = {
            "id": self.id,
            "claim": self.claim,
            "where": self.where,
            "paper": self.paper,
            "measured": self.measured,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "unit": self.unit,
            "criterion": self.criterion,
            "verdict": str(self.verdict),
            "why": self.why,
        }
        return rounded(found, _DIGITS)  # type: ignore[no-any-return]


def decide(claims: Sequence[Claim[R]], results: R) -> list[Finding]:
    """Decide every claim on the same results."""
    return [claim.decide(results) for claim in claims]
