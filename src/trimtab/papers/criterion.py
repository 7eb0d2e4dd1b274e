"""How a claim is decided: rules that are written down before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

Judgement = tuple[bool, str]
"""Whether a measurement meets a criterion, and why."""


@dataclass(frozen=True)
class Measurement:
    """A figure with its 95 % interval, where there is more than one seed."""

    value: float
    low: float | None = None
    high: float | None = None
    remark: str = ""
    """What else a reader should know of it."""

    @property
    def subject(self) -> str:
        """What a reason speaks of."""
        return "our value" if self.low is None or self.high is None else "the whole interval"

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval; without one the value itself stands for both ends."""
        return (
            self.value if self.low is None else self.low,
            self.value if self.high is None else self.high,
        )


class Criterion(Protocol):
    """A rule that turns a measurement into a judgement."""

    @property
    def words(self) -> str:
        """The rule, for a reader."""

    def judge(self, measured: Measurement) -> Judgement:
        """Whether the rule is met, and why."""


@dataclass(frozen=True)
class Effect:
    """For an effect that the paper puts a number on, such as a percentage saved."""

    paper: float

    @property
    def words(self) -> str:
        """The rule."""
        return f"our 95 % interval contains {self.paper:g}, or it lies above zero and our effect is at least as large"

    def judge(self, measured: Measurement) -> Judgement:
        """Contained, or as large and beyond chance."""
        low, high = measured.bounds
        if low <= self.paper <= high:
            return True, "our interval contains the paper's value"
        if low > 0 and measured.value >= self.paper:
            return True, "same direction, larger than in the paper"
        if low > 0:
            return False, "same direction, but smaller than in the paper"
        if high < 0:
            return False, "the opposite direction"
        return False, "no effect that chance does not explain"


@dataclass(frozen=True)
class Above:
    """For an effect that the paper states without a number: it must be beyond chance."""

    bound: float = 0.0

    @property
    def words(self) -> str:
        """The rule."""
        return f"our 95 % interval lies above {self.bound:g}"

    def judge(self, measured: Measurement) -> Judgement:
        """The lower end is above the bound."""
        low, high = measured.bounds
        if low > self.bound:
            return True, f"{measured.subject} lies above {self.bound:g}"
        if high < self.bound:
            return False, f"{measured.subject} lies below {self.bound:g}"
        return False, f"the interval contains {self.bound:g}" if low < high else f"our value is {self.bound:g}"


@dataclass(frozen=True)
class Below:
    """The mirror image of :class:`Above`."""

    bound: float = 0.0

    @property
    def words(self) -> str:
        """The rule."""
        return f"our 95 % interval lies below {self.bound:g}"

    def judge(self, measured: Measurement) -> Judgement:
        """The upper end is below the bound."""
        low, high = measured.bounds
        if high < self.bound:
            return True, f"{measured.subject} lies below {self.bound:g}"
        if low > self.bound:
            return False, f"{measured.subject} lies above {self.bound:g}"
        return False, f"the interval contains {self.bound:g}" if low < high else f"our value is {self.bound:g}"


@dataclass(frozen=True)
class NotAbove:
    """For a claim that there is no gain: none may be shown beyond chance."""

    bound: float = 0.0

    @property
    def words(self) -> str:
        """The rule."""
        return f"our 95 % interval does not lie wholly above {self.bound:g}"

    def judge(self, measured: Measurement) -> Judgement:
        """Not wholly above the bound."""
        if measured.bounds[0] > self.bound:
            return False, f"{measured.subject} lies above {self.bound:g}"
        return True, f"nothing above {self.bound:g} that chance does not explain"


@dataclass(frozen=True)
class NotBelow:
    """For a claim that nothing is lost: no loss may be shown beyond chance."""

    bound: float = 0.0

    @property
    def words(self) -> str:
        """The rule."""
        return f"our 95 % interval does not lie wholly below {self.bound:g}"

    def judge(self, measured: Measurement) -> Judgement:
        """Not wholly below the bound."""
        if measured.bounds[1] < self.bound:
            return False, f"{measured.subject} lies below {self.bound:g}"
        return True, f"nothing below {self.bound:g} that chance does not explain"


@dataclass(frozen=True)
class Within:
    """For a value that the paper gives as a range, or for "the same as"."""

    low: float
    high: float

    @property
    def words(self) -> str:
        """The rule."""
        return f"our value lies between {self.low:g} and {self.high:g}"

    def judge(self, measured: Measurement) -> Judgement:
        """Inside the range."""
        inside = self.low <= measured.value <= self.high
        return inside, f"{'inside' if inside else 'outside'} {self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class AtLeast:
    """For a count, such as "best on 7 of 10": decided on means over seeds, as the paper does."""

    count: float

    @property
    def words(self) -> str:
        """The rule."""
        return f"our value, on means over seeds, is {self.count:g} or more"

    def judge(self, measured: Measurement) -> Judgement:
        """As many, or more."""
        enough = measured.value >= self.count
        return enough, f"{measured.value:g}, {'at least' if enough else 'fewer than'} {self.count:g}"


@dataclass(frozen=True)
class Equals:
    """For a number that follows from a definition."""

    number: float

    @property
    def words(self) -> str:
        """The rule."""
        return f"our number is {self.number:,g}"

    def judge(self, measured: Measurement) -> Judgement:
        """The very same number."""
        same = measured.value == self.number
        return same, "the same number" if same else f"{measured.value:,g}, not {self.number:,g}"
