"""Experience of past episodes: rows of features are kept once, states are cut out of them when needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass
class Memory:
    """One episode; ``rows`` has ``steps - 1`` rows of zeros in front, and one row more than there are actions."""

    rows: Array
    actions: Array
    rewards: Array
    terminated: bool


@dataclass(frozen=True)
class Batch:
    """Transitions, one a row."""

    states: Array
    actions: Array
    rewards: Array
    following: Array
    hopeful: Array
    """0 where the episode ended for good with this transition, else 1: what follows counts."""


@dataclass
class Replay:
    """The newest episodes, up to ``capacity`` transitions."""

    steps: int
    capacity: int
    episodes: list[Memory] = field(default_factory=list)

    def __len__(self) -> int:
        return sum(len(each.actions) for each in self.episodes)

    def begin(self, first: Array) -> None:
        """An episode begins in this row of features."""
        rows = np.zeros((self.steps, len(first)), np.float32)
        rows[-1] = first
        self.episodes.append(Memory(rows, np.zeros(0, np.int64), np.zeros(0, np.float32), False))

    def add(self, action: int, reward: float, row: Array, terminated: bool) -> None:
        """The episode goes on; the oldest ones are forgotten when there are too many."""
        last = self.episodes[-1]
        last.rows = np.vstack([last.rows, row[np.newaxis].astype(np.float32)])
        last.actions = np.append(last.actions, action)
        last.rewards = np.append(last.rewards, np.float32(reward))
        last.terminated = terminated
        while len(self) > self.capacity and len(self.episodes) > 1:
            self.episodes.pop(0)

    def state(self) -> Array:
        """The state that the running episode is in."""
        return self.episodes[-1].rows[-self.steps :]

    def sample(self, random: np.random.Generator, count: int) -> Batch:
        """Transitions drawn with equal probability."""
        ends = np.cumsum([len(each.actions) for each in self.episodes])
        drawn = random.integers(int(ends[-1]), size=count)
        owners = np.searchsorted(ends, drawn, "right")
        places = drawn - np.where(owners > 0, ends[owners - 1], 0)
        chosen = [(self.episodes[owner], int(place)) for owner, place in zip(owners, places)]
        return Batch(
            np.stack([each.rows[at : at + self.steps] for each, at in chosen]),
            np.array([each.actions[at] for each, at in chosen]),
            np.array([each.rewards[at] for each, at in chosen], np.float32),
            np.stack([each.rows[at + 1 : at + 1 + self.steps] for each, at in chosen]),
            np.array([not (each.terminated and at == len(each.actions) - 1) for each, at in chosen], np.float32),
        )

    def arrays(self) -> dict[str, Array]:
        """Everything, to be stored."""
        empty = not self.episodes
        return {
            "replay.rows": np.zeros((0, 0), np.float32) if empty else np.vstack([each.rows for each in self.episodes]),
            "replay.actions": np.concatenate([np.zeros(0, np.int64), *(each.actions for each in self.episodes)]),
            "replay.rewards": np.concatenate([np.zeros(0, np.float32), *(each.rewards for each in self.episodes)]),
            "replay.lengths": np.array([len(each.actions) for each in self.episodes], np.int64),
            "replay.terminated": np.array([each.terminated for each in self.episodes], np.int64),
        }

    def restore(self, arrays: dict[str, Array]) -> None:
        """Go on with what ``arrays`` returned."""
        self.episodes = []
        row = place = 0
        for length, terminated in zip(arrays["replay.lengths"].tolist(), arrays["replay.terminated"].tolist()):
            rows = arrays["replay.rows"][row : row + length + self.steps]
            actions = arrays["replay.actions"][place : place + length]
            rewards = arrays["replay.rewards"][place : place + length]
            self.episodes.append(Memory(rows.copy(), actions.copy(), rewards.copy(), bool(terminated)))
            row, place = row + length + self.steps, place + length
