"""HPA's ``behavior``: stabilisation windows and rate limits between a proposal and what is done.

Published in autoscaling/v2. Two steps follow each other:

1. Stabilise: start from the current count; raise it to the smallest proposal of the up window, lower it to
   the largest proposal of the down window (this proposal is in both).
2. Limit the rate: of each policy, period start = current - added + removed in the last ``period`` seconds;
   up:   pods -> start + value,  percent -> ceil(start x (1 + value / 100));
   down: pods -> start - value,  percent -> int(start x (1 - value / 100)).
   ``select`` max takes the policy that allows most change, min the one that allows least, disabled none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trimtab.errors import TrimtabError, unknown
from trimtab.policies.scale import checks
from trimtab.policies.scale.window import EDGE, Proposals

Events = tuple[tuple[float, int], ...]
"""Time and size of a change."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most ``value`` pods, or per cent of the pods, in any ``period`` seconds."""

    kind: Literal["pods", "percent"]
    value: int
    period: float = 15.0

    def __post_init__(self) -> None:
        checks.one_of("type", self.kind, ("pods", "percent"))
        checks.whole("value", self.value, 1)
        checks.positive("periodSeconds", self.period)


@dataclass(frozen=True, slots=True)
class Rules:
    """How one direction is held back."""

    stabilisation: float
    policies: tuple[RateLimit, ...]
    select: Literal["max", "min", "disabled"] = "max"

    def __post_init__(self) -> None:
        checks.not_negative("stabilizationWindowSeconds", self.stabilisation)
        checks.one_of("selectPolicy", self.select, ("max", "min", "disabled"))
        checks.require(len(self.policies) > 0, "policies", [], "at least one policy")


SCALE_UP = Rules(0.0, (RateLimit("pods", 4), RateLimit("percent", 100)))
SCALE_DOWN = Rules(300.0, (RateLimit("percent", 100),))


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Both directions, with the defaults of autoscaling/v2."""

    up: Rules = SCALE_UP
    down: Rules = SCALE_DOWN


@dataclass(frozen=True, slots=True)
class History:
    """What stabilisation and rate limits remember."""

    proposals: Proposals = ()
    ups: Events = ()
    downs: Events = ()


def constrain(behaviour: Behaviour, history: History, current: int, proposal: int, now: float) -> tuple[int, History]:
    """What is done about ``proposal``, and the history that includes it."""
    stable = stabilise(behaviour, history.proposals, current, proposal, now)
    allowed = limit_rate(behaviour, history, current, stable, now)
    return allowed, _remember(behaviour, history, proposal, allowed - current, now)


def stabilise(behaviour: Behaviour, proposals: Proposals, current: int, proposal: int, now: float) -> int:
    """The current count, raised and lowered only as far as all recent proposals agree."""
    lowest = min(_recent(proposals, now - behaviour.up.stabilisation), default=proposal)
    highest = max(_recent(proposals, now - behaviour.down.stabilisation), default=proposal)
    return min(max(current, min(lowest, proposal)), max(highest, proposal))


def limit_rate(behaviour: Behaviour, history: History, current: int, wanted: int, now: float) -> int:
    """``wanted``, cut to what the policies of its direction allow now."""
    if wanted > current:
        # Below the current count the limit means: nothing more until older events leave the period.
        return min(wanted, max(current, up_limit(behaviour.up, history, current, now)))
    if wanted < current:
        return max(wanted, min(current, down_limit(behaviour.down, history, current, now)))
    return wanted


def up_limit(rules: Rules, history: History, current: int, now: float) -> int:
    """Instances that may be reached now on the way up."""
    if rules.select == "disabled":
        return current
    limits = []
    for policy in rules.policies:
        start = _period_start(history, current, now - policy.period)
        if policy.kind == "pods":
            limits.append(start + policy.value)
        else:
            limits.append(math.ceil(start * (1 + policy.value / 100)))
    return max(limits) if rules.select == "max" else min(limits)


def down_limit(rules: Rules, history: History, current: int, now: float) -> int:
    """Instances that may be reached now on the way down: the most change is the smallest count."""
    if rules.select == "disabled":
        return current
    limits = []
    for policy in rules.policies:
        start = _period_start(history, current, now - policy.period)
        if policy.kind == "pods":
            limits.append(start - policy.value)
        else:
            limits.append(int(start * (1 - policy.value / 100)))
    return min(limits) if rules.select == "max" else max(limits)


def _period_start(history: History, current: int, cutoff: float) -> int:
    added = sum(_recent(history.ups, cutoff))
    removed = sum(_recent(history.downs, cutoff))
    return current - added + removed


def _recent(entries: Events, cutoff: float) -> list[int]:
    return [size for _, size in _younger(entries, cutoff)]


def _remember(behaviour: Behaviour, history: History, proposal: int, change: int, now: float) -> History:
    # The proposal is kept as it was before the limits: stabilisation compares what was wanted.
    longest = max(behaviour.up.stabilisation, behaviour.down.stabilisation)
    period = _longest_period(behaviour)
    ups, downs = _younger(history.ups, now - period), _younger(history.downs, now - period)
    return History(
        proposals=(*_younger(history.proposals, now - longest), (now, proposal)),
        ups=(*ups, (now, change)) if change > 0 else ups,
        downs=(*downs, (now, -change)) if change < 0 else downs,
    )


def _younger(entries: Events, cutoff: float) -> Events:
    return tuple(entry for entry in entries if entry[0] > cutoff + EDGE)


def _longest_period(behaviour: Behaviour) -> float:
    return max(policy.period for rules in (behaviour.up, behaviour.down) for policy in rules.policies)


def parse(behaviour: object) -> Behaviour:
    """A ``behavior`` block as it stands in a HorizontalPodAutoscaler, with the defaults filled in."""
    if isinstance(behaviour, Behaviour):
        return behaviour
    given = _mapping("behaviour", behaviour, ("scaleUp", "scaleDown"))
    return Behaviour(
        up=_rules("behaviour.scaleUp", given.get("scaleUp", {}), SCALE_UP),
        down=_rules("behaviour.scaleDown", given.get("scaleDown", {}), SCALE_DOWN),
    )


def _rules(name: str, given: object, default: Rules) -> Rules:
    block = _mapping(name, given, ("stabilizationWindowSeconds", "policies", "selectPolicy"))
    policies = block.get("policies")
    return Rules(
        stabilisation=block.get("stabilizationWindowSeconds", default.stabilisation),
        policies=default.policies if policies is None else _policies(f"{name}.policies", policies),
        select=_word(f"{name}.selectPolicy", block.get("selectPolicy", default.select)),  # type: ignore[arg-type]
    )


def _policies(name: str, given: object) -> tuple[RateLimit, ...]:
    if not isinstance(given, list | tuple):
        raise TrimtabError(f"{name} = {given!r}, must be a list of policies")
    blocks = [_mapping(name, block, ("type", "value", "periodSeconds")) for block in given]
    return tuple(
        RateLimit(
            _word(f"{name}.type", block.get("type")),  # type: ignore[arg-type]
            block.get("value", 0),
            block.get("periodSeconds", 15.0),
        )
        for block in blocks
    )


def _mapping(name: str, given: object, keys: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise TrimtabError(f"{name} = {given!r}, must be a mapping")
    for key in given:
        if key not in keys:
            raise unknown(f"key of {name}", str(key), keys)
    return given


def _word(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise TrimtabError(f"{name} = {given!r}, must be a word")
    return given.lower()
