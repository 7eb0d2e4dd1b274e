"""Modules, optimisers and random streams as arrays and JSON, and back to the last bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.recipes import identical

from trimtab.learn.recipe import State
from trimtab.learn.state import (
    generator_state,
    module_state,
    optimiser_state,
    restore_module,
    restore_optimiser,
    restored_generator,
)

torch = pytest.importorskip("torch")


def network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 2))


def train(module: torch.nn.Module, optimiser: torch.optim.Optimizer, generator: torch.Generator, n: int) -> None:
    for _ in range(n):
        rows = torch.randn(16, 4, generator=generator)
        optimiser.zero_grad()
        module(rows).square().mean().backward()
        optimiser.step()


OPTIMISERS = {
    "adam": lambda parameters: torch.optim.Adam(parameters, lr=1e-2),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=3e-3, betas=(0.8, 0.95), amsgrad=True),
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-2, momentum=0.9),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=1e-2),
}


@pytest.mark.parametrize("kind", OPTIMISERS)
@pytest.mark.parametrize("cut", [0, 3])
def test_training_goes_on_to_the_last_bit(kind: str, cut: int) -> None:
    module, generator = network(1), torch.Generator().manual_seed(5)
    optimiser = OPTIMISERS[kind](module.parameters())
    train(module, optimiser, generator, cut)
    place = generator.get_state()
    moments, settings = optimiser_state("optimiser", optimiser)
    arrays: State = module_state("module", module) | moments
    meta = json.loads(json.dumps(settings))
    train(module, optimiser, generator, 4)

    other, stream = network(2), torch.Generator()
    again = OPTIMISERS[kind](other.parameters())
    restore_module("module", other, arrays)
    restore_optimiser("optimiser", again, arrays, meta)
    stream.set_state(place)
    assert again.state_dict()["param_groups"] == optimiser.state_dict()["param_groups"]
    train(other, again, stream, 4)
    assert identical(module_state("module", module), module_state("module", other))
    assert identical(optimiser_state("optimiser", optimiser)[0], optimiser_state("optimiser", again)[0])


def test_a_learning_rate_that_was_changed_comes_back() -> None:
    module = network(1)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-2)
    optimiser.param_groups[0]["lr"] = 1 / 3
    arrays, meta = optimiser_state("o", optimiser)
    other = torch.optim.Adam(network(1).parameters(), lr=1e-2)
    restore_optimiser("o", other, arrays, json.loads(json.dumps(meta)))
    assert other.param_groups[0]["lr"] == 1 / 3
    assert other.param_groups[0]["betas"] == (0.9, 0.999)


def test_a_state_is_a_copy() -> None:
    module = network(1)
    arrays = module_state("m", module)
    before = {name: array.copy() for name, array in arrays.items()}
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(1.0)
    assert identical(arrays, before)
    restore_module("m", module, arrays)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(1.0)
    assert identical(arrays, before)


def test_names_that_begin_alike_stay_apart() -> None:
    actor, critic = network(1), network(2)
    arrays = module_state("net", actor) | module_state("net2", critic)
    other = network(3)
    restore_module("net", other, arrays)
    assert identical(module_state("net", other), module_state("net", actor))


def test_a_missing_or_a_further_array_is_an_error() -> None:
    module = network(1)
    arrays = module_state("m", module)
    with pytest.raises(RuntimeError, match="Missing key"):
        restore_module("m", module, {name: array for name, array in arrays.items() if name != "m.0.weight"})
    with pytest.raises(RuntimeError, match="Unexpected key"):
        restore_module("m", module, arrays | {"m.9.weight": np.zeros(3)})


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_numpys_generators(kind: str) -> None:
    generator = np.random.Generator(getattr(np.random, kind)(7))
    generator.normal(size=13)
    generator.integers(0, 10, size=3, dtype=np.int32)  # leaves half of a draw for the next
    other = restored_generator(json.loads(json.dumps(generator_state(generator))))
    assert other.normal(size=20).tobytes() == generator.normal(size=20).tobytes()
    assert other.integers(0, 10, size=5, dtype=np.int32).tolist() == (
        generator.integers(0, 10, size=5, dtype=np.int32).tolist()
    )


def test_a_generator_that_numpy_does_not_have() -> None:
    with pytest.raises(ValueError, match="must be one of numpy's"):
        restored_generator({"bit_generator": "default_rng"})
    with pytest.raises(ValueError, match="must be one of numpy's"):
        restored_generator({"bit_generator": "seed"})
