"""The state of torch's Adam as arrays, so that training can stop and go on to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def adam_arrays(optimiser: torch.optim.Adam) -> dict[str, npt.NDArray[Any]]:
    """Moments and counts of all parameters, in their order; none before the first update."""
    state = optimiser.state_dict()["state"]
    return {
        f"adam.{index}.{name}": np.atleast_1d(moments[name].numpy().copy())
        for index, moments in state.items()
        for name in _MOMENTS
    }


def restore_adam(optimiser: torch.optim.Adam, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Put back what ``adam_arrays`` returned."""
    whole = optimiser.state_dict()
    whole["state"] = {}
    for index in range(len(optimiser.param_groups[0]["params"])):
        if f"adam.{index}.step" not in arrays:
            continue
        found = {name: torch.from_numpy(np.array(arrays[f"adam.{index}.{name}"])) for name in _MOMENTS}
        found["step"] = found["step"][0]
        whole["state"][index] = found
    optimiser.load_state_dict(whole)
