"""The scoring network: the same for every candidate, and nothing for those that are masked."""

from __future__ import annotations

import numpy as np
import torch
from gymnasium import spaces

from trimtab.learn.environments.scorer import Scores, ScoringPolicy


def policy(actions: int) -> ScoringPolicy:
    torch.manual_seed(1)
    space = spaces.Dict(
        {"features": spaces.Box(-1.0, 1.0, (4, 3), np.float32), "mask": spaces.MultiBinary(actions)}
    )  # fmt: skip
    return ScoringPolicy(space, spaces.Discrete(actions), lambda _: 1e-3)


def seen(features: np.ndarray, mask: list[int]) -> dict[str, torch.Tensor]:
    return {"features": torch.tensor(features[None], dtype=torch.float32), "mask": torch.tensor([mask])}


def test_exchanging_candidates_exchanges_their_probabilities_and_keeps_the_value() -> None:
    network, rows = policy(4), np.random.default_rng(1).normal(size=(4, 3))
    order = [2, 0, 3, 1]
    before = network.get_distribution(seen(rows, [1, 1, 1, 0])).distribution.probs[0]
    after = network.get_distribution(seen(rows[order], [1, 1, 0, 1])).distribution.probs[0]
    assert torch.allclose(before[order], after)
    assert before[3] == 0.0 and torch.isclose(before.sum(), torch.tensor(1.0))
    values = [network.predict_values(each) for each in (seen(rows, [1] * 4), seen(rows[order], [1] * 4))]
    assert torch.allclose(*values)


def test_an_action_beyond_the_candidates_has_a_score_of_its_own() -> None:
    network, rows = policy(5), np.random.default_rng(2).normal(size=(4, 3))
    probabilities = network.get_distribution(seen(rows, [1, 0, 0, 0, 1])).distribution.probs[0]
    assert (probabilities > 0).tolist() == [True, False, False, False, True]
    only = network.get_distribution(seen(rows, [0, 0, 0, 0, 1])).distribution.probs[0]
    assert only.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_the_optimiser_has_all_weights_and_no_others() -> None:
    network = policy(5)
    held = {id(weight) for group in network.optimizer.param_groups for weight in group["params"]}
    assert held == {id(weight) for weight in network.parameters()}
    assert isinstance(network.mlp_extractor, Scores)
