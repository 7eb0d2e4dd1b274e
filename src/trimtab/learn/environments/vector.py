"""A batch as stable-baselines3 wants it: its VecEnv."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from stable_baselines3.common.vec_env import VecEnv

from trimtab.errors import TrimtabError
from trimtab.learn.environments.batch import Batch

VecStep = tuple[dict[str, npt.NDArray[Any]], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]


class BatchVecEnv(VecEnv):
    """Steps a batch; an episode that is over is followed by the next at once.

    Its last observation is then in ``info["terminal_observation"]``, and ``info["TimeLimit.truncated"]`` says
    whether it was cut short. ``info["episode"]`` has its reward and length, as SB3's Monitor writes them.
    """

    def __init__(self, batch: Batch) -> None:
        actions = gymnasium.spaces.Discrete(batch.decision.actions)
        self.batch, self.render_mode = batch, None
        super().__init__(batch.count, batch.observation_space, actions)
        self._began = time.perf_counter()
        self._sums, self._lengths = np.zeros(batch.count), np.zeros(batch.count, np.int64)
        self._actions = np.zeros(batch.count, np.int64)

    def reset(self) -> dict[str, npt.NDArray[Any]]:
        """Begin an episode everywhere."""
        if any(seed is not None for seed in self._seeds):
            self.batch.seed(self._seeds[0])
        self._reset_seeds()
        self._sums[:], self._lengths[:] = 0.0, 0
        return self.batch.reset()

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        """Keep the actions for ``step_wait``."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> VecStep:
        """One compiled call for all."""
        stepped = self.batch.step(self._actions)
        self._sums += stepped.rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        for index, last in stepped.final.items():
            infos[index] = {
                "TimeLimit.truncated": bool(stepped.truncated[index]),
                "terminal_observation": last,
                "episode": {
                    "r": float(self._sums[index]),
                    "l": int(self._lengths[index]),
                    "t": round(time.perf_counter() - self._began, 6),
                },
            }
            self._sums[index], self._lengths[index] = 0.0, 0
        over = stepped.terminated | stepped.truncated
        return stepped.observations, stepped.rewards.astype(np.float32), over, infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The same attribute for all that are named."""
        if attr_name == "action_masks":
            return [lambda row=row: self.batch.mask[row].astype(bool) for row in self._get_indices(indices)]
        found = self if hasattr(self, attr_name) else self.batch
        return [getattr(found, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """The runs have no attributes of their own."""
        raise TrimtabError(f"attribute = {attr_name!r} cannot be set for runs of a batch")

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """``action_masks`` for sb3-contrib; there is no other."""
        if method_name != "action_masks":
            raise TrimtabError(f"method = {method_name!r}, must be 'action_masks'")
        return [mask() for mask in self.get_attr(method_name, indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any, Any, Any]], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """Never."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Nothing to see."""
        return [None] * self.num_envs
