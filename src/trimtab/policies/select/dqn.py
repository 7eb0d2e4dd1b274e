"""``dqn``: a deep Q-network chooses the scheduler, learned from what schedulers cost, and goes on learning.

State [W, H, S] in, a value for each candidate out; the reward of an interval is -φ over the largest φ in training.
MetaNet's paper names this rival and says no more: what ``Numbers`` holds is assumed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from trimtab.errors import TrimtabError
from trimtab.policies.assign.dense import names_of
from trimtab.policies.parameters import check_parameters
from trimtab.policies.select import perceptron
from trimtab.policies.select.contract import Floats, Situation, State, WindowOutcome
from trimtab.policies.select.fitted import candidates_of, check_features, fallback_of, number_of
from trimtab.policies.select.perceptron import Weights
from trimtab.policies.trained import Trained

LAYERS = (64, 64, 64)
NETWORK, LARGEST = "values", "largest"

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Numbers:
    """Of learning while it runs; they stand in ``policy.json``."""

    discount: float = 0.9
    exploration: float = 0.05
    """Share of the intervals in which any candidate is taken."""
    rate: float = 0.01
    memory: int = 1000
    """Intervals that are remembered."""
    batch: int = 16
    """Of them are learned from at every choice."""
    target_every: int = 50
    """Choices between two copies to the network that values the future."""

    @classmethod
    def of(cls, found: Trained) -> Numbers:
        """Out of the settings of a trained policy."""
        given = {name: number_of(found, name, 0.0) for name in ("discount", "exploration", "rate")}
        whole = {name: int(number_of(found, name, 1.0)) for name in ("memory", "batch", "target_every")}
        if given["discount"] >= 1.0 or given["exploration"] > 1.0:
            raise TrimtabError(f"{found.where}: settings: discount must be below 1, exploration at most 1")
        return cls(**given, **whole)  # type: ignore[arg-type]


class Transition(NamedTuple):
    """One interval."""

    state: Floats
    action: int
    reward: float
    following: Floats


def sizes(features: int, candidates: int) -> tuple[int, ...]:
    """Layers of the network."""
    return (features, *LAYERS, candidates)


def reward_of(cost: Any, largest: float) -> Any:
    """-φ over the largest of training, at least -1."""
    return np.maximum(-cost / largest, -1.0)


def goals(target: Weights, rewards: Floats, following: Floats, discount: float) -> Floats:
    """Reward plus the discounted best value of what follows, within what rewards from -1 to 0 can add up to."""
    best = perceptron.forward(target, NETWORK, following).outputs.max(1)
    wanted: Floats = np.clip(rewards + discount * best, -1.0 / (1.0 - discount), 0.0)
    return wanted


def gradients(weights: Weights, states: Floats, actions: Ints, wanted: Floats) -> tuple[float, Weights]:
    """Mean squared error of the values of these actions, and its gradients by the weights."""
    made = perceptron.forward(weights, NETWORK, states)
    rows = np.arange(len(states))
    error = made.outputs[rows, actions] - wanted
    signal = np.zeros_like(made.outputs)
    signal[rows, actions] = 2.0 * error / len(states)
    return float((error**2).mean()), perceptron.backward(weights, NETWORK, made, signal)[0]


class DeepQ:
    """Takes the candidate of the highest value, now and then any; learns from a bounded memory at every choice."""

    name: ClassVar[str] = "dqn"
    decision: ClassVar[str] = "select"

    def __init__(self, found: Trained) -> None:
        self.candidates, self.fallback = candidates_of(found), fallback_of(found)
        self.numbers = Numbers.of(found)
        self._where, self._features = found.where, found.description.features
        layers = sizes(len(self._features), len(self.candidates))
        found.expect(self._features, names_of(NETWORK, layers) | {LARGEST: (1,)})
        arrays = {name: array.astype(np.float64) for name, array in found.arrays.items()}
        self._largest = float(arrays.pop(LARGEST)[0])
        if self._largest <= 0.0:
            raise TrimtabError(f"{found.where}: weights {LARGEST!r} must be above 0")
        self._trained = arrays
        self.size = sum(array.nbytes for array in found.arrays.values())
        """Bytes of its weights."""

    def check(self, situation: Situation) -> None:
        """Refuse hosts and applications other than those it was trained for."""
        check_features(self._where, self._features, situation)

    def reset(self, situation: Situation, seed: int) -> None:
        """As it was trained, with nothing remembered."""
        self.check(situation)
        self._weights = _copied(self._trained)
        self._target = _copied(self._trained)
        self._memory: deque[Transition] = deque(maxlen=self.numbers.memory)
        self._random = np.random.default_rng((seed, 12))
        self._state: Floats | None = None
        self._last: tuple[Floats, int, float] | None = None
        self._updates = 0

    def choose(self, state: State, now: float) -> str:
        """Learn from what came before, then choose."""
        if self._last is not None:
            self._memory.append(Transition(*self._last, state.features))
            self._last = None
            self._update()
        self._state = state.features
        if self._random.random() < self.numbers.exploration:
            return self.candidates[self._random.integers(len(self.candidates))]
        values = perceptron.forward(self._weights, NETWORK, state.features[np.newaxis]).outputs[0]
        if not np.isfinite(values).all():
            raise FloatingPointError("a value is not a number")
        return self.candidates[int(np.argmax(values))]

    def learn(self, outcome: WindowOutcome) -> None:
        """Note what the interval cost; one in which nobody planned says nothing."""
        state, self._state = self._state, None
        if state is not None and outcome.cost is not None:
            action = self.candidates.index(outcome.policy)
            self._last = state, action, float(reward_of(outcome.cost, self._largest))

    def _update(self) -> None:
        numbers = self.numbers
        if len(self._memory) < numbers.batch:
            return
        drawn = [self._memory[index] for index in self._random.integers(len(self._memory), size=numbers.batch)]
        states, following = (np.stack([getattr(each, name) for each in drawn]) for name in ("state", "following"))
        rewards = np.array([each.reward for each in drawn])
        wanted = goals(self._target, rewards, following, numbers.discount)
        actions = np.array([each.action for each in drawn])
        perceptron.descend(self._weights, gradients(self._weights, states, actions, wanted)[1], numbers.rate)
        self._updates += 1
        if self._updates % numbers.target_every == 0:
            self._target = _copied(self._weights)


def _copied(weights: Weights) -> Weights:
    return {name: array.copy() for name, array in weights.items()}


def build(found: Trained, parameters: dict[str, Any]) -> DeepQ:
    """The policy of a trained folder."""
    check_parameters(DeepQ.name, parameters, ())
    return DeepQ(found)
