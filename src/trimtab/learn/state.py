"""What training depends on, as arrays and JSON and back, to the last bit: for ``Learner.state`` and ``restore``.

Names of arrays begin with the name that the caller gives, so that several parts share one bundle. Arrays are
copies: training that goes on does not change a state that was taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trimtab.learn.recipe import State

if TYPE_CHECKING:
    import torch

Meta = dict[str, Any]


def module_state(name: str, module: torch.nn.Module) -> State:
    """Parameters and buffers of a torch module, as ``name.…``."""
    return {f"{name}.{key}": _array(tensor) for key, tensor in module.state_dict().items()}


def restore_module(name: str, module: torch.nn.Module, arrays: State) -> None:
    """Put back what :func:`module_state` took; a missing or a further array is an error."""
    module.load_state_dict({key: _tensor(array) for key, array in below(name, arrays).items()})


def optimiser_state(name: str, optimiser: torch.optim.Optimizer) -> tuple[State, Meta]:
    """Moments and steps (arrays ``name.<parameter>.<moment>``), and settings such as the learning rate (JSON)."""
    import torch

    held = optimiser.state_dict()
    arrays: State = {}
    plain: Meta = {}
    for index, entries in held["state"].items():
        for key, value in entries.items():
            if isinstance(value, torch.Tensor):
                arrays[f"{name}.{index}.{key}"] = _array(value)
            else:
                plain.setdefault(str(index), {})[key] = value
    return arrays, {"groups": held["param_groups"], "plain": plain}


def restore_optimiser(name: str, optimiser: torch.optim.Optimizer, arrays: State, meta: Meta) -> None:
    """Put back what :func:`optimiser_state` took; JSON has made lists of tuples."""
    state: dict[int, dict[str, Any]] = {int(index): dict(entries) for index, entries in meta["plain"].items()}
    for key, array in below(name, arrays).items():
        index, _, moment = key.partition(".")
        state.setdefault(int(index), {})[moment] = _tensor(array)
    groups = []
    for saved, present in zip(meta["groups"], optimiser.state_dict()["param_groups"], strict=True):
        groups.append({key: _like(present.get(key), value) for key, value in saved.items()})
    optimiser.load_state_dict({"state": dict(sorted(state.items())), "param_groups": groups})


def generator_state(generator: np.random.Generator) -> Meta:
    """Where a numpy generator is in its stream, as JSON; its whole numbers have more than 64 bits."""
    held: Meta = _plain(generator.bit_generator.state)
    return held


def restored_generator(meta: Meta) -> np.random.Generator:
    """A numpy generator at the place that :func:`generator_state` noted."""
    kind = getattr(np.random, str(meta["bit_generator"]), None)
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise ValueError(f"bit generator = {meta['bit_generator']!r}, must be one of numpy's")
    bits = kind()
    bits.state = meta
    return np.random.Generator(bits)


def below(name: str, arrays: State) -> State:
    """The arrays ``name.…`` of a bundle, without that prefix."""
    prefix = f"{name}."
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def _array(tensor: torch.Tensor) -> npt.NDArray[Any]:
    copied: npt.NDArray[Any] = tensor.detach().cpu().numpy().copy()
    return copied


def _tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    import torch

    return torch.from_numpy(np.array(array, order="C"))


def _like(present: Any, value: Any) -> Any:
    return tuple(value) if isinstance(present, tuple) and isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Plain numbers, lists and dictionaries: some generators keep arrays."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value
