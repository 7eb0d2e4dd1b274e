"""Where a call goes: a compiled policy decides on the platform's records, behind guards, beside a shadow."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trimtab.errors import TrimtabError
from trimtab.live.audit import Audit
from trimtab.live.board import Board
from trimtab.live.decide import decide, foresee
from trimtab.live.function import Deployed
from trimtab.live.pool import Pool
from trimtab.live.servers import Invocation, Server
from trimtab.policies import registry
from trimtab.policies.place.decorator import PlacePolicy
from trimtab.sim import records
from trimtab.sim.kernel import direct
from trimtab.sim.state import Mind

FALLBACK = "least-connections"
"""Answers whenever a guard steps in."""
_STALE = 2.0
"""Seconds after which a server's metrics are too old for a policy that reads them."""
_DEADLINE = 0.005
"""Seconds of CPU that a decision may take; the clock would blame a policy for a busy machine."""
_PENANCE = 100
"""Decisions for which the fallback answers in place of a policy that was too slow."""
_REASONS = {-2: "score is not a number", -3: "answer is not a server that will do", -4: "it asks outside"}


@dataclass
class Seat:
    """A policy with its own memory, ready to be asked."""

    policy: PlacePolicy
    mind: Mind
    compiled: Any
    samples: bool
    """Whether it reads what monitors sample; to find out takes longer than a decision."""
    banned: int = 0
    """Decisions that it must still sit out."""


@dataclass
class Shadow:
    """A second policy that decides without acting."""

    seat: Seat
    decisions: int = 0
    agreed: int = 0
    gain: float = 0.0
    """Seconds that its choices would have saved, as the outlook on each server reckons."""

    def describe(self) -> dict[str, Any]:
        """For ``GET /v1/state``."""
        mean = self.gain / self.decisions if self.decisions else 0.0
        return {
            "policy": self.seat.policy.name, "decisions": self.decisions, "agreed": self.agreed,
            "predicted_gain": mean,
        }  # fmt: skip


@dataclass
class Placer:
    """Takes placement decisions for a pool."""

    board: Board
    audit: Audit
    clock: Callable[[], float]
    sampled: dict[int, float] = field(default_factory=dict)
    """When each server's monitor last spoke."""
    events: Counter[str] = field(default_factory=Counter)
    """Why guards stepped in."""
    shadow: Shadow | None = None
    pool: Pool = field(init=False)
    seat: Seat = field(init=False)
    slowest: float = _DEADLINE

    def __post_init__(self) -> None:
        self._seats: dict[str, Seat] = {}
        self._fallback = self.seat_of(FALLBACK)
        self.seat = self._fallback
        self._feasible = np.zeros(len(self.board.core.hosts), np.bool_)
        self._news, self._fresh = np.zeros(1), False
        self._decide: Any = decide
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile and load before the first call; from then on without Numba's own dispatch."""
        slot, mind = self.board.slot(), self._fallback.mind
        self._ask(self._fallback, slot)
        foresee(self.board.core, mind, slot, 0)
        self.board.leave(slot)
        self._decide = direct(decide)

    def seat_of(self, name: str) -> Seat:
        """Load and compile a policy; ``TrimtabError`` if it is none. It keeps its memory for when it is back."""
        if name not in self._seats:
            policy = registry.load("place", name, None, self.board.scenario.name)
            if not isinstance(policy, PlacePolicy):
                raise TrimtabError(f"policy = {name!r} is not a compiled place policy, must be")
            self._seats[name] = self._seat(policy)
        return self._seats[name]

    def _seat(self, policy: PlacePolicy) -> Seat:
        mind = self.board.mind(policy.memory, policy.weights)
        return Seat(policy, mind, policy.compiled, policy.needs_samples)

    def switch(self, name: str) -> None:
        """From now on this policy decides."""
        self.seat = self.seat_of(name)

    def set_shadow(self, name: str | None) -> None:
        """A second policy that decides without acting; None: no more."""
        self.shadow = None if name is None else Shadow(self._private(name))

    def _private(self, name: str) -> Seat:
        """A seat of its own: the shadow's memory must not be that of the policy that acts."""
        return self._seat(self.seat_of(name).policy)

    def place(self, call: Invocation | None, function: Deployed) -> Server | None:
        """The server for a call, or for an instance that no call waits for; None if none will do."""
        if call is None or call.slot < 0:
            slot = self.board.slot()
        else:
            slot = call.slot
        if call is not None:
            call.slot = slot
        number = records.NONE if call is None else call.number
        self.board.core.active[slot]["id"] = number
        began, used = time.perf_counter(), time.thread_time()
        self._news, self._fresh = self.board.news(self.pool, self.clock(), slot, number, function), True
        chosen, guard = self._guarded(slot)
        seconds, used = time.perf_counter() - began, time.thread_time() - used
        if guard is None and used > self.slowest:
            self.seat.banned, guard = _PENANCE, "the decision took too long"
            self.events[guard] += 1
        candidates = self._candidates()
        scores = self._scores(self.seat if guard is None else self._fallback, candidates)
        shadow = self._ask_shadow(slot, chosen)
        servers = self.pool.servers
        name = servers[chosen].name if chosen >= 0 else None
        self.audit.note(
            "place", function.name, self.seat.policy.name, name, [servers[each].name for each in candidates], scores,
            seconds, guard, shadow,
        )  # fmt: skip
        if call is None:
            self.board.leave(slot)
        return servers[chosen] if chosen >= 0 else None

    def _candidates(self) -> list[int]:
        return [index for index, good in enumerate(self._feasible.tolist()) if good]

    def _scores(self, seat: Seat, candidates: list[int]) -> list[float | None] | None:
        """Of each candidate, where the policy gives scores."""
        if seat.policy.form != "score":
            return None
        found = seat.mind.scores.tolist()
        return [found[each] if math.isfinite(found[each]) else None for each in candidates]

    def _guarded(self, slot: int) -> tuple[int, str | None]:
        seat = self.seat
        reason: str | None = None
        if seat.banned > 0:
            seat.banned -= 1
            reason = "sits out: it was too slow"
        elif seat.samples and self._stale():
            reason = "stale metrics"
        else:
            answer = self._ask(seat, slot)
            if answer >= -1:
                return answer, None
            reason = _REASONS.get(answer, "bad answer")
        self.events[reason] += 1
        return max(self._ask(self._fallback, slot), -1), reason

    def _stale(self) -> bool:
        now = self.clock()
        return any(server.alive and now - self.sampled.get(server.index, now) > _STALE for server in self.pool.servers)

    def _ask(self, seat: Seat, slot: int) -> int:
        answer = int(
            self._decide(self.board.core, seat.mind, seat.compiled, slot, self._news, self._fresh, self._feasible)
        )
        self._fresh = False
        return answer

    def _ask_shadow(self, slot: int, chosen: int) -> dict[str, Any] | None:
        shadow = self.shadow
        if shadow is None or chosen < 0:
            return None
        other = self._ask(shadow.seat, slot)
        if other < 0:
            return {"policy": shadow.seat.policy.name, "chosen": None}
        shadow.decisions += 1
        shadow.agreed += other == chosen
        if other != chosen:
            gain = self._foresee(slot, chosen) - self._foresee(slot, other)
            shadow.gain += gain if math.isfinite(gain) else 0.0
        return {"policy": shadow.seat.policy.name, "chosen": self.pool.servers[other].name}

    def _foresee(self, slot: int, index: int) -> float:
        return float(foresee(self.board.core, self._fallback.mind, slot, index))
