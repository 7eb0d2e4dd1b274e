"""A trained policy against what its code needs: features and arrays by name, order and shape."""

from __future__ import annotations

import numpy as np
import pytest

from trimtab.errors import TrimtabError
from trimtab.policies import registry
from trimtab.policies.trained import Description, Trained

WANTED = ("cpu", "memory", "warm")
SHAPES = {"weights": (3,), "bias": ()}


def policy(features: tuple[str, ...] = WANTED, **arrays: np.ndarray) -> Trained:
    about = Description(decision="place", policy="rank", recipe="best", features=features)
    given: dict[str, np.ndarray] = {"weights": np.zeros(3), "bias": np.array(1.0)} | arrays
    return Trained(about, given, "folder")


def test_what_fits_passes() -> None:
    policy().expect(WANTED, SHAPES)


@pytest.mark.parametrize(
    ("features", "line"),
    [
        (("cpu", "memory", "wram"), "feature = 'wram', must be one of: cpu, memory, warm; did you mean 'warm'?"),
        (("cpu", "warm"), "feature 'memory' is missing, must be there"),
        (("cpu", "memory", "warm", "disk"), "feature = 'disk', must be one of: cpu, memory, warm"),
        (("memory", "cpu", "warm"), "feature 1 = 'memory', must be 'cpu': the order counts"),
        (("cpu", "memory", "warm", "warm"), "4 features, must be 3"),
        ((), "feature 'cpu' is missing, must be there"),
    ],
)
def test_features(features: tuple[str, ...], line: str) -> None:
    with pytest.raises(TrimtabError) as caught:
        policy(features).expect(WANTED, SHAPES)
    assert str(caught.value) == f"folder: {line}"


def test_arrays() -> None:
    with pytest.raises(TrimtabError, match=r"^folder: weights lack 'bias', must hold: weights, bias$"):
        Trained(policy().description, {"weights": np.zeros(3)}, "folder").expect(WANTED, SHAPES)
    with pytest.raises(TrimtabError, match=r"^folder: weights hold 'more', must hold only: weights, bias$"):
        policy(more=np.zeros(1)).expect(WANTED, SHAPES)
    with pytest.raises(TrimtabError, match=r"^folder: weights 'weights' have shape \(4,\), must be \(3,\)$"):
        policy(weights=np.zeros(4)).expect(WANTED, SHAPES)


def test_a_policy_of_another_decision_is_refused() -> None:
    with pytest.raises(TrimtabError, match=r"^policy = 'folder' takes place decisions, the decision here is route$"):
        registry.built(policy(), "route")


def test_a_kind_that_nobody_can_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.LEARNED["place"], "rank", "tests.tiny")
    found = Trained(policy().description.model_copy(update={"policy": "rnak"}), {}, "folder")
    with pytest.raises(TrimtabError, match=r"^folder: place policy = 'rnak', must be one of: .*did you mean 'rank'\?$"):
        registry.built(found, "place")


def test_settings_that_its_code_cannot_read_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.LEARNED["place"], "rank", "tests.unit.test_policy_trained")
    with pytest.raises(TrimtabError, match=r"^folder: policy.json: settings do not suit 'rank': KeyError: 'layers'$"):
        registry.built(policy(), "place")


def build(trained: Trained, parameters: dict[str, object]) -> object:
    """A learned policy's module that reads a setting which is not there."""
    return trained.description.settings["layers"]
