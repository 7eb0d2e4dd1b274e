"""Q-learning of an autoscaler, episode by episode; a table or a network fills in the values."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trimtab.learn.recipe import TRAINING_SEEDS, Progress, State
from trimtab.learn.scale import episode
from trimtab.learn.scale.reward import balanced_reward, qos_reward
from trimtab.learn.state import generator_state, restored_generator
from trimtab.policies.scale.agent import AgentState, act, actions_of, choose, features_of, observe, tail_ratio
from trimtab.policies.scale.contract import HOLD, Desired, FunctionMetrics
from trimtab.policies.scale.window import known
from trimtab.policies.trained import Description, Trained
from trimtab.scenario.model import Scenario

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """How an autoscaler learns."""

    policy: str
    recipe: str
    direction: str
    cpu_step: float = 0.25
    tie: float = 0.05
    period: float = 5.0
    discount: float = 0.9
    first_exploration: float = 1.0
    last_exploration: float = 0.02
    exploring: float = 0.5
    """Share of the budget over which exploration falls from its first to its last value."""
    overload: float = math.inf
    """Tail latency over the requirement at which an episode is over: the last action is taken as having failed for
    ever, and the largest size works off what waits before learning goes on. Where a backlog takes longer to work off
    than an agent looks ahead, every action looks equally bad in it, and nothing is learned."""
    patience: int = 3
    """Episodes in a row with the requirement kept after which learning stops."""

    @property
    def features(self) -> tuple[str, ...]:
        """What the agent sees."""
        return features_of(self.recipe, self.direction)

    @property
    def actions(self) -> tuple[tuple[int, int], ...]:
        """What it may do."""
        return actions_of(self.direction)

    @property
    def reward(self) -> Callable[[FunctionMetrics], float]:
        """What it is rewarded for."""
        return qos_reward if self.recipe == "paper" else balanced_reward


@dataclass
class Taken:
    """The last step of one function, until its reward is seen."""

    memory: AgentState
    inputs: Floats
    action: int
    rescued: bool = False
    """Whether the episode was over, and a backlog is being worked off."""


@dataclass
class QLearner(ABC):
    """The loop of the slides: act, read metrics, compute the reward, save the experience, learn."""

    scenario: Scenario
    settings: Settings
    seed: int
    budget: int
    done: int = 0
    held: int = 0
    """Episodes in a row in which the requirement was kept."""
    steps: int = 0

    def __post_init__(self) -> None:
        self.world = episode.SIMULATED
        episode.check(self.scenario)
        self.random = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(40,))))
        self.prepare()

    # what a table and a network do differently

    @abstractmethod
    def prepare(self) -> None:
        """Make what is learned."""

    @abstractmethod
    def values(self, inputs: Floats) -> Floats:
        """Values of all actions."""

    @abstractmethod
    def learn(self, before: Floats, action: int, reward: float, after: Floats, over: bool) -> None:
        """One experience; where the episode is ``over``, its reward is that of all time to come."""

    @abstractmethod
    def weights(self) -> State:
        """What a trained policy holds."""

    def described(self) -> dict[str, Any]:
        """Settings of the policy's kind."""
        return {}

    # what they share

    @property
    def learning(self) -> bool:
        """Learning stops once the requirement holds."""
        return self.held < self.settings.patience

    @property
    def exploration(self) -> float:
        """Share of actions that are drawn at random."""
        if not self.learning:
            return 0.0
        chosen = self.settings
        gone = min(self.done / max(chosen.exploring * self.budget, 1.0), 1.0)
        return chosen.first_exploration + gone * (chosen.last_exploration - chosen.first_exploration)

    def step(self) -> Progress:
        """One episode, each on a workload of its own."""
        explorer = Explorer(self)
        learning, exploration = self.learning, self.exploration
        workload = TRAINING_SEEDS + 10_000 * self.seed + self.done
        found = episode.play(self.scenario, explorer, workload, self.world)
        self.done += 1
        # most actions of an early episode are random: that it went well says nothing of what was learned
        settled = found.held and exploration <= 2 * self.settings.last_exploration
        self.held = self.held + 1 if settled or not learning else 0
        figures = found.figures()
        figures |= {"exploration": exploration, "learning": float(learning)}
        return Progress(explorer.total / max(explorer.taken, 1), explorer.taken, figures)

    def settle(self) -> None:
        """Before going on in another world: what was learned stays, and little is tried at random any more.

        That the requirement held in the world before says nothing of the next one: learning goes on.
        """
        self.held, self.budget = 0, self.done

    def state(self) -> tuple[State, dict[str, Any]]:
        """All that training depends on; kinds add their own."""
        meta = {
            "done": self.done, "held": self.held, "steps": self.steps, "budget": self.budget,
            "random": generator_state(self.random),
        }  # fmt: skip
        return {}, meta

    def restore(self, arrays: State, meta: dict[str, Any]) -> None:
        """Go on from what ``state`` returned."""
        self.done, self.held, self.steps = int(meta["done"]), int(meta["held"]), int(meta["steps"])
        self.budget = int(meta.get("budget", self.budget))
        self.random = restored_generator(meta["random"])

    def trained(self) -> Trained:
        """The policy as it stands."""
        chosen = self.settings
        settings = {"direction": chosen.direction, "cpu_step": chosen.cpu_step, "tie": chosen.tie,
                    "period": chosen.period, **self.described()}  # fmt: skip
        about = Description(
            decision="scale", policy=chosen.policy, recipe=chosen.recipe, features=chosen.features,
            settings=settings,
        )  # fmt: skip
        return Trained(about, self.weights())


class Explorer:
    """The policy that the control loop runs in training: acts, and hands every experience to the learner."""

    name, knob = "training", None

    def __init__(self, learner: QLearner) -> None:
        self.learner, self.settings = learner, learner.settings
        self.period = learner.settings.period
        self.total, self.taken = 0.0, 0

    def decide(self, metrics: FunctionMetrics, state: Taken | None, now: float) -> tuple[Desired, Taken | None]:
        """Learn from the last action, take the next."""
        learner, settings = self.learner, self.settings
        if not known(metrics, metrics.cpu_cores, metrics.memory_bytes):
            return HOLD, state
        inputs, memory = observe(settings.features, metrics, state.memory.load if state else None)
        rescued, over = state is not None and state.rescued, tail_ratio(metrics) > settings.overload
        if state is not None:
            reward = settings.reward(metrics)
            self.total, self.taken = self.total + reward, self.taken + 1
            if learner.learning and not rescued:
                learner.steps += 1
                ever = reward / (1.0 - settings.discount) if over else reward
                learner.learn(state.inputs, state.action, ever, inputs, over)
        rescued = learner.learning and (over or (rescued and tail_ratio(metrics) > 1.0))
        action = len(settings.actions) - 1 if rescued else self._action(inputs)
        return act(metrics, settings.actions[action], settings.cpu_step), Taken(memory, inputs, action, rescued)

    def _action(self, inputs: Floats) -> int:
        learner = self.learner
        if learner.learning and learner.random.random() < learner.exploration:
            return int(learner.random.integers(len(self.settings.actions)))
        return choose(learner.values(inputs), self.settings.tie)
