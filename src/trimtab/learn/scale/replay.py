"""A replay buffer: the newest experiences, drawn at random."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trimtab.learn.recipe import State

Singles = npt.NDArray[np.float32]
Batch = tuple[Singles, npt.NDArray[np.int64], Singles, Singles, Singles]


class Replay:
    """A ring of (state, action, reward, next state, whether the episode ended)."""

    def __init__(self, capacity: int, inputs: int) -> None:
        self.before = np.zeros((capacity, inputs), np.float32)
        self.action = np.zeros(capacity, np.int64)
        self.reward = np.zeros(capacity, np.float32)
        self.after = np.zeros((capacity, inputs), np.float32)
        self.over = np.zeros(capacity, np.float32)
        self.next, self.size = 0, 0

    def __len__(self) -> int:
        return self.size

    def add(
        self,
        before: npt.NDArray[np.float64],
        action: int,
        reward: float,
        after: npt.NDArray[np.float64],
        over: bool,
    ) -> None:
        """The newest takes the place of the oldest."""
        place = self.next
        self.before[place], self.action[place] = before, action
        self.reward[place], self.after[place] = reward, after
        self.over[place] = over
        self.next = (place + 1) % len(self.reward)
        self.size = min(self.size + 1, len(self.reward))

    def sample(self, count: int, random: np.random.Generator) -> Batch:
        """``count`` experiences, each as likely, with repetition."""
        rows = random.integers(self.size, size=count)
        return self.before[rows], self.action[rows], self.reward[rows], self.after[rows], self.over[rows]

    def arrays(self) -> State:
        """All that is in it; what was never filled is left out."""
        names = ("before", "action", "reward", "after", "over")
        return {name: getattr(self, name)[: self.size].copy() for name in names}

    def restore(self, arrays: State, following: int, size: int) -> None:
        """What ``arrays`` returned."""
        for name, array in arrays.items():
            getattr(self, name)[:size] = array
        self.next, self.size = following, size
