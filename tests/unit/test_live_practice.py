"""What a training leaves behind at a gateway, and orders that it does not carry out."""

from __future__ import annotations

from typing import Any, cast

import pytest

from trimtab.errors import TrimtabError
from trimtab.live.client import GatewayClient, Refused
from trimtab.live.practice import Practice, alone
from trimtab.policies.scale.contract import Desired


class FakeGateway:
    """Remembers its scale policy and what was ordered; sizes are refused with a status."""

    url, token = "http://gateway", None

    def __init__(self, policy: str | None = "hpa", refusal: int = 409) -> None:
        self.policy, self.refusal = policy, refusal
        self.closed = False
        self.orders: list[dict[str, Any]] = []

    def state(self) -> dict[str, Any]:
        return {"policies": {"scale": self.policy}}

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[dict[str, str], Any]:
        if body is None:
            return {}, {"scale": ["hpa", "kpa"]}
        assert (method, path, body["decision"]) == ("POST", "/v1/policy", "scale")
        self.policy = body["policy"]
        return {}, {}

    def close(self) -> None:
        self.closed = True

    def scale(self, function: str, **wanted: float | None) -> None:
        given = {name: value for name, value in wanted.items() if value is not None}
        if "cpu" in given or "memory" in given:
            raise Refused(self.refusal, "an instance could not be resized")
        self.orders.append({"function": function, **given})


def as_client(gateway: FakeGateway) -> GatewayClient:
    return cast(GatewayClient, gateway)


def test_the_scale_policy_is_off_meanwhile_and_on_again_at_the_end() -> None:
    gateway = FakeGateway()
    with alone(as_client(gateway)):
        assert gateway.policy is None
    assert gateway.policy == "hpa"


@pytest.mark.parametrize("error", [TrimtabError("an episode failed"), KeyboardInterrupt()])
def test_the_scale_policy_is_on_again_after_an_error_and_after_ctrl_c(error: BaseException) -> None:
    gateway = FakeGateway()
    with pytest.raises(type(error)), alone(as_client(gateway)):
        raise error
    assert gateway.policy == "hpa"
    assert gateway.closed, "half a request may be on the connection"


def test_a_gateway_without_a_scale_policy_stays_without() -> None:
    gateway = FakeGateway(None)
    with alone(as_client(gateway)):
        pass
    assert gateway.policy is None


def test_a_scale_policy_that_could_not_be_switched_on_again_is_not_switched_off() -> None:
    gateway = FakeGateway("mine.py")
    with pytest.raises(TrimtabError, match="could not be switched on again"), alone(as_client(gateway)):
        pass
    assert gateway.policy == "mine.py"


def test_a_refused_size_is_counted_and_the_number_of_instances_stands() -> None:
    gateway = FakeGateway()
    practice = Practice(as_client(gateway))
    assert not practice.act("f", Desired(3, cpu=0.5))
    assert practice.act("f", Desired(2))
    assert practice.not_carried_out == 1
    assert gateway.orders == [{"function": "f", "instances": 3}, {"function": "f", "instances": 2}]


def test_any_other_refusal_ends_the_training() -> None:
    practice = Practice(as_client(FakeGateway(refusal=404)))
    with pytest.raises(Refused):
        practice.act("f", Desired(3, cpu=0.5))
